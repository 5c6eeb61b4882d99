"""Making arguments that fit a schema."""
