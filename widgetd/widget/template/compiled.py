"""Compile templates and expressions, and run them from arguments to text or value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from widgetd.errors import CallError
from widgetd.widget.template.budget import Budget, Failure
from widgetd.widget.template.expressions import expression
from widgetd.widget.template.flow import Flow
from widgetd.widget.template.parse import parse, parse_expression
from widgetd.widget.template.scope import Evaluate, Execute, Frame, Layout, Scope, assigned
from widgetd.widget.template.statements import block
from widgetd.widget.template.values import ABSENT, Value

if TYPE_CHECKING:
    from widgetd.widget.limits import Limits


def compile_template(text: str, *, limits: Limits) -> Template:
    """The template of a widget, ready to be rendered.

    Raises:
        WidgetError: `W1301` to `W1303`, with the line of `text`.
    """
    tree = parse(text, limits)
    layout = Layout(Flow())
    scope = Scope(layout)
    for name in sorted(assigned(tree.body)):
        scope.bind(name)
    return Template(block(tree.body, scope), layout, limits)


def compile_text(text: str, *, limits: Limits) -> Template:
    """A template whose text is for people: `{{ x }}` is written as it prints.

    Raises:
        WidgetError: as `compile_template` does.
    """
    return compile_template(text, limits=limits)


def compile_expression(text: str, *, limits: Limits) -> Expression:
    """One expression, ready to be evaluated.

    Raises:
        WidgetError: as `compile_template` does.
    """
    tree = parse_expression(text, limits)
    layout = Layout(Flow())
    return Expression(expression(tree, Scope(layout)), layout, limits)


class Template:
    """A compiled template."""

    __slots__ = ("_body", "_layout", "_limits")

    def __init__(self, body: Execute, layout: Layout, limits: Limits) -> None:
        self._body = body
        self._layout = layout
        self._limits = limits

    @property
    def names(self) -> frozenset[str]:
        """The names that the template expects from outside."""
        return frozenset(self._layout.arguments)

    def render(self, arguments: Mapping[str, Value]) -> str:
        """The text that the template makes of `arguments`.

        Raises:
            CallError: `W2004` where the template fails on them, `W2005` where it spends too much.
        """
        out: list[str] = []
        _run(self._body, _frame(self._layout, arguments, self._limits), out)
        return "".join(out)


class Expression:
    """A compiled expression."""

    __slots__ = ("_layout", "_limits", "_value")

    def __init__(self, value: Evaluate, layout: Layout, limits: Limits) -> None:
        self._value = value
        self._layout = layout
        self._limits = limits

    def evaluate(self, arguments: Mapping[str, Value]) -> Value:
        """The JSON value of the expression; null where it is absent.

        Raises:
            CallError: as `Template.render` does.
        """
        value = self._value(_frame(self._layout, arguments, self._limits))
        return None if value is ABSENT else value


def _frame(layout: Layout, arguments: Mapping[str, Value], limits: Limits) -> Frame:
    frame: Frame = [ABSENT] * layout.size
    frame[0] = Budget(limits)
    for name, place in layout.arguments.items():
        frame[place] = arguments.get(name, ABSENT)
    return frame


def _run(body: Execute, frame: Frame, out: list[str]) -> None:
    try:
        body(frame, out)
    except Failure as failure:
        raise CallError(failure.code, f"line {failure.line}: {failure.problem}") from None
    except RecursionError:
        raise CallError("W2005", "the template's values nest too deeply") from None
