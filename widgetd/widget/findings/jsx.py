"""Which elements a JSX view holds, and what each says, as source text.

Reads just enough of JSX to find tags and the ends of their expressions; it
refuses to understand the expressions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_TAG = re.compile(r"<([A-Z][\w.]*)|/\*.*?\*/", re.DOTALL)
_ATTRIBUTE = re.compile(r"""\s*(?:([A-Za-z_][\w-]*)\s*(=)?\s*|(\{)|(/?>))""")
_STRING = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""", re.DOTALL)
_SKIPPED = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """One component as it is written, in JSX or in a template.

    Attributes:
        type: `Text`.
        line: Where it begins, from 1.
        attributes: What it says, by name, as source text: `items.join(", ")`.
        complete: Whether nothing else may be said, as by `{...rest}`.
    """

    type: str
    line: int
    attributes: Mapping[str, str]
    complete: bool = True


def elements(view: str) -> list[Element]:
    """Every element of `view`, in the order of the text."""
    found: list[Element] = []
    at = 0
    while tag := _TAG.search(view, at):
        at = tag.end()
        if not tag.group(1):
            continue
        line = view.count("\n", 0, tag.start()) + 1
        attributes, complete, at = _attributes(view, at)
        found.append(
            Element(type=tag.group(1), line=line, attributes=attributes, complete=complete)
        )
    return found


def _attributes(view: str, at: int) -> tuple[dict[str, str], bool, int]:
    """The attributes of the tag that goes on at `at`, whether they are all, and where they end."""
    attributes: dict[str, str] = {}
    complete = True
    while match := _ATTRIBUTE.match(view, at):
        name, equals, spread, end = match.groups()
        at = match.end()
        if end:
            break
        if spread:
            at = _closing(view, at)
            complete = False
        elif equals:
            attributes[name], at = _value(view, at)
        else:
            attributes[name] = "true"
    return attributes, complete, at


def _value(view: str, at: int) -> tuple[str, int]:
    if string := _STRING.match(view, at):
        return string.group(), string.end()
    if view[at : at + 1] != "{":
        return "", at
    end = _closing(view, at + 1)
    return view[at + 1 : end - 1].strip(), end


def _closing(text: str, at: int) -> int:
    """Where the brace that was opened before `at` has been closed."""
    depth = 1
    while at < len(text) and depth:
        skipped = _STRING.match(text, at) or _SKIPPED.match(text, at)
        if skipped:
            at = skipped.end()
            continue
        if text[at] == "`":
            at = _template_literal(text, at + 1)
            continue
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return at


def _template_literal(text: str, at: int) -> int:
    """Where the template literal that was opened before `at` has been closed."""
    while at < len(text) and text[at] != "`":
        if text[at] == "\\":
            at += 2
        elif text.startswith("${", at):
            at = _closing(text, at + 2)
        else:
            at += 1
    return at + 1
