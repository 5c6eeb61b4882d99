"""The entry point to tree-sitter: JSX text becomes a tree of nodes.

The size and depth of the tree are bounded while it is copied, so its walks may recurse. The
library is imported with the first text, because most processes never parse any.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from threading import Lock
from typing import TYPE_CHECKING, Final

from widgetd.base.text_search import compile_pattern
from widgetd.core.template.lexer import normalise
from widgetd.core.template.parser import Fault

if TYPE_CHECKING:
    import tree_sitter

    from widgetd.base.limits import Limits

MAX_DEPTH: Final = 64
"""Maximum nesting of syntax nodes; real views reach half of it."""

CODE: Final = "W1327"

_SKIPPED: Final = frozenset({"comment", "html_comment"})
_EXCERPT_CHARS: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserLimits:
    """Limits of the library's work on a text.

    The size of the result is no measure of the work: the lexer starts again behind an
    unfinished comment or string, and reads to the end of the text each time. Accepted texts
    read at most 3 times their length, in at most 100 reads.

    Attributes:
        operations: Calls of `progress_callback`, each for a hundred parser operations. 5,000
            nodes take at most 750.
        chunk_bytes: Bytes of a read. A read of the rest of the text makes the library copy it
            each time.
        reads: Number of reads, also of empty reads at the end of the text.
        read_factor: Bytes returned in total, as a multiple of the text.
        read_floor_bytes: Added to it, because a short text is read whole by each read.
    """

    operations: int = 800
    chunk_bytes: int = 4096
    reads: int = 1_000
    read_factor: int = 20
    read_floor_bytes: int = 64 * 1024


LIMITS: Final = ParserLimits()


class Node:
    """A syntax node.

    Attributes:
        kind: Its type in the grammar: `jsx_element`, `ternary_expression`.
        children: Named nodes directly below it, in the order of the text, without comments.
        fields: Nodes directly below it, operators included, by the grammar's field name.
        start: The offset of its first character in the text.
    """

    __slots__ = ("_end", "_source", "_start", "children", "fields", "kind", "start")

    def __init__(self, kind: str, source: bytes, start: int, end: int, offset: int) -> None:
        self.kind = kind
        self.children: list[Node] = []
        self.fields: dict[str, Node] = {}
        self.start = offset
        self._source, self._start, self._end = source, start, end

    @property
    def text(self) -> str:
        return self._source[self._start : self._end].decode(errors="replace")

    @property
    def excerpt(self) -> str:
        """Return the beginning of the source text, in a line, for an error message."""
        line = " ".join(self.text[: 2 * _EXCERPT_CHARS].split()).rstrip(";")
        return line if len(line) <= _EXCERPT_CHARS else line[: _EXCERPT_CHARS - 1] + "…"

    def text_between(self, left: Node, right: Node) -> str:
        return self._source[left._end : right._start].decode(errors="replace")

    def fault(self, problem: str, advice: str) -> Fault:
        return Fault(CODE, self.start, problem, advice)


_ONE_AT_A_TIME = Lock()
"""Held while the library's parser and its tree are used.

