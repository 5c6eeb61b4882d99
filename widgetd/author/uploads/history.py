"""The differences between a widget and its previous version, line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from widgetd.base.errors import CallError, Finding
from widgetd.base.files.persistent_map import list_differing, list_missing
from widgetd.base.text_search import compile_pattern, unified_diff
from widgetd.core.widget.states import SAMPLE, show_state
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.registry import Registry
from widgetd.server.catalog.snapshot import Snapshot

# Possessive quantifiers: white space is matched once and never given back.
_LINE_ENDS = compile_pattern(
    r'(?s)(?:(?<!\s)\s++)?(\{%.*?(?:%\}|\Z),?|(?<=[\]}]),(?=[{"]))\s*+',
)
"""The places where a template, one long line, is cut into lines that can be compared."""

CONTEXT = 3
"""Number of unchanged lines around a difference."""


class History:
    """The previous version of each served widget."""

    def __init__(self) -> None:
        self._previous: dict[str, Widget] = {}

    def before(self, widget: Widget, sees: Callable[[Widget], bool]) -> Widget | None:
        """Return the version replaced by `widget`, or None if it is the first.

        `sees` tells whether the reader sees a widget. The version before may have been hidden:
        tags and permission change with the sidecar.
        """
        before = self._previous.get(widget.tool)
        return before if before is not None and sees(before) else None

    def record(self, before: Snapshot, after: Snapshot) -> None:
        was, now = before.widgets, after.widgets
        for tool in list_missing(was, now):
            self._previous.pop(tool, None)
        for tool in list_differing(was, now):
            if tool in was and was[tool].key != now[tool].key:
                self._previous[tool] = was[tool]

    async def follow(self, registry: Registry) -> None:
        snapshot = registry.current
        while True:
            served = await registry.wait_for_newer(snapshot)
            self.record(snapshot, served)
            snapshot = served


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionDiff:
    """The differences between two versions of a widget.

    Attributes:
        parts: Name and lines of a unified diff, for each differing part.
        breaking: Breaking differences.
    """

    parts: tuple[tuple[str, tuple[str, ...]], ...]
    breaking: tuple[Finding, ...]


def diff_versions(before: Widget, after: Widget) -> VersionDiff:
    from widgetd.core.checks.breaking_changes import find_breaking_changes  # noqa: PLC0415 - a start checks nothing

    parts = []
    for (name, was), (_, now) in zip(_texts(before), _texts(after), strict=True):
        lines = tuple(unified_diff(was.splitlines(), now.splitlines(), CONTEXT))
        if lines:
            parts.append((name, lines))
    return VersionDiff(
        parts=tuple(parts),
        breaking=tuple(find_breaking_changes(before.definition, after.definition)),
    )


def _texts(widget: Widget) -> Iterator[tuple[str, str]]:
    definition = widget.definition
    try:
        yield "What it draws", _pretty(show_state(widget, SAMPLE).tree(widget))
    except CallError as error:
        yield "What it draws", str(error)
    template = _LINE_ENDS.sub(
        lambda end: ",\n" if end[1] == "," else f"\n{end[1]}\n", definition.template
    )
    yield "Template", template
    yield "JSX", definition.view if widget.source == "view" else ""
    yield "Schema", _pretty(widget.schema.advertised)
    yield "What the model reads", f"{definition.title}\n{widget.description}"
    yield "Sidecar", _pretty(definition.sidecar.model_dump(mode="json", exclude_defaults=True))


def _pretty(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2, default=dict).decode()
