"""Findings for three readers: a person at a terminal, a program, a pull request.

Shows where each is, with the line it is about. A template is one long line of
JSON with lines of its own inside, and a sidecar is TOML; a finding may mean any
of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

from widgetd.errors import CODES, Finding
from widgetd.schema.json_text import find_key_offsets, line_and_column
from widgetd.schema.json_values import resolve_pointer
from widgetd.widget.document import ENCODED, VIEW, WidgetDocument
from widgetd.widget.hidden_characters import escape_hidden
from widgetd.widget.sidecar import SUFFIX, find_line

WIDTH = 76
"""Characters of an excerpt; a template is one long line of JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where a finding is: in the file, and in the text that it is about.

    Attributes:
        line: The line in the file, from 1.
        column: The column in it, from 1.
        text: The line that the finding is about, of the file or of the value at its pointer.
        text_column: The column in that text, from 1.
    """

    line: int
    column: int
    text: str
    text_column: int

    def excerpt(self) -> tuple[int, str]:
        """At most `WIDTH` characters of the text, and where in them the finding is, from 0."""
        line = "".join(character if character.isprintable() else " " for character in self.text)
        at = self.text_column - 1
        if len(line) <= WIDTH:
            return at, line
        start = max(0, min(at - WIDTH // 2, len(line) - WIDTH))
        cut = line[start : start + WIDTH]
        shown = ("…" + cut[1:]) if start else cut
        return at - start, (shown[:-1] + "…") if start + WIDTH < len(line) else shown


class Locations:
    """Where findings are in the files that they are about, each of which is read through once."""

    def __init__(self, contents: Mapping[str, str]) -> None:
        self._contents = contents
        self._offsets: dict[str, Mapping[str, int]] = {}

    def of(self, finding: Finding) -> Location | None:
        """Where it is; None where its file cannot be read."""
        content = self._contents.get(finding.path)
        if content is None:
            return None
        if finding.path.endswith(SUFFIX):
            line = finding.line or find_line(content, finding.at) or 1
            text = _line(content, line)
            column = finding.column or _first(text)
            return Location(line=line, column=column, text=text, text_column=column)
        in_view = finding.at == VIEW
        place = self._place(finding.path, content, ENCODED if in_view else finding.at)
        if finding.line is not None and place is not None:
            # The line is one of the text at the pointer, which is a template mostly.
            try:
                document = WidgetDocument(content=orjson.loads(content))
                value = document.view if in_view else resolve_pointer(document.content, finding.at)
            except orjson.JSONDecodeError:
                value = None
            lines = value.splitlines() if isinstance(value, str) else []
            if finding.line <= len(lines):
                line, column = place
                inner = lines[finding.line - 1]
                at = finding.column or _first(inner)
                return Location(line=line, column=column, text=inner, text_column=at)
        line, column = place or (finding.line or 1, finding.column or 1)
        return Location(line=line, column=column, text=_line(content, line), text_column=column)

    def _place(self, path: str, content: str, at: str) -> tuple[int, int] | None:
        if not at:
            return None
        if path not in self._offsets:
            self._offsets[path] = find_key_offsets(content)
        offset = self._offsets[path].get(at)
        return None if offset is None else line_and_column(content, offset)


def _line(content: str, line: int) -> str:
    lines = content.splitlines() or [""]
    return lines[min(line, len(lines)) - 1]


def _first(line: str) -> int:
    return len(line) - len(line.lstrip()) + 1


def as_text(findings: Sequence[Finding], contents: Mapping[str, str]) -> str:
    """One paragraph for each finding, with the line that it is about and a caret below.

    The contents are those of each file that a finding is about, where it can be read.
    """
    lines, locations = [], Locations(contents)
    for finding in findings:
        location = locations.of(finding)
        place = f"{finding.path}:{location.line}:{location.column}" if location else finding.path
        lines.append(f"{place}: {finding.level} {finding.code}: {finding.problem}")
        if location:
            before, shown = location.excerpt()
            lines += [f"    {shown}", f"    {' ' * before}^"]
        where = f"{finding.at}: " if finding.at else ""
        lines.append(f"    {where}{finding.advice}")
    return "\n".join(map(for_terminal, lines))


def for_terminal(line: str) -> str:
    """`line` without what would end it or move a terminal's cursor; names of files may hold it."""
    return "".join(character if character.isprintable() else "\ufffd" for character in line)


def as_json(findings: Sequence[Finding], contents: Mapping[str, str]) -> str:
    """A JSON array: `[{"path", "line", "column", "level", "code", "at", "problem", "advice"}]`."""
    rows, locations = [], Locations(contents)
    for finding in findings:
        location = locations.of(finding)
        rows.append(
            {
                "path": finding.path,
                "line": location.line if location else None,
                "column": location.column if location else None,
                "level": finding.level,
                "code": finding.code,
                "at": finding.at,
                "problem": finding.problem,
                "advice": finding.advice,
            }
        )
    return escape_hidden(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())


def as_github(findings: Sequence[Finding], contents: Mapping[str, str]) -> str:
    """One workflow command for each finding, which GitHub shows beside the line.

    Source: GitHub documentation, "Workflow commands for GitHub Actions".
    """
    lines, locations = [], Locations(contents)
    for finding in findings:
        location = locations.of(finding)
        name = "error" if finding.level == "fault" else "warning"
        fields = [f"file={for_terminal(_escaped(finding.path, ':,'))}"]
        if location:
            fields += [f"line={location.line}", f"col={location.column}"]
        fields.append(f"title={finding.code}")
        sentence = f"{finding.at}: {finding.problem}; {finding.advice}".removeprefix(": ")
        lines.append(f"::{name} {','.join(fields)}::{for_terminal(_escaped(sentence))}")
    return "\n".join(lines)


_CODES_HEAD = """\
# Codes

Every way in which widgetd says no has a code that does not change. A *fault* keeps a file or a
call from being served as it stands; a *warning* does not. `W0xxx` is for the operator, `W1xxx` for
the author of a file, `W2xxx` for the caller of a tool, `W3xxx` for whoever writes widgets by tools,
`W4xxx` for whoever acts in a widget in a browser. `widgetd codes` prints this page.

| code | level | meaning |
|---|---|---|
"""


def codes_as_markdown() -> str:
    """`docs/codes.md`: every code, with its level and what it means."""
    rows = (f"| {code.code} | {code.level} | {code.meaning} |" for code in CODES.values())
    return _CODES_HEAD + "\n".join(rows)


def _escaped(text: str, more: str = "") -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text
