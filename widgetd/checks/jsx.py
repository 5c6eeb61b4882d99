"""Which elements a JSX view holds, and what each says, as source text.

Reads just enough of JSX to find tags and the ends of their expressions; it
refuses to understand the expressions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

# What is never closed goes on to the end, or every later beginning would be tried in vain.
_TAG = re.compile(r"<([A-Z][\w.]*)|/\*.*?(?:\*/|\Z)", re.DOTALL)
_ATTRIBUTE = re.compile(r"""\s*(?:([A-Za-z_][\w-]*)\s*(=)?\s*|(\{)|(/?>))""")
_STRING = re.compile(r""""(?:[^"\\]|\\.)*+(?:"|\Z)|'(?:[^'\\]|\\.)*+(?:'|\Z)""", re.DOTALL)
_SKIPPED = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)


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
    at, line, counted = 0, 1, 0
    while tag := _TAG.search(view, at):
        at = tag.end()
        if not tag.group(1):
            continue
        line += view.count("\n", counted, tag.start())
        counted = tag.start()
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
    # Braces and template literals that are open, the innermost last.
    around = ["{"]
    while around and at < len(text):
        if around[-1] == "`":
            at = _in_literal(text, at, around)
        elif skipped := _STRING.match(text, at) or _SKIPPED.match(text, at):
            at = skipped.end()
        else:
            if text[at] in "{`":
                around.append(text[at])
            elif text[at] == "}":
                around.pop()
            at += 1
    return at


def _in_literal(text: str, at: int, around: list[str]) -> int:
    """Where the template literal goes on after its character at `at`."""
    if text.startswith("${", at):
        around.append("{")
        return at + 2
    if text[at] == "`":
        around.pop()
    return at + 2 if text[at] == "\\" else at + 1
