"""Bytes on disk: what a folder holds, and when to look again. Knows nothing of widgets."""
