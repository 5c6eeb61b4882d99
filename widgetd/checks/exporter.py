"""What Studio's exporter lost or bent, found by holding the template against the JSX.

The two are read as sequences of components, each as source text: the JSX just
enough to find tags and the ends of their expressions, the template as JSON with
Jinja in it, without rendering anything. Where the types of two components
agree, what each says is compared, by its words and not by its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher

from widgetd.errors import Finding
from widgetd.template.exported import LEXEME, WRAPPED
from widgetd.widget.widget import Widget

_LOST = "W1307"
_NOTHING = frozenset({"null", "undefined", ""})
_STRINGS = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""", re.DOTALL)
_LITERAL_TEXT = re.compile(r"`[^`]*`", re.DOTALL)
_NAME = re.compile(r"(?<![.\w$])[A-Za-z_$][\w$]*+(?!\s*:)")
_NONE = re.compile(r"\{\{-?\s*\(?\s*none\s*\)?\s*(\|\s*tojson\s*)?-?\}\}", re.IGNORECASE)

_LANGUAGE = frozenset(
    {
        *("true", "false", "null", "undefined", "typeof", "new", "return", "const", "let", "in"),
        *("String", "Number", "Boolean", "Array", "Object", "Math", "Date", "JSON", "Intl"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """One component as it is written, in JSX or in a template.

    Attributes:
        type: `Text`.
        line: Where it begins, from 1.
        attributes: What it says, by name, as source text: `items.join(", ")`.
    """

    type: str
    line: int
    attributes: Mapping[str, str]


def template_warnings(widget: Widget) -> Iterator[Finding]:
    """What the template alone tells of mistakes, and what the JSX beside it tells of losses."""
    definition = widget.definition
    studio = definition.studio
    lost = [] if studio is None else list(exporter_losses(studio.view, definition.template))
    lines = {one.line for one in lost}
    for warning in widget.template.warnings:
        # What the JSX tells of a loss is more than the template alone can.
        if warning.code != _LOST or warning.line not in lines:
            yield replace(warning, at="/template")
    yield from lost


def exporter_losses(view: str, template: str) -> Iterator[Finding]:
    """Each value and component that the JSX `view` has and the `template` has not (W1307).

    Nothing is said of a template that writes components which the JSX does not have: it was
    reworked by hand, and is no export any more.
    """
    meant, written = jsx_elements(view), template_elements(template)
    blocks = SequenceMatcher(
        None, [one.type for one in meant], [one.type for one in written], autojunk=False
    ).get_matching_blocks()
    if sum(block.size for block in blocks) < len(written):
        return
    found = {block.a + n: written[block.b + n] for block in blocks for n in range(block.size)}
    for index, element in enumerate(meant):
        if index in found:
            yield from _lost(element, found[index])
        elif written:
            problem = f"the exporter lost the '{element.type}' of line {element.line} of the JSX"
            yield _finding(problem, written[0].line)


def wrapped_data(template: str) -> Iterator[Finding]:
    """Each property whose objects the exporter took for components (W1324).

    An object with a `type` that is a string, as in a chart's series, looks like one.
    """
    for component in template_elements(template):
        for name, raw in component.attributes.items():
            if name != "children" and WRAPPED.search(raw):
                yield Finding(
                    code="W1324",
                    at="/template",
                    line=component.line,
                    problem=f"the exporter made 'Text' components of '{name}' of "
                    f"'{component.type}', which is data",
                    advice="widgetd draws the data; to be understood by others, replace each "
                    '{"type": "Text", "value": {…}} by its value',
                )


def _lost(meant: Element, written: Element) -> Iterator[Finding]:
    for name, source in meant.attributes.items():
        if source in _NOTHING or name == "children":
            continue
        raw = written.attributes.get(name)
        if raw is None:
            left = "nothing"
        elif _NONE.fullmatch(raw):
            left = "none"
        else:
            gone = (one for one in _names(source) if not re.search(rf"\b{re.escape(one)}\b", raw))
            left = next((f"nothing of '{one}'" for one in gone), "")
        if left:
            line = " ".join(source.split())
            shortened = line if len(line) <= 60 else line[:59] + "…"
            problem = (
                f"the exporter lost '{name}' of '{written.type}': "
                f"the JSX says {shortened}, the template says {left}"
            )
            yield _finding(problem, written.line)


def _finding(problem: str, line: int) -> Finding:
    advice = "write in the template what the JSX says, or simplify the JSX and export again"
    return Finding(code=_LOST, at="/template", line=line, problem=problem, advice=advice)


def _names(expression: str) -> list[str]:
    """The variables that a JSX expression reads, as far as its words tell."""

    def interpolated(literal: re.Match[str]) -> str:
        return " ".join(re.findall(r"\$\{([^{}]*)\}", literal.group()))

    bare = _STRINGS.sub('""', _LITERAL_TEXT.sub(interpolated, expression))
    bound = {
        name
        for pattern in re.findall(r"\(?([\w\s,$]*)\)?\s*=>", bare)
        for name in re.findall(r"[\w$]+", pattern)
    }
    names = dict.fromkeys(_NAME.findall(bare))
    return [name for name in names if name not in _LANGUAGE and name not in bound]


# The JSX. What is never closed goes on to the end, or every later beginning would be tried in vain.
_TAG = re.compile(r"<([A-Z][\w.]*)|/\*.*?(?:\*/|\Z)", re.DOTALL)
_ATTRIBUTE = re.compile(r"""\s*(?:([A-Za-z_][\w-]*)\s*(=)?\s*|(\{)|(/?>))""")
_STRING = re.compile(r""""(?:[^"\\]|\\.)*+(?:"|\Z)|'(?:[^'\\]|\\.)*+(?:'|\Z)""", re.DOTALL)
_SKIPPED = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)


def jsx_elements(view: str) -> list[Element]:
    """Every element of `view`, in the order of the text."""
    found: list[Element] = []
    at, line, counted = 0, 1, 0
    while tag := _TAG.search(view, at):
        at = tag.end()
        if not tag.group(1):
            continue
        line += view.count("\n", counted, tag.start())
        counted = tag.start()
        attributes, at = _attributes(view, at)
        found.append(Element(type=tag.group(1), line=line, attributes=attributes))
    return found


def _attributes(view: str, at: int) -> tuple[dict[str, str], int]:
    """The attributes of the tag that goes on at `at`, and where they end."""
    attributes: dict[str, str] = {}
    while match := _ATTRIBUTE.match(view, at):
        name, equals, spread, end = match.groups()
        at = match.end()
        if end:
            break
        if spread:
            at = _closing(view, at)
        elif not equals:
            attributes[name] = "true"
        elif string := _STRING.match(view, at):
            attributes[name], at = string.group(), string.end()
        elif view[at : at + 1] == "{":
            start, at = at + 1, _closing(view, at + 1)
            attributes[name] = view[start : at - 1].strip()
        else:
            attributes[name] = ""
    return attributes, at


def _closing(text: str, at: int) -> int:
    """Where the brace that was opened before `at` has been closed."""
    # Braces and template literals that are open, the innermost last.
    around = ["{"]
    while around and at < len(text):
        if around[-1] == "`":
            if text.startswith("${", at):
                around.append("{")
                at += 2
                continue
            if text[at] == "`":
                around.pop()
            at += 2 if text[at] == "\\" else 1
        elif skipped := _STRING.match(text, at) or _SKIPPED.match(text, at):
            at = skipped.end()
        else:
            if text[at] in "{`":
                around.append(text[at])
            elif text[at] == "}":
                around.pop()
            at += 1
    return at


@dataclass(slots=True)
class _Frame:
    """An object or array being read."""

    is_object: bool
    of_component: bool
    line: int
    index: int
    attributes: dict[str, str] = field(default_factory=dict)
    key: str = ""
    value_at: int | None = None


def template_elements(template: str) -> list[Element]:
    """Every component that `template` writes, in the order of the text.

    A component is an object with a type among children, or the root.
    """
    reader = _TemplateReader(template)
    for match in LEXEME.finditer(template):
        reader.read(match)
    return [element for element in reader.found if element is not None]


class _TemplateReader:
    def __init__(self, template: str) -> None:
        self.found: list[Element | None] = []
        self._template = template
        self._frames: list[_Frame] = []
        # The line of the last bracket, and where it stands.
        self._line, self._counted = 1, 0

    def read(self, match: re.Match[str]) -> None:
        """Take in the next lexeme."""
        mark, at = match.group("mark"), match.start()
        frame = self._frames[-1] if self._frames else None
        if mark and mark in "{[":
            self._open(frame, at, is_object=mark == "{")
        elif frame is None:
            return
        elif mark and mark in "}]":
            self._close(at)
        elif frame.is_object:  # a key, what separates, or part of a value
            if mark == ",":
                self._end_value(frame, at)
            elif mark == ":" and frame.value_at is None:
                frame.value_at = match.end()
            elif match.group("string") and frame.value_at is None:
                frame.key = match.group("string")[1:-1]

    def _open(self, around: _Frame | None, at: int, *, is_object: bool) -> None:
        in_children = around is None or (around.of_component and not around.is_object)
        if around is not None and around.is_object:
            in_children = around.of_component and around.key == "children"
        self._line += self._template.count("\n", self._counted, at)
        self._counted = at
        self._frames.append(_Frame(is_object, in_children, self._line, len(self.found)))
        if is_object and in_children:
            self.found.append(None)

    def _close(self, at: int) -> None:
        frame = self._frames.pop()
        if not frame.is_object:
            return
        self._end_value(frame, at)
        name = frame.attributes.get("type", "")
        if frame.of_component and name.startswith('"'):
            self.found[frame.index] = Element(
                type=name.strip('"'), line=frame.line, attributes=frame.attributes
            )

    def _end_value(self, frame: _Frame, at: int) -> None:
        if frame.value_at is not None:
            frame.attributes[frame.key] = self._template[frame.value_at : at].strip()
        frame.value_at = None
