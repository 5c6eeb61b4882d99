"""Every row of the table of built-in tools, whichever room it stands in, and what rows need.

A toolset is switched on by the setting `toolset`; its names are reserved in any case, so that
a setting never renames a widget.
"""

from __future__ import annotations

from widgetd.browser import pictures
from widgetd.browser import toolset as browser
from widgetd.guide import toolset as guide
from widgetd.mcp.builtin import CORE_TOOLS, OPERATE_TOOLS
from widgetd.upstreams import toolset as upstreams

ROWS = (
    *CORE_TOOLS,
    *OPERATE_TOOLS,
    *guide.TOOLS,
    *browser.TOOLS,
    *pictures.TOOLS,
    *upstreams.TOOLS,
)
"""Of all toolsets."""

READABLE = (*guide.RESOURCES, *browser.RESOURCES, *pictures.RESOURCES)
"""What they have to read, of all of them."""

NAMES = frozenset(row.name for row in ROWS) | browser.NAMES
"""What no widget may be called."""
