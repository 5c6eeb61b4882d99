"""The intermediate representation: what both front ends build and every evaluator runs.

An expression is a string, `True`, `False` or `None` (itself), an `int` (the slot of the
frame to read), or an `Op`. A statement is an `Op`, a body a tuple of statements. All that
is decided once per file is decided here: names are slots, each output says how its value
is written, arguments of builtins stand in their positions.

Written as JSON, an `Op` is the list `[operator, operands...]`, so that the page of a widget
runs the same program. The operators are listed in `vocabulary.json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from widgetd.template.values import ABSENT, Value

Expr = Any
"""`Op | int | str | bool | None`."""


class Op(NamedTuple):
    """One operation.

    Attributes:
        name: The operator, as `vocabulary.json` lists it.
        operands: Expressions, bodies (tuples), names, or a mapping of named arguments.
        place: Its offset in the template, where a failure is reported.
    """

    name: str
    operands: tuple[Any, ...] = ()
    place: int = 0


Body = tuple[Op, ...]

UNDEFINED: Final = Op("undef")


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A template or an expression, ready to be compiled or sent to a page.

    Attributes:
        size: The length of a frame, in slots; the first holds the budget.
        arguments: The slot of each argument that is read.
        root: The statements of a template, or one expression.
        may_need_commas: Whether the output may have commas missing or one too many.
    """

    size: int
    arguments: tuple[tuple[str, int], ...]
    root: Any
    may_need_commas: bool = False


def literal(value: Value, place: int = 0) -> Expr:
    """Return the expression that evaluates to the constant `value`."""
    if value is None or isinstance(value, str | bool):
        return value
    return UNDEFINED if value is ABSENT else Op("#", (value,), place)


def is_constant(expr: Expr) -> bool:
    """Return whether an expression is a constant."""
    if type(expr) is Op:
        return expr.name in _CONSTANTS
    return type(expr) is not int


_CONSTANTS: Final = frozenset({"#", "undef"})


def constant_of(expr: Expr) -> Value:
    """Return the value of a constant expression."""
    if type(expr) is not Op:
        return expr
    return expr.operands[0] if expr.name == "#" else ABSENT


def operations(root: Any) -> Iterator[Op]:
    """Yield every operation in an operand, outer ones first."""
    pending = [root]
    while pending:
        each = pending.pop()
        if type(each) is Op:
            yield each
            pending.extend(each.operands)
        elif isinstance(each, tuple):
            pending.extend(each)
        elif isinstance(each, Mapping):
            pending.extend(each.values())


def height(root: Any) -> int:
    """Return how many operations nest in an operand at most."""
    level, count = [root], 0
    while level:
        operands: list[Any] = []
        for each in level:
            if type(each) is Op:
                operands.extend(each.operands)
            elif isinstance(each, tuple):
                operands.extend(each)
            elif isinstance(each, Mapping):
                operands.extend(each.values())
        count += any(type(each) is Op for each in level)
        level = [each for each in operands if isinstance(each, tuple | Mapping)]
    return count


def to_json(operand: Any) -> Any:
    """Return an operand as JSON: operations as lists, the rest as it is."""
    if type(operand) is Op:
        return [operand.name, *_parts(operand)]
    if isinstance(operand, tuple):
        return [to_json(each) for each in operand]
    if isinstance(operand, Mapping):
        return {name: to_json(each) for name, each in operand.items()}
    return operand


_OPTIONAL: Final[Mapping[str, tuple[Any, ...]]] = MappingProxyType(
    {
        "if": ((),),
        "ifv": ((),),
        "for": (None, (), True, False),
        "fn": ((), {}),
        "m": ((), {}),
        "()": ((), {}),
    }
)
"""The values of operands that are left out at the end."""


def _parts(op: Op) -> Iterator[Any]:
    """Yield the operands of `op` as JSON, with constant text joined."""
    operands, optional = list(op.operands), list(_OPTIONAL.get(op.name, ()))
    # To Python the slot 1 equals True.
    while optional and (type(operands[-1]), operands[-1]) == (type(optional[-1]), optional.pop()):
        operands.pop()
    text = ""
    for each in operands:
        if type(each) is Op and each.name == "data":
            text += each.operands[0]
            continue
        if text:
            yield text
            text = ""
        yield to_json(each)
    if text:
        yield text
