"""The door to tree-sitter: the text of a JSX expression becomes a tree of nodes.

The tree is bounded before anything goes through it, so that whatever does may recurse.
The library is imported when the first text comes, for most processes never see one.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from widgetd.template.lexer import normalised
from widgetd.template.parser import Fault

if TYPE_CHECKING:
    import tree_sitter

    from widgetd.limits import Limits

MAX_DEPTH: Final = 64
"""Real views nest half as deep."""

MOST_WORK: Final = 800
"""In hundreds of the parser's operations, of which 5,000 nodes take at most 75,000."""

CODE: Final = "W1327"

_SKIPPED: Final = frozenset({"comment", "html_comment"})
_SHOWN: Final = 40
"""So much of what cannot be used is shown in a message."""


class Node:
    """A part of the text that has a meaning of its own.

    Attributes:
        kind: What it is, in the words of the grammar: `jsx_element`, `ternary_expression`.
        children: The nodes right below it, in the order of the text, comments left out.
        fields: Those of them, and the operators between them, that the grammar names.
    """

    __slots__ = ("_end", "_source", "_start", "children", "fields", "kind")

    def __init__(self, kind: str, source: bytes, start: int, end: int) -> None:
        self.kind = kind
        self.children: list[Node] = []
        self.fields: dict[str, Node] = {}
        self._source, self._start, self._end = source, start, end

    @property
    def start(self) -> int:
        """The offset of its first character in the text."""
        return len(self._source[: self._start].decode(errors="replace"))

    @property
    def text(self) -> str:
        """As it is written."""
        return self._source[self._start : self._end].decode(errors="replace")

    @property
    def shown(self) -> str:
        """As it is written, in one line and not too long."""
        line = " ".join(self.text[: 2 * _SHOWN].split()).rstrip(";")
        return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"

    def fault(self, problem: str, advice: str) -> Fault:
        """That the text cannot be used because of this node."""
        return Fault(CODE, self.start, problem, advice)


def parse(text: str, limits: Limits) -> Node:
    """The program that `text` is.

    Raises:
        Fault: `W1327`, where it is no JavaScript, or too large.
    """
    source = normalised(text).encode("utf-8", "surrogatepass")
    if len(source) > limits.template_bytes:
        advice = f"at most {limits.template_bytes:,} are allowed"
        raise Fault(CODE, None, f"the JSX has {len(source):,} bytes", advice)
    root = _root(source, limits)
    if root.has_error:
        raise _mistake(root, source)
    return _copied(root, source, limits)


def _root(source: bytes, limits: Limits) -> tree_sitter.Node:
    parser, left = _parser(), MOST_WORK

    def is_over(_offset: int, _has_error: bool) -> bool:
        nonlocal left
        left -= 1
        return left < 0

    try:
        # The library counts its work only where it reads by a function.
        tree = parser.parse(lambda offset, _point: source[offset:], progress_callback=is_over)
    except ValueError:
        parser.reset()
        raise _too_many(limits) from None
    return tree.root_node


def _too_many(limits: Limits) -> Fault:
    problem = f"the JSX has more than {limits.template_nodes:,} syntax nodes"
    return Fault(CODE, None, problem, "make it shorter")


@cache
def _parser() -> tree_sitter.Parser:
    import tree_sitter  # noqa: PLC0415 - it takes as long to import as a start may, see above
    import tree_sitter_javascript  # noqa: PLC0415 - as above

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_javascript.language()))


def _mistake(root: tree_sitter.Node, source: bytes) -> Fault:
    node: tree_sitter.Node | None = root
    found = root
    while node is not None:
        found = node
        node = next((child for child in node.children if child.has_error), None)
    if found.is_missing and found.type == ";":
        at, problem = found.start_byte, "a widget's JSX is one expression, and this goes on"
    elif found.is_missing:
        at, problem = found.start_byte, f"'{found.type}' is missing here"
    elif found.start_byte > root.start_byte or found.end_byte < root.end_byte:
        at, problem = found.start_byte, "this is no JSX"
    else:
        at, problem = root.end_byte, "the JSX ends before it is whole"
    advice = "write one element, as Studio's editor shows it"
    return Node("", source, at, at).fault(problem, advice)


def _copied(root: tree_sitter.Node, source: bytes, limits: Limits) -> Node:
    top = Node(root.type, source, root.start_byte, root.end_byte)
    path, cursor, count = [top], root.walk(), 1
    down = cursor.goto_first_child()
    while down or _advanced(cursor, path):
        at = cursor.node
        assert at is not None  # noqa: S101 - the cursor stands on one
        field = cursor.field_name
        node = Node(at.type, source, at.start_byte, at.end_byte)
        around = path[-1]
        if at.is_named and node.kind not in _SKIPPED:
            around.children.append(node)
            count += 1
        if field is not None:
            around.fields.setdefault(field, node)
        if count > limits.template_nodes:
            raise _too_many(limits)
        down = at.child_count > 0 and cursor.goto_first_child()
        if down:
            if len(path) == MAX_DEPTH:
                raise node.fault("the JSX nests too deeply", "split it into several widgets")
            path.append(node)
    return top


def _advanced(cursor: tree_sitter.TreeCursor, path: list[Node]) -> bool:
    """Go on to the next node that is not below this one; whether there is any."""
    while not cursor.goto_next_sibling():
        if len(path) == 1:
            return False
        cursor.goto_parent()
        path.pop()
    return True
