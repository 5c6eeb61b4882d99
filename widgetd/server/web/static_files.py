"""Responses with entity tags: static files of the package, and what seldom changes."""

from __future__ import annotations

import mimetypes
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from widgetd.server.web.page import PAGE_HEADERS

_REVALIDATED = {"cache-control": "no-cache"}
"""The client asks at each request whether its copy is still the newest."""

_SHARED = ("element.js", "gallery.css", "host.js", "markdown.js")
"""The files that pages of several rooms use."""


@cache
def static_files(package: str, folder: str = "static") -> Mapping[str, bytes]:
    own = (files(package) / folder).iterdir()
    shared = [files("widgetd.view") / name for name in _SHARED]
    return {file.name: file.read_bytes() for file in (*own, *shared)}


def static_view(
    package: str, folder: str = "static", name: str = ""
) -> Callable[[Any, Request], Awaitable[Response]]:
    async def view(_site: Any, request: Request) -> Response:
        named = name or request.path_params["name"]
        content = static_files(package, folder).get(named)
        if content is None:
            return Response(status_code=404)
        kind = mimetypes.guess_type(named)[0] or "application/octet-stream"
        return cacheable(request, content, kind)

    return view


def cacheable(
    request: Request,
    content: bytes,
    kind: str,
    headers: Mapping[str, str] = {**PAGE_HEADERS, **_REVALIDATED},
) -> Response:
    """Answer with `content`, or 304 where the client has it.

    Source: RFC 9110, section 13.1.2: a list of tags, compared without their `W/`, an addition of
    compressing proxies. `*` stands for any.
    """
    identity = content + repr(sorted(headers.items())).encode()
    tag = f'"{blake2b(identity, digest_size=8).hexdigest()}"'
    headers = {**_REVALIDATED, **headers, "etag": tag}
    tags = request.headers.get("if-none-match", "").split(",")
    if {cached.strip().removeprefix("W/") for cached in tags} & {tag, "*"}:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)
