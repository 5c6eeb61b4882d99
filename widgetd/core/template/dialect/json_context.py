"""The JSON around each output of a template, from a walk along every path.

The walk follows every path at once, without arguments: both branches of a condition, and zero,
one and many iterations of a loop. Only facts of every path count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple

from jinja2.visitor import NodeVisitor

from widgetd.base.text_search import compile_pattern, read_tokens
from widgetd.core.template.dialect.patterns import (
    captured_names,
    decide,
    escapes_itself,
    find_stripping,
    quoted_names,
    shows_argument,
    shows_json,
    starts_json,
)
from widgetd.core.template.parser import Parsed, nodes, start, target_names

ANY: Final = 0
"""Something unknown stands before: whatever comes next is right."""
IN_STRING: Final = 1
OPEN: Final = 2
"""A bracket or brace was just opened."""
COMMA: Final = 3
COLON: Final = 4
VALUE: Final = 5
LEAD: Final = 6
"""Like `OPEN`, but one leading comma will be taken away."""


class Point(NamedTuple):
    """A possible state before a place, `sure` if it does not depend on a condition."""

    state: int
    sure: bool


States = frozenset[Point]


class Turn(NamedTuple):
    """The turn of the innermost loop in the walk."""

    first: bool
    last: bool


class Comma(NamedTuple):
    """A missing or superfluous comma, by its offset in the text."""

    place: int
    missing: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonContext:
    """Facts about a template's outputs, by the identity of their nodes.

    Attributes:
        in_strings: The expressions and blocks whose text is inside a JSON string.
        escaped: Those of them with JSON's escapes of their own.
        bare: The unquoted expressions where JSON needs a value.
        stripping: The set-blocks whose only purpose is to lose their leading comma.
        stripped: The expressions behind such a set-block.
        converted: The offsets of the filters whose values are texts in the JSX.
        commas: The wrong commas between values, whatever the arguments.
        may_need_commas: Whether commas may be missing in the output, or superfluous.
        values: The expressions and conditions where JSON needs a value.
    """

    in_strings: frozenset[int] = frozenset()
    escaped: frozenset[int] = frozenset()
    bare: frozenset[int] = frozenset()
    stripping: frozenset[int] = frozenset()
    stripped: frozenset[int] = frozenset()
    converted: frozenset[int] = frozenset()
    commas: tuple[Comma, ...] = ()
    may_need_commas: bool = False
    values: frozenset[int] = frozenset()


def json_context(parsed: Parsed) -> JsonContext:
    """Return the surroundings of each output of a template of JSON."""
    walk = _ContextWalk(parsed)
    walk.body(parsed.tree.body, frozenset({Point(ANY, sure=True)}), None)
    return walk.context()


_Bodied = nodes.AssignBlock | nodes.Macro | nodes.CallBlock | nodes.FilterBlock


class _ContextWalk(NodeVisitor):
    """A single walk through a template.

    Each visit returns the possible states after a node for those before it.
    """

    def __init__(self, parsed: Parsed) -> None:
        self.stripping, self.stripped = find_stripping(parsed.nodes)
        self.captured = captured_names(parsed.nodes)
        self.quoted = quoted_names(parsed.nodes)
        self.converted = parsed.converted
        self.seen: dict[int, nodes.Node] = {}
        self.before: dict[int, set[int]] = {}
        self.memo: dict[tuple[int, States, Turn | None], States] = {}
        self.after = cache(_after)  # the same texts are on many paths
        self.commas: dict[Comma, None] = {}
        self.may_need_commas = False

    def context(self) -> JsonContext:
        within = {key: node for key, node in self.seen.items() if self.before[key] == {IN_STRING}}
        values = frozenset(key for key, states in self.before.items() if states == {COLON})
        bare = (
            key
            for key, node in self.seen.items()
            if key in values and not shows_json(node) and shows_argument(node, self.captured)
        )
        return JsonContext(
            in_strings=frozenset(within),
            escaped=frozenset(key for key, node in within.items() if escapes_itself(node)),
            bare=frozenset(bare),
            stripping=self.stripping,
            stripped=self.stripped,
            converted=self.converted,
            commas=tuple(self.commas),
            may_need_commas=self.may_need_commas,
            values=values,
        )

    def body(self, body: Iterable[nodes.Node], states: States, turn: Turn | None) -> States:
        for node in body:
            key = (id(node), states, turn)
            if key not in self.memo:
                self.memo[key] = self.visit(node, states, turn)
            states = self.memo[key]
        return states

    def generic_visit(self, _node: nodes.Node, states: States, _turn: Turn | None) -> States:
        return states

    def visit_Output(self, node: nodes.Output, states: States, turn: Turn | None) -> States:
        for child in node.nodes:
            states = self.value(child, states, turn)
        return states

    def value(self, node: nodes.Node, states: States, turn: Turn | None) -> States:
        if isinstance(node, nodes.TemplateData):
            return self.text(node.data, node, states)
        self.record_value(node, states)
        if id(node) in self.stripped:
            return states
        return self.follow_value(node, states, turn)

    def follow_value(self, node: nodes.Node | None, states: States, turn: Turn | None) -> States:
        """Return the states after a value, looking through its conditions."""
        if node is None:
            return states
        if isinstance(node, nodes.Const) and isinstance(node.value, str):
            return self.text(node.value, node, states)
        if isinstance(node, nodes.CondExpr):
            ways = {True: node.expr1, False: node.expr2}
            result = decide(node.test, turn)
            chosen = ways.values() if result is None else [ways[result]]
            return _either([self.follow_value(child, states, turn) for child in chosen])
        if shows_json(node):
            return self.text(_A_VALUE, node, states)
        return frozenset(self.unknown(point) for point in states)

    def record_value(self, node: nodes.Node, states: States) -> None:
        self.record_states(node, states)
        self.seen[id(node)] = node

    def record_states(self, node: nodes.Node, states: States) -> None:
        self.before.setdefault(id(node), set()).update(point.state for point in states)

    def unknown(self, point: Point) -> Point:
        if point.state == IN_STRING:
            return point
        if point.state == COLON:
            return Point(VALUE, point.sure)
        self.may_need_commas = True
        return Point(ANY, point.sure)

    def text(self, text: str, node: nodes.Node, states: States) -> States:
        """Return the states after the `text` of `node`, and record mistakes in its commas."""
        behind = set()
        for state, sure in states:
            state_after, mistakes = self.after(text, state)
            behind.add(Point(state_after, sure))
            self.may_need_commas |= bool(mistakes)
            for mistake in mistakes if sure else ():
                within = mistake.place + isinstance(node, nodes.Const)  # behind its quote
                self.commas[Comma(start(node) + within, mistake.missing)] = None
        return frozenset(behind)

    def visit_If(self, node: nodes.If, states: States, turn: Turn | None) -> States:
        self.record_states(node, states)
        behind = []
        for branch in (node, *node.elif_):
            result = decide(branch.test, turn)
            if result is not False:
                behind.append(self.body(branch.body, states, turn))
            if result:
                return _either(behind)
        return _either([*behind, self.body(node.else_, states, turn)])

    def visit_For(self, node: nodes.For, states: States, turn: Turn | None) -> States:
        """Return the states after a loop of zero, one and any number of iterations."""
        none = self.body(node.else_, states, turn)
        once = self.body(node.body, states, Turn(first=True, last=True))
        middle = self.body(node.body, states, Turn(first=True, last=False))
        more = middle
        while more:
            again = self.body(node.body, more, Turn(first=False, last=False))
            more = again - middle
            middle |= again
        many = self.body(node.body, middle, Turn(first=False, last=True))
        return none | once | many

    def visit_AssignBlock(
        self, node: nodes.AssignBlock, states: States, turn: Turn | None
    ) -> States:
        """Return the states after a set-block: unchanged, unless it is written at once."""
        if id(node) not in self.stripping:
            self.aside(node, states, turn)
            return states
        before = frozenset(
            Point(LEAD, sure) if state in (OPEN, COMMA) else Point(state, sure)
            for state, sure in states
        )
        return frozenset(
            Point(OPEN, sure) if state == LEAD else Point(state, sure)
            for state, sure in self.body(node.body, before, turn)
        )

    def aside(self, node: _Bodied, states: States, turn: Turn | None) -> States:
        is_quoted = isinstance(node, nodes.AssignBlock) and not self.quoted.isdisjoint(
            target_names(node.target)
        )
        # What `tojson` makes a string of is no JSON itself.
        if starts_json(node.body) and not is_quoted:
            self.body(node.body, frozenset({Point(ANY, sure=True)}), turn)
        return states

    def visit_Macro(self, node: nodes.Macro, states: States, _turn: Turn | None) -> States:
        return self.aside(node, states, None)

    def visit_CallBlock(
        self, node: nodes.CallBlock | nodes.FilterBlock, states: States, turn: Turn | None
    ) -> States:
        self.aside(node, states, None if isinstance(node, nodes.CallBlock) else turn)
        self.record_value(node, states)
        return frozenset(self.unknown(point) for point in states)

    visit_FilterBlock = visit_CallBlock

    def visit_With(self, node: Any, states: States, turn: Turn | None) -> States:
        return self.body(node.body, states, turn)

    visit_Scope = visit_ScopedEvalContextModifier = visit_With


def _either(ways: list[States]) -> States:
    """Return the states after several paths, sure only if all agree."""
    if all(way == ways[0] for way in ways):
        return ways[0]
    return frozenset(Point(point.state, sure=False) for way in ways for point in way)


# Any value without a quotation mark would do to stand for what `tojson` writes.
_A_VALUE: Final = "[]"


# --- plain text as JSON: how far it has got, and what may come next ---


# A text with more is not nearly JSON, and saying so a few times is enough.
MAX_MISTAKES: Final = 4

_PIECE: Final = compile_pattern(
    r"""(?s)(?P<mark>[\[\]{},:])|(?P<string>"(?:[^"\\]++|\\.)*+")|(?P<open>".*)"""
    r"""|(?P<literal>[^\s"\[\]{},:]+)""",
)
_BEHIND: Final[Mapping[str | None, int]] = {"string": VALUE, "open": IN_STRING, "literal": ANY}
"""A number or word may go on in what follows, so it is not known to be one value."""

_REST_OF_STRING: Final = compile_pattern(r'(?s)\A(?:[^"\\]++|\\.)*+"')


def _after(text: str, state: int) -> tuple[int, list[Comma]]:
    mistakes: list[Comma] = []
    start = 0
    if state == IN_STRING:
        rest = _REST_OF_STRING.match(text)
        if rest is None:
            return IN_STRING, mistakes
        state, start = VALUE, rest.end()
    for match in read_tokens(_PIECE, text, start):
        kind = match.lastgroup
        if kind == "mark":
            state = _after_mark(match[0], state, match.start(), mistakes)
        else:
            if state == VALUE:
                mistakes.append(Comma(match.start(), missing=True))
            state = _BEHIND[kind]
    return state, mistakes[:MAX_MISTAKES]


def _after_mark(mark: str, state: int, offset: int, mistakes: list[Comma]) -> int:
    if mark == ":":
        return COLON
    if mark == ",":
        if state == LEAD:
            return OPEN
        if state not in (OPEN, COMMA):
            return COMMA
        mistakes.append(Comma(offset, missing=False))
        return state
    if mark in "[{":
        if state == VALUE:
            mistakes.append(Comma(offset, missing=True))
        return OPEN
    if state == COMMA:
        mistakes.append(Comma(offset, missing=False))
    return VALUE
