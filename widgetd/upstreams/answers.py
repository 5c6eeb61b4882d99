"""What an upstream answered: as bytes, read in pages that put together are those bytes again."""

from __future__ import annotations

import base64
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from secrets import token_urlsafe
from typing import Any, Literal

from widgetd.errors import CallError
from widgetd.schema.json_text import NotJsonError, parse_json
from widgetd.schema.json_values import to_json
from widgetd.text_search import compile_pattern

KEPT_S = 900.0
MOST_KEPT_BYTES = 64 * 1024 * 1024
MOST_BYTES = 8 * 1024 * 1024
"""Of one answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a tool answered.

    Attributes:
        kind: What its bytes are.
        content: JSON, UTF-8, or anything.
        mime_type: Of what is binary.
    """

    kind: Literal["json", "text", "binary"]
    content: bytes
    mime_type: str = ""

    def value(self, upstream: str) -> Any:
        """The answer as a JSON value.

        Raises:
            CallError: It is none (W5006).
        """
        try:
            if self.kind == "json":
                return parse_json(self.content)
        except NotJsonError:
            pass
        raise CallError("W5006", f"the answer of the upstream '{upstream}' is not JSON")


def answer_of(result: Any, upstream: str) -> Answer:
    """The answer that an MCP result brings: its structure, else its text, else what is binary.

    Raises:
        CallError: It is too large (W5008), or MCP does not allow it (W5020).
    """
    if result.structured_content is not None:
        answer = Answer(kind="json", content=_encoded(result.structured_content, upstream))
    else:
        answer = _of_blocks(result.content, upstream)
    if len(answer.content) > MOST_BYTES:
        raise too_large(upstream)
    return answer


def too_large(upstream: str) -> CallError:
    """An answer is larger than `MOST_BYTES`."""
    return CallError("W5008", f"the answer of the upstream '{upstream}' is larger than 8 MiB")


def malformed(upstream: str, problem: str) -> CallError:
    """Return the error for an answer that MCP does not allow (W5020)."""
    return CallError(
        "W5020", f"the answer of the upstream '{upstream}' is not valid MCP: {problem}"
    )


def _encoded(value: Any, upstream: str) -> bytes:
    try:
        return to_json(value)
    except (TypeError, ValueError):
        raise malformed(upstream, "it holds a value that JSON cannot carry") from None


def _from_base64(text: str, upstream: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise malformed(upstream, "its binary content is not base64") from None


def _of_blocks(blocks: list[Any], upstream: str) -> Answer:
    texts = [block.text for block in blocks if block.type == "text"]
    for block in blocks:
        inner = getattr(block, "resource", block)
        data = getattr(inner, "data", None) or getattr(inner, "blob", None)
        if not texts and isinstance(data, str):
            kind = getattr(inner, "mime_type", "") or "application/octet-stream"
            return Answer(kind="binary", content=_from_base64(data, upstream), mime_type=kind)
    # A lone surrogate can come in JSON, and stands in no text that could be sent on.
    text = "\n".join(texts).encode("utf-8", "replace")
    try:
        parse_json(text)
    except NotJsonError:
        return Answer(kind="text", content=text)
    return Answer(kind="json", content=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class PagedAnswer:
    """An answer that is read page by page; put together, the pages are its content.

    Attributes:
        edges: Offsets at which a page best ends, ascending: between the elements of the outermost
            array or object of JSON, behind a line of text.
    """

    answer: Answer
    edges: array[int]

    @classmethod
    def of(cls, answer: Answer) -> PagedAnswer:
        """Find the edges of an answer. Takes seconds for 8 MiB, so call it in a worker thread."""
        edges = array("I")
        for edge in _edges(answer):
            # One for each 16 bytes, the smallest page: else they may take four times the content.
            if edges and edges[-1] // _EDGE_BYTES == edge // _EDGE_BYTES:
                edges[-1] = edge
            else:
                edges.append(edge)
        return cls(answer=answer, edges=edges)

    @property
    def size(self) -> int:
        """Memory in bytes."""
        return len(self.answer.content) + len(self.edges) * self.edges.itemsize

    def page(self, start: int, most_bytes: int) -> bytes:
        """Return the page of at most `most_bytes` that begins at `start`.

        It ends at an edge where there is one, else between two characters, up to 3 bytes late.
        """
        content, end = self.answer.content, start + most_bytes
        if end >= len(content):
            return content[start:]
        place = bisect_right(self.edges, end)
        if place and self.edges[place - 1] > start:
            end = self.edges[place - 1]
        elif self.answer.kind != "binary":
            while end < len(content) and content[end] & 0xC0 == 0x80:
                end += 1
        return content[start:end]


def _edges(answer: Answer) -> Iterator[int]:
    if answer.kind == "text":
        yield from (found.end() for found in _LINE_END.finditer(answer.content))
    elif answer.kind == "json":
        depth = 0
        for found in _LEXEME.finditer(answer.content):
            lexeme = found.group()
            if lexeme in b"[{":
                depth += 1
            elif lexeme in b"]}":
                depth -= 1
            elif lexeme == b"," and depth == 1:
                yield found.end()


_EDGE_BYTES = 16
_LINE_END = compile_pattern(rb"\r\n|\n|\r")
_LEXEME = compile_pattern(rb'(?s)"(?:[^"\\]|\\.)*+"|[\[\]{},]')


@dataclass(eq=False)
class KeptAnswers:
    """Answers that are being read page by page, the newest that fit, each for a while."""

    clock: Callable[[], float]
    _kept: OrderedDict[str, tuple[float, str, PagedAnswer]] = field(default_factory=OrderedDict)

    def keep(self, answer: PagedAnswer, owner: str) -> str:
        """Keep `answer` for `owner` alone, and give the name to ask for it again by."""
        name = token_urlsafe(9)
        self._kept[name] = self.clock() + KEPT_S, owner, answer
        while sum(one.size for _, _, one in self._kept.values()) > MOST_KEPT_BYTES:
            self._kept.popitem(last=False)
        return name

    def get(self, name: str, owner: str) -> PagedAnswer:
        """The answer of that name.

        Raises:
            CallError: It is not kept, or not any more (W5009).
        """
        until, whose, answer = self._kept.get(name, (0.0, "", None))
        if answer is None or until <= self.clock() or whose != owner:
            self._kept.pop(name, None) if whose == owner else None
            problem = "this answer is not kept any more; call the tool again"
            raise CallError("W5009", problem, path="after")
        return answer


def shown(page: bytes, kind: str) -> Any:
    """A page as it is sent: text, or what is binary as base64."""
    return base64.b64encode(page).decode() if kind == "binary" else page.decode()
