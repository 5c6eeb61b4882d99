"""The closures of expressions: names, members, filters, calls, conditions, operators, literals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from widgetd.core.template.budget import (
    CHARACTERS_PER_STEP,
    NODES_PER_STEP,
    UNFIT,
    Budget,
    RenderError,
)
from widgetd.core.template.builtins import FILTERS, METHODS, TESTS
from widgetd.core.template.builtins.objects import FUNCTIONS, LOOP_MEMBERS, Function
from widgetd.core.template.builtins.operators import (
    BINARY,
    COMPARISONS,
    Binary,
    concat,
    negative,
    positive,
)
from widgetd.core.template.closures import literals
from widgetd.core.template.closures.compiler import Compiler, MakeExpression, constant, with_place
from widgetd.core.template.ir import Op, constant_of, height, is_constant
from widgetd.core.template.scope import BUDGET, Evaluate, Frame
from widgetd.core.template.serialise import javascript_text
from widgetd.core.template.values import (
    ABSENT,
    RuntimeObject,
    Value,
    dict_key,
    is_nothing,
    kind,
    member,
    new_dict,
    new_tuple,
    part,
)

# --- names, and what they hold ---


def _index(_compiler: Compiler, op: Op) -> Evaluate:
    """Read an argument, or the position in the loop forgotten by the exporter."""
    slot, loop = op.operands

    def index(frame: Frame) -> Value:
        value = frame[slot]
        return frame[loop].index0 if value is ABSENT else value

    return index


def _loop_member(_compiler: Compiler, op: Op) -> Evaluate:
    slot, read = op.operands[0], LOOP_MEMBERS[op.operands[1]]
    return lambda frame: read(frame[slot])


def _member(compiler: Compiler, op: Op) -> Evaluate:
    subject, *keys = op.operands
    compiler.nodes += len(keys)
    read = compiler.expression(subject) if type(subject) is not int else None
    for key in keys:
        read = _member_of_slot(subject, key) if read is None else _member_of(read, key)
    assert read is not None  # noqa: S101 - there is a key
    return read


def _member_of_slot(slot: int, key: str) -> Evaluate:
    def attribute(frame: Frame) -> Value:
        value = frame[slot]
        return value.get(key, ABSENT) if type(value) is dict else member(value, key)

    return attribute


def _member_of(subject: Evaluate, key: str) -> Evaluate:
    def attribute(frame: Frame) -> Value:
        value = subject(frame)
        return value.get(key, ABSENT) if type(value) is dict else member(value, key)

    return attribute


def _item(compiler: Compiler, op: Op) -> Evaluate:
    subject, key = compiler.operands(op.operands)

    def item(frame: Frame) -> Value:
        value, at = subject(frame), key(frame)
        if type(at) is str and len(at) > CHARACTERS_PER_STEP:
            frame[BUDGET].scan(len(at))
        return member(value, at)

    return item


# --- filters, tests and calls ---


def _make_application(sort: str, name: str, function: Callable[..., Value]) -> MakeExpression:
    def make(compiler: Compiler, op: Op) -> Evaluate:
        place, (subject, *rest) = op.place, op.operands
        named = compiler.keywords(rest.pop()) if rest and isinstance(rest[-1], dict) else {}
        args, evaluate = compiler.operands(tuple(rest)), compiler.expression(subject)

        def unfit(value: Value) -> RenderError:
            problem = (
                f"the {sort} '{name}' cannot be applied to {kind(value)}, "
                "or not with these arguments"
            )
            return RenderError(problem).at(place)

        def plain(frame: Frame) -> Value:
            value = evaluate(frame)
            try:
                return function(frame[BUDGET], value)
            except RenderError as failure:
                raise failure.at(place) from None
            except UNFIT:
                raise unfit(value) from None

        def full(frame: Frame) -> Value:
            value = evaluate(frame)
            values = [argument(frame) for argument in args]
            by_name = {key: argument(frame) for key, argument in named.items()}
            try:
                return function(frame[BUDGET], value, *values, **by_name)
            except RenderError as failure:
                raise failure.at(place) from None
            except UNFIT:
                raise unfit(value) from None

        return full if args or named else plain

    return make


def _method(compiler: Compiler, op: Op) -> Evaluate:
    name, subject = op.operands[0], compiler.expression(op.operands[1])

    def find(frame: Frame) -> Function:
        value = subject(frame)
        if is_nothing(value):
            return lambda _budget, _args, _named: ABSENT
        for types, methods in METHODS:
            if isinstance(value, types) and name in methods:
                function = methods[name]
                return lambda budget, args, named: function(budget, value, *args, **named)
        raise RenderError(f"{kind(value)} has no method '{name}'")

    return _call(compiler, op, find)


def _make_call(compiler: Compiler, op: Op) -> Evaluate:
    callee = compiler.expression(op.operands[0])

    def find(frame: Frame) -> Function:
        value = callee(frame)
        if isinstance(value, RuntimeObject):
            return value.call
        raise RenderError(f"{kind(value)} cannot be called")

    return _call(compiler, op, find)


def _call(compiler: Compiler, op: Op, find: Callable[[Frame], Function]) -> Evaluate:
    *_, positional, by_name = op.operands
    place, args, named = op.place, compiler.operands(positional), compiler.keywords(by_name)

    def call(frame: Frame) -> Value:
        try:
            function = find(frame)
            values = [argument(frame) for argument in args]
            by_name = {key: argument(frame) for key, argument in named.items()}
            budget = frame[BUDGET]
            budget.step()
            return function(budget, values, by_name)
        except RenderError as failure:
            raise failure.at(place) from None
        except UNFIT:
            raise RenderError("this cannot be called with these arguments").at(place) from None

    return call


# --- conditions and operators ---


def over(make: Callable[..., Evaluate]) -> MakeExpression:
    """Return the maker of a closure over the closures of all operands, itself free of failures."""
    return lambda compiler, op: make(*compiler.operands(op.operands))


def applying(apply: Callable[..., Value]) -> MakeExpression:
    """Return what makes the closure of a function of the budget and all operands' values."""

    def make(compiler: Compiler, op: Op) -> Evaluate:
        place, operands = op.place, compiler.operands(op.operands)

        def run(frame: Frame) -> Value:
            try:
                return apply(frame[BUDGET], *[operand(frame) for operand in operands])
            except RenderError as failure:
                raise failure.at(place) from None

        return run

    return make


