"""Making valid arguments for a schema."""
