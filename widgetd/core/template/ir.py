"""The intermediate representation: built by both front ends and run by every evaluator.

An expression is a string, `True`, `False` or `None` (itself), an `int` (the slot of the
frame to read), or an `Op`. A statement is an `Op`, a body a tuple of statements. All decisions
per file are taken here: names are slots, each output says how its value
is written, arguments of builtins stand in their positions.

Written as JSON, an `Op` is the list `[operator, operands...]`, so the page of a widget
runs the same program. The operators are listed in `vocabulary.json`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from widgetd.core.template.values import ABSENT, Value

Expr = Any
"""`Op | int | str | bool | None`."""


class Op(NamedTuple):
    """An operation.

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
        size: The length of a frame, in slots. The first holds the budget.
        arguments: The slot of each argument of the program.
        root: The statements of a template, or a single expression.
        may_need_commas: Whether the output may have commas missing or superfluous.
    """

    size: int
    arguments: tuple[tuple[str, int], ...]
    root: Any
    may_need_commas: bool
    names: Mapping[int, str] = field(default_factory=dict, compare=False)


def literal(value: Value, place: int = 0) -> Expr:
    if value is None or isinstance(value, str | bool):
        return value
    return UNDEFINED if value is ABSENT else Op("#", (value,), place)


def is_constant(expr: Expr) -> bool:
    if type(expr) is Op:
        return expr.name in _CONSTANTS
    return type(expr) is not int


_CONSTANTS: Final = frozenset({"#", "undef"})


def constant_of(expr: Expr) -> Value:
    if type(expr) is not Op:
        return expr
    return expr.operands[0] if expr.name == "#" else ABSENT


def operations(root: Any) -> Iterator[Op]:
    pending = [root]
    while pending:
        part = pending.pop()
        kind = type(part)
        if kind is Op:
            yield part
            pending += part.operands
        elif kind is tuple:
            pending += part
        elif kind is dict:
            pending += part.values()


def height(root: Any) -> int:
    """Return how many operations nest in an operand at most."""
    level, count = [root], 0
    while level:
        count += any(type(part) is Op for part in level)
        level = [
            operand
            for part in level
            for operand in _inside(part)
            if isinstance(operand, tuple | dict)
        ]
    return count


def _inside(operand: Any) -> Iterable[Any]:
    if type(operand) is Op:
        return operand.operands
    return operand.values() if type(operand) is dict else operand


def to_json(operand: Any) -> Any:
    """Return an operand as JSON: operations as lists, the rest as it is."""
    kind = type(operand)
    if kind is Op:
        return _to_list(operand)
    if kind is tuple:
        return [to_json(item) for item in operand]
    if kind is dict:
        return {name: to_json(item) for name, item in operand.items()}
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


def _to_list(op: Op) -> list[Any]:
    """Return `[operator, operands...]`, without default operands, and constant text joined."""
    items: list[Any] = [op.name]
    operands = op.operands
    for default in reversed(_OPTIONAL.get(op.name, ())):
        # To Python the slot 1 equals True.
        if type(operands[-1]) is not type(default) or operands[-1] != default:
            break
        operands = operands[:-1]
    if op.name != "out":
        items += [to_json(part) for part in operands]
        return items
    is_text = False
    for part in operands:
        if part.name != "data":
            items.append(_to_list(part))
        elif is_text:
            items[-1] += part.operands[0]
        else:
            items.append(part.operands[0])
        is_text = part.name == "data"
    return items
