"""A Chromium, and its pictures."""