def binary(apply: Binary) -> MakeExpression:
    def make(compiler: Compiler, op: Op) -> Evaluate:
        place, (left, right) = op.place, compiler.operands(op.operands)

        def operate(frame: Frame) -> Value:
            try:
                return apply(frame[BUDGET], left(frame), right(frame))
            except RenderError as failure:
                raise failure.at(place) from None

        return operate

    return make


def _equality(*, is_equal: bool) -> MakeExpression:
    """Compare with a constant, the usual case, for free, else as other operators do."""
    general = binary(COMPARISONS["eq" if is_equal else "ne"])

    def make(compiler: Compiler, op: Op) -> Evaluate:
        if not is_constant(op.operands[1]):
            return general(compiler, op)
        left, other = compiler.expression(op.operands[0]), constant_of(op.operands[1])
        if is_equal:
            return lambda frame: left(frame) == other
        return lambda frame: left(frame) != other

    return make


def _chain(compiler: Compiler, op: Op) -> Evaluate:
    first, *rest = op.operands
    start = compiler.expression(first)
    comparisons = [
        (COMPARISONS[name], compiler.expression(operand))
        for name, operand in zip(rest[::2], rest[1::2], strict=True)
    ]

    def compare_chain(frame: Frame) -> Value:
        left = start(frame)
        for compare, operand in comparisons:
            right = operand(frame)
            if not compare(frame[BUDGET], left, right):
                return False
            left = right
        return True

    return with_place(op.place, compare_chain)


# --- literals, and the text of statements ---


def _literal(compiler: Compiler, op: Op) -> Evaluate:
    build = literals.build(compiler, op)
    return literals.literal(build, literals.element_count(op))


