"""Sources of widgets' data: MCP servers, OpenAPI services and plain JSON endpoints."""

COMMANDS = {"upstreams": "widgetd.upstreams.commands:upstreams"}
"""Commands of this wing, each imported when it is needed."""
