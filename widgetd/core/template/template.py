"""Templates and expressions: compiled once, evaluated with arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal, TypeVar

from widgetd.base.errors import CallError, Finding
from widgetd.core.template.budget import Budget, RenderError
from widgetd.core.template.closures import compile_body, compile_value
from widgetd.core.template.closures.output import Piece
from widgetd.core.template.dialect.commas import is_json, repair
from widgetd.core.template.dialect.json_context import JsonContext, json_context
from widgetd.core.template.ir import Program
from widgetd.core.template.jinja import build_expression, build_template
from widgetd.core.template.lexer import Lines
from widgetd.core.template.parser import (
    Fault,
    Parsed,
    every,
    nodes,
    parse,
    parse_expression,
    start,
    strict_operators,
)
from widgetd.core.template.references import Read, names, reads
from widgetd.core.template.scope import BUDGET, Frame
from widgetd.core.template.serialise import plain
from widgetd.core.template.values import ABSENT, Value

if TYPE_CHECKING:
    from widgetd.base.limits import Limits


Unusual = Literal["strict", "sum", "bare", "raw"]
"""`===`; a text and a number added; a value without `tojson`, bare or inside a text's quotes."""


_Result = TypeVar("_Result")

Slots = tuple[tuple[str, int], ...]
"""The slot of each argument."""


def compile_template(text: str, *, limits: Limits, to_the_letter: bool = False) -> Template:
    """Compile the template of a widget.

    Args:
        text: The template.
        limits: The limits of a widget.
        to_the_letter: Undo none of the known losses of Studio's exporter.

    Raises:
        WidgetError: `W1301` to `W1303`, with the line and column of `text`.
    """
    return Template(text, limits, writes_json=True, is_export=not to_the_letter)


def compile_text(text: str, *, limits: Limits) -> Template:
    """Compile a template of text for people: `{{ x }}` is written as it prints."""
    return Template(text, limits, writes_json=False)


class Template:
    """A compiled template."""

    def __init__(
        self, text: str, limits: Limits, *, writes_json: bool, is_export: bool = False
    ) -> None:
        self._text, self._limits = text, limits
        self._writes_json, self._is_export = writes_json, is_export
        try:
            program = self.program()
        except Fault as fault:
            raise fault.of(text) from None
        self._body = compile_body(program)
        self._slots, self._size = program.arguments, program.size
        self._may_need_commas = program.may_need_commas

    def program(self) -> Program:
        return build_program(self._text, self._limits, self._writes_json, self._is_export)

    def _parse(self) -> Parsed:
        return parse(self._text, self._limits, exported=self._is_export)

    def _context(self, parsed: Parsed) -> JsonContext:
        return json_context(parsed) if self._writes_json else JsonContext()

    # Serving a widget needs none of these, so each is computed on first use.

    @cached_property
    def reads(self) -> tuple[Read, ...]:
        return reads(self._parse().tree, Lines(self._text))

    @cached_property
    def warnings(self) -> tuple[Finding, ...]:
        parsed, lines = self._parse(), Lines(self._text)
        findings = [
            *_commas(self._context(parsed), lines),
            *_indexes(self.reads),
            *_lost(parsed.tree.body, lines, alone=False),
        ]
        return tuple(sorted(findings, key=lambda finding: (finding.line or 0, finding.code)))

    @cached_property
    def unusual(self) -> tuple[tuple[Unusual, int], ...]:
        """Return constructs misread by other readers of templates, each with its line."""
        parsed, lines = self._parse(), Lines(self._text)
        strict = (lines.location(place)[0] for place in strict_operators(self._text))
        odd = _unusual(parsed, self._context(parsed))
        return (
            *(("strict", line) for line in strict),
            *((kind, lines.location(start(node))[0]) for kind, node in odd),
        )

    @property
    def names(self) -> frozenset[str]:
        return names(self.reads)

    def render(self, arguments: Mapping[str, Value]) -> str:
        """Return the text for `arguments`, with commas repaired.

        Raises:
            CallError: `W2004` where the template fails on them, `W2005` where it spends too much.
        """
        return self.rendering(arguments).text

    def rendering(self, arguments: Mapping[str, Value]) -> Rendering:
        out: list[str] = []
        frame = frame_of(self._slots, self._size, arguments, self._limits)
        with_call_errors(self._text, lambda: self._body(frame, out))
        text, budget = "".join(out), frame[BUDGET]
        steps = budget.limits.steps - budget.steps
        if self._may_need_commas and not is_json(text):
            repaired = repair(text)
            if repaired is not None:
                return Rendering(repaired, repaired=True, steps=steps)
        return Rendering(text, repaired=False, steps=steps)

    def place(self, arguments: Mapping[str, Value], offset: int) -> tuple[int, int]:
        """Return the place behind the character at `offset` of the output, before repairs.

        Returns:
            The line and column in the template, from 1: those of the character if it is text of the
            template, else of its expression.
        """
        out: list[str] = []
        self._write_pieces(arguments, out)
        place = end = 0
        for piece in out:
            within = min(offset - end, len(piece))
            if isinstance(piece, Piece):
                place = piece.place + within * piece.constant
            end += len(piece)
            if offset < end:
                break
        return Lines(self._text).location(place)

    def trace(self, arguments: Mapping[str, Value]) -> tuple[Traced, ...]:
        """Return every written value, in order, up to the failure if it fails.

        The template is compiled again for this, so other renders stay as fast.
        """
        out: list[str] = []
        with suppress(CallError):
            self._write_pieces(arguments, out)
        lines = Lines(self._text)
        return tuple(
            Traced(*lines.location(piece.place), _expression_at(self._text, piece.place), piece[:])
            for piece in out
            if isinstance(piece, Piece) and not piece.constant
        )

    def _write_pieces(self, arguments: Mapping[str, Value], out: list[str]) -> None:
        parsed = self._parse()
        program = build_template(parsed, self._context(parsed), traced=True)
        body = compile_body(program, traced=True)
        frame = frame_of(self._slots, self._size, arguments, self._limits)
        with_call_errors(self._text, lambda: body(frame, out))


