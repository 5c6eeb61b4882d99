"""The entry point to jinja2: its lexer and parser turn text into a tree of nodes.

Nothing is compiled, optimised or folded here, so loading a template runs none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from jinja2 import Environment, nodes
from jinja2.exceptions import TemplateSyntaxError
from jinja2.lexer import Token, TokenStream
from jinja2.parser import Parser

from widgetd.base.errors import Finding, WidgetError
from widgetd.base.text_search import compile_pattern
from widgetd.core.template.dialect import exporter
from widgetd.core.template.lexer import Lines, tokens, tokens_by_jinja
from widgetd.core.template.values import MAX_INTEGER

if TYPE_CHECKING:
    from widgetd.base.limits import Limits

Tree = TypeVar("Tree", bound=nodes.Node)

__all__ = [
    "Fault",
    "Parsed",
    "assigned_names",
    "children",
    "every",
    "nodes",
    "parse",
    "parse_expression",
    "start",
    "target_names",
]

# Jinja's parser takes 13 frames of Python's stack for a bracket and 4 for a block.
MAX_NESTING: Final = 32
MAX_TOKENS: Final = 20_000
MAX_HEIGHT: Final = 100

_BLOCKS: Final = frozenset({"if", "for", "macro", "call", "filter", "with", "autoescape", "block"})
_OPENING: Final = frozenset({"lparen", "lbracket", "lbrace"})
_CLOSING: Final = frozenset({"rparen", "rbracket", "rbrace"})
_UNREMARKABLE: Final = frozenset(
    {"data", "string", "dot", "comma", "colon", "pipe"}
    | {f"{tag}_{end}" for tag in ("block", "variable") for end in ("begin", "end")}
)


class Fault(Exception):  # noqa: N818 - a WidgetError in the making, never seen outside
    """An unusable template, a `WidgetError` once its text is known.

    Attributes:
        place: The offset in the text, or None for the whole text.
    """

    def __init__(self, code: str, place: int | None, problem: str, advice: str) -> None:
        super().__init__(problem)
        self.place = place
        self._finding = Finding(code=code, problem=problem, advice=advice)

    def of(self, text: str) -> WidgetError:
        """Return the error about the template `text`, with its line and column."""
        if self.place is None:
            return WidgetError(self._finding)
        line, column = Lines(text).location(self.place)
        return WidgetError(replace(self._finding, line=line, column=column))


def _too_deep(place: int | None) -> Fault:
    return Fault(
        "W1303", place, "the template nests too deeply", "split what is nested into macros"
    )


class _Environment(Environment):
    """An environment with bounds on the parser's input and with the exporter's operators."""

    def _tokenize(
        self, source: str, name: str | None, filename: str | None = None, state: str | None = None
    ) -> TokenStream:
        lexed: Iterable[Token] | None = None if state else tokens(source)
        if lexed is None:
            lexed = tokens_by_jinja(self.lexer, source, state)
        return TokenStream(_bound_tokens(lexed), name, filename)


def _bound_tokens(stream: Iterable[Token]) -> Iterator[Token]:
    brackets = blocks = 0
    previous = ""
    for count, token in enumerate(stream):
        kind = token.type
        if kind not in _UNREMARKABLE:
            if kind in _OPENING:
                brackets += 1
            elif kind in _CLOSING:
                brackets -= 1
            elif kind == "name" and previous == "block_begin":
                word = token.value
                blocks += (word in _BLOCKS) - (word.startswith("end") and word != "endset")
            elif kind == "integer" and int(token.value) >= MAX_INTEGER:
                raise Fault("W1302", token.lineno, "a number is too large", "write it as text")
            elif kind == "assign" and previous in exporter.STRICT_OPERATORS:
                previous = ""
                continue
            if brackets > MAX_NESTING or blocks > MAX_NESTING:
                raise _too_deep(token.lineno)
        if count > MAX_TOKENS:
            raise Fault("W1303", token.lineno, "the template is too large", "make it shorter")
        previous = kind
        yield token


_ENVIRONMENT: Final = _Environment()


def strict_operators(text: str) -> list[int]:
    """Return the offsets of `===` and `!==` in the tags of a parsed template."""
    if "==" not in text:
        return []
    lexed = tokens(text) or list(tokens_by_jinja(_ENVIRONMENT.lexer, text, None))
    return [
        before.lineno
        for before, after in pairwise(lexed)
        if after.type == "assign" and before.type in exporter.STRICT_OPERATORS
    ]


class Parsed(NamedTuple):
    """The tree of a template, and all its nodes, outer before inner.

    `converted` are the offsets of the filters whose values are texts in the JSX.
    """

    tree: nodes.Template
    nodes: list[nodes.Node]
    converted: frozenset[int]


@lru_cache(maxsize=4)
def parse(text: str, limits: Limits, *, exported: bool = False) -> Parsed:
    """Parse a template. The tree is cached while it is compiled, explained and examined.

    Args:
        text: The template.
        limits: Its maximum size.
        exported: Read it with the meaning of the original JSX, before Studio's exporter.

    Raises:
        Fault: `W1301` where it is not Jinja, `W1303` where it is too large.
    """
    _check_size(text, limits)
    if exported:
        text = exporter.unwrap_data(text)
    # `parser.parse()` would go through the tree once more, to tell each node its environment.
    tree = _run_parser(text, None, lambda parser: nodes.Template(parser.subparse(), lineno=0))
    converted = exporter.find_converted(text) if exported else frozenset()
    return Parsed(tree, _bounded_nodes(tree, limits), converted)


def parse_expression(text: str, limits: Limits) -> nodes.Expr:
    _check_size(text, limits)
    tree = _run_parser(text, "variable", _expression)
    _bounded_nodes(tree, limits)
    return tree


def _expression(parser: Parser) -> nodes.Expr:
    value = parser.parse_expression()
    if not parser.stream.eos:
        parser.fail("the expression ends before this")
    return value


_OFFSET: Final = compile_pattern(r"' at \d+$")


def _run_parser(text: str, state: str | None, run: Callable[[Parser], Tree]) -> Tree:
    try:
        return run(Parser(_ENVIRONMENT, text, state=state))
    except TemplateSyntaxError as error:
        problem = _OFFSET.sub("'", str(error.message).rstrip("."))
        raise Fault("W1301", error.lineno, problem, exporter.advice(problem)) from None
    except RecursionError:
        raise _too_deep(None) from None
    except ValueError:  # a number of more digits than Python reads
        raise Fault("W1302", None, "a number is too large", "write it as text") from None


def _check_size(text: str, limits: Limits) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > limits.template_bytes:
        raise Fault(
            "W1303",
            None,
            f"the template has {size:,} bytes",
            f"at most {limits.template_bytes:,} are allowed",
        )


def _bounded_nodes(tree: nodes.Node, limits: Limits) -> list[nodes.Node]:
    level: list[nodes.Node] = [tree]
    bounded: list[nodes.Node] = []
    depth = 0
    while level:
        depth += 1
        if depth > MAX_HEIGHT:
            raise _too_deep(level[0].lineno)
        bounded += level
        if len(bounded) > limits.template_nodes:
            raise Fault(
                "W1303",
                None,
                f"the template has more than {limits.template_nodes:,} syntax nodes",
                "make it shorter",
            )
        level = [child for node in level for child in children(node)]
    return bounded


_LEAVES: Final = frozenset({nodes.Name, nodes.Const, nodes.TemplateData})
"""Most nodes are one of these, and none of them has nodes below it."""


def children(node: nodes.Node) -> list[nodes.Node]:
    if type(node) in _LEAVES:
        return []
    inside: list[nodes.Node] = []
    for name in node.fields:
        value = getattr(node, name, None)
        if isinstance(value, nodes.Node):
            inside.append(value)
        elif isinstance(value, list):
            inside += [child for child in value if isinstance(child, nodes.Node)]
    return inside


def every(node: nodes.Node) -> list[nodes.Node]:
    """Return `node` and every node below it, outer before inner."""
    reached = [node]
    for child in reached:  # which grows
        reached += children(child)
    return reached


def start(node: nodes.Node) -> int:
    # Jinja gives some nodes of its own no place. No expression begins a template.
    return min(filter(None, (child.lineno for child in every(node))), default=0)


def assigned_names(body: list[nodes.Node]) -> set[str]:
    """Return the names bound by statements of a block in that block itself."""
    assigned: set[str] = set()
    for node in body:
        if isinstance(node, nodes.Assign | nodes.AssignBlock):
            assigned.update(target_names(node.target))
        elif isinstance(node, nodes.Macro):
            assigned.add(node.name)
        elif isinstance(node, nodes.If):
            assigned |= assigned_names([*node.body, *node.elif_, *node.else_])
    return assigned


def target_names(node: nodes.Node) -> list[str]:
    if isinstance(node, nodes.Name):
        return [node.name]
    if isinstance(node, nodes.Tuple):
        return [name for item in node.items for name in target_names(item)]
    return []
