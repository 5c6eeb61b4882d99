"""`POST /render/{name}`: a backend has its data rendered, and a model shows it by its id.

The body is the widget's arguments. Rows that a model should never type, and need
not see, take this way.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from widgetd.errors import CallError
from widgetd.mcp.http_calls import keep_render
from widgetd.mcp.server import Server
from widgetd.schema.json_values import kind

MOST_BYTES = 4 * 1024 * 1024
"""Of a body: four times what a widget may come to."""

_STATUS: Mapping[str, int] = {
    "W2001": 404,
    "W2008": 413,
    "W2009": 400,
    "W2201": 429,
    "W2202": 429,
    "W2301": 403,
}
_DOES_NOT_FIT = 422


def render_route(server: Server, *, most_bytes: int = MOST_BYTES) -> Route:
    """The route, over what `server` serves.

    Args:
        server: Renders, and keeps renders.
        most_bytes: The size of a body.
    """

    async def render(request: Request) -> Response:
        async def read() -> Mapping[str, Any]:
            return _arguments(await _body(request, most_bytes))

        user, name = request.scope.get("user"), request.path_params["name"]
        answer = await keep_render(server, user, name, read)
        return _json(answer, named="authorization" in request.headers)

    return Route("/render/{name}", render, methods=["POST"])


async def _body(request: Request, most_bytes: int) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most_bytes:
            raise CallError("W2008", f"expected a body of at most {most_bytes} bytes, got more")
    return bytes(body)


def _arguments(body: bytes) -> dict[str, Any]:
    try:
        arguments = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise CallError("W2009", f"expected a JSON object, got no JSON ({error})") from None
    if not isinstance(arguments, dict):
        raise CallError("W2009", f"expected a JSON object, got {kind(arguments)}")
    return arguments


def _json(answer: dict[str, Any], *, named: bool = True) -> JSONResponse:
    error = answer.get("error", {})
    code, headers = error.get("code"), {}
    status = 201 if code is None else _STATUS.get(code, _DOES_NOT_FIT)
    if code == "W2301" and not named:
        status, headers["www-authenticate"] = 401, "Bearer"
    if "retryAfterS" in error:
        headers["retry-after"] = str(ceil(error["retryAfterS"]))  # whole seconds
    return JSONResponse(answer, status_code=status, headers=headers)
