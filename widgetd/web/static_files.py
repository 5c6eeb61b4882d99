"""Files that lie in a package, as a browser asks for them again and again."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response


@cache
def static_files(package: str) -> Mapping[str, bytes]:
    """The files of a package's folder `static`, and the script that hosts the view, by name."""
    own = (files(package) / "static").iterdir()
    return {file.name: file.read_bytes() for file in (*own, files("widgetd.view") / "host.js")}


def static_file(request: Request, package: str, headers: Mapping[str, str]) -> Response:
    """The file of `package` that the address names."""
    name = request.path_params["name"]
    content = static_files(package).get(name)
    if content is None:
        return Response(status_code=404)
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return cacheable(request, content, kind, headers)


def cacheable(request: Request, content: bytes, kind: str, headers: Mapping[str, str]) -> Response:
    """`content`, or word that the browser has it already; it asks each time, so none is stale."""
    told = content + repr(sorted(headers.items())).encode()
    tag = f'"{blake2b(told, digest_size=8).hexdigest()}"'
    headers = {**headers, "cache-control": "no-cache", "etag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)
