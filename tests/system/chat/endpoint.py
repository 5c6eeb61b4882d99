"""An OpenAI-compatible endpoint whose answers and failures a test scripts."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from secrets import token_hex
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream

Answer = Callable[["Asked", SocketStream], Any]


@dataclass
class Asked:
    """A request to a model.

    Attributes:
        headers: Of the request, by name in lower case.
        body: The JSON that was posted.
    """

    headers: Mapping[str, str]
    body: dict[str, Any]


@dataclass
class Endpoint:
    """A model that answers each request with the next of `script`, and later ones with the last.

    Attributes:
        script: The answers.
        asked: The requests.
        first: Set by the first request.
        left: Set once a client leaves before the end of an answer.
        url: Its address.
    """

    script: list[Answer]
    asked: list[Asked] = field(default_factory=list)
    first: anyio.Event = field(default_factory=anyio.Event)
    left: anyio.Event = field(default_factory=anyio.Event)
    url: str = ""

    async def answer(self, stream: SocketStream) -> None:
        async with stream:
            received = b""
            try:
                while b"\r\n\r\n" not in received:
                    received += await stream.receive()
                head, _, body = received.partition(b"\r\n\r\n")
                lines = head.decode().split("\r\n")[1:]
                headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in lines)}
                while len(body) < int(headers.get("content-length", 0)):
                    body += await stream.receive()
                request = Asked(headers, json.loads(body))
                self.asked.append(request)
                self.first.set()
                step = self.script[min(len(self.asked), len(self.script)) - 1]
                await step(request, stream)
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                self.left.set()


@asynccontextmanager
async def endpoint(*script: Answer) -> AsyncIterator[Endpoint]:
    """Yield an endpoint on a free port of this machine, until the block ends."""
    server = Endpoint(list(script))
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    server.url = f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}/v1"
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(partial(listener.serve, server.answer))
        try:
            yield server
        finally:
            tasks.cancel_scope.cancel()


def says(text: str) -> Answer:
    """It says `text`, word by word."""
    words = [word + " " for word in text.split()]
    return _streams([*({"content": word} for word in words), "stop"])


def streams(text: str) -> Answer:
    """It says `text`, in pieces of seven characters."""
    pieces = (text[at : at + 7] for at in range(0, len(text), 7))
    return _streams([*({"content": piece} for piece in pieces), "stop"])


def calls_tool(tool: str, arguments: Mapping[str, Any] | str) -> Answer:
    """It calls `tool`; the arguments come in pieces of seven letters."""
    whole = arguments if isinstance(arguments, str) else json.dumps(arguments)
    first = {
        "index": 0,
        "id": f"call_{token_hex(4)}",
        "type": "function",
        "function": {"name": tool},
    }
    pieces = (whole[at : at + 7] for at in range(0, len(whole), 7))
    rest = ({"index": 0, "function": {"arguments": piece}} for piece in pieces)
    return _streams([*({"tool_calls": [one]} for one in (first, *rest)), "tool_calls"])


def refuses(status: int, message: str) -> Answer:
    """It answers with an error."""
    body = json.dumps({"error": {"message": message, "type": "t", "code": "c"}})
    return partial(_send, f"{status} No", "application/json", body, "retry-after-ms: 1\r\n")


def cuts(*deltas: Mapping[str, Any]) -> Answer:
    """It says a part of an answer, and goes away."""

    async def answer(_asked: Asked, stream: SocketStream) -> None:
        # A length that is never reached.
        await stream.send(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 99999\r\n\r\n"
            + "".join(chunk(delta) for delta in deltas).encode()
        )

    return answer


def sends(kind: str, body: str) -> Answer:
    """Answer 200 with this body."""
    return partial(_send, "200 OK", kind, body, "")


def halts(text: str) -> Answer:
    """Send `text`, then nothing until the client leaves."""
    part = cuts({"content": text})

    async def answer(request: Asked, stream: SocketStream) -> None:
        await part(request, stream)
        await stream.receive()

    return answer


def drips(text: str) -> Answer:
    """Send one letter of `text` after the other, slowly, until the client leaves."""
    begins = cuts()

    async def answer(request: Asked, stream: SocketStream) -> None:
        await begins(request, stream)
        for letter in cycle(text):
            await stream.send(letter.encode())
            await anyio.sleep(0.01)

    return answer


def stays_silent() -> Answer:
    """Accept the request, and send nothing until the client leaves."""

    async def answer(_asked: Asked, stream: SocketStream) -> None:
        await stream.receive()

    return answer


def _streams(parts: Iterable[Mapping[str, Any] | str]) -> Answer:
    chunks = [chunk({}, part) if isinstance(part, str) else chunk(part) for part in parts]
    return partial(_send, "200 OK", "text/event-stream", "".join(chunks) + "data: [DONE]\n\n", "")


async def _send(
    status: str, kind: str, body: str, more: str, _asked: Asked, stream: SocketStream
) -> None:
    content = body.encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(content)}\r\n"
    await stream.send(f"{head}{more}connection: close\r\n\r\n".encode() + content)


def chunk(delta: Mapping[str, Any], finish: str | None = None) -> str:
    """Return one streamed chunk of an answer."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "m",
        "choices": [choice],
    }
    return f"data: {json.dumps(chunk)}\n\n"
