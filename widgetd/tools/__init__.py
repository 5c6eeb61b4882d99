"""Room 5: the catalog as MCP sees it. The only room that knows fastmcp and mcp."""
