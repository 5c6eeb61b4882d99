"""Static files of the package, with entity tags."""

from __future__ import annotations

import mimetypes
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from widgetd.web.page import PAGE_HEADERS


@cache
def static_files(package: str, folder: str = "static") -> Mapping[str, bytes]:
    """Return by name the files of a package's folder, and the scripts that pages share."""
    own = (files(package) / folder).iterdir()
    shared = (files("widgetd.view") / name for name in ("host.js", "markdown.js"))
    return {file.name: file.read_bytes() for file in (*own, *shared)}


def static_view(
    package: str, folder: str = "static", name: str = ""
) -> Callable[[Any, Request], Awaitable[Response]]:
    """Return a view of the files of `package`: of the one called `name`, or that of the address."""

    async def view(_site: Any, request: Request) -> Response:
        named = name or request.path_params["name"]
        content = static_files(package, folder).get(named)
        if content is None:
            return Response(status_code=404)
        kind = mimetypes.guess_type(named)[0] or "application/octet-stream"
        return cacheable(request, content, kind)

    return view


def cacheable(
    request: Request, content: bytes, kind: str, headers: Mapping[str, str] = PAGE_HEADERS
) -> Response:
    """Answer with `content`, or 304 where the browser has it; it revalidates at each request."""
    identity = content + repr(sorted(headers.items())).encode()
    tag = f'"{blake2b(identity, digest_size=8).hexdigest()}"'
    headers = {**headers, "cache-control": "no-cache", "etag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)
