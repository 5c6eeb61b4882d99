"""Answers of upstreams as bytes, and their pages: put together, they are those bytes again."""

from __future__ import annotations

import base64
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from widgetd.base.errors import CallError
from widgetd.base.redaction import redact
from widgetd.base.system import SYSTEM
from widgetd.base.text_search import compile_pattern, read_tokens
from widgetd.core.schema.json_text import NotJsonError, parse_json
from widgetd.core.schema.json_values import to_json
from widgetd.core.widget.hidden_characters import strip_hidden
from widgetd.core.widget.summary import shorten_at_word
from widgetd.server.render.inline_images import to_data_uri
from widgetd.server.render.limits import LIMITS as IMAGES
from widgetd.server.store.contract import Clock
from widgetd.server.store.owned import OwnedEntries
from widgetd.upstreams.limits import LIMITS

_LINE_END = compile_pattern(rb"\r\n|\n|\r")
_LEXEME = compile_pattern(rb'(?s)"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{},]')
_BLOCKS = "widgetd/blocks"
"""The key of `_meta` with the number of blocks that were dropped."""

REFUSED_META = "widgetd/refused"
"""The key of `_meta` of a result for which a service refused the request."""

_PROBLEM_KEYS = ("title", "detail", "message", "msg", "error", "error_description", "errors")
"""Where services say what is wrong. Other parts of a body may repeat the request.

Source: RFC 9457, "Members of a Problem Details Object", and what FastAPI, OAuth and others write.
"""

_EDGE_BYTES = 16
"""Distance between two edges that are kept: the smallest page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamAnswer:
    """The answer of a tool.

    Attributes:
        kind: The kind of content.
        content: JSON, UTF-8, or any bytes.
        mime_type: Type of binary content.
    """

    kind: Literal["json", "text", "binary"]
    content: bytes
    mime_type: str = ""

    def value(self, upstream: str) -> Any:
        """Return the answer as a JSON value.

        Raises:
            CallError: It is not JSON (W5006).
        """
        try:
            if self.kind == "json":
                return parse_json(self.content)
        except NotJsonError:
            pass
        raise CallError("W5006", f"the answer of the upstream '{upstream}' is not JSON")


def words_for_people(result: Any) -> str:
    """Return the text that a result addresses to users, or an empty text.

    Source: MCP, "Annotations": `audience`.
    """
    texts = [
        block.text
        for block in result.content
        if block.type == "text"
        and block.annotations is not None
        and "user" in (block.annotations.audience or ())
    ]
    return shorten_at_word(strip_hidden(" ".join(texts)), LIMITS.words_chars)


def to_answer(result: Any, upstream: str) -> UpstreamAnswer:
    """Return the answer in an MCP result: its structure, else its text, else its first bytes.

    Raises:
        CallError: It is too large (W5008, W5016), or MCP does not allow it (W5020).
    """
    check_blocks(result, upstream)
    if result.structured_content is not None:
        return _to_json_answer(result.structured_content, upstream)
    answer = _from_blocks(result.content, upstream)
    if len(answer.content) > LIMITS.answer_bytes:
        raise too_large_error(upstream)
    return answer


def _to_json_answer(value: Any, upstream: str) -> UpstreamAnswer:
    try:
        content = to_json(value)
    except (TypeError, ValueError):
        raise malformed_error(upstream, "it holds a value that JSON cannot carry") from None
    if len(content) > LIMITS.answer_bytes:
        raise too_large_error(upstream)
    return UpstreamAnswer(kind="json", content=content)


def drop_blocks(result: dict[str, Any]) -> None:
    """Replace too many blocks of a result's JSON by their number, for `check_blocks`.

    The SDK builds each in the event loop: 1.5 s for 8 MiB of blocks.
    """
    content, meta = result.get("content"), result.get("_meta")
    if isinstance(meta, dict):
        meta.pop(_BLOCKS, None)  # it is ours alone
    if isinstance(content, list) and len(content) > LIMITS.answer_blocks:
        result["content"], result["_meta"] = [], {_BLOCKS: len(content)}


def check_blocks(result: Any, upstream: str, most: int = LIMITS.answer_blocks) -> None:
    """Limit a result to `most` blocks.

    Raises:
        CallError: It has more (W5016).
    """
    count = (result.meta or {}).get(_BLOCKS, len(result.content))
    if count > most:
        problem = f"the answer of the upstream '{upstream}' has {count:,} blocks"
        raise CallError("W5016", f"{problem}; {most:,} at most are read here")


def to_blocks(result: Any, upstream: str) -> UpstreamAnswer:
    """Return all blocks of an MCP result, as the expressions of a feed see them.

    Returns:
        JSON: `{"value", "blocks": [{"type": "text", "text"}, {"type": "image", "mime_type",
        "bytes", "data_url"}, {"type": "resource", "uri", …}]}`. `value` is the answer's JSON, null
        without any; `data_url` is null unless it is a raster image within the limits.

    Raises:
        CallError: There are too many (W5016), it is too large (W5008), or it is not MCP (W5020).
    """
    check_blocks(result, upstream, LIMITS.blocks)
    blocks, left = [], IMAGES.images_bytes
    for block in result.content:
        inner = getattr(block, "resource", block)
        read = {"type": block.type} | {
            name: str(value)
            for name in ("text", "uri", "name", "title", "mime_type")
            if (value := getattr(inner, name, None)) is not None
        }
        if (data := getattr(inner, "data", getattr(inner, "blob", None))) is not None:
            content = _decode(data, upstream)
            image = to_data_uri(content) if len(content) <= IMAGES.image_bytes else b""
            data_url = image.decode() if image and len(image) <= left else None
            left -= len(data_url or "")
            read |= {"bytes": len(content), "data_url": data_url}
        blocks.append(read)
    value = None
    with suppress(CallError):
        value = to_answer(result, upstream).value(upstream)
    return _to_json_answer({"value": value, "blocks": blocks}, upstream)


def content_size(result: Any) -> int:
    inner = (getattr(block, "resource", block) for block in result.content)
    parts = (getattr(block, name, None) for block in inner for name in ("text", "data", "blob"))
    return sum(len(part) for part in parts if isinstance(part, str))


def words_of(result: Any) -> str:
    """Return what a failed result says, without hidden characters and secrets, and cut."""
    texts = (block.text for block in result.content if block.type == "text")
    # Cut last: half of a secret would not be recognised.
    text = "\n".join(texts)[: LIMITS.loop_bytes]
    return redact(strip_hidden(text))[: LIMITS.description_chars]


def words_of_body(content: bytes, media_type: str) -> str:
    if len(content) > LIMITS.loop_bytes:
        return ""
    if media_type.startswith("text/plain"):
        return content.decode("utf-8", "replace")
    try:
        return ": ".join(_problem_texts(parse_json(content)))
    except NotJsonError:
        return ""


def _problem_texts(value: Any, depth: int = 4) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, list):
        for element in value:
            yield from _problem_texts(element, depth - 1)
    elif depth and isinstance(value, dict):
        for key in _PROBLEM_KEYS:
            yield from _problem_texts(value.get(key), depth - 1)


def too_large_error(upstream: str) -> CallError:
    return CallError("W5008", f"the answer of the upstream '{upstream}' is larger than 8 MiB")


def malformed_error(upstream: str, problem: str) -> CallError:
    return CallError(
        "W5020", f"the answer of the upstream '{upstream}' is not valid MCP: {problem}"
    )


def _from_blocks(blocks: list[Any], upstream: str) -> UpstreamAnswer:
    texts = [block.text for block in blocks if block.type == "text"]
    for block in blocks:
        inner = getattr(block, "resource", block)
        data = getattr(inner, "data", None) or getattr(inner, "blob", None)
        if not texts and isinstance(data, str):
            kind = getattr(inner, "mime_type", "") or "application/octet-stream"
            return UpstreamAnswer(kind="binary", content=_decode(data, upstream), mime_type=kind)
    # JSON may hold half a character, and no such text can be sent.
    text = "\n".join(texts).encode("utf-8", "replace")
    try:
        parse_json(text)
    except NotJsonError:
        return UpstreamAnswer(kind="text", content=text)
    return UpstreamAnswer(kind="json", content=text)


def _decode(data: str, upstream: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except ValueError:
        raise malformed_error(upstream, "its binary content is not base64") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class PagedAnswer:
    """An answer in pages. Put together, the pages are its content.

    Attributes:
        edges: Offsets at which a page best ends, ascending: between the elements of the outermost
            array or object of JSON, behind a line of text.
    """

    answer: UpstreamAnswer
    edges: array[int]

    @classmethod
    def build(cls, answer: UpstreamAnswer) -> PagedAnswer:
        """Find the edges of an answer. Takes seconds for 8 MiB, so call it in a worker thread."""
        edges = array("I")
        for edge in _edges(answer):
            # All edges would take up to four times the content.
            if edges and edges[-1] // _EDGE_BYTES == edge // _EDGE_BYTES:
                edges[-1] = edge
            else:
                edges.append(edge)
        return cls(answer=answer, edges=edges)

    @property
    def size(self) -> int:
        return len(self.answer.content) + len(self.edges) * self.edges.itemsize

    def page(self, start: int, most_bytes: int) -> bytes:
        """Return the page of at most `most_bytes` from `start`.

        It ends at an edge if it can, else between two characters, up to 3 bytes late.
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


