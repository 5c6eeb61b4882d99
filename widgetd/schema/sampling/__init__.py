"""How arguments are made that fit a schema."""
