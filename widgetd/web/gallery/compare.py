"""What differs between two versions of a widget, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any

import orjson

from widgetd.checks import breaking
from widgetd.errors import CallError, Finding
from widgetd.widget.states import SAMPLE, arguments_of
from widgetd.widget.widget import Widget

# White space is taken where it begins and not given back: nothing is tried twice.
_SEAMS = re.compile(
    r'(?:(?<!\s)\s++)?(\{%.*?(?:%\}|\Z),?|(?<=[\]}]),(?=[{"]))\s*+',
    re.DOTALL,
)
"""Where a template, one long line, is cut into lines that can be compared."""

CONTEXT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Two versions of one widget.

    Attributes:
        parts: For each part that differs, its name and the lines of a unified diff.
        breaking: What callers of the earlier version may stumble over.
    """

    parts: tuple[tuple[str, tuple[str, ...]], ...]
    breaking: tuple[Finding, ...]


def compared(before: Widget, after: Widget) -> Difference:
    """What was changed to make `after` of `before`."""
    texts = zip(_texts(before), _texts(after), strict=True)
    parts = (
        (name, tuple(_diff(was.splitlines(), now.splitlines()))) for (name, was), (_, now) in texts
    )
    return Difference(
        parts=tuple((name, lines) for name, lines in parts if lines),
        breaking=tuple(breaking(before.definition, after.definition)),
    )


def _texts(widget: Widget) -> Iterator[tuple[str, str]]:
    definition = widget.definition
    yield "What it draws", _drawn(widget)
    yield "Template", _SEAMS.sub(_cut, definition.template)
    yield "Schema", _pretty(widget.schema.advertised)
    yield "What the model is told", f"{definition.title}\n{widget.description}"
    yield "Sidecar", _pretty(definition.sidecar.model_dump(mode="json", exclude_defaults=True))


def _cut(seam: re.Match[str]) -> str:
    return ",\n" if seam[1] == "," else f"\n{seam[1]}\n"


def _drawn(widget: Widget) -> str:
    try:
        return _pretty(widget.call(arguments_of(widget, SAMPLE)).tree)
    except CallError as error:
        return str(error)


def _pretty(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2, default=dict).decode()


def _diff(before: list[str], after: list[str]) -> Iterator[str]:
    return (
        line
        for line in unified_diff(before, after, lineterm="", n=CONTEXT)
        if not line.startswith(("---", "+++"))
    )
