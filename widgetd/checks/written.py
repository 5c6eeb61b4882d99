"""Which components a template writes, and what each says, as source text.

Reads JSON with Jinja in it, as Studio exports it, without rendering anything.
A component is an object with a type among children, or the root.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from widgetd.checks.jsx import Element

# What is never closed goes on to the end, and nothing is tried twice: a template may be anyone's.
_JINJA = r"(?>\{\{.*?(?:\}\}|\Z)|\{%.*?(?:%\}|\Z)|\{#.*?(?:#\}|\Z))"
_LEXEME = re.compile(
    rf"(?P<jinja>{_JINJA})"
    rf'|(?P<string>"(?:[^"\\{{]|\\.|{_JINJA}|\{{)*+(?:"|\Z))'
    r"|(?P<mark>[{}\[\],:])|[^\s{}\[\],:\"]+",
    re.DOTALL,
)


@dataclass(slots=True)
class _Frame:
    """An object or array being read."""

    is_object: bool
    of_component: bool
    line: int
    attributes: dict[str, str] = field(default_factory=dict)
    key: str = ""
    value_at: int | None = None
    place: int = 0


def components(template: str) -> list[Element]:
    """Every component that `template` writes, in the order of the text."""
    reader = _Reader(template)
    for match in _LEXEME.finditer(template):
        reader.step(match)
    return [element for element in reader.found if element is not None]


class _Reader:
    def __init__(self, template: str) -> None:
        self.found: list[Element | None] = []
        self._template = template
        self._frames: list[_Frame] = []
        # The line of the last bracket, and where it stands.
        self._line, self._counted = 1, 0

    def step(self, match: re.Match[str]) -> None:
        mark = match.group("mark")
        if mark and mark in "{[":
            self._open(match.start(), is_object=mark == "{")
        elif mark and mark in "}]":
            self._close(match.start())
        elif self._frames and self._frames[-1].is_object:
            self._within(self._frames[-1], match)

    def _open(self, at: int, *, is_object: bool) -> None:
        around = self._frames[-1] if self._frames else None
        children = around is None or (around.of_component and not around.is_object)
        if around is not None and around.is_object:
            children = around.of_component and around.key == "children"
        self._line += self._template.count("\n", self._counted, at)
        self._counted = at
        frame = _Frame(is_object, children, self._line, place=len(self.found))
        if is_object and children:
            self.found.append(None)
        self._frames.append(frame)

    def _close(self, at: int) -> None:
        if not self._frames:
            return
        frame = self._frames.pop()
        if not frame.is_object:
            return
        self._end_value(frame, at)
        name = frame.attributes.get("type", "")
        if frame.of_component and name.startswith('"'):
            self.found[frame.place] = Element(
                type=name.strip('"'), line=frame.line, attributes=frame.attributes
            )

    def _within(self, frame: _Frame, match: re.Match[str]) -> None:
        """A lexeme directly in an object: a key, what separates, or part of a value."""
        if match.group("mark") == ",":
            self._end_value(frame, match.start())
        elif match.group("mark") == ":" and frame.value_at is None:
            frame.value_at = match.end()
        elif match.group("string") and frame.value_at is None:
            frame.key = match.group("string")[1:-1]

    def _end_value(self, frame: _Frame, at: int) -> None:
        if frame.value_at is not None:
            frame.attributes[frame.key] = self._template[frame.value_at : at].strip()
        frame.value_at = None
