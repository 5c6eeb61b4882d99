"""Compiled JSX: from arguments to the JSON of a tree, as a template does it."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from widgetd.base.errors import CallError, Finding, WidgetError
from widgetd.core.template.closures import compile_value
from widgetd.core.template.ir import Program
from widgetd.core.template.jsx.build import Builder
from widgetd.core.template.jsx.parse import CODE, Node, parse
from widgetd.core.template.jsx.statements import Abandoned, JsxScope
from widgetd.core.template.jsx.syntax import ELEMENTS, tag_of, unescape, unwrap
from widgetd.core.template.lexer import Lines
from widgetd.core.template.parser import Fault
from widgetd.core.template.references import Read, names
from widgetd.core.template.scope import BUDGET
from widgetd.core.template.serialise import plain, tojson
from widgetd.core.template.template import Rendering, frame_of, with_call_errors
from widgetd.core.template.values import Value

if TYPE_CHECKING:
    from widgetd.base.limits import Limits


class View:
    """Compiled JSX, with the interface of `Template`.

    Args:
        text: The JSX.
        limits: The limits of a widget.
        builder: Reads the JSX otherwise than JavaScript does, or records more.

    Raises:
        WidgetError: `W1327`, with the line and column of `text`.
    """

    warnings: tuple[Finding, ...] = ()
    """There is nothing to say of it before anyone calls it."""

    def __init__(self, text: str, limits: Limits, *, builder: type[Builder] = Builder) -> None:
        self._text, self._limits, self._builder = text, limits, builder
        self._read_paths: dict[tuple[int, int], str] = {}
        program = self.program()
        self._value = compile_value(program)
        self._slots, self._size = program.arguments, program.size

    def program(self) -> Program:
        """Build the program of the view.

        Raises:
            WidgetError: `W1327`, with the line and column of the text.
        """
        builder = self._builder(self._limits)
        with _reporting(builder, self._text):
            tree = parse(self._text, self._limits)
            value = builder.view(tree, statements(tree))
        self._read_paths = builder.reads
        return builder.layout.program(value)

    @property
    def reads(self) -> tuple[Read, ...]:
        lines = Lines(self._text)
        places = {
            (lines.location(start), path): None for (start, _), path in self._read_paths.items()
        }
        return tuple(
            Read(path=path, line=line, column=column, guarded=False, certain=frozenset())
            for (line, column), path in sorted(places)
        )

    @property
    def elements(self) -> Iterator[tuple[str, int, int]]:
        """Yield the type, start and end of each element, in the order of the text."""
        for node in self._nodes(ELEMENTS):
            yield tag_of(node), node.start, node.start + len(node.text)

    @property
    def repeated_attributes(self) -> Iterator[tuple[str, str, int]]:
        """Yield the type of the element, the name and the start of attributes written again.

        The tag of a component is its `type`. A component of the file may take another.
        """
        own = {
            node.fields["name"].text
            for node in self._nodes({"function_declaration", "variable_declarator"})
        }
        for node in self._nodes(ELEMENTS):
            names = set[str]() if tag_of(node) in own else {"type"}
            for child in node.fields.get("open_tag", node).children[1:]:
                name = child.children[0].text if child.kind == "jsx_attribute" else ""
                if name in names:
                    yield tag_of(node), name, child.start
                names |= {name} - {""}

    def _nodes(self, kinds: Container[str]) -> Iterator[Node]:
        pending = [parse(self._text, self._limits)]
        while pending:
            node = pending.pop()
            if node.kind in kinds:
                yield node
            pending += reversed(node.children)

    @property
    def names(self) -> frozenset[str]:
        return names(self.reads)

    def render(self, arguments: Mapping[str, Value]) -> str:
        """Return the JSON of the tree for `arguments`.

        Raises:
            CallError: `W2004` where it fails on them, `W2005` where it spends too much.
        """
        return self.rendering(arguments).text

    def rendering(self, arguments: Mapping[str, Value]) -> Rendering:
        frame = frame_of(self._slots, self._size, arguments, self._limits)
        budget = frame[BUDGET]

        def run() -> str:
            value = self._value(frame)
            if isinstance(value, list) and len(value) == 1:
                value = value[0]
            text = tojson(budget, value)
            budget.text(len(text))
            return text

        text = with_call_errors(self._text, run)
        return Rendering(text, repaired=False, steps=budget.limits.steps - budget.steps)


@contextmanager
def _reporting(builder: Builder, text: str) -> Iterator[None]:
    """Raise all faults of `builder` in the block as a single error, in the order of the text."""
    try:
        yield
    except Abandoned:
        pass
    except Fault as fault:
        builder.faults.append(fault)
    faults = sorted(builder.faults, key=lambda fault: fault.place or 0)
    if faults:
        errors = [error.of(text) for error in faults]
        raise WidgetError(*(error.finding for error in errors)) from None


def constants(text: str, *, limits: Limits) -> dict[str, Value]:
    """Return the JSON values of `const schema = …` and `const sample = …`, by name.

    Raises:
        WidgetError: `W1327`, with the line and column of `text`.
    """
    builder = Builder(limits)
    with _reporting(builder, text):
        declared = [
            declarator for node in parse(text, limits).children for declarator in _constants(node)
        ]
        built = {
            declarator.fields["name"].text: builder.expression(
                declarator.fields["value"], JsxScope()
            )
            for declarator in declared
        }
    values = {
        name: compile_value(builder.layout.program(declarator))
        for name, declarator in built.items()
    }
    frame = frame_of((), builder.layout.size, {}, limits)
    budget = frame[BUDGET]

    def evaluate() -> dict[str, Value]:
        return {name: plain(budget, value(frame)) for name, value in values.items()}

    try:
        return with_call_errors(text, evaluate)
    except CallError as error:
        finding = Finding(code=CODE, problem=error.message, advice="write what JSON can hold")
        raise WidgetError(finding) from None


def constant_offsets(text: str, *, limits: Limits) -> dict[tuple[str, ...], int]:
    """Map the path of each value in `const schema` and `const sample` to its offset.

    Raises:
        Fault: The text is no JavaScript.
    """
    offsets: dict[tuple[str, ...], int] = {}

    def visit(node: Node, at: tuple[str, ...], start: int) -> None:
        offsets[at] = start
        for index, item in enumerate(node.children if node.kind in {"object", "array"} else ()):
            key = unescape(item.fields["key"]) if item.kind == "pair" else str(index)
            visit(item.fields.get("value", item), (*at, key), item.start)

    for node in parse(text, limits).children:
        for item in _constants(node):
            visit(unwrap(item.fields["value"]), (item.fields["name"].text,), item.start)
    return offsets


BESIDE: Final = frozenset({"schema", "sample"})
"""The names of constants that may stand beside a view, in a file written by hand."""


def _constants(node: Node) -> list[Node]:
    if node.kind == "export_statement" and len(node.children) == 1:
        node = node.children[0]
    if node.kind != "lexical_declaration" or not node.text.startswith("const"):
        return []
    named = [
        declarator for declarator in node.children if {"name", "value"} <= declarator.fields.keys()
    ]
    reserved = [declarator for declarator in named if declarator.fields["name"].text in BESIDE]
    return reserved if len(reserved) == len(node.children) else []


def statements(program: Node) -> list[Node]:
    return [node for node in program.children if not _constants(node)]
