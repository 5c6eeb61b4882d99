"""A message in which a key stands twice is refused before anybody reads it.

Each of its readers would keep one of the two: the SDK the last, a proxy that decided what may pass
perhaps the first. The SDK's parsers say nothing, so it is looked for here.
"""

from __future__ import annotations

import json

import anyio.to_thread

from widgetd.errors import CallError
from widgetd.mcp import sdk
from widgetd.schema.json_text import key_twice

_LARGE = 64 * 1024
"""Bytes of a body that is looked through beside the loop."""

_INVALID_REQUEST = -32600


class Unambiguous:
    """An ASGI layer around the SDK's endpoint: hands on what can be read in one way only."""

    def __init__(self, app: sdk.App) -> None:
        self.app = app

    async def __call__(self, scope: sdk.Scope, receive: sdk.Receive, send: sdk.Send) -> None:
        """Hand a request on; the SDK takes its whole body before it does anything else."""
        body = bytearray()

        async def looked_at() -> sdk.Message:
            message = await receive()
            if message["type"] == "http.request":
                body.extend(message.get("body", b""))
                if not message.get("more_body"):
                    await _look_at(bytes(body))
                    body.clear()
            return message

        try:
            await self.app(scope, looked_at, send)
        except CallError as error:
            said = {"code": _INVALID_REQUEST, "message": f"[{error.code}] {error.message}"}
            await sdk.respond(send, 400, {"jsonrpc": "2.0", "id": None, "error": said})


def readable_in_one_way(line: bytes) -> bytes:
    """`line`, as it comes over stdio; where a key stands twice, what is answered with word of it.

    The SDK answers in the order and on the pipe that are its own, so it is given a request of the
    same id for a method that there is not, by the name of what is wrong.
    """
    twice = key_twice(line.decode(errors="replace"))
    if twice is None:
        return line
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return line  # which the SDK refuses as it refuses any other that is no JSON
    if not isinstance(message, dict) or "method" not in message or "id" not in message:
        return b"\n"  # nobody waits for an answer
    said = {"jsonrpc": "2.0", "id": message["id"], "method": f"[W2009] {_stands_twice(twice)}"}
    return json.dumps(said).encode() + b"\n"


def _stands_twice(key: str) -> str:
    return f"the key {key} stands twice; keep one of the two"


async def _look_at(body: bytes) -> None:
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CallError("W2009", "the message is not UTF-8; JSON is") from None
    if "\0" in text:  # UTF-16, which some parsers guess
        raise CallError("W2009", "the message is not UTF-8; JSON is")
    if len(body) > _LARGE:
        twice = await anyio.to_thread.run_sync(key_twice, text)
    else:
        twice = key_twice(text)
    if twice is not None:
        raise CallError("W2009", _stands_twice(twice))
