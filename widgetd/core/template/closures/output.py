"""The closures of outputs: constant text, and the values of `{{ ... }}` as their places need them.

In running JSON a value is written as it prints, or by `tojson`. Inside a JSON string both are
escaped, so no argument can break out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from widgetd.core.template.budget import RenderError
from widgetd.core.template.closures.compiler import constant
from widgetd.core.template.ir import Op
from widgetd.core.template.scope import BUDGET, Evaluate, Execute, Frame
from widgetd.core.template.serialise import (
    bare,
    complete_escapes,
    inside,
    json_inside,
    quote,
    text,
    tojson,
)

if TYPE_CHECKING:
    from widgetd.core.template.budget import Budget
    from widgetd.core.template.closures.compiler import Compiler
    from widgetd.core.template.values import Value

Write = Callable[["Budget", "Value"], str]

WRITERS: Final[Mapping[str, Write]] = MappingProxyType(
    {
        "json": tojson,
        "json_inside": json_inside,
        "text": text,
        "value": text,
        "inside": inside,
        "escaped": complete_escapes,
        "bare": bare,
    }
)

Part = tuple[str, Evaluate, Write, int]
"""The constant before a value, the value, how it is written, and its place."""


def output(compiler: Compiler, op: Op) -> Execute:
    parts: list[Part] = []
    data = ""
    for part in op.operands:
        content, place = part.operands[0], part.place
        if part.name != "data":
            write = WRITERS[part.name]
            if compiler.traced:
                write = _tracing(write, place)
            parts.append((data, compiler.expression(content), write, place))
            data = ""
        elif compiler.traced:
            piece = Piece.of(content, place, constant=True)
            parts.append(("", constant(piece), lambda _budget, value: value, place))
        else:
            data += content
    if all(write is tojson for _, _, write, _ in parts):
        return _values(parts, data, op.place)
    return _write_mixed(parts, data)


def _tracing(write: Write, place: int) -> Write:
    return lambda budget, value: Piece.of(write(budget, value), place, constant=False)


def _values(written: list[Part], tail: str, start: int) -> Execute:
    """Write values as JSON between constants, as most outputs do."""
    parts = [(data, evaluate, place) for data, evaluate, _, place in written]
    constant = len(tail) + sum(len(data) for data, _, _ in parts)

    def run(frame: Frame, out: list[str]) -> None:
        budget = frame[BUDGET]
        size, place = constant, start
        try:
            for data, evaluate, place in parts:  # noqa: B007 - the handler reads the place
                value = evaluate(frame)
                piece = quote(value) if type(value) is str else tojson(budget, value)
                size += len(piece)
                out += data, piece
            budget.chars -= size  # as `text` does, because most outputs end here
            if budget.chars < 0:
                raise budget.out_of_text()
        except RenderError as failure:
            raise failure.at(place) from None
        out.append(tail)

    return run


def _write_mixed(parts: list[Part], tail: str) -> Execute:
    def run(frame: Frame, out: list[str]) -> None:
        budget = frame[BUDGET]
        part = parts[0]
        try:
            for part in parts:
                data, evaluate, write, _ = part
                piece = write(budget, evaluate(frame))
                budget.text(len(data) + len(piece))
                out += data, piece
            budget.text(len(tail))
        except RenderError as failure:
            raise failure.at(part[3]) from None
        out.append(tail)

    return run


class Piece(str):
    """A piece of output with its place in the template.

    Attributes:
        place: The offset of the expression or text behind it.
        constant: Whether it is text of the template, with a place for each character.
    """

    __slots__ = ("constant", "place")

    place: int
    constant: bool

    @classmethod
    def of(cls, text: str, place: int, *, constant: bool) -> Piece:
        piece = cls(text)
        piece.place, piece.constant = place, constant
        return piece

    def removeprefix(self, prefix: str, /) -> Piece:
        rest = super().removeprefix(prefix)
        place = self.place + (len(self) - len(rest)) * self.constant
        return Piece.of(rest, place, constant=self.constant)
