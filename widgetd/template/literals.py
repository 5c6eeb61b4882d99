"""Closures that make the lists, tuples and objects written in a template.

Each evaluation makes a new one, paid for; what is constant in an object is
copied, not evaluated again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from widgetd.template.parser import nodes
from widgetd.template.scope import BUDGET, Evaluate, Frame
from widgetd.template.values import (
    MadeDict,
    Value,
    dict_key,
    hold,
    made,
    made_dict,
    made_tuple,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def list_of(items: list[Evaluate]) -> Evaluate:
    """The closure of a list."""
    count = len(items)

    def make(frame: Frame) -> Value:
        frame[BUDGET].step(count)
        return made(frame[BUDGET], [each(frame) for each in items])

    return make


def tuple_of(items: list[Evaluate]) -> Evaluate:
    """The closure of a tuple."""
    count = len(items)

    def make(frame: Frame) -> Value:
        frame[BUDGET].step(count)
        return made_tuple(frame[BUDGET], [each(frame) for each in items])

    return make


def dict_of(node: nodes.Dict, evaluate: Callable[[nodes.Expr], Evaluate]) -> Evaluate:
    """The closure of an object, of which `evaluate` gives the closures of keys and values."""
    keys = [each.key.value for each in node.items if isinstance(each.key, nodes.Const)]
    values = [each.value for each in node.items]
    if len(keys) == len(values):
        return _with_constant_keys(keys, values, evaluate)
    pairs = [(evaluate(each.key), evaluate(each.value)) for each in node.items]

    def make(frame: Frame) -> Value:
        budget = frame[BUDGET]
        budget.step(len(pairs))
        return made_dict(
            budget, [(dict_key(budget, key(frame)), value(frame)) for key, value in pairs]
        )

    return make


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

    def make(frame: Frame) -> Value:
        frame[BUDGET].step(count)
        new = MadeDict(constant)
        for key, value in pairs:
            new[key] = value(frame)
        if pairs:
            hold(frame[BUDGET], new, new.values())
        return new

    return make
