"""Reports of findings for a terminal, a program, or a pull request.

A finding may refer to the file, to a text inside its JSON, or to the sidecar's TOML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from widgetd.base.errors import CODES, Finding
from widgetd.base.limits import Limits
from widgetd.core.checks.limits import LIMITS
from widgetd.core.schema.json_text import find_key_offsets, line_and_column
from widgetd.core.schema.json_values import pointer, resolve_pointer
from widgetd.core.template.jsx import constant_offsets
from widgetd.core.template.parser import Fault
from widgetd.core.widget.document import ENCODED, VIEW, WidgetDocument
from widgetd.core.widget.hidden_characters import escape_hidden
from widgetd.core.widget.naming import JSX_SUFFIX
from widgetd.core.widget.sidecar import SUFFIX, find_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """The place of a finding in its file, and in the text of its value.

    Attributes:
        line: The line in the file, from 1.
        column: The column in it, from 1.
        text: The finding's line of the file, or of the value at its pointer.
        text_column: The column in that text, from 1.
    """

    line: int
    column: int
    text: str
    text_column: int

    def excerpt(self) -> tuple[int, str]:
        """Cut an excerpt of the text, and return it after the finding's offset in it, from 0."""
        line = "".join(character if character.isprintable() else " " for character in self.text)
        at, width = self.text_column - 1, LIMITS.excerpt_characters
        if len(line) <= width:
            return at, line
        start = max(0, min(at - width // 2, len(line) - width))
        cut = line[start : start + width]
        visible = ("…" + cut[1:]) if start else cut
        return at - start, (visible[:-1] + "…") if start + width < len(line) else visible


def locate(finding: Finding, contents: Mapping[str, str]) -> Location | None:
    content = contents.get(finding.path)
    if content is None:
        return None
    if finding.path.endswith(SUFFIX):
        line = finding.line or find_line(content, finding.at) or 1
        text = _line_at(content, line)
        column = finding.column or _first_column(text)
        return Location(line=line, column=column, text=text, text_column=column)
    in_view = finding.at == VIEW
    at = ENCODED if in_view else finding.at
    offset = (
        _find_offsets(content, is_jsx=finding.path.endswith(JSX_SUFFIX)).get(at) if at else None
    )
    place = None if offset is None else line_and_column(content, offset)
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
            inner_column = finding.column or _first_column(inner)
            return Location(line=line, column=column, text=inner, text_column=inner_column)
    line, column = place or (finding.line or 1, finding.column or 1)
    return Location(line=line, column=column, text=_line_at(content, line), text_column=column)


# Findings come file by file.
@lru_cache(maxsize=1)
def _find_offsets(content: str, *, is_jsx: bool) -> Mapping[str, int]:
    if not is_jsx:
        return find_key_offsets(content)
    try:
        offsets = constant_offsets(content, limits=Limits())
    except Fault:
        return {}
    return {
        pointer("jsonSchema" if at[0] == "schema" else at[0], *at[1:]): start
        for at, start in offsets.items()
    }


def _line_at(content: str, line: int) -> str:
    lines = content.splitlines() or [""]
    return lines[min(line, len(lines)) - 1]


def _first_column(line: str) -> int:
    return len(line) - len(line.lstrip()) + 1


def format_text(findings: Sequence[Finding], contents: Mapping[str, str]) -> str:
    """Format each finding as a paragraph, with its line and a caret below."""
    lines = []
    for finding in findings:
        location = locate(finding, contents)
        place = f"{finding.path}:{location.line}:{location.column}" if location else finding.path
        lines.append(f"{place}: {finding.level} {finding.code}: {finding.problem}")
        if location:
            before, excerpt = location.excerpt()
            lines += [f"    {excerpt}", f"    {' ' * before}^"]
        where = f"{finding.at}: " if finding.at else ""
        lines.append(f"    {where}{finding.advice}")
    return "\n".join(map(escape_for_terminal, lines))


def escape_for_terminal(line: str) -> str:
    """Replace characters in a name that end a line or move a terminal's cursor."""
    return "".join(character if character.isprintable() else "\ufffd" for character in line)


def format_json(findings: Sequence[Finding], contents: Mapping[str, str]) -> str:
    rows = []
    for finding in findings:
        place = locate(finding, contents)
        line, column = (place.line, place.column) if place else (None, None)
        rows.append(describe(finding, line, column))
    return escape_hidden(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())


def describe(finding: Finding, line: int | None, column: int | None) -> dict[str, Any]:
    """Describe as `{"path", "line", "column", "level", "code", "at", "problem", "advice"}`."""
    return {
        "path": finding.path,
        "line": line,
        "column": column,
        "level": finding.level,
        "code": finding.code,
        "at": finding.at,
        "problem": finding.problem,
        "advice": finding.advice,
    }


def format_github(findings: Sequence[Finding], contents: Mapping[str, str]) -> str:
    """Format findings as workflow commands. GitHub shows them beside the line.

    Source: GitHub documentation, "Workflow commands for GitHub Actions".
    """
    lines = []
    for finding in findings:
        location = locate(finding, contents)
        name = "error" if finding.level == "fault" else "warning"
        fields = [f"file={escape_for_terminal(_escape(finding.path, ':,'))}"]
        if location:
            fields += [f"line={location.line}", f"col={location.column}"]
        fields.append(f"title={finding.code}")
        sentence = f"{finding.at}: {finding.problem}; {finding.advice}".removeprefix(": ")
        lines.append(f"::{name} {','.join(fields)}::{escape_for_terminal(_escape(sentence))}")
    return "\n".join(lines)


_CODES_HEAD = """\
# Codes

Every fault and warning of widgetd has a code that does not change. A *fault* keeps a file or a
call from being served; a *warning* does not. `W0xxx` addresses the operator, `W1xxx` the author of
a file, `W2xxx` the caller of a tool, `W3xxx` the author who writes widgets by tools, `W4xxx` the
user of sessions and tests, `W5xxx` the operator of upstreams. `widgetd guide codes` prints them.

| code | level | meaning |
|---|---|---|
"""


def format_codes() -> str:
    """Format `docs/codes.md`: all codes, with level and meaning."""
    rows = (f"| {code.code} | {code.level} | {code.meaning} |" for code in CODES.values())
    return _CODES_HEAD + "\n".join(rows)


def _escape(text: str, more: str = "") -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text
