"""Room 1: bytes on disk. Knows nothing of widgets."""
