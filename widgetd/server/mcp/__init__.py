"""The MCP server: fast path, middleware, handlers, listing, resources and notifications."""
