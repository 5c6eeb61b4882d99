"""The closures of JSX: JavaScript's operators, methods and functions, elements and literals.

Functions are no values: a function only stands as an argument of a method, so nothing can call
itself. Elements and literals are built as a whole and sized once, as a template's own are.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from widgetd.core.template.budget import CHARACTERS_PER_STEP, NODES_PER_STEP, Budget
from widgetd.core.template.builtins import javascript
from widgetd.core.template.builtins.javascript import (
    FUNCTIONS,
    LOOPS,
    METHODS,
    OPERATORS,
    require_list,
    truthy,
    turns,
)
from widgetd.core.template.closures import literals
from widgetd.core.template.closures.compiler import Compiler, MakeExpression, with_place
from widgetd.core.template.closures.expressions import applying, binary, over
from widgetd.core.template.closures.literals import BUILD, CHILDREN, CONSTANT, VALUE, Build, Part
from widgetd.core.template.ir import Expr, Op, constant_of, is_constant
from widgetd.core.template.scope import BUDGET, Evaluate, Frame
from widgetd.core.template.serialise import javascript_text
from widgetd.core.template.values import (
    ABSENT,
    HOLDERS,
    LEAF,
    TemplateList,
    Value,
    dict_key,
    elements,
    is_nothing,
    measure_inside,
    member,
    new_dict,
    new_list,
    weigh,
    with_size,
)

# --- operators and calls ---


def _item(compiler: Compiler, op: Op) -> Evaluate:
    subject, index = compiler.operands(op.operands)

    def item(frame: Frame) -> Value:
        value, at = subject(frame), index(frame)
        if isinstance(value, dict):
            weigh(frame[BUDGET], at)
            return value.get(javascript_text(frame[BUDGET], at), ABSENT)
        if isinstance(at, str):
            if len(at) > CHARACTERS_PER_STEP:
                frame[BUDGET].scan(len(at))
            return member(value, at)
        is_place = isinstance(at, int | float) and not isinstance(at, bool) and at >= 0
        return member(value, at) if is_place else ABSENT

    return item


def _function(compiler: Compiler, op: Op) -> Evaluate:
    function, args = FUNCTIONS[op.operands[0]], _spread(compiler, op.operands[1:])

    def apply(frame: Frame) -> Value:
        values = _gather(args, frame)
        weigh(frame[BUDGET], *values)
        return function(frame[BUDGET], values)

    return with_place(op.place, apply)


def _method(compiler: Compiler, op: Op) -> Evaluate:
    name, *operands = op.operands
    count, method = METHODS[name]

    def call(budget: Budget, subject: Value, *args: Value) -> Value:
        weigh(budget, subject, *args)
        return method(budget, subject, *args[:count])

    return applying(call)(compiler, op._replace(operands=tuple(operands)))


def _loop(compiler: Compiler, op: Op) -> Evaluate:
    name, subject, parameters, result, *rest = op.operands
    initial = compiler.operands(tuple(rest))
    method, values_of = LOOPS[name], compiler.expression(subject)
    before = compiler.nodes
    body = compiler.expression(result)
    cost = (compiler.nodes - before) // NODES_PER_STEP

    def turn(frame: Frame, *args: Value) -> Value:
        for bind, value in zip(parameters, args, strict=False):
            for slot, key in bind:
                frame[slot] = value if key is None else member(value, key)
        return body(frame)

    def run(frame: Frame) -> Value:
        budget = frame[BUDGET]
        values = elements(budget, require_list(values_of(frame)))
        budget.step(cost * turns(name, len(values)))
        return method(
            budget, list(values), partial(turn, frame), *(value(frame) for value in initial)
        )

    return with_place(op.place, run)


def _let(compiler: Compiler, op: Op) -> Evaluate:
    *assigned, last = op.operands
    values = compiler.operands(tuple(assigned[1::2]))
    constants, result = list(zip(assigned[::2], values, strict=True)), compiler.expression(last)

    def run(frame: Frame) -> Value:
        for slot, evaluate in constants:
            frame[slot] = evaluate(frame)
        return result(frame)

    return run


# --- literals and elements ---

_NUMBERS: Final = (bool, int, float)
_OBJECTS: Final = frozenset({"js{}", "exporter{}"})


def _has_spread(op: Op) -> bool:
    if op.name in _OBJECTS:
        return not all(isinstance(key, str) for key in op.operands[1::2])
    return any(type(operand) is Op and operand.name == "..." for operand in op.operands)


def _part(compiler: Compiler, expr: Expr) -> Part:
    if is_constant(expr):
        return CONSTANT, constant_of(expr)
    is_literal = type(expr) is Op and (expr.name == "js[,]" or expr.name in _OBJECTS)
    if is_literal and not _has_spread(expr):
        compiler.nodes += 1
        return BUILD, _build(compiler, expr)
    return VALUE, compiler.expression(expr)


def _literal(compiler: Compiler, op: Op) -> Evaluate:
    if _has_spread(op):
        if op.name in _OBJECTS:
            return _spread_object(compiler, op)
        values = _spread(compiler, op.operands)
        return with_place(op.place, lambda frame: new_list(frame[BUDGET], _gather(values, frame)))
    before = compiler.nodes
    build = _build(compiler, op)
    cost = 1 + (compiler.nodes - before) // NODES_PER_STEP
    return with_place(op.place, literals.literal(build, cost))


def _build(compiler: Compiler, op: Op) -> Build:
    if op.name not in _OBJECTS:
        return literals.list_of([_part(compiler, operand) for operand in op.operands])
    kids, *entries = op.operands
    drop_undefined = op.name == "js{}"
    parts = {
        key: _part(compiler, value)
        for key, value in zip(entries[::2], entries[1::2], strict=True)
        if not (drop_undefined and is_constant(value) and constant_of(value) is ABSENT)
    }
    children = None
    if kids:
        children = partial(_show_children, _children(compiler, kids), hidden=_NUMBERS)
    return literals.object_of(parts, children=children, drop_undefined=drop_undefined)


def _children(compiler: Compiler, kids: tuple[Expr, ...]) -> list[Part]:
    # A list among the children is joined with those around it, so it is no part of a literal.
    return [
        (VALUE, compiler.expression(kid))
        if type(kid) is Op and kid.name == "js[,]"
        else _part(compiler, kid)
        for kid in kids
    ]


def _fragment(compiler: Compiler, op: Op) -> Evaluate:
    parts = _children(compiler, op.operands)
    return with_place(
        op.place, lambda frame: with_size(frame[BUDGET], *_show_children(parts, frame))
    )


_Spread = list[tuple[bool, Evaluate]]


def _spread(compiler: Compiler, operands: tuple[Expr, ...]) -> _Spread:
    return [
        (True, compiler.expression(operand.operands[0]))
        if type(operand) is Op and operand.name == "..."
        else (False, compiler.expression(operand))
        for operand in operands
    ]


def _gather(values: _Spread, frame: Frame) -> list[Value]:
    budget, out = frame[BUDGET], list[Value]()
    for is_spread, evaluate in values:
        value = evaluate(frame)
        budget.step()
        out += elements(budget, value) if is_spread else [value]
    return out


def _spread_object(compiler: Compiler, op: Op) -> Evaluate:
    kids, *parts = op.operands
    entries = [
        (None if key is None else compiler.expression(key), compiler.expression(value))
        for key, value in zip(parts[::2], parts[1::2], strict=True)
    ]
    children = _children(compiler, kids)

    def merge(frame: Frame) -> Value:
        budget = frame[BUDGET]
        out: dict[Value, Value] = {}
        for key, evaluate in entries:
            name, value = key and key(frame), evaluate(frame)
            budget.step()
            if key is not None:
                out[dict_key(budget, javascript_text(budget, name))] = value
            elif isinstance(value, dict):
                budget.step(len(value))
                out.update(value)
        if children:
            out[CHILDREN] = with_size(budget, *_show_children(children, frame, _NUMBERS))
        return new_dict(budget, {k: v for k, v in out.items() if v is not ABSENT})

    return with_place(op.place, merge)


def _show_children(
    parts: list[Part], frame: Frame, hidden: type | tuple[type, ...] = bool
) -> tuple[TemplateList, int, int]:
    """Build the list of children as React shows them: lists joined, nothing left out.

    A number is a child only where a text is made of them: `{count && <Row/>}` shows no 0.
    """
    budget, out, heavy, height = frame[BUDGET], TemplateList(), 1, 1
    for how, evaluate in parts:
        if how == BUILD:
            value, more, tall = evaluate(frame)
            out.append(value)
            heavy, height = heavy + more, max(height, tall + 1)
            continue
        waiting = [evaluate if how == CONSTANT else evaluate(frame)]
        while waiting:
            value = waiting.pop()
            if isinstance(value, list | tuple):
                budget.step(len(value))
                waiting.extend(reversed(value))
            elif not (is_nothing(value) or isinstance(value, hidden) or value == ""):
                more, tall = measure_inside(budget, value) if type(value) in HOLDERS else (LEAF, 0)
                if type(value) is str:
                    more += len(value)
                out.append(value)
                heavy, height = heavy + more, max(height, tall + 1)
    return out, heavy, height


def _with_texts(compiler: Compiler, op: Op) -> Evaluate:
    """Wrap each object with a `type` in a `Text`, as Studio's exporter does in lists."""
    evaluate = compiler.expression(op.operands[0])

    def wrap(frame: Frame) -> Value:
        budget = frame[BUDGET]
        values: Any = [
            new_dict(budget, {"type": "Text", "value": element})
            if isinstance(element, dict) and isinstance(element.get("type"), str)
            else element
            for element in evaluate(frame)
        ]
        return new_list(budget, values)

    return wrap


JAVASCRIPT: Final[Mapping[str, MakeExpression]] = MappingProxyType(
    {
        **{f"js{sign}": binary(apply) for sign, apply in OPERATORS.items()},
        "js&&": over(
            lambda left, right: (
                lambda frame: right(frame) if truthy(value := left(frame)) else value
            )
        ),
        "js||": over(
            lambda left, right: (
                lambda frame: value if truthy(value := left(frame)) else right(frame)
            )
        ),
        "js??": over(
            lambda left, right: (
                lambda frame: right(frame) if is_nothing(value := left(frame)) else value
            )
        ),
        "js!": over(lambda value: lambda frame: not truthy(value(frame))),
        "jsneg": applying(javascript.negative),
        "jspos": applying(javascript.positive),
        "js?:": over(
            lambda test, yes, no: lambda frame: yes(frame) if truthy(test(frame)) else no(frame)
        ),
        "js`": applying(javascript.concat),
        "js[]": _item,
        "jsfn": _function,
        "jsm": _method,
        "jsloop": _loop,
        "let": _let,
        "js[,]": _literal,
        "js{}": _literal,
        "<>": _fragment,
        "exporter[,]": _with_texts,
        "exporter{}": _literal,
    }
)
