"""The closures of statements: they run over a frame and write to a list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from widgetd.core.template.budget import NODES_PER_STEP, RenderError
from widgetd.core.template.builtins.objects import Loop
from widgetd.core.template.closures.output import output
from widgetd.core.template.ir import Op, height
from widgetd.core.template.scope import BUDGET, Execute, Frame
from widgetd.core.template.values import Namespace, Value, elements, kind

if TYPE_CHECKING:
    from widgetd.core.template.closures.compiler import Compiler, MakeStatement

Assign = Callable[[Frame, Value], None]


def _if(compiler: Compiler, op: Op) -> Execute:
    *pairs, last = op.operands
    branches = [
        (compiler.expression(test), compiler.body(body))
        for test, body in zip(pairs[::2], pairs[1::2], strict=True)
    ]
    otherwise = compiler.body(last)
    if len(branches) > 1:

        def branch(frame: Frame, out: list[str]) -> None:
            for test, then in branches:
                if test(frame):
                    return then(frame, out)
            return otherwise(frame, out)

        return branch
    test, then = branches[0]

    def choose(frame: Frame, out: list[str]) -> None:
        if test(frame):
            then(frame, out)
        else:
            otherwise(frame, out)

    return choose


class _ForLoop:
    """A loop, compiled.

    An object, since closures with references to each other are freed only by the garbage collector.

    Attributes:
        slot: The slot of the target, if it is a single name.
        state: The slot of `loop`, if the body reads it.
        cost: Further steps of a turn, if its body has many nodes.
        height: The height of the loop in operations if it may call itself, else 0.
    """

    def __init__(self, compiler: Compiler, op: Op) -> None:
        target, items, body, self.state, otherwise, chooser, is_recursive = op.operands
        before = compiler.nodes
        self.chooser = None if chooser is True else compiler.expression(chooser)
        self.body = compiler.body(body)
        self.cost = (compiler.nodes - before) // NODES_PER_STEP
        self.items = compiler.expression(items)
        self.bind = _assignment(target)
        self.slot = target if type(target) is int else None
        self.otherwise = compiler.body(otherwise)
        self.height = height(op) if is_recursive else 0
        self.place = op.place

    def choose(self, frame: Frame, value: Value) -> Sequence[Value]:
        try:
            values = elements(frame[BUDGET], value)
            if self.cost:
                frame[BUDGET].step(self.cost * len(values))
        except RenderError as failure:
            raise failure.at(self.place) from None
        if self.chooser is None:
            return values
        chosen = []
        for element in values:
            self.bind(frame, element)
            if self.chooser(frame):
                chosen.append(element)
        return chosen

    def run(self, frame: Frame, out: list[str]) -> None:
        values = self.choose(frame, self.items(frame))
        body, slot, bind = self.body, self.slot, self.bind
        if slot is None:
            for element in values:
                bind(frame, element)
                body(frame, out)
        else:
            for frame[slot] in values:
                body(frame, out)
        if not values:
            self.otherwise(frame, out)

    def run_observed(self, frame: Frame, out: list[str]) -> None:
        """Run a loop whose body reads `loop`, and may call it."""
        self._observe(frame, out, self.items(frame), 0)

    def _observe(self, frame: Frame, out: list[str], value: Value, depth0: int) -> None:
        values = self.choose(frame, value)
        bind, body = self.bind, self.body
        again = partial(self._recurse, frame) if self.height else None
        frame[self.state] = state = Loop(values, depth0, again)
        for state.index0, element in enumerate(values):
            bind(frame, element)
            body(frame, out)
        if not values:
            self.otherwise(frame, out)

    def _recurse(self, frame: Frame, value: Value, depth0: int) -> str:
        out: list[str] = []
        frame[BUDGET].enter(self.height)
        self._observe(frame.copy(), out, value, depth0)
        frame[BUDGET].leave(self.height)
        return "".join(out)


def _for(compiler: Compiler, op: Op) -> Execute:
    loop = _ForLoop(compiler, op)
    return loop.run if loop.state is None else loop.run_observed


def _assign(compiler: Compiler, op: Op) -> Execute:
    target, value = op.operands[0], compiler.expression(op.operands[1])
    if type(target) is int:

        def store(frame: Frame, _out: list[str]) -> None:
            frame[target] = value(frame)

        return store
    bind = _assignment(target)
    return lambda frame, _out: bind(frame, value(frame))


def _assignment(target: Any) -> Assign:
    if type(target) is int:
        return lambda frame, value: frame.__setitem__(target, value)
    return _field(target) if target.name == "field" else _unpacking(target)


def _field(target: Op) -> Assign:
    (slot, key), place = target.operands, target.place

    def store(frame: Frame, value: Value) -> None:
        space = frame[slot]
        if not isinstance(space, Namespace):
            raise RenderError(f"cannot set '{key}' on {kind(space)}, only on a namespace").at(place)
        frame[BUDGET].step()
        space.values[key] = value

    return store


def _unpacking(target: Op) -> Assign:
    binds, place = [_assignment(part) for part in target.operands], target.place
    count = len(binds)

    def unpack(frame: Frame, value: Value) -> None:
        try:
            values = elements(frame[BUDGET], value)
        except RenderError as failure:
            raise failure.at(place) from None
        if len(values) != count:
            raise RenderError(f"cannot take {count} values from {len(values)}").at(place)
        for bind, part in zip(binds, values, strict=True):
            bind(frame, part)

    return unpack


def _copy(_compiler: Compiler, op: Op) -> Execute:
    """Give the names set by a block their values around it."""
    pairs = list(zip(op.operands[::2], op.operands[1::2], strict=True))

    def copy(frame: Frame, _out: list[str]) -> None:
        for here, around in pairs:
            frame[here] = frame[around]

    return copy


def _strip(compiler: Compiler, op: Op) -> Execute:
    """Write a body without its leading comma.

    The exporter separates children by a set-block and an output without its comma. Written at
    once, the text is neither copied nor paid for again at each level.
    """
    body = compiler.body(op.operands[0])

    def run(frame: Frame, out: list[str]) -> None:
        start = len(out)
        body(frame, out)
        for at in range(start, len(out)):
            if out[at]:
                out[at] = out[at].removeprefix(",")
                break

    return run


def _with(compiler: Compiler, op: Op) -> Execute:
    targets, among, inner = op.operands
    values, binds = compiler.operands(among), [_assignment(part) for part in targets]
    body = compiler.body(inner)
    if not binds:
        return body

    def run(frame: Frame, out: list[str]) -> None:
        for bind, value in list(zip(binds, [part(frame) for part in values], strict=True)):
            bind(frame, value)
        body(frame, out)

    return run


STATEMENTS: Final[Mapping[str, MakeStatement]] = MappingProxyType(
    {
        "out": output,
        "if": _if,
        "ifv": _if,
        "for": _for,
        "=": _assign,
        "copy": _copy,
        "strip": _strip,
        "with": _with,
    }
)
