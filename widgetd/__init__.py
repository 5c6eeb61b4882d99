"""widgetd serves ChatKit Studio widgets as typed MCP tools."""
