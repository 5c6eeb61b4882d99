"""Types of ASGI, and functions for requests and responses without a framework."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any

import orjson

from widgetd.base.errors import CallError

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


async def receive_body(receive: Receive, most_bytes: int) -> list[Message]:
    """Receive a request's body. The last message has `more_body` if the body is longer."""
    messages, length = [await receive()], 0
    while messages[-1].get("more_body") and length <= most_bytes:
        length += len(messages[-1].get("body", b""))
        messages.append(await receive())
    return messages


def replay(messages: Sequence[Message], receive: Receive) -> Receive:
    waiting = iter(messages)

    async def again() -> Message:
        return next(waiting, None) or await receive()

    return again


async def respond(
    send: Send, status: int, content: object, headers: Sequence[tuple[bytes, bytes]] = ()
) -> None:
    body = orjson.dumps(content)
    length = (b"content-length", b"%d" % len(body))
    headers = [(b"content-type", b"application/json"), length, *headers]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def refuse(
    send: Send,
    status: int,
    code: int,
    error: CallError,
    headers: Sequence[tuple[bytes, bytes]] = (),
) -> None:
    place = f"{error.path}: " if error.path else ""
    problem = {"code": code, "message": f"[{error.code}] {place}{error.message}"}
    await respond(send, status, {"jsonrpc": "2.0", "id": None, "error": problem}, headers)


def read_header(headers: Mapping[bytes, bytes], name: bytes) -> str:
    return headers.get(name, b"").decode("latin-1")
