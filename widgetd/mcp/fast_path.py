"""Answer `tools/list` of a modern client from bytes that are ready.

The SDK would build, check and write a thousand entries again for every client,
after every swap. Here a request passes the same checks, by the SDK's own
functions; what is not regular in every respect is handed on untouched, so that
the SDK says what is wrong with it. It sits inside authentication and the Host
check, and refuses to know what a widget is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from mcp.shared.inbound import (
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
)
from mcp_types import JSONRPCRequest
from mcp_types.methods import validate_client_request
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from widgetd.mcp.sdk import App, Message, Receive, Scope, Send

Page = Callable[[Any, str], Awaitable[bytes | None]]
"""Who asks, and the cursor, to the JSON of the result; None if the SDK is to say why not."""

_LONGEST_BODY = 16 * 1024
"""A list request is a few hundred bytes; whatever is longer is something else."""


class FastPath:
    """An ASGI layer around the SDK's endpoint: answers regular modern requests, hands on others."""

    def __init__(self, app: App, page: Page) -> None:
        self.app = app
        self._page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        pairs = [
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]
        ]
        headers = dict(pairs)
        length = headers.get("content-length", "")
        if not (
            headers.get("mcp-method") == "tools/list"
            and headers.get("mcp-protocol-version") in MODERN_PROTOCOL_VERSIONS
            and "application/json" in headers.get("accept", "")
            and length.isdecimal()
            and int(length) <= _LONGEST_BODY
        ):
            await self.app(scope, receive, send)
            return
        first = await receive()
        answer = None
        if not first.get("more_body"):
            answer = await self._answer(scope, pairs, first.get("body", b""))
        if answer is None:
            await self.app(scope, _replayed(first, receive), send)
            return
        response = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(answer)).encode()),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": response})
        await send({"type": "http.response.body", "body": answer})

    async def _answer(
        self, scope: Scope, headers: list[tuple[str, str]], body: bytes
    ) -> bytes | None:
        try:
            decoded = orjson.loads(body)
            request = JSONRPCRequest.model_validate(decoded)
            if (
                request.method != "tools/list"
                or find_duplicated_routing_header(headers) is not None
            ):
                return None
            verdict = classify_inbound_request(decoded, headers=dict(headers))
            if isinstance(verdict, InboundLadderRejection):
                return None
            validate_client_request("tools/list", verdict.protocol_version, request.params)
        except (ValueError, ValidationError):
            return None
        page = await self._page(scope.get("user"), (request.params or {}).get("cursor") or "")
        if page is None:
            return None
        return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (orjson.dumps(request.id), page)


def _replayed(first: Message, receive: Receive) -> Receive:
    """`receive`, with a message that was taken already before all others."""
    taken = [first]

    async def again() -> Message:
        return taken.pop() if taken else await receive()

    return again
