"""Refuse messages with a duplicate key in an object, and requests with an unknown profile.

The SDK's parsers accept duplicate keys silently. They read the last of the two values, and a
filtering proxy perhaps the first, so they could disagree about the request.
"""

from __future__ import annotations

import json

from mcp_types import INVALID_REQUEST

from widgetd.base.errors import CallError
from widgetd.base.system import SYSTEM
from widgetd.core.schema.json_text import find_duplicate_key
from widgetd.server.mcp import asgi
from widgetd.server.mcp.limits import LIMITS
from widgetd.server.mcp.requested_profile import read_profile

_TWICE = "the key {} stands twice; keep one of the two"


class RequestGuard:
    """An ASGI layer around the SDK's endpoint, to refuse duplicate keys and unknown profiles."""

    def __init__(self, app: asgi.App) -> None:
        self.app = app

    async def __call__(self, scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> None:
        # The SDK reads the whole body before it acts on any of it.
        body = bytearray()

        async def receive_checked() -> asgi.Message:
            message = await receive()
            if message["type"] == "http.request":
                body.extend(message.get("body", b""))
                if not message.get("more_body"):
                    await _check(bytes(body))
                    body.clear()
            return message

        try:
            read_profile(scope)
            await self.app(scope, receive_checked, send)
        except CallError as error:
            await asgi.refuse(send, 400, INVALID_REQUEST, error)


def reject_duplicate_keys(line: bytes) -> bytes:
    """Return a line of stdio as it is, or a failing request in place of duplicate keys."""
    twice = find_duplicate_key(line.decode(errors="replace"))
    if twice is None:
        return line
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return line  # the SDK refuses it
    if not isinstance(message, dict) or "method" not in message or "id" not in message:
        return b"\n"  # a notification has no answer
    # The SDK writes all answers itself, in its own order. It gets a request with the same id for an
    # unknown method, whose name is the error message.
    request = {"jsonrpc": "2.0", "id": message["id"], "method": f"[W2009] {_TWICE.format(twice)}"}
    return json.dumps(request).encode() + b"\n"


async def _check(body: bytes) -> None:
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CallError("W2009", "the message is not UTF-8; JSON is") from None
    if "\0" in text:  # UTF-16, which some parsers guess
        raise CallError("W2009", "the message is not UTF-8; JSON is")
    if len(body) > LIMITS.checked_bytes:
        twice = await SYSTEM.threads.run_blocking(find_duplicate_key, text)
    else:
        twice = find_duplicate_key(text)
    if twice is not None:
        raise CallError("W2009", _TWICE.format(twice))
