"""Test files for widgets, run by pytest in a real browser."""
