"""The base that every wing imports: errors, files, limits, logs, text search."""
