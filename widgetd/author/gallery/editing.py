"""Uploads of pages: files dropped onto them, and origins of images allowed there.

All go through `catalog.uploads`, as those of `save_widget` do.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Undecodable
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from widgetd.author.gallery.gallery import Gallery, require
from widgetd.author.uploads.uploads import RefusedUploadError, Uploads, is_widget_name
from widgetd.base.errors import WidgetError
from widgetd.base.system import SYSTEM
from widgetd.core.schema.json_text import NotJsonError, parse_json
from widgetd.core.widget.sidecar import SUFFIX
from widgetd.core.widget.sidecar_text import set_values
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import WRITE, Caller
from widgetd.server.web.limits import LIMITS
from widgetd.server.web.page import (
    RefusedError,
    body_of,
    caller_of,
    json_response,
    own_origins,
    status_of,
)

_NO_OBJECT = {"error": "the body is no JSON object, or too long"}


async def upload(gallery: Gallery, request: Request) -> Response:
    require_own_origin(request, "may put files here")
    uploads, sent = require(gallery.uploads), await json_object(request)
    try:
        files = {name: b64decode(text, validate=True) for name, text in sent.items()}
    except (Undecodable, ValueError, TypeError):
        files = {}
    if not files:
        raise RefusedError(400, _NO_OBJECT)
    replace = request.query_params.get("replace") == "1"
    caller = caller_of(request)
    saved = await save_files(gallery, uploads, files, caller, replace=replace)
    return json_response({"tool": saved["tool"], "page": saved["page"]}, 201)


def editable_origins(gallery: Gallery, widget: Widget, caller: Caller) -> list[str] | None:
    scopes = caller.principal.scopes
    if not is_widget_name(widget.definition.path) or gallery.uploads is None or WRITE not in scopes:
        return None
    return list(widget.definition.sidecar.image_origins)


async def save_origins(gallery: Gallery, request: Request) -> dict[str, str]:
    """Save the image origins of a sidecar, unless the files changed since the page was loaded."""
    require_own_origin(request, "may put files here")
    widget, caller = gallery.widget(request), caller_of(request)
    if gallery.uploads is None or editable_origins(gallery, widget, caller) is None:
        raise RefusedError(404, {"error": "this sidecar cannot be edited here"})
    path, uploads, sent = widget.definition.path, gallery.uploads, await json_object(request)
    digest, origins = sent.get("digest"), sent.get("image_origins")
    if not isinstance(digest, str) or not digest or not isinstance(origins, list):
        raise RefusedError(400, _NO_OBJECT)
    if not all(isinstance(origin, str) for origin in origins):
        raise RefusedError(400, _NO_OBJECT)

    def edit() -> bytes:
        _, sidecar = uploads.read_files(path)
        text = "" if sidecar is None else sidecar.content.decode("utf-8-sig", errors="replace")
        return set_values(text, {"image_origins": origins}).encode()

    try:
        text = await SYSTEM.threads.run_blocking(edit)
    except WidgetError as error:
        finding = error.of(path + SUFFIX).finding
        raise _refusal(RefusedUploadError(finding, "unfit")) from None
    return await save_files(gallery, uploads, {path + SUFFIX: text}, caller, replaces=digest)


async def save_files(
    gallery: Gallery,
    uploads: Uploads,
    files: Mapping[str, bytes],
    caller: Caller,
    *,
    replace: bool = False,
    replaces: str | None = None,
) -> dict[str, str]:
    """Save the files of a widget for `caller`. Refuse as uploads do.

    Returns:
        `{"tool", "page", "digest"}`.
    """
    try:
        tool = await uploads.save(caller.principal, files, replace=replace, replaces=replaces)
    except RefusedUploadError as error:
        raise _refusal(error) from None
    widget = gallery.server.registry.current.widgets.get(tool)
    return {"tool": tool, "page": f"/w/{tool}", "digest": "" if widget is None else widget.key}


def _refusal(error: RefusedUploadError) -> RefusedError:
    finding = error.finding
    body = {
        "path": finding.path,
        "at": finding.at,
        "code": finding.code,
        "problem": finding.problem,
        "advice": finding.advice,
        "replaceable": error.replaceable,
    }
    return RefusedError(status_of(error.reason), body)


def require_own_origin(request: Request, what: str) -> None:
    """Refuse requests from pages of other origins. Pages of other loopback ports may read."""
    if request.headers.get("origin") not in own_origins(request):
        raise RefusedError(403, {"error": f"only this gallery's own pages {what}"})


async def json_object(request: Request) -> dict[str, Any]:
    content, value = await body_of(request, LIMITS.upload_bytes), None
    with suppress(NotJsonError):
        value = None if content is None else parse_json(content)
    if not isinstance(value, dict):
        raise RefusedError(400, _NO_OBJECT)
    return value


async def read_arguments(request: Request) -> dict[str, Any] | None:
    return await json_object(request) if request.method == "POST" else None
