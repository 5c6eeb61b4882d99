"""Findings for three readers: a person at a terminal, a program, a pull request.

Shows where each is, in the file, with the line it is about. It refuses to know
how findings come about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import orjson

from widgetd.errors import CODES, Finding
from widgetd.widget.location import Spot, spot_of, window


def as_text(findings: Sequence[Finding], contents: Mapping[str, str]) -> str:
    """One paragraph for each finding, with the line that it is about and a caret below.

    Args:
        findings: In the order they are told.
        contents: The text of each file that a finding is about, where it can be read.
    """
    lines = (line for finding in findings for line in _paragraph(finding, contents))
    return "\n".join(map(_printable, lines))


def as_json(findings: Sequence[Finding], contents: Mapping[str, str]) -> str:
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
    return orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode()


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
        before, shown = window(spot.text, spot.at - 1)
        yield f"    {shown}"
        yield f"    {' ' * before}^"
    where = f"{finding.at}: " if finding.at else ""
    yield f"    {where}{finding.advice}"


def _printable(line: str) -> str:
    """`line` as a terminal shows it: the name of a file may hold what moves its cursor."""
    return "".join(character if character.isprintable() else "\ufffd" for character in line)


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
    return None if content is None else spot_of(finding, content)


def codes_as_markdown() -> str:
    """Every code, what it means, and whether it keeps a file or a call from being served."""
    rows = [f"| {code.code} | {code.level} | {code.meaning} |" for code in CODES.values()]
    return "\n".join(("| code | level | meaning |", "|---|---|---|", *rows))