def _edges(answer: UpstreamAnswer) -> Iterator[int]:
    if answer.kind == "text":
        yield from (match.end() for match in read_tokens(_LINE_END, answer.content))
    elif answer.kind == "json":
        depth = 0
        for match in read_tokens(_LEXEME, answer.content):
            lexeme = match.group()
            if lexeme in b"[{":
                depth += 1
            elif lexeme in b"]}":
                depth -= 1
            elif lexeme == b"," and depth == 1:
                yield match.end()


class PagedAnswers:
    """Answers in pages: each owner's newest that fit, for a while."""

    def __init__(self, clock: Clock) -> None:
        self._answers: OwnedEntries[PagedAnswer] = OwnedEntries(
            most=LIMITS.paged_answers,
            most_bytes=LIMITS.paged_bytes,
            ttl_s=LIMITS.paged_s,
            clock=clock,
        )

    def add(self, answer: PagedAnswer, owner: str) -> str:
        """Store an answer for `owner` alone, and return the name that `get` takes."""
        name = SYSTEM.numbers.token_urlsafe(9)
        self._answers.put(name, answer, owner=owner, size_bytes=answer.size)
        return name

    def get(self, name: str, owner: str) -> PagedAnswer:
        """Return the owner's answer of that name.

        Raises:
            CallError: There is none, or none any more (W5009).
        """
        answer = self._answers.get(name, owner)
        if answer is None:
            problem = "this answer is not kept any more; call the tool again"
            raise CallError("W5009", problem, path="after")
        return answer


def encode_page(page: bytes, kind: str) -> str:
    return base64.b64encode(page).decode() if kind == "binary" else page.decode()
