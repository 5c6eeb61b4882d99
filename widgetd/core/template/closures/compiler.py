"""The compiler from programs to closures over a frame.

A table has a function for each operator. This module has their common part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from widgetd.core.template.budget import RenderError
from widgetd.core.template.ir import Body, Expr, Op, constant_of, is_constant

if TYPE_CHECKING:
    from widgetd.core.template.scope import Evaluate, Execute, Frame
    from widgetd.core.template.values import Value

MakeExpression = Callable[["Compiler", Op], "Evaluate"]
MakeStatement = Callable[["Compiler", Op], "Execute"]


class Compiler:
    """Makes closures of a program.

    Attributes:
        nodes: The number of expressions and statements compiled so far. The price of a turn of a
            loop, and of a macro's call, depends on it.
        traced: Whether each piece of output records its place in the template.
    """

    def __init__(
        self,
        expressions: Mapping[str, MakeExpression],
        statements: Mapping[str, MakeStatement],
        *,
        traced: bool = False,
    ) -> None:
        self._expressions = expressions
        self._statements = statements
        self.nodes = 0
        self.traced = traced

    def expression(self, expr: Expr) -> Evaluate:
        self.nodes += 1
        if type(expr) is int:
            return lambda frame: frame[expr]
        if is_constant(expr):
            return constant(constant_of(expr))
        return self._expressions[expr.name](self, expr)

    def operands(self, among: tuple[Expr, ...]) -> list[Evaluate]:
        return [self.expression(expr) for expr in among]

    def keywords(self, among: Mapping[str, Expr]) -> dict[str, Evaluate]:
        return {name: self.expression(expr) for name, expr in among.items()}

    def body(self, body: Body) -> Execute:
        parts = [(statement.place, self._statement(statement)) for statement in body]
        if len(parts) == 1 and body[0].name == "out":
            return parts[0][1]

        def run(frame: Frame, out: list[str]) -> None:
            place = 0
            try:
                for place, part in parts:  # noqa: B007 - the handler reads the place
                    part(frame, out)
            except RenderError as failure:
                raise failure.at(place) from None

        return run

    def _statement(self, op: Op) -> Execute:
        self.nodes += 1
        return self._statements[op.name](self, op)


def constant(value: Value) -> Evaluate:
    return lambda _frame: value


def with_place(place: int, evaluate: Evaluate) -> Evaluate:
    def run(frame: Frame) -> Value:
        try:
            return evaluate(frame)
        except RenderError as failure:
            raise failure.at(place) from None

    return run
