"""The table of all built-in tools, from the rooms that define them.

The setting `toolset` switches a toolset on. Its names are reserved in any case, so that a
setting never renames a widget.
"""

from __future__ import annotations

from widgetd.author.browser import pictures
from widgetd.author.browser import toolset as browser
from widgetd.author.guide import toolset as guide
from widgetd.server.mcp.builtin import CORE_TOOLS, OPERATE_TOOLS
from widgetd.upstreams import toolset as upstreams

ROWS = (
    *CORE_TOOLS,
    *OPERATE_TOOLS,
    *guide.TOOLS,
    *browser.TOOLS,
    *pictures.TOOLS,
    *upstreams.TOOLS,
)
"""The tools of all toolsets."""

READABLE = (*guide.RESOURCES, *browser.RESOURCES, *pictures.RESOURCES)
"""The resources of all toolsets."""

NAMES = frozenset(row.name for row in ROWS) | browser.NAMES
"""Names that no widget may have."""
