"""A single widget. Pure: it never waits, never logs, never touches a disk."""
