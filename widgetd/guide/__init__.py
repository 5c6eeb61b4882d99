"""What teaches whoever writes widgets: pages, components, a reference to search, drafts."""
