"""The wings of widgetd in a table, a row for each.

Settings switch their parts on. Their names are reserved in any case, so a setting never
renames a widget.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from widgetd.author.wing import AuthorWing
from widgetd.chat.wing import ChatWing
from widgetd.daemon.loading import reserved_names
from widgetd.server.mcp.builtin import CORE_TOOLS, OPERATE_TOOLS
from widgetd.server.render.entry import tool_entry
from widgetd.server.store.cache import Cache
from widgetd.server.wing import Wing
from widgetd.upstreams.toolset import UpstreamServices
from widgetd.upstreams.wing import UpstreamsWing

WINGS: Sequence[Wing[Any]] = (AuthorWing(), UpstreamsWing(), ChatWing())
"""All wings; a later one may use the services of those before it."""

ROWS = (*CORE_TOOLS, *OPERATE_TOOLS, *(row for wing in WINGS for row in wing.tools))
"""The tools of all toolsets."""

NAMES = reserved_names(WINGS)
"""Names that no widget may have."""

admit = partial(tool_entry, reserved=NAMES)
"""Builds a widget's entry in a list of tools, for commands that serve no client."""


def read_upstreams(file: Path, answers: Cache) -> UpstreamServices:
    """Return the services of the upstreams of a file, for the server of another program.

    Raises:
        ConfigError: The file cannot be used (W5101), or a secret is missing (W5102).
    """
    return UpstreamServices.from_file(file, answers)
