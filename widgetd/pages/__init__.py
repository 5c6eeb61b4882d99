"""Room 6: the catalog as people and probes see it. The only room that knows starlette."""
