"""The catalog as MCP sees it. Here alone, and in `daemon.register`, fastmcp and mcp are known."""
