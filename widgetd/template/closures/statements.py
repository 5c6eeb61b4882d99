"""The closures of statements: they run over a frame and write to a list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from widgetd.template.budget import RenderError
from widgetd.template.closures.loops import for_loop
from widgetd.template.closures.output import output
from widgetd.template.ir import Op
from widgetd.template.scope import BUDGET, Execute, Frame
from widgetd.template.values import Namespace, Value, elements, kind

if TYPE_CHECKING:
    from widgetd.template.closures.compiler import Compiler, MakeStatement

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


def _for(compiler: Compiler, op: Op) -> Execute:
    return for_loop(compiler, op, _assignment(op.operands[0]))


def _assign(compiler: Compiler, op: Op) -> Execute:
    target, value = op.operands[0], compiler.expression(op.operands[1])
    if type(target) is int:

        def store(frame: Frame, _out: list[str]) -> None:
            frame[target] = value(frame)

        return store
    bind = _assignment(target)
    return lambda frame, _out: bind(frame, value(frame))


def _assignment(target: Any) -> Assign:
    """Return the closure that binds a value to a name, to several, or to a namespace's field."""
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
    binds, place = [_assignment(each) for each in target.operands], target.place
    count = len(binds)

    def unpack(frame: Frame, value: Value) -> None:
        try:
            values = elements(frame[BUDGET], value)
        except RenderError as failure:
            raise failure.at(place) from None
        if len(values) != count:
            raise RenderError(f"cannot take {count} values from {len(values)}").at(place)
        for bind, each in zip(binds, values, strict=True):
            bind(frame, each)

    return unpack


def _copy(_compiler: Compiler, op: Op) -> Execute:
    """Give the names that a block sets the values that they have around it."""
    pairs = list(zip(op.operands[::2], op.operands[1::2], strict=True))

    def copy(frame: Frame, _out: list[str]) -> None:
        for here, around in pairs:
            frame[here] = frame[around]

    return copy


def _strip(compiler: Compiler, op: Op) -> Execute:
    """Write a body without its leading comma.

    The exporter separates children by a set-block and an output that strips it; written at
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
    values, binds = compiler.each(among), [_assignment(each) for each in targets]
    body = compiler.body(inner)
    if not binds:
        return body

    def run(frame: Frame, out: list[str]) -> None:
        for bind, value in list(zip(binds, [each(frame) for each in values], strict=True)):
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