@lru_cache(maxsize=4)
def build_program(text: str, limits: Limits, writes_json: bool, is_export: bool) -> Program:
    """Build the program of a template, cached while it is compiled and written into its page.

    Raises:
        Fault: As `parse` and `build_template` do.
    """
    parsed = parse(text, limits, exported=is_export)
    context = json_context(parsed) if writes_json else JsonContext()
    return build_template(parsed, context)


@dataclass(frozen=True, slots=True)
class Traced:
    """A value written by a template, its expression, and the expression's place, from 1."""

    line: int
    column: int
    expression: str
    text: str


@dataclass(frozen=True, slots=True)
class Rendering:
    """The result of a render.

    Attributes:
        text: The output.
        repaired: Whether commas between its values had to be repaired.
        steps: The number of its steps.
    """

    text: str
    repaired: bool
    steps: int


class Expression:
    """A compiled expression.

    Attributes:
        program: Its operations.
        reads: The reads of its arguments.

    Raises:
        WidgetError: as `compile_template` does.
    """

    __slots__ = ("_limits", "_size", "_slots", "_text", "_value", "program", "reads")

    def __init__(self, text: str, limits: Limits) -> None:
        try:
            tree = parse_expression(text, limits)
            program = build_expression(tree)
        except Fault as fault:
            raise fault.of(text) from None
        self._value, self.program = compile_value(program), program
        self._slots, self._size = program.arguments, program.size
        self._text, self._limits = text, limits
        self.reads = reads(tree, Lines(text))

    def evaluate(self, arguments: Mapping[str, Value], budget: Budget | None = None) -> Value:
        """Return the JSON value of the expression, null if it is absent.

        Args:
            arguments: The arguments, by name.
            budget: A budget shared with others, by default of its own.
        """
        frame = frame_of(self._slots, self._size, arguments, self._limits)
        frame[BUDGET] = budget or frame[BUDGET]
        return with_call_errors(self._text, lambda: plain(frame[BUDGET], self._value(frame)))


def _expression_at(text: str, place: int) -> str:
    depth, quoted = 0, ""
    for at in range(place, len(text)):
        char = text[at]
        if quoted:
            quoted = "" if char == quoted and text[at - 1] != "\\" else quoted
        elif char in "'\"":
            quoted = char
        elif char == "{":
            depth += 1
        elif char == "}":
            if not depth:
                return text[place:at].removesuffix("-").rstrip()
            depth -= 1
    return text[place:]


