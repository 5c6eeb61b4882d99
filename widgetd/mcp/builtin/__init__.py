"""The tools that are always there, for hosts that never fetch a list again."""
