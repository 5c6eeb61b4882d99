"""Help for authors of widgets: pages, components, a searchable reference, drafts."""