def frame_of(slots: Slots, size: int, arguments: Mapping[str, Value], limits: Limits) -> Frame:
    frame: Frame = [ABSENT] * size
    frame[BUDGET] = Budget(limits)
    for name, slot in slots:
        frame[slot] = arguments.get(name, ABSENT)
    return frame


def with_call_errors(text: str, run: Callable[[], _Result]) -> _Result:
    """Return the result of `run`, with failures as errors at lines of `text`.

    Raises:
        CallError: It failed.
    """
    try:
        return run()
    except RenderError as failure:
        place = None if failure.place is None else Lines(text).location(failure.place)
        line = "" if place is None else f"line {place[0]}: "
        raise CallError(failure.code, f"{line}{failure.problem}", place=place) from None
    except RecursionError:
        raise CallError("W2005", "the template's macros call each other too deeply") from None


def _unusual(parsed: Parsed, context: JsonContext) -> Iterator[tuple[Unusual, nodes.Node]]:
    raw = context.in_strings - context.escaped
    for node in parsed.nodes:
        if isinstance(node, nodes.Add):
            # A text is added to other values, as far as a text stands there.
            texts = {
                isinstance(side, nodes.Concat)
                or (isinstance(side, nodes.Const) and type(side.value) is str)
                for side in (node.left, node.right)
            }
            if len(texts) == 2:
                yield "sum", node
                continue
        if isinstance(node, nodes.Expr) and id(node) in context.bare:
            yield "bare", node
        elif isinstance(node, nodes.Expr) and id(node) in raw:
            yield "raw", node


# --- what can be said of it without arguments: lost values, unbound indexes, wrong commas ---


def _commas(context: JsonContext, lines: Lines) -> Iterator[Finding]:
    first: dict[tuple[int, bool], int] = {}
    for comma in sorted(context.commas):
        line, column = lines.location(comma.place)
        first.setdefault((line, comma.missing), column)
    for (line, missing), column in first.items():
        problem = "a comma is missing before this value" if missing else "a comma too many"
        advice = (
            'widgetd sets it right; write {{ "," if not loop.last }} to be understood by others'
        )
        yield Finding(code="W1309", line=line, column=column, problem=problem, advice=advice)


def _indexes(reads: tuple[Read, ...]) -> Iterator[Finding]:
    first: dict[tuple[str, int], Read] = {}
    for read in reads:
        if read.index:
            first.setdefault((read.path, read.line), read)
    for read in first.values():
        yield Finding(
            code="W1308",
            line=read.line,
            column=read.column,
            problem=f"'{read.path}' is read in a loop that does not bind it",
            advice=f"it counts the turns from 0 unless it is an argument; "
            f"write {{% set {read.path} = loop.index0 %}}",
        )


def _lost(body: list[nodes.Node], lines: Lines, *, alone: bool) -> Iterator[Finding]:
    """Yield a finding for each `(none)` where the JSX had something.

    As a whole branch it is the `null` of `c ? x : null`.
    """
    only = alone and len(body) == 1
    for node in body:
        if isinstance(node, nodes.Output):
            yield from _lost_in(node, lines, spared=only and len(node.nodes) == 1)
        elif isinstance(node, nodes.If):
            for branch in (node, *node.elif_):
                yield from _lost(branch.body, lines, alone=True)
            yield from _lost(node.else_, lines, alone=True)
        else:
            yield from _lost(getattr(node, "body", []), lines, alone=False)


def _lost_in(output: nodes.Output, lines: Lines, *, spared: bool) -> Iterator[Finding]:
    for child in output.nodes:
        value = child.node if isinstance(child, nodes.Filter) and child.name == "tojson" else child
        joined = [node for node in every(child) if isinstance(node, nodes.Concat)]
        whole = not spared and _is_none(value)
        if whole or any(_is_none(part) for node in joined for part in node.nodes):
            line, column = lines.location(start(child))
            yield Finding(
                code="W1307",
                line=line,
                column=column,
                problem="the exporter could not translate this value and wrote (none)",
                advice="write the value that the JSX shows, or simplify the JSX and export again",
            )


def _is_none(node: nodes.Node | None) -> bool:
    return isinstance(node, nodes.Const) and node.value is None