It calls back while it parses, so another thread could use the same parser, which ends the process.
"""


def parse(text: str, limits: Limits) -> Node:
    """Parse `text` and return its `program` node.

    Raises:
        Fault: `W1327`, if it is not JavaScript, or too large or too costly to parse.
    """
    source = normalise(text).encode("utf-8", "surrogatepass")
    if len(source) > limits.template_bytes:
        advice = f"at most {limits.template_bytes:,} are allowed"
        raise Fault(CODE, None, f"the JSX has {len(source):,} bytes", advice)
    with _ONE_AT_A_TIME:
        root = _parse_bounded(source, limits)
        if root.has_error:
            raise _syntax_fault(root, source)
        return _copy_tree(root, source, limits)


def _parse_bounded(source: bytes, limits: Limits) -> tree_sitter.Node:
    parser = _parser()
    operations_left, reads_left = LIMITS.operations, LIMITS.reads
    bytes_left = LIMITS.read_factor * len(source) + LIMITS.read_floor_bytes

    def read_chunk(offset: int, _point: object) -> bytes:
        nonlocal reads_left, bytes_left
        chunk = source[offset : offset + LIMITS.chunk_bytes]
        reads_left -= 1
        bytes_left -= len(chunk)
        # An empty chunk ends the text for the library, which then stops within a few steps.
        return b"" if is_rereading() else chunk

    def is_rereading() -> bool:
        return reads_left < 0 or bytes_left < 0

    def is_exhausted(_offset: int, _has_error: bool) -> bool:
        nonlocal operations_left
        operations_left -= 1
        return operations_left < 0 or is_rereading()

    try:
        # The library calls `progress_callback` only if it reads by a function.
        root = parser.parse(read_chunk, progress_callback=is_exhausted).root_node
    except ValueError:
        parser.reset()
        root = None
    if is_rereading():
        advice = "close every comment, string and tag, or make it shorter"
        raise Fault(CODE, None, "parsing the JSX takes too long", advice)
    if root is None:
        raise size_fault(limits)
    return root


def size_fault(limits: Limits) -> Fault:
    problem = f"the JSX has more than {limits.template_nodes:,} syntax nodes"
    return Fault(CODE, None, problem, "make it shorter")


@cache
def _parser() -> tree_sitter.Parser:
    import tree_sitter  # noqa: PLC0415 - imported with the first text, see above
    import tree_sitter_javascript  # noqa: PLC0415 - as above

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_javascript.language()))


def _syntax_fault(root: tree_sitter.Node, source: bytes) -> Fault:
    node: tree_sitter.Node | None = root
    innermost = root
    while node is not None:
        innermost = node
        node = next((child for child in node.children if child.has_error), None)
    if innermost.is_missing and innermost.type == ";":
        at, problem = innermost.start_byte, "a widget's JSX is one expression, and this goes on"
    elif innermost.is_missing:
        at, problem = innermost.start_byte, f"'{innermost.type}' is missing here"
    elif innermost.start_byte > root.start_byte or innermost.end_byte < root.end_byte:
        at, problem = innermost.start_byte, "this is no JSX"
    else:
        at, problem = root.end_byte, "the JSX ends before it is whole"
    advice = "write one element, as Studio's editor shows it"
    if typed := _find_types(source.decode(errors="replace")):
        lines = ", ".join(map(str, typed[:_LISTED_LINES]))
        problem = f"TypeScript is not available here, and there is some in lines {lines}"
        advice = "leave out interface, type, as, ! and the types behind colons"
    offset = len(source[:at].decode(errors="replace"))
    return Node("", source, at, at, offset).fault(problem, advice)


_TYPED: Final = compile_pattern(
    r"\b(?:interface\s\w+\s?\{|type\s\w+\s?=|as\s(?:const|string|number|any|unknown|[A-Z]\w*)\b)"
    r"|[\w)\]]![.\[;,)]"
    r"|[\w}\])]\??:\s?(?:string|number|boolean|any|unknown)\b"
    r"|[\w}\])]\??:\s?(?:React\.|JSX\.)?[A-Z]\w*[\[<,)=|} ]"
)
_LISTED_LINES: Final = 20


def _find_types(text: str) -> list[int]:
    lines = enumerate(text.splitlines(), 1)
    return [at for at, line in lines if _TYPED.search(line) and "</" not in line]


def _offsets(source: bytes) -> Callable[[int], int]:
    if source.isascii():
        return int
    starts = [0, *accumulate((byte & 0xC0) != 0x80 for byte in source)]
    return starts.__getitem__


def _copy_tree(root: tree_sitter.Node, source: bytes, limits: Limits) -> Node:
    offset_of = _offsets(source)
    top = Node(root.type, source, root.start_byte, root.end_byte, offset_of(root.start_byte))
    path, cursor, count = [top], root.walk(), 1
    down = cursor.goto_first_child()
    while down or _advance(cursor, path):
        at = cursor.node
        assert at is not None  # noqa: S101 - the cursor stands on one
        field = cursor.field_name
        begins = at.start_byte
        node = Node(at.type, source, begins, at.end_byte, offset_of(begins))
        around = path[-1]
        if at.is_named and node.kind not in _SKIPPED:
            around.children.append(node)
            count += 1
        if field is not None:
            around.fields.setdefault(field, node)
        if count > limits.template_nodes:
            raise size_fault(limits)
        down = at.child_count > 0 and cursor.goto_first_child()
        if down:
            if len(path) == MAX_DEPTH:
                raise node.fault("the JSX nests too deeply", "split it into several widgets")
            path.append(node)
    return top


def _advance(cursor: tree_sitter.TreeCursor, path: list[Node]) -> bool:
    """Move to the next node outside of this node. Return False at the end."""
    while not cursor.goto_next_sibling():
        if len(path) == 1:
            return False
        cursor.goto_parent()
        path.pop()
    return True