def _pairs(compiler: Compiler, op: Op) -> Evaluate:
    if literals.is_built(op):
        return _literal(compiler, op)
    values = compiler.operands(op.operands)
    pairs = list(zip(values[::2], values[1::2], strict=True))

    def make(frame: Frame) -> Value:
        budget = frame[BUDGET]
        budget.step(len(pairs))
        entries = [(dict_key(budget, key(frame)), value(frame)) for key, value in pairs]
        return new_dict(budget, entries)

    return make


def _capture(compiler: Compiler, op: Op) -> Evaluate:
    body = compiler.body(op.operands[0])

    def capture(frame: Frame) -> str:
        out: list[str] = []
        body(frame, out)
        return "".join(out)

    return capture


# --- macros ---


class Macro(RuntimeObject):
    """A macro in a frame whose names its body can read."""

    __slots__ = ("frame", "name", "run")

    def __init__(self, name: str, frame: Frame, run: Callable[..., str]) -> None:
        self.name = name
        self.frame = frame
        self.run = run

    def member(self, name: Value) -> Value:
        return self.name if name == "name" else ABSENT

    def call(self, budget: Budget, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return self.run(budget, self.frame.copy(), args, kwargs)


def _macro(compiler: Compiler, op: Op) -> Evaluate:
    """Make a macro in its frame. The slots of `extra` are the body's reads."""
    name, parameters, defaults, inner, (varargs, others, caller) = op.operands
    before, count, tall = compiler.nodes, len(parameters), height(op)
    values = [*[constant(ABSENT)] * (count - len(defaults)), *compiler.operands(defaults)]
    body = compiler.body(inner)
    cost = (compiler.nodes - before) // NODES_PER_STEP

    def run(budget: Budget, frame: Frame, args: list[Value], kwargs: dict[str, Value]) -> str:
        budget.enter(tall)
        budget.step(len(frame) // 16 + cost)
        if caller is not None:
            frame[caller] = kwargs.pop("caller", ABSENT)
        for at, (key, slot) in enumerate(parameters):
            if at < len(args):
                frame[slot] = args[at]
            else:
                frame[slot] = kwargs.pop(key) if key in kwargs else values[at](frame)
        if varargs is not None:
            frame[varargs] = new_tuple(budget, args[count:])
        elif len(args) > count:
            raise RenderError(f"the macro '{name}' takes at most {count} arguments")
        if others is not None:
            frame[others] = new_dict(budget, kwargs)
        elif kwargs:
            raise RenderError(f"the macro '{name}' takes no argument '{next(iter(kwargs))}'")
        out: list[str] = []
        body(frame, out)
        budget.leave(tall)
        return "".join(out)

    return lambda frame: Macro(name, frame, run)


EXPRESSIONS: Final[Mapping[str, MakeExpression]] = MappingProxyType(
    {
        ".": _member,
        "[]": _item,
        "[:]": applying(part),
        "index": _index,
        "loop": _loop_member,
        **{f"|{name}": _make_application("filter", name, body) for name, body in FILTERS.items()},
        **{f"?{name}": _make_application("test", name, body) for name, body in TESTS.items()},
        "fn": lambda compiler, op: _call(compiler, op, constant(FUNCTIONS[op.operands[0]])),
        "m": _method,
        "()": _make_call,
        "?:": over(lambda test, yes, no: lambda frame: yes(frame) if test(frame) else no(frame)),
        "and": over(lambda left, right: lambda frame: left(frame) and right(frame)),
        "or": over(lambda left, right: lambda frame: left(frame) or right(frame)),
        "not": over(lambda value: lambda frame: not value(frame)),
        "neg": applying(negative),
        "pos": applying(positive),
        **{name: binary(apply) for name, apply in {**BINARY, **COMPARISONS}.items()},
        "eq": _equality(is_equal=True),
        "ne": _equality(is_equal=False),
        "chain": _chain,
        "~": applying(concat),
        "[,]": _literal,
        "(,)": _literal,
        "{}": _pairs,
        "capture": _capture,
        "String": applying(javascript_text),
        "macro": _macro,
    }
)
