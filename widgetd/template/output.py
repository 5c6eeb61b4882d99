"""Write what stands between the tags, and the values of `{{ … }}`, as the place asks for them.

In running JSON a value is written as it prints, or by `tojson`. Inside a JSON
string both are escaped, so no argument can break out of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from widgetd.template.budget import Failure
from widgetd.template.expressions import expression
from widgetd.template.parser import nodes
from widgetd.template.scope import BUDGET, Evaluate, Execute, Frame, Scope
from widgetd.template.text import (
    bare,
    half_escaped,
    inside,
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


def output(node: nodes.Output, scope: Scope) -> Execute:
    """The closure that writes the parts of one output."""
    parts, data = [], ""
    for each in node.nodes:
        if id(each) in scope.layout.flow.stripped:
            continue
        constant = _constant(each)
        if constant is not None:
            data += constant
            continue
        evaluate, write = _written(each, scope)
        parts.append((data, evaluate, write, each.lineno))
        data = ""
    if not parts:
        return _data(data, node.lineno)
    if all(write is tojson for _, _, write, _ in parts):
        return _values(
            [(data, evaluate, line) for data, evaluate, _, line in parts], data, node.lineno
        )
    return _mixed(parts, data)


def _constant(node: nodes.Node) -> str | None:
    return node.data if isinstance(node, nodes.TemplateData) else None


def _written(node: nodes.Expr, scope: Scope) -> tuple[Evaluate, Write]:
    flow = scope.layout.flow
    within = id(node) in flow.in_strings
    value = _shown_as_json(node)
    if value is not None:
        return expression(value, scope), json_inside if within else tojson
    if within:
        return expression(node, scope), half_escaped if id(node) in flow.escaped else inside
    return expression(node, scope), bare if id(node) in flow.bare else text


def _shown_as_json(node: nodes.Node) -> nodes.Expr | None:
    """The expression that `node` pipes through a plain `tojson`, if it does."""
    if isinstance(node, nodes.Filter) and node.name == "tojson" and not (node.args or node.kwargs):
        return node.node
    return None


def _data(data: str, line: int) -> Execute:
    size = len(data)

    def run(frame: Frame, out: list[str]) -> None:
        budget = frame[BUDGET]
        budget.chars -= size
        if budget.chars < 0:
            raise budget.out_of_text().at(line)
        out.append(data)

    return run


def _values(parts: list[tuple[str, Evaluate, int]], tail: str, start: int) -> Execute:
    """The usual output: values as JSON between constants."""
    constant = len(tail) + sum(len(data) for data, _, _ in parts)

    def run(frame: Frame, out: list[str]) -> None:
        budget = frame[BUDGET]
        size, line = constant, start
        try:
            for data, evaluate, line in parts:  # noqa: B007 - the handler reads the line
                value = evaluate(frame)
                shown = quote(value) if type(value) is str else tojson(budget, value)
                size += len(shown)
                out += data, shown
            budget.text(size)
        except Failure as failure:
            raise failure.at(line) from None
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
