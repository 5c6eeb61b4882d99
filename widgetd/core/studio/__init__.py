"""ChatKit Studio's exporter: its losses, and how they differ from an author's edits."""
