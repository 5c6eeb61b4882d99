"""Uploads of pages: files dropped onto them, and sidecars edited there.

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
from widgetd.base.errors import CallError, WidgetError
from widgetd.base.system import SYSTEM
from widgetd.core.schema.json_text import NotJsonError, parse_json
from widgetd.core.widget.sidecar import SUFFIX
from widgetd.core.widget.sidecar_text import EDITABLE, Value, set_values
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import WRITE, Caller
from widgetd.server.render.tokens import tokens_of_tool
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
    """Save a widget that was dropped onto a page."""
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


def editable(gallery: Gallery, widget: Widget, caller: Caller) -> dict[str, Value] | None:
    """Return the sidecar's values that `caller` may edit, by key; None if they may edit none."""
    scopes = caller.principal.scopes
    if not is_widget_name(widget.definition.path) or gallery.uploads is None or WRITE not in scopes:
        return None
    sidecar = widget.definition.sidecar
    values = {key: getattr(sidecar, key) for key in EDITABLE}
    return {key: "" if value is None else value for key, value in values.items()}


async def try_sidecar(gallery: Gallery, request: Request) -> dict[str, Any]:
    """Show what a model would read with an edited sidecar, without saving it.

    Returns:
        `{"description", "tokens", "summary", "problem"}`: why widget or call would be refused, or
        the first finding about the sidecar; without a key where it does not apply.
    """
    widget, uploads, sent = await _editable_widget(gallery, request)
    path, server = widget.definition.path, gallery.server

    def validate() -> dict[str, Any]:
        try:
            draft = uploads.validate(path, _edit(uploads, path, sent))
        except RefusedUploadError as error:
            return {"problem": f"{error.finding.problem}; {error.finding.advice}"}
        shown = {"description": draft.description, "tokens": tokens_of_tool(draft)}
        with server.rendering.journal.rendering(draft.key):
            found = gallery.problems.check_widget(draft)
            findings = [f"{one.problem}; {one.advice}" for one in found if one.path != path]
            try:
                render = server.rendering.make(draft, sent.get("arguments") or {}, "")
            except CallError as error:
                return {**shown, "problem": error.message}
        return {**shown, "summary": render.text, **({"problem": findings[0]} if findings else {})}

    return await SYSTEM.threads.run_blocking(validate)


async def save_sidecar(gallery: Gallery, request: Request) -> dict[str, str]:
    """Save an edited sidecar, unless widget or sidecar changed since the page was loaded."""
    widget, uploads, sent = await _editable_widget(gallery, request)
    path, known = widget.definition.path, sent.get("digest")
    if not isinstance(known, str) or not known:
        raise RefusedError(400, _NO_OBJECT)
    try:
        files = await SYSTEM.threads.run_blocking(_edit, uploads, path, sent)
    except RefusedUploadError as error:
        raise _refusal(error) from None
    return await save_files(gallery, uploads, files, caller_of(request), replaces=known)


async def _editable_widget(
    gallery: Gallery, request: Request
) -> tuple[Widget, Uploads, dict[str, Any]]:
    require_own_origin(request, "may put files here")
    widget = gallery.widget(request)
    if gallery.uploads is None or editable(gallery, widget, caller_of(request)) is None:
        raise RefusedError(404, {"error": "this sidecar cannot be edited here"})
    return widget, gallery.uploads, await json_object(request)


def _edit(uploads: Uploads, path: str, sent: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the sidecar's file with the values that were sent for editable keys."""
    values = {key: sent[key] for key in EDITABLE if _is_value(sent.get(key))}
    try:
        _, beside = uploads.read_files(path)
        text = "" if beside is None else beside.content.decode("utf-8-sig", errors="replace")
        text = set_values(text, values)
    except WidgetError as error:
        raise RefusedUploadError(error.of(path + SUFFIX).finding, "unfit") from None
    return {path + SUFFIX: text.encode()}


def _is_value(value: object) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(one, str) for one in value)
    )


async def save_files(
    gallery: Gallery,
    uploads: Uploads,
    files: Mapping[str, bytes],
    caller: Caller,
    *,
    replace: bool = False,
    replaces: str | None = None,
) -> dict[str, str]:
    """Save the files of one widget for `caller`; refuse as uploads do.

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
    """Refuse requests that no page of this origin sends; pages of other loopback ports may read."""
    if request.headers.get("origin") not in own_origins(request):
        raise RefusedError(403, {"error": f"only this gallery's own pages {what}"})


async def json_object(request: Request) -> dict[str, Any]:
    """Parse the body as a JSON object; refuse any other, and one that is too long."""
    content, value = await body_of(request, LIMITS.upload_bytes), None
    with suppress(NotJsonError):
        value = None if content is None else parse_json(content)
    if not isinstance(value, dict):
        raise RefusedError(400, _NO_OBJECT)
    return value


async def read_arguments(request: Request) -> dict[str, Any] | None:
    """Return the JSON object of a POST; None for a GET."""
    return await json_object(request) if request.method == "POST" else None
