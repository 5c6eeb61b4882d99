"""Room 3: all widgets, now."""
