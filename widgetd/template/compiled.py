"""Compile templates and expressions, and run them from arguments to text or value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from widgetd.errors import CallError, Finding
from widgetd.template import dialect
from widgetd.template.budget import Budget, Failure
from widgetd.template.expressions import expression
from widgetd.template.json_context import Flow, follow
from widgetd.template.parser import Parsed, nodes, parse, parse_expression
from widgetd.template.places import Read
from widgetd.template.reads import names, reads
from widgetd.template.remarks import remarks
from widgetd.template.scope import BUDGET, Frame, Layout, Scope, assigned
from widgetd.template.statements import block
from widgetd.template.text import plain
from widgetd.template.values import ABSENT, Value

if TYPE_CHECKING:
    from widgetd.limits import Limits


Places = tuple[tuple[str, int], ...]
"""Where in a frame each argument goes."""

Follow = Callable[[Parsed], Flow]
"""How what a template writes is followed: as JSON, or not at all."""


def compile_template(text: str, *, limits: Limits) -> Template:
    """The template of a widget, ready to be rendered.

    Raises:
        WidgetError: `W1301` to `W1303`, with the line of `text`.
    """
    return Template(text, follow, limits)


def compile_text(text: str, *, limits: Limits) -> Template:
    """A template whose text is for people: `{{ x }}` is written as it prints.

    Raises:
        WidgetError: as `compile_template` does.
    """
    return Template(text, lambda _parsed: Flow(), limits)


def compile_expression(text: str, *, limits: Limits) -> Expression:
    """One expression, ready to be evaluated.

    Raises:
        WidgetError: as `compile_template` does.
    """
    return Expression(parse_expression(text, limits), limits)


class Template:
    """A compiled template."""

    __slots__ = ("_body", "_follow", "_limits", "_loose", "_places", "_said", "_size", "_text")

    def __init__(self, text: str, follow: Follow, limits: Limits) -> None:
        parsed = parse(text, limits)
        tree, flow = parsed.tree, follow(parsed)
        layout = Layout(flow)
        scope = Scope(layout)
        for name in sorted(assigned(tree.body)):
            scope.bind(name)
        self._body = block(tree.body, scope)
        self._places, self._size = tuple(layout.arguments.items()), layout.size
        self._limits = limits
        self._loose = flow.loose
        self._text, self._follow = text, follow
        self._said: _Said | None = None

    @property
    def reads(self) -> tuple[Read, ...]:
        """Where it reads which of its arguments."""
        return self._explained().reads

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What can be said about it before anyone calls it."""
        return self._explained().warnings

    @property
    def names(self) -> frozenset[str]:
        """The names it expects of its arguments."""
        return names(self.reads)

    def _explained(self) -> _Said:
        # Serving a widget asks for none of this, so it is found when somebody does.
        if self._said is None:
            parsed = parse(self._text, self._limits)
            found = reads(parsed.tree)
            self._said = _Said(found, remarks(parsed.tree, self._follow(parsed), found))
        return self._said

    def render(self, arguments: Mapping[str, Value]) -> str:
        """The text that the template makes of `arguments`, its commas set right.

        Raises:
            CallError: `W2004` where the template fails on them, `W2005` where it spends too much.
        """
        return self.rendering(arguments).text

    def rendering(self, arguments: Mapping[str, Value]) -> Rendering:
        """The text, whether its commas had to be set right, and what it took.

        Raises:
            CallError: as `render` does.
        """
        out: list[str] = []
        frame = _frame(self._places, self._size, arguments, self._limits)
        _guarded(lambda: self._body(frame, out))
        text = "".join(out)
        if self._loose and not dialect.is_json(text):
            mended = dialect.mend(text)
            if mended is not None:
                return Rendering(mended, mended=True, steps=_steps(frame))
        return Rendering(text, mended=False, steps=_steps(frame))


@dataclass(frozen=True, slots=True)
class _Said:
    """What can be said of a template."""

    reads: tuple[Read, ...]
    warnings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Rendering:
    """What one render made.

    Attributes:
        text: The output.
        mended: Whether commas between its values had to be set right.
        steps: How many it took, of those that a render may take.
    """

    text: str
    mended: bool
    steps: int


class Expression:
    """A compiled expression.

    Attributes:
        reads: Where it reads which of its arguments.
    """

    __slots__ = ("_limits", "_places", "_size", "_value", "reads")

    def __init__(self, tree: nodes.Expr, limits: Limits) -> None:
        layout = Layout(Flow())
        self._value = expression(tree, Scope(layout))
        self._places, self._size = tuple(layout.arguments.items()), layout.size
        self._limits = limits
        self.reads = reads(tree)

    @property
    def names(self) -> frozenset[str]:
        """The names it expects of its arguments."""
        return names(self.reads)

    def evaluate(self, arguments: Mapping[str, Value]) -> Value:
        """The JSON value of the expression; null where it is absent.

        Raises:
            CallError: as `Template.render` does.
        """
        frame = _frame(self._places, self._size, arguments, self._limits)
        return _guarded(lambda: plain(frame[BUDGET], self._value(frame)))


def _frame(places: Places, size: int, arguments: Mapping[str, Value], limits: Limits) -> Frame:
    frame: Frame = [ABSENT] * size
    frame[BUDGET] = Budget(limits)
    for name, place in places:
        frame[place] = arguments.get(name, ABSENT)
    return frame


def _steps(frame: Frame) -> int:
    budget: Budget = frame[BUDGET]
    return budget.limits.steps - budget.steps


def _guarded(run: Callable[[], Value]) -> Value:
    try:
        return run()
    except Failure as failure:
        line = "" if failure.line is None else f"line {failure.line}: "
        raise CallError(failure.code, f"{line}{failure.problem}") from None
    except RecursionError:
        raise CallError("W2005", "the template's macros call each other too deeply") from None
