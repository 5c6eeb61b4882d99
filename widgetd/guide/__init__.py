"""What authors of widgets learn from: pages, components, a searchable reference, drafts."""
