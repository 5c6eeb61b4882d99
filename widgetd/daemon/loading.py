"""How the files of a folder become widgets, as the operator's settings decide.

Shared by the daemon, a folder in someone else's server, and the commands that only
look. It needs no MCP server, so those commands start at once.
"""

from __future__ import annotations

from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from widgetd.catalog.loader import Catalog, Load
from widgetd.catalog.snapshot import Selection
from widgetd.daemon.toolsets import NAMES
from widgetd.files.stamp import QUIET_MS
from widgetd.mcp.entry import tool_entry
from widgetd.settings import Settings

if TYPE_CHECKING:
    from widgetd.catalog.last_good import LastGood

admit = partial(tool_entry, reserved=NAMES)
"""Makes a widget's entry in a list of tools, for those who serve nobody."""


def catalog_for(
    settings: Settings,
    folder: Path,
    load: Load,
    *,
    last_good: LastGood | None = None,
    quiet_ms: int = QUIET_MS,
) -> Catalog:
    """The widgets of `folder`, of which nothing was read yet.

    Args:
        settings: What the operator chose.
        folder: The widgets folder; it exists.
        load: Makes the widgets.
        last_good: Where their last good content is kept over a restart; None for nowhere.
        quiet_ms: How long a file must not have been written before it is read.
    """
    include, exclude = settings.include, settings.exclude
    return Catalog(
        folder,
        load,
        selection=Selection(include=frozenset(include), exclude=frozenset(exclude)),
        settings=f"{version_of(settings)} include={include} exclude={exclude}",
        last_good=last_good,
        quiet_ms=quiet_ms,
    )


def version_of(settings: Settings) -> str:
    """Identifies all that decides whether a file can be served."""
    return f"{version('widgetd')} strict={settings.strict}"
