"""Findings for three readers: a person at a terminal, a program, a pull request.

Shows where each is, in the file, with the line it is about. It refuses to know
how findings come about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import orjson

from widgetd.errors import Finding
from widgetd.widget.places import locate

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


def as_text(findings: Sequence[Finding], contents: Mapping[str, str]) -> str:
    """One paragraph for each finding, with the line that it is about and a caret below.

    Args:
        findings: In the order they are told.
        contents: The text of each file that a finding is about, where it can be read.
    """
    return "\n".join("\n".join(_paragraph(finding, contents)) for finding in findings)


def as_json(findings: Sequence[Finding], contents: Mapping[str, str]) -> bytes:
    """A JSON array: `[{"path", "line", "column", "level", "code", "at", "problem", "advice"}]`."""
    rows = []
    for finding in findings:
        spot = _spot(finding, contents)
        rows.append(
            {
                "path": finding.path,
                "line": spot.line if spot else None,
                "column": spot.column if spot else None,
                "level": finding.level,
                "code": finding.code,
                "at": finding.at,
                "problem": finding.problem,
                "advice": finding.advice,
            }
        )
    return orjson.dumps(rows, option=orjson.OPT_INDENT_2)


def as_github(findings: Sequence[Finding], contents: Mapping[str, str]) -> str:
    """One workflow command for each finding, which GitHub shows beside the line.

    Source: GitHub documentation, "Workflow commands for GitHub Actions".
    """
    return "\n".join(_command(finding, contents) for finding in findings)


def _paragraph(finding: Finding, contents: Mapping[str, str]) -> Iterator[str]:
    spot = _spot(finding, contents)
    place = f"{finding.path}:{spot.line}:{spot.column}" if spot else finding.path
    yield f"{place}: {finding.level} {finding.code}: {finding.problem}"
    if spot:
        before, shown = _window(spot.text, spot.at - 1)
        yield f"    {shown}"
        yield f"    {' ' * before}^"
    where = f"{finding.at}: " if finding.at else ""
    yield f"    {where}{finding.advice}"


def _command(finding: Finding, contents: Mapping[str, str]) -> str:
    spot = _spot(finding, contents)
    name = "error" if finding.level == "fault" else "warning"
    fields = [f"file={_escaped(finding.path, ':,')}"]
    if spot:
        fields += [f"line={spot.line}", f"col={spot.column}"]
    fields.append(f"title={finding.code}")
    sentence = f"{finding.at}: {finding.problem}; {finding.advice}".removeprefix(": ")
    return f"::{name} {','.join(fields)}::{_escaped(sentence)}"


def _escaped(text: str, more: str = "") -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _spot(finding: Finding, contents: Mapping[str, str]) -> Spot | None:
    content = contents.get(finding.path)
    if content is None:
        return None
    place = locate(content, finding.at) if finding.at else None
    if finding.line is not None and finding.at:
        inner = _value_line(content, finding.at, finding.line)
        if inner is not None and place is not None:
            return Spot(
                line=place[0], column=place[1], text=inner, at=finding.column or _first(inner)
            )
    line, column = place or (finding.line or 1, finding.column or 1)
    lines = content.splitlines() or [""]
    return Spot(line=line, column=column, text=lines[min(line, len(lines)) - 1], at=column)


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


def _window(line: str, at: int) -> tuple[int, str]:
    """At most `WIDTH` characters of `line` around `at`, and where in them that is."""
    line = "".join(character if character.isprintable() else " " for character in line)
    if len(line) <= WIDTH:
        return at, line
    start = max(0, min(at - WIDTH // 2, len(line) - WIDTH))
    cut = line[start : start + WIDTH]
    shown = ("…" + cut[1:]) if start else cut
    return at - start, (shown[:-1] + "…") if start + WIDTH < len(line) else shown
