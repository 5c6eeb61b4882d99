"""The vocabulary of templates: every operator, filter, test, function and method there is.

`vocabulary.json` is the table: operands, price, and whether the page has it. The evaluator
here and the page's are tested against it. A program with a word unknown to the page is
evaluated by the server only.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from inspect import Parameter, Signature
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import orjson

from widgetd.base.text_search import compile_pattern, did_you_mean
from widgetd.core.template.ir import Expr, Op, Program, literal, operations
from widgetd.core.template.parser import Fault
from widgetd.core.template.serialise import MAX_EXACT

VOCABULARY: Final[Mapping[str, Mapping[str, Mapping[str, Any]]]] = MappingProxyType(
    orjson.loads(Path(__file__).with_suffix(".json").read_bytes())
)

FUNCTIONS: Final = frozenset(VOCABULARY["functions"])

LOOP_MEMBERS: Final = frozenset(VOCABULARY["loop members"])
"""The attributes of `loop`: `loop.index`."""

_OWNERS: Final = ("text", "list", "object", "loop", "cycler")
_METHOD_SORTS: Final = tuple(f"{owner} methods" for owner in _OWNERS)
_METHOD_NAMES: Final = tuple(sorted({name for sort in _METHOD_SORTS for name in VOCABULARY[sort]}))

REFUSED_FILTERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "attr": "write value.key or value['key']",
        "pprint": "use tojson(indent=2)",
        "random": "the same call shows the same widget; pass what is random as an argument",
        "urlize": "use a Markdown component, or a Button with an action",
        "xmlattr": "a widget is JSON; write its properties with tojson",
    }
)

REFUSED_FUNCTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "lipsum": "write the text out",
        "super": "templates do not inherit; write the text out",
        "_": "translations are not available; pass the text as an argument",
    }
)

_REFUSED: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {"filter": REFUSED_FILTERS, "test": {}, "function": REFUSED_FUNCTIONS}
)
"""Words of Jinja that are not available, each with its replacement."""

_APPLYING: Final = {
    "map": (0, "filter"),
    "select": (0, "test"),
    "reject": (0, "test"),
    "selectattr": (1, "test"),
    "rejectattr": (1, "test"),
}
"""The filters that apply another one or a test: the position of its name among the arguments."""


def require(sort: str, name: str, place: int) -> None:
    """Check that there is a filter, test or function `name`.

    Raises:
        Fault: `W1302`, at the offset `place`.
    """
    refused, names = _REFUSED[sort], VOCABULARY[f"{sort}s"]
    if name in refused:
        subject = f"{name}()" if sort == "function" else f"the {sort} '{name}'"
        raise Fault("W1302", place, f"{subject} is not available", refused[name])
    if name not in names:
        advice = did_you_mean(name, names, f"known are {', '.join(sorted(names))}")
        raise Fault("W1302", place, f"there is no {sort} '{name}'", advice)


def require_method(name: str, place: int) -> None:
    """Check that some value has a method `name`.

    Raises:
        Fault: `W1302`, at the offset `place`.
    """
    if name not in _METHOD_NAMES:
        advice = did_you_mean(name, _METHOD_NAMES, "use a filter")
        raise Fault("W1302", place, f"the method '{name}' is not available", advice)


def bind(
    sort: str, name: str, args: tuple[Expr, ...], named: dict[str, Expr], place: int
) -> tuple[tuple[Expr, ...], dict[str, Expr]]:
    """Move named arguments of a filter or test to their positions.

    Returns:
        Positional arguments, and those meant for the applied function.

    Raises:
        Fault: `W1302`, where there is none, or it does not take these arguments.
    """
    require(sort, name, place)
    try:
        bound = _signature(sort, name).bind(*args, **named)
    except TypeError as error:
        problem = f"the {sort} '{name}' cannot take these arguments"
        raise Fault("W1302", place, problem, f"{error}") from None
    if sort == "filter" and name in _APPLYING:
        at, inner = _APPLYING[name]
        if len(args) > at and isinstance(args[at], str):
            require(inner, args[at], place)
    if not named or "kwargs" in bound.arguments:
        return args, named
    passed = bound.arguments
    parameters = list(bound.signature.parameters.values())
    while parameters[-1].name not in passed:
        parameters.pop()
    # An argument left out in between is written as its default.
    return tuple(
        [passed.get(parameter.name, literal(parameter.default)) for parameter in parameters]
    ), {}


@cache
def _signature(sort: str, name: str) -> Signature:
    parameters = []
    for operand in VOCABULARY[f"{sort}s"][name]["operands"]:
        if operand == "*":
            parameters.append(Parameter("args", Parameter.VAR_POSITIONAL))
        elif operand == "**":
            parameters.append(Parameter("kwargs", Parameter.VAR_KEYWORD))
        else:
            word, default = (operand, Parameter.empty) if isinstance(operand, str) else operand
            parameters.append(Parameter(word, Parameter.POSITIONAL_OR_KEYWORD, default=default))
    return Signature(parameters)


def missing_in_page(program: Program) -> Op | None:
    """Return the first operation of `program` unknown to the page's evaluator."""
    missing = (op for op in operations(program.root) if not _is_in_page(op))
    return min(missing, key=lambda op: op.place, default=None)


