"""Search over widgets and reference texts."""
