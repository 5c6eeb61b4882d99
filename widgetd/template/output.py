"""Write what stands between the tags, and the values of `{{ … }}`, as the place asks for them.

In running JSON a value is written as it prints, or by `tojson`. Inside a JSON
string both are escaped, so no argument can break out of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from widgetd.template.budget import Failure
from widgetd.template.expressions import expression
from widgetd.template.parser import nodes, start
from widgetd.template.scope import BUDGET, Evaluate, Execute, Frame, Scope
from widgetd.template.serialise import (
    bare,
    half_escaped,
    inside,
    javascript_text,
    json_inside,
    quote,
    text,
    tojson,
)

if TYPE_CHECKING:
    from widgetd.template.budget import Budget
    from widgetd.template.values import Value

Write = Callable[["Budget", "Value"], str]
Part = tuple[str, Evaluate, Write, int]
"""The constant before a value, the value, how it is written, and where it stands."""


def output(node: nodes.Output, scope: Scope) -> Execute:
    """The closure that writes the parts of one output."""
    if scope.layout.traced:
        return _traced(node, scope)
    parts: list[Part] = []
    data = ""
    for each in node.nodes:
        if isinstance(each, nodes.TemplateData):
            data += each.data
        elif id(each) not in scope.layout.context.stripped:
            parts.append((data, *_written(each, scope), each.lineno))
            data = ""
    if not parts:
        return _data(data, node.lineno)
    if all(write is tojson for _, _, write, _ in parts):
        return _values(parts, data, node.lineno)
    return _mixed(parts, data)


def _written(node: nodes.Expr, scope: Scope) -> tuple[Evaluate, Write]:
    context = scope.layout.context
    within = id(node) in context.in_strings
    if isinstance(node, nodes.Filter) and node.name == "tojson" and not (node.args or node.kwargs):
        assert node.node is not None  # noqa: S101 - only a filter block's filter has no subject
        value, write = expression(node.node, scope), json_inside if within else tojson
        if node.lineno in context.converted:
            # A template literal in the JSX had made a text of it.
            return lambda frame: javascript_text(frame[BUDGET], value(frame)), write
        return value, write
    if within:
        return expression(node, scope), half_escaped if id(node) in context.escaped else inside
    return expression(node, scope), bare if id(node) in context.bare else text


def _data(data: str, place: int) -> Execute:
    size = len(data)

    def run(frame: Frame, out: list[str]) -> None:
        budget = frame[BUDGET]
        budget.chars -= size
        if budget.chars < 0:
            raise budget.out_of_text().at(place)
        out.append(data)

    return run


def _values(written: list[Part], tail: str, start: int) -> Execute:
    """The usual output: values as JSON between constants."""
    parts = [(data, evaluate, place) for data, evaluate, _, place in written]
    constant = len(tail) + sum(len(data) for data, _, _ in parts)

    def run(frame: Frame, out: list[str]) -> None:
        budget = frame[BUDGET]
        size, place = constant, start
        try:
            for data, evaluate, place in parts:  # noqa: B007 - the handler reads the place
                value = evaluate(frame)
                shown = quote(value) if type(value) is str else tojson(budget, value)
                size += len(shown)
                out += data, shown
            budget.text(size)
        except Failure as failure:
            raise failure.at(place) from None
        out.append(tail)

    return run


def _mixed(parts: list[Part], tail: str) -> Execute:
    def run(frame: Frame, out: list[str]) -> None:
        budget = frame[BUDGET]
        part = parts[0]
        try:
            for part in parts:
                data, evaluate, write, _ = part
                shown = write(budget, evaluate(frame))
                budget.text(len(data) + len(shown))
                out += data, shown
            budget.text(len(tail))
        except Failure as failure:
            raise failure.at(part[3]) from None
        out.append(tail)

    return run


class Piece(str):
    """A piece of output that knows where in the template it comes from.

    Attributes:
        place: The offset of what wrote it.
        constant: Whether it stands there as it is, so that each character has its own place.
    """

    __slots__ = ("constant", "place")

    place: int
    constant: bool

    @classmethod
    def of(cls, text: str, place: int, *, constant: bool) -> Piece:
        """The `text` that was written by what stands at `place`."""
        piece = cls(text)
        piece.place, piece.constant = place, constant
        return piece

    def removeprefix(self, prefix: str, /) -> Piece:
        """What is left, which still knows its place."""
        left = super().removeprefix(prefix)
        place = self.place + (len(self) - len(left)) * self.constant
        return Piece.of(left, place, constant=self.constant)


def _traced(node: nodes.Output, scope: Scope) -> Execute:
    """The closure that writes pieces which know their places; slower than the others."""
    parts = [
        Piece.of(each.data, each.lineno, constant=True)
        if isinstance(each, nodes.TemplateData)
        else (*_written(each, scope), start(each))
        for each in node.nodes
        if id(each) not in scope.layout.context.stripped
    ]

    def run(frame: Frame, out: list[str]) -> None:
        budget = frame[BUDGET]
        for part in parts:
            if isinstance(part, Piece):
                piece = part
            else:
                evaluate, write, place = part
                piece = Piece.of(write(budget, evaluate(frame)), place, constant=False)
            budget.text(len(piece))
            out.append(piece)

    return run
