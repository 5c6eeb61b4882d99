"""Turn each kind of expression into a closure that evaluates it over a frame.

What is not in the table is not available. A closure says where it stands when it fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from widgetd.template import calls, dialect
from widgetd.template.budget import CHARACTERS_PER_STEP, UNFIT, Failure
from widgetd.template.builtins.operators import (
    BINARY,
    COMPARISONS,
    Binary,
    concat,
    negative,
    positive,
)
from widgetd.template.literals import (
    BUILD,
    CONSTANT,
    VALUE,
    Build,
    Part,
    constant,
    list_of,
    literal,
    object_of,
)
from widgetd.template.loops import LOOP_MEMBERS
from widgetd.template.parser import Fault, nodes
from widgetd.template.scope import BUDGET, Evaluate, Frame, Scope
from widgetd.template.values import (
    ABSENT,
    Made,
    MadeTuple,
    Value,
    dict_key,
    kind,
    made_dict,
    member,
    part,
)


def expression(node: nodes.Node, scope: Scope) -> Evaluate:
    """The closure that evaluates `node`."""
    scope.layout.nodes += 1
    make = _MAKERS.get(type(node))
    if make is None:
        word = type(node).__name__.lower()
        raise Fault("W1302", node.lineno, f"{word} is not available", "use what stays in the data")
    return make(node, scope)


def _placed(place: int, evaluate: Evaluate) -> Evaluate:
    """`evaluate`, whose failures stand at `place`; what runs often does that itself."""

    def run(frame: Frame) -> Value:
        try:
            return evaluate(frame)
        except Failure as failure:
            raise failure.at(place) from None

    return run


# --- names, and what they hold ---


def _name(node: nodes.Name, scope: Scope) -> Evaluate:
    loop = _loop_slot(node, scope)
    if loop is not None:
        return lambda frame: frame[loop]
    slot = scope.resolve(node.name)
    if node.name not in dialect.INDEX_NAMES or scope.binds(node.name):
        return lambda frame: frame[slot]
    around = scope.innermost_loop()
    if around is None:
        return lambda frame: frame[slot]

    def index(frame: Frame) -> Value:
        """The argument of that name, else the position that the exporter forgot to bind."""
        value = frame[slot]
        return frame[around].index0 if value is ABSENT else value

    return index


def _loop_slot(node: nodes.Node, scope: Scope) -> int | None:
    """Where `loop` lives, if `node` is that name and stands in a loop."""
    if isinstance(node, nodes.Name) and node.name == "loop" and not scope.binds("loop"):
        return scope.innermost_loop()
    return None


def _getattr(node: nodes.Getattr, scope: Scope) -> Evaluate:
    loop = _loop_slot(node.node, scope)
    if loop is not None and node.attr in LOOP_MEMBERS:
        of_loop = LOOP_MEMBERS[node.attr]
        return lambda frame: of_loop(frame[loop])
    subject, key = expression(node.node, scope), node.attr

    def attribute(frame: Frame) -> Value:
        value = subject(frame)
        return value.get(key, ABSENT) if type(value) is dict else member(value, key)

    return attribute


def _getitem(node: nodes.Getitem, scope: Scope) -> Evaluate:
    subject = expression(node.node, scope)
    if isinstance(node.arg, nodes.Slice):
        return _slice(node.arg, subject, scope)
    key = expression(node.arg, scope)

    def item(frame: Frame) -> Value:
        value, at = subject(frame), key(frame)
        if type(at) is str and len(at) > CHARACTERS_PER_STEP:
            frame[BUDGET].scan(len(at))
        return member(value, at)

    return item


def _slice(node: nodes.Slice, subject: Evaluate, scope: Scope) -> Evaluate:
    bounds = [
        constant(None) if bound is None else expression(bound, scope)
        for bound in (node.start, node.stop, node.step)
    ]

    def cut(frame: Frame) -> Value:
        return part(frame[BUDGET], subject(frame), *(bound(frame) for bound in bounds))

    return _placed(node.lineno, cut)


# --- filters, tests and calls ---


def applied(node: nodes.Filter | nodes.Test, subject: Evaluate, scope: Scope) -> Evaluate:
    """The closure that applies the filter or test of `node` to what `subject` evaluates to."""
    args, kwargs = _arguments(node, scope)
    function, place = calls.known(node), node.lineno
    name = f"the {'filter' if isinstance(node, nodes.Filter) else 'test'} '{node.name}'"

    def unfit(value: Value) -> Failure:
        problem = f"{name} cannot be applied to {kind(value)}, or not with these arguments"
        return Failure(problem).at(place)

    def plain(frame: Frame) -> Value:
        value = subject(frame)
        try:
            return function(frame[BUDGET], value)
        except Failure as failure:
            raise failure.at(place) from None
        except UNFIT:
            raise unfit(value) from None

    def full(frame: Frame) -> Value:
        value = subject(frame)
        given = [argument(frame) for argument in args]
        named = {key: argument(frame) for key, argument in kwargs.items()}
        try:
            return function(frame[BUDGET], value, *given, **named)
        except Failure as failure:
            raise failure.at(place) from None
        except UNFIT:
            raise unfit(value) from None

    return full if args or kwargs else plain


def _arguments(
    node: nodes.Filter | nodes.Test | nodes.Call, scope: Scope
) -> tuple[list[Evaluate], dict[str, Evaluate]]:
    """The closures of what a filter, test or function is given, by position and by name."""
    if node.dyn_args is not None or node.dyn_kwargs is not None:
        problem = "arguments cannot be unpacked with * or **"
        raise Fault("W1302", node.lineno, problem, "write them out one by one")
    named = {str(pair.key): expression(pair.value, scope) for pair in node.kwargs}
    return [expression(each, scope) for each in node.args], named


def call(node: nodes.Call, scope: Scope, **more: Evaluate) -> Evaluate:
    """The closure of a call, given `more` than the arguments it is written with."""
    args, kwargs = _arguments(node, scope)
    kwargs.update(more)
    place, callee = node.node.lineno, node.node
    if isinstance(callee, nodes.Name):
        if not scope.binds(callee.name) and _loop_slot(callee, scope) is None:
            return calls.builtin(callee.name, place, args, kwargs)
    elif isinstance(callee, nodes.Getattr):
        subject = expression(callee.node, scope)
        return calls.method(callee.attr, place, subject, args, kwargs)
    return calls.value(expression(callee, scope), place, args, kwargs)


# --- conditions and operators ---


def _condition(node: nodes.CondExpr, scope: Scope) -> Evaluate:
    test, yes = expression(node.test, scope), expression(node.expr1, scope)
    no = constant(ABSENT) if node.expr2 is None else expression(node.expr2, scope)
    return lambda frame: yes(frame) if test(frame) else no(frame)


def _and(node: nodes.And, scope: Scope) -> Evaluate:
    left, right = expression(node.left, scope), expression(node.right, scope)
    return lambda frame: left(frame) and right(frame)


def _or(node: nodes.Or, scope: Scope) -> Evaluate:
    left, right = expression(node.left, scope), expression(node.right, scope)
    return lambda frame: left(frame) or right(frame)


def _not(node: nodes.Not, scope: Scope) -> Evaluate:
    value = expression(node.node, scope)
    return lambda frame: not value(frame)


def _unary(node: nodes.Neg | nodes.Pos, scope: Scope) -> Evaluate:
    apply = negative if isinstance(node, nodes.Neg) else positive
    value = expression(node.node, scope)
    return _placed(node.lineno, lambda frame: apply(value(frame)))


def _binary(node: nodes.BinExpr, scope: Scope) -> Evaluate:
    left, right = expression(node.left, scope), expression(node.right, scope)
    return _operated(BINARY[node.operator or ""], left, right, node.lineno)


def _operated(apply: Binary, left: Evaluate, right: Evaluate, place: int) -> Evaluate:
    """The closure of an operator between two values, or of one comparison."""

    def operated(frame: Frame) -> Value:
        try:
            return apply(frame[BUDGET], left(frame), right(frame))
        except Failure as failure:
            raise failure.at(place) from None

    return operated


def _concat(node: nodes.Concat, scope: Scope) -> Evaluate:
    parts = [expression(each, scope) for each in node.nodes]
    return _placed(
        node.lineno, lambda frame: concat(frame[BUDGET], [each(frame) for each in parts])
    )


def _compare(node: nodes.Compare, scope: Scope) -> Evaluate:
    first = expression(node.expr, scope)
    if len(node.ops) == 1:
        return _compared(first, node.ops[0], scope)
    rest = [(COMPARISONS[each.op], expression(each.expr, scope)) for each in node.ops]

    def chained(frame: Frame) -> Value:
        left = first(frame)
        for compare, operand in rest:
            right = operand(frame)
            if not compare(frame[BUDGET], left, right):
                return False
            left = right
        return True

    return _placed(node.lineno, chained)


def _compared(left: Evaluate, operand: nodes.Operand, scope: Scope) -> Evaluate:
    """One comparison; with a constant, the usual one, it costs nothing worth counting."""
    if isinstance(operand.expr, nodes.Const) and operand.op in {"eq", "ne"}:
        other = operand.expr.value
        if operand.op == "eq":
            return lambda frame: left(frame) == other
        return lambda frame: left(frame) != other
    right = expression(operand.expr, scope)
    return _operated(COMPARISONS[operand.op], left, right, operand.lineno)


# --- literals ---

_Literal = nodes.List | nodes.Tuple | nodes.Dict


def _literal(node: _Literal, scope: Scope) -> Evaluate:
    if isinstance(node, nodes.Dict) and _computes_keys(node):
        return _dict_of_computed_keys(node, scope)
    return literal(_built(node, scope), _count(node))


def _computes_keys(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Dict) and not all(
        isinstance(pair.key, nodes.Const) for pair in node.items
    )


def _dict_of_computed_keys(node: nodes.Dict, scope: Scope) -> Evaluate:
    pairs = [(expression(each.key, scope), expression(each.value, scope)) for each in node.items]

    def make(frame: Frame) -> Value:
        budget = frame[BUDGET]
        budget.step(len(pairs))
        entries = [(dict_key(budget, key(frame)), value(frame)) for key, value in pairs]
        return made_dict(budget, entries)

    return make


def _count(node: nodes.Expr | nodes.Pair) -> int:
    """How many elements a literal has, with those of the literals in it that it is built with."""
    if isinstance(node, nodes.Pair):
        node = node.value
    if not isinstance(node, _Literal) or _computes_keys(node):
        return 0
    return len(node.items) + sum(_count(each) for each in node.items)


def _built(node: _Literal, scope: Scope) -> Build:
    if isinstance(node, nodes.Dict):
        return object_of(
            {
                pair.key.value: _part(pair.value, scope)
                for pair in node.items
                if isinstance(pair.key, nodes.Const)  # the others are made elsewhere
            }
        )
    parts = [_part(each, scope) for each in node.items]
    return list_of(parts, Made if isinstance(node, nodes.List) else MadeTuple)


def _part(node: nodes.Expr, scope: Scope) -> Part:
    """What a value in a literal is made by."""
    if isinstance(node, nodes.Const):
        return CONSTANT, node.value
    if isinstance(node, _Literal) and not _computes_keys(node):
        return BUILD, _built(node, scope)
    return VALUE, expression(node, scope)


_MAKERS: Final[Mapping[type[nodes.Node], Callable[[Any, Scope], Evaluate]]] = MappingProxyType(
    {
        nodes.Const: lambda node, _scope: constant(node.value),
        nodes.TemplateData: lambda node, _scope: constant(node.data),
        nodes.Name: _name,
        nodes.Getattr: _getattr,
        nodes.Getitem: _getitem,
        **dict.fromkeys(
            (nodes.Filter, nodes.Test),
            lambda node, scope: applied(node, expression(node.node, scope), scope),
        ),
        nodes.Call: call,
        nodes.CondExpr: _condition,
        nodes.And: _and,
        nodes.Or: _or,
        nodes.Not: _not,
        nodes.Neg: _unary,
        nodes.Pos: _unary,
        nodes.Concat: _concat,
        nodes.Compare: _compare,
        **dict.fromkeys((nodes.List, nodes.Tuple, nodes.Dict), _literal),
        **dict.fromkeys(
            (nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow),
            _binary,
        ),
    }
)
