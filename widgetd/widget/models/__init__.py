"""How a schema's types are said in Python."""
