"""Room 4: what outlives a call. In-process by default."""
