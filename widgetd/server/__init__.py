"""A folder of widgets as MCP tools: catalog, store, calls, the MCP and HTTP server."""
