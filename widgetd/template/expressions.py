"""Turn each kind of expression into a closure that evaluates it over a frame.

What is not in the table is not available.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from widgetd.template import calls, dialect
from widgetd.template.functions import known_filter, known_test
from widgetd.template.literals import literal
from widgetd.template.loops import LOOP_MEMBERS
from widgetd.template.operations import applied, binary, chained, joined, sliced, unary
from widgetd.template.operators import BINARY, COMPARISONS, negative, positive
from widgetd.template.parser import fault, nodes
from widgetd.template.scope import BUDGET, Evaluate, Frame, Scope
from widgetd.template.values import ABSENT, Value, member


def expression(node: nodes.Node, scope: Scope) -> Evaluate:
    """The closure that evaluates `node`.

    Raises:
        WidgetError: `W1302`, where the expression is not available in templates.
    """
    scope.layout.nodes += 1
    make = _MAKERS.get(type(node))
    if make is None:
        word = type(node).__name__.lower()
        raise fault("W1302", node.lineno, f"{word} is not available", "use what stays in the data")
    return make(node, scope)


def _const(node: nodes.Const, _scope: Scope) -> Evaluate:
    value = node.value
    return lambda _frame: value


def _template_data(node: nodes.TemplateData, _scope: Scope) -> Evaluate:
    data = node.data
    return lambda _frame: data


def _name(node: nodes.Name, scope: Scope) -> Evaluate:
    loop = _loop_place(node, scope)
    if loop is not None:
        return lambda frame: frame[loop]
    place = scope.resolve(node.name)
    if node.name in dialect.INDEX_NAMES and not scope.binds(node.name):
        return _index(place, scope.loop())
    return lambda frame: frame[place]


def _loop_place(node: nodes.Node, scope: Scope) -> int | None:
    """Where `loop` lives, if `node` is that name and stands in a loop."""
    if isinstance(node, nodes.Name) and node.name == "loop" and not scope.binds("loop"):
        return scope.loop()
    return None


def _index(place: int, loop: int | None) -> Evaluate:
    """The argument of that name, else the position in the loop that the exporter forgot to bind."""
    if loop is None:
        return lambda frame: frame[place]

    def index(frame: Frame) -> Value:
        value = frame[place]
        return frame[loop].index0 if value is ABSENT else value

    return index


def _getattr(node: nodes.Getattr, scope: Scope) -> Evaluate:
    loop = _loop_place(node.node, scope)
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
        if type(at) is str:
            frame[BUDGET].scan(len(at))
        return member(value, at)

    return item


def _slice(node: nodes.Slice, subject: Evaluate, scope: Scope) -> Evaluate:
    bounds = [
        expression(bound, scope) if bound is not None else _nothing
        for bound in (node.start, node.stop, node.step)
    ]
    return sliced(subject, bounds, node.lineno)


def _nothing(_frame: Frame) -> None:
    return None


def _filter(node: nodes.Filter, scope: Scope) -> Evaluate:
    assert node.node is not None  # noqa: S101 - only a filter block's filter has no subject
    return filtered(node, expression(node.node, scope), scope)


def filtered(node: nodes.Filter, subject: Evaluate, scope: Scope) -> Evaluate:
    """The closure that applies the filter of `node` to what `subject` evaluates to."""
    args, kwargs = arguments(node, scope)
    function = known_filter(node)
    return applied(function, f"the filter '{node.name}'", node.lineno, [subject, *args], kwargs)


def _test(node: nodes.Test, scope: Scope) -> Evaluate:
    subject = expression(node.node, scope)
    args, kwargs = arguments(node, scope)
    function = known_test(node)
    return applied(function, f"the test '{node.name}'", node.lineno, [subject, *args], kwargs)


def arguments(
    node: nodes.Filter | nodes.Test | nodes.Call, scope: Scope
) -> tuple[list[Evaluate], dict[str, Evaluate]]:
    """The closures of what a filter, test or function is given, by position and by name."""
    if node.dyn_args is not None or node.dyn_kwargs is not None:
        raise fault(
            "W1302",
            node.lineno,
            "arguments cannot be unpacked with * or **",
            "write them out one by one",
        )
    named = {str(pair.key): expression(pair.value, scope) for pair in node.kwargs}
    return [expression(each, scope) for each in node.args], named


def call(node: nodes.Call, scope: Scope, **more: Evaluate) -> Evaluate:
    """The closure of a call, given `more` than the arguments it is written with."""
    args, kwargs = arguments(node, scope)
    kwargs.update(more)
    line, callee = node.lineno, node.node
    if isinstance(callee, nodes.Name) and not _is_value(callee, scope):
        return calls.builtin(callee.name, line, args, kwargs)
    if isinstance(callee, nodes.Getattr):
        subject = expression(callee.node, scope)
        return calls.method(callee.attr, line, subject, args, kwargs)
    return calls.value(expression(callee, scope), line, args, kwargs)


def _is_value(callee: nodes.Name, scope: Scope) -> bool:
    return scope.binds(callee.name) or _loop_place(callee, scope) is not None


def _condition(node: nodes.CondExpr, scope: Scope) -> Evaluate:
    test, yes = expression(node.test, scope), expression(node.expr1, scope)
    no = _absent if node.expr2 is None else expression(node.expr2, scope)
    return lambda frame: yes(frame) if test(frame) else no(frame)


def _absent(_frame: Frame) -> Value:
    return ABSENT


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
    return unary(apply, expression(node.node, scope), node.lineno)


def _binary(node: nodes.BinExpr, scope: Scope) -> Evaluate:
    left, right = expression(node.left, scope), expression(node.right, scope)
    return binary(BINARY[node.operator or ""], left, right, node.lineno)


def _concat(node: nodes.Concat, scope: Scope) -> Evaluate:
    return joined([expression(each, scope) for each in node.nodes], node.lineno)


def _compare(node: nodes.Compare, scope: Scope) -> Evaluate:
    first = expression(node.expr, scope)
    if len(node.ops) == 1:
        return _compared(first, node.ops[0], scope)
    rest = [(COMPARISONS[each.op], expression(each.expr, scope)) for each in node.ops]
    return chained(first, rest, node.lineno)


def _compared(left: Evaluate, operand: nodes.Operand, scope: Scope) -> Evaluate:
    """One comparison; with a constant, the usual one, it costs nothing worth counting."""
    if isinstance(operand.expr, nodes.Const) and operand.op in {"eq", "ne"}:
        constant = operand.expr.value
        if operand.op == "eq":
            return lambda frame: left(frame) == constant
        return lambda frame: left(frame) != constant
    right = expression(operand.expr, scope)
    return binary(COMPARISONS[operand.op], left, right, operand.lineno)


def _literal(node: nodes.List | nodes.Tuple | nodes.Dict, scope: Scope) -> Evaluate:
    return literal(node, lambda each: expression(each, scope))


_MAKERS: Final[Mapping[type[nodes.Node], Callable[[Any, Scope], Evaluate]]] = MappingProxyType(
    {
        nodes.Const: _const,
        nodes.TemplateData: _template_data,
        nodes.Name: _name,
        nodes.Getattr: _getattr,
        nodes.Getitem: _getitem,
        nodes.Filter: _filter,
        nodes.Test: _test,
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
