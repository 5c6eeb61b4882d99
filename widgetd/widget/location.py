"""Where a finding is, in the text that it is about, and an excerpt to show it by.

A template is one long line of JSON with lines of its own inside, and a sidecar is
TOML; a finding may mean any of them. It refuses to know who reads the excerpt.
"""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from widgetd.errors import Finding
from widgetd.schema.json_text import locate
from widgetd.widget.sidecar import SUFFIX, line_of

WIDTH = 76
"""Characters of an excerpt; a template is one long line of JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where a finding is: in the file, and in the text that it is about.

    Attributes:
        line: The line in the file, from 1.
        column: The column in it, from 1.
        text: The line that the finding is about, of the file or of the value at its pointer.
        at: The column in that text, from 1.
    """

    line: int
    column: int
    text: str
    at: int


def spot_of(finding: Finding, content: str) -> Spot:
    """Where `finding` is in `content`, the text of its file."""
    if finding.path.endswith(SUFFIX):
        return _in_sidecar(finding, content)
    place = locate(content, finding.at) if finding.at else None
    if finding.line is not None and finding.at:
        inner = _value_line(content, finding.at, finding.line)
        if inner is not None and place is not None:
            return Spot(
                line=place[0], column=place[1], text=inner, at=finding.column or _first(inner)
            )
    line, column = place or (finding.line or 1, finding.column or 1)
    return Spot(line=line, column=column, text=_line(content, line), at=column)


def _in_sidecar(finding: Finding, content: str) -> Spot:
    line = finding.line or line_of(content, finding.at) or 1
    text = _line(content, line)
    column = finding.column or _first(text)
    return Spot(line=line, column=column, text=text, at=column)


def _line(content: str, line: int) -> str:
    lines = content.splitlines() or [""]
    return lines[min(line, len(lines)) - 1]


def _value_line(content: str, at: str, line: int) -> str | None:
    """A line of the text at the pointer `at`, which is a template mostly."""
    try:
        value = orjson.loads(content)
        for part in at.split("/")[1:]:
            value = value[int(part) if isinstance(value, list) else part]
    except (orjson.JSONDecodeError, KeyError, IndexError, TypeError, ValueError):
        return None
    lines = value.splitlines() if isinstance(value, str) else []
    return lines[line - 1] if line <= len(lines) else None


def _first(line: str) -> int:
    return len(line) - len(line.lstrip()) + 1


def window(line: str, at: int) -> tuple[int, str]:
    """At most `WIDTH` characters of `line` around `at`, and where in them that is."""
    line = "".join(character if character.isprintable() else " " for character in line)
    if len(line) <= WIDTH:
        return at, line
    start = max(0, min(at - WIDTH // 2, len(line) - WIDTH))
    cut = line[start : start + WIDTH]
    shown = ("…" + cut[1:]) if start else cut
    return at - start, (shown[:-1] + "…") if start + WIDTH < len(line) else shown
