"""Closures that make the lists, tuples and objects written in a template.

Each evaluation makes a new one, paid for and weighed as a whole; what is constant
in an object is copied, not evaluated again.
"""

from __future__ import annotations

from collections.abc import Callable

from widgetd.template.parser import nodes
from widgetd.template.scope import BUDGET, Evaluate, Frame
from widgetd.template.values import (
    HOLDERS,
    LEAF,
    Made,
    MadeDict,
    MadeTuple,
    Value,
    dict_key,
    made_dict,
    measured,
    placed,
    weighed,
)

Built = tuple[Value, int, int]
"""A list or object, what it weighs, and how deep it nests."""

Build = Callable[[Frame], Built]
Literal = nodes.List | nodes.Tuple | nodes.Dict
Compile = Callable[[nodes.Expr], Evaluate]


def literal(node: Literal, compiled: Compile) -> Evaluate:
    """The closure of a literal, of which `compiled` gives the closures of the values inside."""
    if isinstance(node, nodes.Dict) and _computes_keys(node):
        return _with_computed_keys(node, compiled)
    build = _building(node, compiled)
    count = _count(node)

    def make(frame: Frame) -> Value:
        budget = frame[BUDGET]
        budget.step(count)
        value, heavy, height = build(frame)
        return weighed(budget, value, heavy, height)

    return make


def _building(node: Literal, compiled: Compile) -> Build:
    return _dict(node, compiled) if isinstance(node, nodes.Dict) else _list(node, compiled)


def _list(node: nodes.List | nodes.Tuple, compiled: Compile) -> Build:
    of = Made if isinstance(node, nodes.List) else MadeTuple
    values = [_value(each, compiled) for each in node.items]
    least = 1 + LEAF * len(values)

    def build(frame: Frame) -> Built:
        heavy, height, inside = least, 1, []
        for evaluate, is_literal in values:
            value = evaluate(frame)
            if is_literal:
                value, more, tall = value
            elif type(value) is str:
                heavy += len(value)
                inside.append(value)
                continue
            elif type(value) in HOLDERS:
                more, tall = placed(frame[BUDGET], value)
            else:
                inside.append(value)
                continue
            inside.append(value)
            heavy += more - LEAF
            if tall >= height:
                height = tall + 1
        return of(inside), heavy, height

    return build


def _dict(node: nodes.Dict, compiled: Compile) -> Build:
    constant: dict[Value, Value] = {}
    computed: dict[Value, tuple[Callable[[Frame], Value], bool]] = {}
    for pair in node.items:
        assert isinstance(pair.key, nodes.Const)  # noqa: S101 - the others are made elsewhere
        key = pair.key.value
        constant[key] = pair.value.value if isinstance(pair.value, nodes.Const) else None
        computed.pop(key, None)
        if not isinstance(pair.value, nodes.Const):
            computed[key] = _value(pair.value, compiled)
    pairs = [(key, *how) for key, how in computed.items()]
    texts = [each for each in (*constant, *constant.values()) if isinstance(each, str)]
    least = 1 + 2 * LEAF * len(constant) + sum(map(len, texts))

    def build(frame: Frame) -> Built:
        heavy, height, new = least, 1, MadeDict(constant)
        for key, evaluate, is_literal in pairs:
            value = evaluate(frame)
            if is_literal:
                value, more, tall = value
            elif type(value) is str:
                heavy += len(value)
                new[key] = value
                continue
            elif type(value) in HOLDERS:
                more, tall = placed(frame[BUDGET], value)
            else:
                new[key] = value
                continue
            new[key] = value
            heavy += more - LEAF
            if tall >= height:
                height = tall + 1
        return new, heavy, height

    return build


def _value(node: nodes.Expr, compiled: Compile) -> tuple[Callable[[Frame], Value], bool]:
    """The closure of a value in a literal, and whether it is itself one: then of what is built."""
    if isinstance(node, nodes.List | nodes.Tuple | nodes.Dict) and not _computes_keys(node):
        return _building(node, compiled), True
    return compiled(node), False


def _count(node: nodes.Expr | nodes.Pair) -> int:
    """How many elements a literal has, with those of the literals in it that `_building` builds."""
    if isinstance(node, nodes.Pair):
        node = node.value
    if not isinstance(node, nodes.List | nodes.Tuple | nodes.Dict) or _computes_keys(node):
        return 0
    return len(node.items) + sum(_count(each) for each in node.items)


def _computes_keys(node: Literal) -> bool:
    return isinstance(node, nodes.Dict) and not all(
        isinstance(pair.key, nodes.Const) for pair in node.items
    )


def _with_computed_keys(node: nodes.Dict, compiled: Compile) -> Evaluate:
    pairs = [(compiled(each.key), compiled(each.value)) for each in node.items]

    def make(frame: Frame) -> Value:
        budget = frame[BUDGET]
        budget.step(len(pairs))
        made = made_dict(
            budget, [(dict_key(budget, key(frame)), value(frame)) for key, value in pairs]
        )
        measured(budget, made)
        return made

    return make
