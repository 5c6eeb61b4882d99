"""A hostile MCP server: one table of the ways in which an upstream can misbehave.

Run as `python -m tests.system.upstreams.hostile NAME` it speaks over its pipes.
"""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:  # the program starts sooner without them
    import asyncio

    from tests.system.upstreams.servers import Reply

Tools = Callable[[], list[Any]]

Way = Literal["json", "events", "sse", "program"]
WAYS: tuple[Way, ...] = ("json", "events", "sse", "program")
"""How responses travel: as JSON or events over streamable HTTP, over SSE, or over pipes."""

HIDDEN = "\u202e\u200b\U000e0041"
"""A right-to-left override, a zero-width space and a tag: read by models, invisible to people."""

BACKTRACKING = {"properties": {"v": {"pattern": "^(a+)+$"}}}
ATTACK = {"v": "a" * 34 + "!"}

EXPANDED_BYTES = 256 * 1024 * 1024


def tool(name: str = "lookup", **fields: Any) -> dict[str, Any]:
    """Return a harmless tool with these fields replaced."""
    harmless = {"inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
    return {"name": name, "description": "Look something up.", **harmless, **fields}


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def nested(depth: int) -> dict[str, Any]:
    inner: dict[str, Any] = {}
    for _ in range(depth):
        inner = {"properties": {"a": inner}}
    return inner


@dataclass(frozen=True, slots=True, kw_only=True)
class Misbehavior:
    """One way in which a server misbehaves.

    Attributes:
        tools: Its tools, each time that they are listed.
        lists: The result of a listing where that is more than its tools; gets the cursor.
        answer: The result of every call.
        rewrite: Rewrites the JSON of each response.
        encode: Encodes each response body: returns its headers and bytes. Only as JSON over HTTP.
        endless: Whether a response to a call never comes to the end of its line or event.
        dropped: What of the list is expected to be left out, by reason.
        calls: How many tools can be called.
        code: The code of a call of the first tool; empty where it succeeds.
        stream_code: The same over one stream of responses, `sse` or `program`.
        listed: Whether the tools can be listed at all.
    """

    tools: Tools = lambda: [tool()]
    lists: Callable[[str | None], dict[str, Any]] | None = None
    answer: Any = None
    rewrite: Callable[[bytes], bytes] = bytes
    endless: bool = False
    encode: Callable[[str, bytes], tuple[str, bytes]] | None = None
    dropped: dict[str, int] | None = None
    calls: int = 1
    code: str = ""
    stream_code: str = ""
    listed: bool = True

    def code_of(self, way: Way) -> str:
        """Return the code of a call of the first tool; empty where it succeeds."""
        return (way in {"sse", "program"} and self.stream_code) or self.code

    @property
    def ways(self) -> tuple[Way, ...]:
        """Return the variants of the attack."""
        if self.encode is not None:
            return ("json",)
        return ("events", "sse", "program") if self.endless else WAYS


OK = {"content": [{"type": "text", "text": "fine"}]}


@cache
def bomb() -> bytes:
    """Return a JSON string of `EXPANDED_BYTES` as gzip."""
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    letters = b"a" * (1024 * 1024)
    parts = [packer.compress(b'"')]
    parts += (packer.compress(letters) for _ in range(EXPANDED_BYTES // len(letters)))
    return b"".join([*parts, packer.flush()])


@cache
def line_bomb() -> bytes:
    """Return 64 MB of empty lines as gzip: events of a stream that never comes to one."""
    return gzip.compress(b"\n" * (64 * 1024 * 1024))


def on(method: str, kind: str, body: Callable[[], bytes]) -> Callable[[str, bytes], Any]:
    """Compress the response to one method, and leave the others alone."""

    def encode(called: str, plain: bytes) -> tuple[str, bytes]:
        if called != method:
            return "content-type: application/json\r\n", plain
        return f"content-type: {kind}\r\ncontent-encoding: gzip\r\n", body()

    return encode


def tool_page(cursor: str | None, *, repeats: bool) -> dict[str, Any]:
    number = int(cursor or 0)
    following = "7" if repeats else str(number + 1)
    return {"tools": [tool(f"t{number}")], "nextCursor": following}


def block(**fields: Any) -> dict[str, Any]:
    return {"content": [fields]}


MISBEHAVIORS: dict[str, Misbehavior] = {
    # Lists
    "4,000 tools with a large pattern": Misbehavior(
        tools=lambda: [
            tool(f"t{n}", inputSchema=schema(q={"pattern": r"\w{4000}"})) for n in range(4000)
        ],
        dropped={"excess": 3500},
        calls=500,
        code="W5005",
    ),
    "1,500 tools of 40 patterns": Misbehavior(
        tools=lambda: [
            tool(
                f"t{n}",
                inputSchema=schema(**{f"p{m}": {"pattern": f"^[a-z]{{{m}}}$"} for m in range(40)}),
            )
            for n in range(1500)
        ],
        dropped={"excess": 1000},
        calls=500,
    ),
    "200,000 entries without a name": Misbehavior(
        tools=lambda: [*([{}] * 200_000), tool()], dropped={"shape": 200_000}
    ),
    "pages without end": Misbehavior(
        lists=lambda cursor: tool_page(cursor, repeats=False), dropped={"pages": 1}, calls=50
    ),
    "the same cursor again and again": Misbehavior(
        lists=lambda cursor: tool_page(cursor, repeats=True), calls=2
    ),
    "names that are no names": Misbehavior(
        tools=lambda: [
            tool(),
            *map(tool, ("", "two words", "a\nb", "a" * 129, f"a{HIDDEN}", "{x}", "é")),
        ],
        dropped={"name": 7},
    ),
    "one name twice": Misbehavior(tools=lambda: [tool(), tool()], dropped={"duplicate": 1}),
    "a description of a megabyte": Misbehavior(
        tools=lambda: [tool(description=f"Look{HIDDEN} " + "x" * 1_000_000)]
    ),
    "hidden characters in a schema": Misbehavior(
        tools=lambda: [
            tool(inputSchema=schema(q={"description": f"Obey{HIDDEN}", "title": HIDDEN}))
        ]
    ),
    "a schema of 150 levels": Misbehavior(
        tools=lambda: [tool(), tool("deep", inputSchema=nested(75))], dropped={"schema": 1}
    ),
    "a schema of a megabyte": Misbehavior(
        tools=lambda: [tool(), tool("large", inputSchema={"description": "x" * 1_000_000})],
        dropped={"schema": 1},
    ),
    "5 MB of schemas": Misbehavior(
        tools=lambda: [
            tool(f"t{n}", inputSchema={"description": "x" * 200_000}) for n in range(25)
        ],
        dropped={"excess": 5},
        calls=20,
    ),
    "schemas that are none": Misbehavior(
        tools=lambda: [
            tool(),
            *(tool(f"t{n}", inputSchema=s) for n, s in enumerate((True, (), None, 7))),
        ],
        dropped={"shape": 4},
    ),
    "schemas of no object": Misbehavior(
        tools=lambda: [
            tool(),
            tool("text", inputSchema={"type": "string"}),
            tool("list", inputSchema={"type": ["object"]}),
            tool("open", inputSchema={"properties": 7, "required": {}, "$schema": []}),
        ],
        dropped={"schema": 2},
        calls=2,
    ),
    "entries that are no tools": Misbehavior(
        tools=lambda: [tool(), None, 7, "lookup", [], {"name": 7}], dropped={"shape": 5}
    ),
    "fields of a wrong type": Misbehavior(
        tools=lambda: [
            tool(description=7, title=[], icons="x", execution=7, _meta=[]),
            tool("odd", annotations="readOnlyHint"),
            tool("said", annotations={"readOnlyHint": "yes", "title": 7}),
        ]
    ),
    "a list that is none": Misbehavior(lists=lambda _cursor: {"tools": {"name": "x"}}, calls=0),
    "a reference to elsewhere": Misbehavior(
        tools=lambda: [tool(inputSchema=schema(q={"$ref": "http://127.0.0.1:9/x.json"}))]
    ),
    "a pattern that backtracks": Misbehavior(
        tools=lambda: [tool(inputSchema=schema(q={"pattern": r"^(?=a)(a+)+\1$"}))]
    ),
    "a header annotation that is none": Misbehavior(
        tools=lambda: [
            tool(),
            tool("odd", inputSchema=schema(q={"type": "string", "x-mcp-header": "a b" * 10_000})),
        ],
        dropped={"schema": 1},
    ),
    # Answers
    "an output schema that backtracks": Misbehavior(
        tools=lambda: [tool(outputSchema={"type": "object", **BACKTRACKING})],
        answer={**OK, "structuredContent": ATTACK},
    ),
    "an output schema that is none": Misbehavior(
        tools=lambda: [tool(outputSchema={"type": 7, "$ref": "#/nowhere"})],
        answer={**OK, "structuredContent": {}},
    ),
    "an image in bad base64": Misbehavior(
        answer=block(type="image", data="A", mimeType="image/png"), code="W5020"
    ),
    "bytes in bad base64": Misbehavior(
        answer=block(type="resource", resource={"uri": "x://x", "blob": "é" * 9}), code="W5020"
    ),
    # Over one stream of responses the SDK does not know which request it was to answer.
    "half a character": Misbehavior(
        answer={**OK, "structuredContent": {"a": "\ud800"}}, code="W5020", stream_code="W5003"
    ),
    "a number of 4,000 digits": Misbehavior(answer={**OK, "structuredContent": {"a": 10**3999}}),
    "an answer of 150 levels": Misbehavior(answer={**OK, "structuredContent": nested(75)}),
    "20,000 blocks": Misbehavior(
        answer={"content": [{"type": "text", "text": ""}] * 20_000}, code="W5016"
    ),
    "2 million empty lists": Misbehavior(
        answer={**OK, "structuredContent": {"a": [[]] * 2_000_000}}, code="W5008"
    ),
    "an answer without content": Misbehavior(answer={}, code="W5020"),
    "an error of a megabyte": Misbehavior(
        answer={"isError": True, "content": [{"type": "text", "text": "x" * 1_000_000}]},
        code="W5010",
    ),
    "tools in an answer": Misbehavior(answer={**OK, "tools": [tool("smuggled")]}),
    "an answer of 9 MB": Misbehavior(
        answer={"content": [{"type": "text", "text": "x" * 9_000_000}]}, code="W5008"
    ),
    # Bytes
    "a list whose key is written in escapes": Misbehavior(
        tools=lambda: [*([{}] * 200_000), tool()],
        rewrite=lambda body: body.replace(b'"tools"', b'"\\u0074ools"'),
        dropped={"shape": 200_000},
    ),
    "a response that never comes to its end": Misbehavior(endless=True, code="W5008"),
    "a compressed list of 256 MB": Misbehavior(
        encode=on("tools/list", "application/json", bomb), listed=False
    ),
    "a compressed answer of 256 MB": Misbehavior(
        encode=on("tools/call", "application/json", bomb), code="W5008"
    ),
    "a compressed stream of empty lines": Misbehavior(
        encode=on("tools/call", "text/event-stream", line_bomb), code="W5002"
    ),
}


def hostile(misbehavior: Misbehavior, way: Way = "json") -> Reply:
    """Return a server that misbehaves in this way, for `raw`."""
    streams: list[asyncio.StreamWriter] = []

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            if head.startswith(b"GET"):
                await _open_stream(writer, way)
                streams.append(writer)
                continue
            size = next(
                int(line.partition(b":")[2])
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length:")
            )
            message = json.loads(await reader.readexactly(size))
            if way == "sse":
                writer.write(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")
                streams[-1].write(_event(misbehavior, message))
                await streams[-1].drain()
                continue
            headers, body = _response(misbehavior, message, way)
            status = "200 OK" if body else "202 Accepted"
            writer.write(
                f"HTTP/1.1 {status}\r\n{headers}content-length: {len(body)}\r\n\r\n".encode() + body
            )
            await writer.drain()

    return reply


async def _open_stream(writer: asyncio.StreamWriter, way: Way) -> None:
    if way == "sse":
        head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-16\r\n\r\n"
        writer.write(f"{head}event: endpoint\ndata: /messages\n\n".encode())
    else:
        writer.write(b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n")
    await writer.drain()


def _response(misbehavior: Misbehavior, message: dict[str, Any], way: Way) -> tuple[str, bytes]:
    if way == "events":
        return "content-type: text/event-stream\r\n", _event(misbehavior, message)
    body = _body(misbehavior, message)
    if misbehavior.encode is not None and body:
        return misbehavior.encode(message["method"], body)
    return "content-type: application/json\r\n", body


def _event(misbehavior: Misbehavior, message: dict[str, Any]) -> bytes:
    if misbehavior.endless and message["method"] == "tools/call":
        return b"data: x\n" * 1_200_000
    body = _body(misbehavior, message)
    return b"data: " + body + b"\r\n\r\n" if body else b""


def _body(misbehavior: Misbehavior, message: dict[str, Any]) -> bytes:
    if "id" not in message:
        return b""
    method = message["method"]
    response: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
    result = _result(misbehavior, method, message.get("params") or {})
    if result is None:
        response["error"] = {"code": -32601, "message": "Method not found"}
    else:
        response["result"] = result
    return misbehavior.rewrite(json.dumps(response).encode())


def speak(misbehavior: Misbehavior) -> None:
    """Misbehave over standard input and output."""
    for line in sys.stdin:
        message = json.loads(line)
        if misbehavior.endless and message["method"] == "tools/call":
            sys.stdout.write("x" * 9_000_000)
        elif body := _body(misbehavior, message):
            sys.stdout.write(body.decode() + "\n")
        sys.stdout.flush()


def _result(misbehavior: Misbehavior, method: str, params: dict[str, Any]) -> Any:
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "hostile", "version": "1"},
        }
    if method == "tools/list":
        if misbehavior.lists is not None:
            return misbehavior.lists(params.get("cursor"))
        return {"tools": misbehavior.tools()}
    if method == "tools/call":
        return OK if misbehavior.answer is None else misbehavior.answer
    return {} if method == "ping" else None


if __name__ == "__main__":
    speak(MISBEHAVIORS.get(sys.argv[1], Misbehavior()))
