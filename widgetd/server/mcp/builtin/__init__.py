"""The tools that are always there."""

from __future__ import annotations

from widgetd.server.mcp.builtin import actions, catalog, operate, updates

CORE_TOOLS = (*catalog.TOOLS, *actions.TOOLS, *updates.TOOLS)
"""The rows of the toolset that every server has."""

OPERATE_TOOLS = operate.TOOLS
