"""Rows of the tables of pages, and the common responses of views."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Generic, Literal, TypeVar

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from widgetd.base.errors import CallError
from widgetd.server.access.principal import Caller

PAGE_HEADERS = {
    "content-security-policy": "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data:",
            "connect-src 'self'",
            "frame-src 'self'",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        )
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
"""A page runs only files of this package, connects only to this origin, and cannot be framed."""

STREAM_HEADERS = {**PAGE_HEADERS, "x-accel-buffering": "no"}
"""Headers of a stream of events, which nginx would buffer."""

Site = TypeVar("Site")
"""The object that a view renders: the daemon, the gallery or the chat."""


class RefusedError(Exception):
    """A refused request, answered with `status` and the reason as a JSON `body`."""

    def __init__(
        self, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, body)
        self.status = status
        self.body = body
        self.headers = headers or {}

    def response(self, headers: Mapping[str, str] = PAGE_HEADERS) -> Response:
        return json_response(self.body, self.status, {**headers, **self.headers})


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPage(Generic[Site]):
    """A row of a table of pages: a page, or data for a page.

    Attributes:
        path: The path, as Starlette writes it.
        view: Answers a request with a response, with the template's context, or, without a
            template, with a JSON value.
        scopes: The alternatives of required scopes. None admits every request.
        cost: In calls, of an admitted request: 0 where an answer costs no more than a refusal.
            `docs/operations/secure.md` lists them.
        waits: Whether a request holds a waiting place and no slot: a stream, or a
            request that waits for calls of its own user.
        cross_site: The answer to browsers whose user is on another origin's page: none, an answer
            to followers of a link, or to all. Only pages without work may be linked to.
        template: A file of `templates/`.
        methods: HTTP methods. GET includes HEAD.
        headers: Headers of responses not built by the view itself.
    """

    path: str
    view: Callable[[Site, Request], Awaitable[Any]]
    scopes: frozenset[str] | None
    cost: float = 1.0
    waits: bool = False
    cross_site: Literal["refuse", "navigate", "allow"] = "refuse"
    template: str = ""
    methods: tuple[str, ...] = ("GET",)
    headers: Mapping[str, str] = field(default_factory=lambda: PAGE_HEADERS)


class PageRoute(Route):
    """The route of a page."""

    def __init__(
        self, page: WebPage[Any], answer: Callable[[Request], Awaitable[Response]]
    ) -> None:
        super().__init__(page.path, answer, methods=page.methods)
        self.page = page


STATUSES: Mapping[str, int] = {
    "W2001": 404,
    "W2007": 404,
    "W2008": 413,
    "W2009": 400,
    "W2201": 429,
    "W2202": 429,
    "W2301": 403,
    "W2406": 409,
    "W2420": 404,
    "W3201": 501,
    "W3202": 504,
    "W3203": 413,
    "W3204": 503,
    # Reasons why an upload is refused.
    "name": 400,
    "forbidden": 403,
    "taken": 409,
    "long": 413,
    "full": 507,
}
"""HTTP statuses by the code of a `CallError`, or the reason of a `RefusedUploadError`."""


def status_of(code: str) -> int:
    return STATUSES.get(code, 422)


def refusal(error: CallError) -> RefusedError:
    body = {"error": error.message, "code": error.code, "retryAfterS": error.retry_after_s}
    headers: dict[str, str] = {}
    if error.retry_after_s is not None:
        headers["retry-after"] = str(ceil(error.retry_after_s))  # whole seconds
    return RefusedError(status_of(error.code), body, headers)


def json_response(
    value: Mapping[str, Any] | list[Any],
    status: int = 200,
    headers: Mapping[str, str] = PAGE_HEADERS,
) -> Response:
    content = orjson.dumps(value, default=dict)
    return Response(content, status, headers, media_type="application/json")


def caller_of(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


def own_origins(request: Request) -> tuple[str, str]:
    host = request.headers.get("host", "")
    return f"http://{host}", f"https://{host}"


async def body_of(request: Request, most_bytes: int) -> bytes | None:
    """Return the body of a request, or None if it is longer than `most_bytes`.

    Raises:
        RefusedError: The client disconnected before its end and will not read the answer.
    """
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > most_bytes:
                return None
    except ClientDisconnect:
        raise RefusedError(400, {"error": "the body ended early"}) from None
    return bytes(body)