def describe_operation(op: Op) -> str:
    """Return an operation as its author writes it, as `|sort`, `.localeCompare()` or `//`."""
    if op.name in {"m", "jsm", "jsloop"}:
        return f".{op.operands[0]}()"
    if op.name in {"fn", "jsfn"}:
        return f"{op.operands[0]}()"
    return _SPELLINGS.get(op.name, op.name) if op.name != "loop" else f"loop.{op.operands[1]}"


_SPELLINGS: Final = MappingProxyType(
    {
        "#": "a number of more than 53 bits",
        "()": "a call",
        "(,)": "a tuple",
        "capture": "{% set %} of a text",
        "chain": "a chain of comparisons",
        "for": "a recursive loop",
        "macro": "{% macro %}",
        "pos": "+",
        "with": "{% with %}",
    }
)
"""Operations that are written otherwise than they are named."""


def _is_in_page(op: Op) -> bool:
    if op.name in _ALWAYS:
        return True
    sort = {"|": "filters", "?": "tests"}.get(op.name[0]) if op.name not in _OPERATORS else None
    if sort:
        # The page reads no argument by name, no base of a number, and the usual formats alone.
        subject, *args = op.operands
        is_plain = not (args and isinstance(args[-1], dict)) and len(args) <= _MOST_ARGUMENTS.get(
            op.name, 9
        )
        if op.name == "|format" and isinstance(subject, str):
            is_plain = is_plain and bool(_FORMAT.fullmatch(subject))
        return _has(sort, op.name[1:]) and is_plain
    if op.name == "#":
        return bool(abs(op.operands[0]) <= MAX_EXACT)
    if op.name == "m":
        return not op.operands[-1] and any(
            _has(method_sort, op.operands[0]) for method_sort in _METHOD_SORTS
        )
    if op.name == "loop":
        return _has("loop members", op.operands[1])
    if op.name == "for":
        return len(op.operands) < _RECURSIVE or not op.operands[_RECURSIVE - 1]
    if op.name in _NAMING:
        return _has(_NAMING[op.name], op.operands[0])
    return _OPERATORS[op.name]


_MOST_ARGUMENTS: Final = {"|int": 1, "|tojson": 0}
"""Filters of which the page takes fewer arguments."""

_FORMAT: Final = compile_pattern(r"(?:[^%]|%[-+ 0#]*+[0-9]*+(?:\.[0-9]++)?[dfs%])*+")
"""A format that the page writes."""

_RECURSIVE: Final = len(VOCABULARY["statements"]["for"]["operands"])
"""The number of operands of a recursive loop."""


def _has(sort: str, name: str) -> bool:
    row = VOCABULARY[sort].get(name)
    return row is not None and bool(row["page"])


_TARGETS: Final = frozenset({"data", "...", "field", "each"})
"""Operations that are only operands of others."""

_OPERATORS: Final[Mapping[str, bool]] = MappingProxyType(
    {
        name: row["page"]
        for sort in ("expressions", "javascript expressions", "outputs", "statements")
        for name, row in VOCABULARY[sort].items()
    }
)

_NAMING: Final = MappingProxyType(
    {
        "fn": "functions",
        "jsfn": "javascript functions",
        "jsm": "javascript methods",
        "jsloop": "javascript loops",
    }
)
"""Operations whose first operand is a word of a table."""

_ALWAYS: Final = frozenset(
    {
        name
        for name, has in _OPERATORS.items()
        if has and name not in {"#", "m", "loop", "for", *_NAMING}
    }
    | _TARGETS
)
"""Operations that the page has whatever their operands are."""
