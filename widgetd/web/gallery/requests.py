"""What a request from one of the gallery's own pages brings along, and whether it is from one."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Undecodable
from collections.abc import Mapping
from typing import Any

import orjson
from starlette.requests import Request

from widgetd.limits import Limits

MOST_BYTES = 4 * Limits().file_bytes
"""Of a body: a widget and its sidecar in base64, or arguments as long."""

NO_OBJECT = {"error": "the body is no JSON object, or too long"}


def is_ours(request: Request) -> bool:
    """Whether a page of this very origin asks; the guard lets other loopback ports in."""
    host = request.headers.get("host", "")
    return request.headers.get("origin") in (f"http://{host}", f"https://{host}")


async def json_object(request: Request) -> dict[str, Any] | None:
    """The JSON object in the request's body; None where it holds none, or is too long."""
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > MOST_BYTES:
            return None
    try:
        given = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    return given if isinstance(given, dict) else None


def decoded(files: Mapping[str, Any] | None) -> dict[str, bytes] | None:
    """Files by name, of `{name: base64}`; None where that is something else."""
    if not files:
        return None
    try:
        return {name: b64decode(text, validate=True) for name, text in files.items()}
    except (Undecodable, ValueError, TypeError):
        return None
