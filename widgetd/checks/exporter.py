"""What Studio's exporter lost or bent, found by holding the template against the JSX.

The two are read as sequences of components; where their types agree, what each
says is compared, by its words and not by its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from widgetd.checks.jsx import Element, elements
from widgetd.checks.written import components
from widgetd.errors import Finding

_NOTHING = frozenset({"null", "undefined", ""})
_STRINGS = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""", re.DOTALL)
_LITERAL_TEXT = re.compile(r"`[^`]*`", re.DOTALL)
_NAME = re.compile(r"(?<![.\w$])[A-Za-z_$][\w$]*+(?!\s*:)")
_NONE = re.compile(r"\{\{-?\s*\(?\s*none\s*\)?\s*(\|\s*tojson\s*)?-?\}\}", re.IGNORECASE)
_WRAPPED = re.compile(r'\{\s*"type"\s*:\s*"Text"\s*,\s*"value"\s*:\s*\{(?![{%#])')

_LANGUAGE = frozenset(
    {
        *("true", "false", "null", "undefined", "typeof", "new", "return", "const", "let", "in"),
        *("String", "Number", "Boolean", "Array", "Object", "Math", "Date", "JSON", "Intl"),
    }
)

_ADVICE = "write in the template what the JSX says, or simplify the JSX and export again"


def exporter_losses(view: str, template: str) -> Iterator[Finding]:
    """Each value and component that the JSX `view` has and the `template` has not (W1307).

    Nothing is said of a template that writes components which the JSX does not have: it was
    reworked by hand, and is no export any more.
    """
    meant, written = elements(view), components(template)
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
    for component in components(template):
        for name, raw in component.attributes.items():
            if name != "children" and _WRAPPED.search(raw):
                yield Finding(
                    code="W1324",
                    at="/template",
                    line=component.line,
                    problem=f"the exporter made 'Text' components of '{name}' of "
                    f"'{component.type}', which is data",
                    advice='replace each {"type": "Text", "value": {…}} by its value',
                )


def _lost(meant: Element, written: Element) -> Iterator[Finding]:
    for name, said in meant.attributes.items():
        raw = written.attributes.get(name)
        how = "" if said in _NOTHING or name == "children" else _loss(said, raw)
        if how:
            problem = (
                f"the exporter lost '{name}' of '{written.type}': "
                f"the JSX says {_shortened(said)}, the template says {how}"
            )
            yield _finding(problem, written.line)


def _loss(said: str, raw: str | None) -> str:
    """What is left in the template of an attribute; empty where nothing is lost."""
    if raw is None:
        return "nothing"
    if _NONE.fullmatch(raw):
        return "none"
    gone = (name for name in _names(said) if not re.search(rf"\b{re.escape(name)}\b", raw))
    return next((f"nothing of '{name}'" for name in gone), "")


def _finding(problem: str, line: int) -> Finding:
    return Finding(code="W1307", at="/template", line=line, problem=problem, advice=_ADVICE)


def _names(expression: str) -> list[str]:
    """The variables that a JSX expression reads, as far as its words tell."""
    bare = _STRINGS.sub('""', _LITERAL_TEXT.sub(_interpolated, expression))
    bound = {
        name
        for pattern in re.findall(r"\(?([\w\s,$]*)\)?\s*=>", bare)
        for name in re.findall(r"[\w$]+", pattern)
    }
    names = dict.fromkeys(_NAME.findall(bare))
    return [name for name in names if name not in _LANGUAGE and name not in bound]


def _interpolated(literal: re.Match[str]) -> str:
    """What stands in the `${…}` of a template literal."""
    return " ".join(re.findall(r"\$\{([^{}]*)\}", literal.group()))


def _shortened(source: str) -> str:
    line = " ".join(source.split())
    return line if len(line) <= 60 else line[:59] + "…"
