"""What changed in a widget since the version before it, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from widgetd.catalog.registry import Registry
from widgetd.catalog.snapshot import Snapshot
from widgetd.checks import breaking
from widgetd.errors import CallError, Finding
from widgetd.files.persistent_map import list_differing, list_missing
from widgetd.text_search import compile_pattern, unified_diff
from widgetd.widget.states import SAMPLE, shown
from widgetd.widget.widget import Widget

# White space is taken where it begins and not given back: nothing is tried twice.
_LINE_ENDS = compile_pattern(
    r'(?s)(?:(?<!\s)\s++)?(\{%.*?(?:%\}|\Z),?|(?<=[\]}]),(?=[{"]))\s*+',
)
"""Where a template, one long line, is cut into lines that can be compared."""

CONTEXT = 3
"""Lines that are shown around those that differ."""


class History:
    """The version of each widget before the present one, for as long as the widget is served."""

    def __init__(self) -> None:
        self._previous: dict[str, Widget] = {}

    def before(self, widget: Widget) -> Widget | None:
        """The version that `widget` took the place of; None where it is the first."""
        return self._previous.get(widget.tool)

    def note(self, before: Snapshot, after: Snapshot) -> None:
        """Remember what `after` took the place of."""
        was, now = before.widgets, after.widgets
        for tool in list_missing(was, now):
            self._previous.pop(tool, None)
        for tool in list_differing(was, now):
            if tool in was and was[tool].key != now[tool].key:
                self._previous[tool] = was[tool]

    async def follow(self, registry: Registry) -> None:
        """Note every swap of `registry`, until cancelled."""
        known = registry.current
        while True:
            served = await registry.newer_than(known)
            self.note(known, served)
            known = served


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What differs between two versions of one widget, and what callers may stumble over.

    Attributes:
        parts: For each part that differs, its name and the lines of a unified diff.
    """

    parts: tuple[tuple[str, tuple[str, ...]], ...]
    breaking: tuple[Finding, ...]


def changes_between(before: Widget, after: Widget) -> Changes:
    """What was changed to make `after` of `before`."""
    parts = []
    for (name, was), (_, now) in zip(_texts(before), _texts(after), strict=True):
        lines = tuple(unified_diff(was.splitlines(), now.splitlines(), CONTEXT))
        if lines:
            parts.append((name, lines))
    return Changes(
        parts=tuple(parts), breaking=tuple(breaking(before.definition, after.definition))
    )


def _texts(widget: Widget) -> Iterator[tuple[str, str]]:
    definition = widget.definition
    try:
        yield "What it draws", _pretty(shown(widget, SAMPLE).tree(widget))
    except CallError as error:
        yield "What it draws", str(error)
    template = _LINE_ENDS.sub(
        lambda end: ",\n" if end[1] == "," else f"\n{end[1]}\n", definition.template
    )
    yield "Template", template
    yield "JSX", definition.view if widget.source == "view" else ""
    yield "Schema", _pretty(widget.schema.advertised)
    yield "What the model is told", f"{definition.title}\n{widget.description}"
    yield "Sidecar", _pretty(definition.sidecar.model_dump(mode="json", exclude_defaults=True))


def _pretty(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2, default=dict).decode()
