"""Other servers that fill widgets: MCP servers, OpenAPI services and plain JSON endpoints."""
