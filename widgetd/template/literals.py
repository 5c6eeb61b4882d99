"""Closures that make the lists, tuples and objects written in a template.

Each evaluation makes a new one, paid for; what is constant in an object is
copied, not evaluated again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from widgetd.template.budget import Failure
from widgetd.template.parser import nodes
from widgetd.template.scope import BUDGET, Evaluate, Frame
from widgetd.template.values import Made, MadeDict, Value, kind

if TYPE_CHECKING:
    from collections.abc import Callable


def made_list(items: list[Evaluate]) -> Evaluate:
    """The closure of a list."""
    count = len(items)

    def made(frame: Frame) -> Value:
        frame[BUDGET].step(count)
        return Made([each(frame) for each in items])

    return made


def made_tuple(items: list[Evaluate]) -> Evaluate:
    """The closure of a tuple."""
    count = len(items)

    def made(frame: Frame) -> Value:
        frame[BUDGET].step(count)
        return tuple([each(frame) for each in items])

    return made


def made_dict(node: nodes.Dict, evaluate: Callable[[nodes.Expr], Evaluate]) -> Evaluate:
    """The closure of an object, of which `evaluate` gives the closures of keys and values."""
    keys = [each.key.value for each in node.items if isinstance(each.key, nodes.Const)]
    values = [each.value for each in node.items]
    if len(keys) == len(values):
        return _with_constant_keys([dict_key(key) for key in keys], values, evaluate)
    pairs = [(evaluate(each.key), evaluate(each.value)) for each in node.items]

    def made(frame: Frame) -> Value:
        frame[BUDGET].step(len(pairs))
        return MadeDict((dict_key(key(frame)), value(frame)) for key, value in pairs)

    return made


def _with_constant_keys(
    keys: list[Value], values: list[nodes.Expr], evaluate: Callable[[nodes.Expr], Evaluate]
) -> Evaluate:
    constant: dict[Value, Value] = {}
    computed: dict[Value, Evaluate] = {}
    for key, value in zip(keys, values, strict=True):
        constant[key] = value.value if isinstance(value, nodes.Const) else None
        computed.pop(key, None)
        if not isinstance(value, nodes.Const):
            computed[key] = evaluate(value)
    count, pairs = len(keys), list(computed.items())

    def made(frame: Frame) -> Value:
        frame[BUDGET].step(count)
        new = MadeDict(constant)
        for key, value in pairs:
            new[key] = value(frame)
        return new

    return made


def dict_key(key: Value) -> Value:
    """`key`, if an object may have it."""
    if isinstance(key, str | int | float) or key is None:
        return key
    raise Failure(f"{kind(key)} cannot be the key of an object")
