"""The wing `author`: its tools, and the settings that decide which of its services run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from widgetd.author.browser import pictures
from widgetd.author.browser import toolset as browser
from widgetd.author.guide import toolset as guide
from widgetd.author.options import AuthorOptions
from widgetd.base.errors import ConfigError
from widgetd.server.access.principal import WRITE
from widgetd.server.wing import Wing, WingHost

if TYPE_CHECKING:
    from widgetd.author.build import AuthorParts
    from widgetd.server.mcp.builtin.table import BuiltinTool


class AuthorWing(Wing[AuthorOptions]):
    """Tools and pages for authors of widgets."""

    options = AuthorOptions
    tools = (*guide.TOOLS, *browser.TOOLS, *pictures.TOOLS)
    resources = (*guide.RESOURCES, *browser.RESOURCES, *pictures.RESOURCES)
    reserved_prefix = browser.KEYWORD_PREFIX

    def tools_for(self, options: AuthorOptions) -> Sequence[BuiltinTool]:
        if options.keyword_tools and "sessions" not in options.toolset:
            problem = "keyword_tools needs the toolset sessions, which is off"
            raise ConfigError("W0002", problem, "add --toolset sessions")
        rows = (*self.tools, *browser.keyword_tools(options.keyword_tools))
        return [replace(row, listed=row.scope != WRITE or options.allow_upload) for row in rows]

    def open(self, options: AuthorOptions, host: WingHost) -> AuthorParts | None:
        toolsets = {row.toolset for row in self.tools}.intersection(options.toolset)
        if not (toolsets or options.gallery or options.chat):
            return None
        # Imported late: most daemons have nothing of this.
        from widgetd.author.build import build_parts  # noqa: PLC0415

        return build_parts(options, host)
