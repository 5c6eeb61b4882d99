"""The tools that are always there."""

from __future__ import annotations

from widgetd.mcp.builtin import actions, catalog, operate

CORE_TOOLS = (*catalog.TOOLS, *actions.TOOLS)
"""The rows of the toolset that every server has."""

CORE_NAMES = frozenset(tool.name for tool in CORE_TOOLS)

OPERATE_TOOLS = operate.TOOLS
