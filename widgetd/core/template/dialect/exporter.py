"""The exporter's constructs unknown to Jinja, and their evident meaning.

Words and operators of JavaScript are read as such, commas between values are repaired, and two
losses with a trace in the text are undone. The exporter writes a template literal in further
parentheses, but without its conversion to text. It also takes an object with a `type` for a
component. No offset moves.

    {x}             {{ (x) | tojson }}              {`${x}`}        {{ ((x)) | tojson }}
    {i + 1}         {{ ((i + 1)) | tojson }}        {`${i + 1}`}    {{ (((i + 1))) | tojson }}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile
from types import MappingProxyType
from typing import Final

from jinja2.lexer import Token

from widgetd.base.limits import AT_WORK
from widgetd.base.text_search import compile_pattern, read_tokens
from widgetd.core.template.lexer import normalise, tokens_of_tag

# --- words and operators ---

STRICT_OPERATORS: Final = frozenset({"eq", "ne"})
"""The tokens that a stray `=` follows where the exporter left `===` and `!==`."""

NOTHING_NAMES: Final = frozenset({"null", "undefined"})
"""The names that stand for JavaScript's own words for nothing."""

INDEX_NAMES: Final = frozenset({"i", "j", "idx", "index"})
"""Usual names of the position in `xs.map((x, i) => …)`, which old exports do not bind."""

_ADVICE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "unexpected char '&'": "write 'and'",
        "unexpected char '?'": "write 'yes if condition else no'",
        "unexpected char '!'": "write 'not'",
        "expected token 'name', got '|'": "write 'or'",
    }
)


def advice(problem: str) -> str:
    right = (right for start, right in _ADVICE.items() if problem.startswith(start))
    return next(right, "write it as Jinja reads it")


# --- texts of template literals ---

_DOUBLED: Final = compile_pattern(r"\{\{[-+]?(?=\s*+\(\s*+\()")
_STEPS: Final = {"lparen": 1, "rparen": -1}

PATH_PAIRS, OTHER_PAIRS = 2, 3
"""Pairs of parentheses around a path, or an operation, that is all of a template literal."""

_PATH: Final = {
    "name": {"dot", "lbracket"},
    "dot": {"name"},
    "lbracket": {"name", "integer", "string"},
    "integer": {"rbracket"},
    "string": {"rbracket"},
    "rbracket": {"dot", "lbracket"},
}
"""The tokens that may follow each in a path such as `rows[0].name`."""

_NO_PATH: Final = NOTHING_NAMES | {"none", "None", "true", "True", "false", "False"}


@lru_cache(maxsize=AT_WORK)
def find_converted(text: str) -> frozenset[int]:
    """Return the offsets of the `tojson` filters whose values are texts in the JSX."""
    text, converted, at = normalise(text), set(), 0
    while begun := _DOUBLED.search(text, at):
        tag = tokens_of_tag(text, begun.end())
        at = tag[-1].lineno
        if _is_literal(tag):
            converted.add(tag[-2].lineno)
    return frozenset(converted)


def _is_literal(tag: Sequence[Token]) -> bool:
    value = tag[:-3]
    if [token.value for token in tag[-3:-1]] != ["|", "tojson"] or tag[-1].type != "variable_end":
        return False
    kinds = [token.type for token in value]
    depth = least = sum(1 for _ in takewhile("lparen".__eq__, kinds))
    closing = sum(1 for _ in takewhile("rparen".__eq__, reversed(kinds)))
    for kind in kinds[depth : len(kinds) - closing]:
        depth += _STEPS.get(kind, 0)
        least = min(least, depth)
    inside = value[least : len(value) - least]
    if not inside or (len(inside) == 1 and inside[0].value in _NO_PATH):
        return False
    is_path = inside[0].type == "name" and all(
        after.type in _PATH.get(before.type, ()) for before, after in pairwise(inside)
    )
    return least >= (PATH_PAIRS if is_path else OTHER_PAIRS)


# --- data taken for components ---

_JINJA: Final = r"(?>\{\{.*?(?:\}\}|\Z)|\{%.*?(?:%\}|\Z)|\{#.*?(?:#\}|\Z))"
LEXEME: Final = compile_pattern(
    rf"(?s)(?P<jinja>{_JINJA})"
    rf'|(?P<string>"(?:[^"\\{{]|\\.|{_JINJA}|\{{)*+(?:"|\\?\Z))'
    r"|(?P<mark>[{}\[\],:])|[^\s{}\[\],:\"]+",
)
"""JSON with Jinja in it. Nothing is tried twice: a template may be anyone's."""

WRAPPED: Final = compile_pattern(r'\{\s*"type"\s*:\s*"Text"\s*,\s*"value"\s*:\s*(?=\{(?![{%#]))')
"""The beginning of an object that was taken for a component."""


_NO_SPACE: Final = compile_pattern(r"\S")


def unwrap_data(text: str) -> str:
    """Return `text` with blanks for each `{"type": "Text", "value": …}` around data.

    Data is an object in a property other than `children`.
    """
    parts: list[str] = []
    at = 0
    for start, end, _ in sorted(find_wrappers(text)):
        parts += text[at:start], _NO_SPACE.sub(" ", text[start:end])
        at = end
    return "".join([*parts, text[at:]])


def find_wrappers(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the ranges of `text` at the beginning and end of each wrapper, with its property."""
    # Of each open bracket: its key, and its wrapper's beginning.
    around: list[tuple[str, tuple[int, int] | None]] = []
    string = key = ""
    for match in read_tokens(LEXEME, text) if WRAPPED.search(text) else ():
        mark, at = match["mark"], match.start()
        if match["string"]:
            string = match["string"]
        elif mark == ":":
            key = string
        elif mark and mark in "{[":
            wrapper = WRAPPED.match(text, at) if key not in {"", '"children"'} else None
            around.append((key, wrapper and wrapper.span()))
        elif mark and around:
            key, begun = around[-1]
            if mark == ",":
                if begun and at > begun[1]:  # it holds more than what it wraps
                    around[-1] = (key, None)
                continue
            around.pop()
            if begun:
                yield *begun, key
                yield at, at + 1, key
