"""Drafts in the editor of a widget's page: the parts of its files, tried, drawn and saved.

A `.widget.jsx` is a single text. A `.widget` has JSX, a template and a schema within its JSON, and
an invalid file is edited as it is. A change of the JSX makes the template anew.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from widgetd.author.export.package import pack
from widgetd.author.gallery.editing import json_object, require_own_origin, save_files
from widgetd.author.gallery.gallery import Gallery, require
from widgetd.author.gallery.results import error_json, render_of, result_of
from widgetd.author.guide.component_details import describe_properties, list_colors
from widgetd.author.guide.drafts import Draft, Drafts
from widgetd.author.uploads.uploads import is_widget_name
from widgetd.base.errors import CallError, WidgetError
from widgetd.base.limits import Limits
from widgetd.base.system import SYSTEM
from widgetd.core.schema.json_text import find_key_offsets, line_and_column, parse_file
from widgetd.core.schema.json_values import is_json
from widgetd.core.studio.places import find_places
from widgetd.core.template.vocabulary import VOCABULARY
from widgetd.core.widget.components import load_vocabulary
from widgetd.core.widget.definition import compute_digest
from widgetd.core.widget.document import WidgetDocument, decode_package
from widgetd.core.widget.naming import JSX_SUFFIX
from widgetd.core.widget.sidecar import SUFFIX, Sidecar
from widgetd.core.widget.states import SAMPLE, ShownState, show_state
from widgetd.core.widget.widget import Widget
from widgetd.server.web.page import RefusedError, caller_of
from widgetd.server.web.static_files import cacheable

PARTS = ("jsx", "template", "schema", "file", "sidecar")
"""The texts that the editor holds, in the order of its menu."""

_UNKNOWN = {"error": "these are no parts of a widget's file that can be edited here"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A draft from the page.

    Attributes:
        path: The file's name.
        content: The text of the edited file, or empty for a new file.
        parts: The texts of its parts.
    """

    path: str
    content: str
    parts: Mapping[str, str]

    @property
    def sidecar(self) -> str:
        return self.parts.get("sidecar", "")

    def file(self) -> Mapping[str, Any] | str:
        """Return the object of the file, or its text, with the edited parts.

        Raises:
            WidgetError: The schema is not JSON.
        """
        if self.path.endswith(JSX_SUFFIX):
            return self.parts.get("jsx", "")
        if "file" in self.parts:
            return parse_file(self.parts["file"].encode(), Limits())
        before = split(self.path, self.content)
        file = parse_file(self.content.encode(), Limits())
        edited = {part for part, text in self.parts.items() if text != before.get(part)}
        if "schema" in edited:
            file["jsonSchema"] = parse_file(self.parts["schema"].encode(), Limits())
        if "jsx" in edited:
            package = decode_package(file.get("encodedWidget") or "") or {}
            encoded = orjson.dumps({**package, "view": self.parts["jsx"]})
            file["encodedWidget"] = base64.b64encode(encoded).decode()
            file["template"] = ""
        if "template" in edited:
            file["template"] = self.parts["template"]
        return file


def split(path: str, content: str) -> dict[str, str]:
    if path.endswith(JSX_SUFFIX):
        return {"jsx": content}
    try:
        document = WidgetDocument(content=parse_file(content.encode(), Limits()))
        schema = document.content.get("jsonSchema")
        texts = {"jsx": document.view, "template": document.template}
    except (WidgetError, TypeError, KeyError):
        return {"file": content}
    indented = orjson.dumps(schema, option=orjson.OPT_INDENT_2).decode() if schema else ""
    return {part: text for part, text in {**texts, "schema": indented}.items() if text}


async def parts(gallery: Gallery, request: Request) -> dict[str, Any]:
    """Return the parts of a widget's files as they are on disk.

    Returns:
        `{"path", "digest", "parts", "drawn", "previous"}`: `drawn` is the drawn part, and
        `previous` tells whether there is an earlier version.
    """
    widget, uploads = gallery.widget(request), require(gallery.uploads)
    path, audience = widget.definition.path, caller_of(request).principal.audience

    def read() -> dict[str, Any]:
        source, sidecar = uploads.read_files(path)
        if source is None:
            raise RefusedError(404, {"error": "there is no such file any more"})
        digest = compute_digest(source, sidecar)
        if digest != widget.key and not audience.sees_everything:
            raise RefusedError(409, {"error": "the file is being replaced; try again"})
        return {
            "path": path,
            "digest": digest,
            "parts": split_files(path, source.content, sidecar.content if sidecar else b""),
            "drawn": "jsx" if widget.source == "view" else "template",
            "previous": gallery.history.before(widget, audience.sees) is not None,
        }

    return await SYSTEM.threads.run_blocking(read)


def split_files(path: str, source: bytes, sidecar: bytes) -> dict[str, str]:
    return {**split(path, _text(source)), "sidecar": _text(sidecar)}


def _text(content: bytes) -> str:
    return content.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")


async def try_draft(gallery: Gallery, request: Request) -> dict[str, Any]:
    """Check a draft and draw it with arguments, or in a state.

    Returns:
        `{"findings", "result", "error", "places", "schema", "arguments"}`: `findings` are rows as
        of `try_widget`, with their `part`. `places` are offsets in the JSX by the pointer of
        a component in the tree.
    """
    drafts, (sent, body) = require(gallery.drafts), await _read(gallery, request)
    owner = caller_of(request).principal.name
    return await gallery.trials.run_blocking(owner, _try, gallery, drafts, sent, body)


def _try(gallery: Gallery, drafts: Drafts, sent: Sent, body: Mapping[str, Any]) -> dict[str, Any]:
    report: dict[str, Any] = {"result": None, "error": None, "places": {}, "findings": []}
    arguments = body.get("arguments")
    arguments = arguments if isinstance(arguments, dict) else None
    try:
        draft = drafts.check(sent.file(), sent.sidecar, arguments, path=sent.path)
    except WidgetError as error:
        finding, part = error.finding, "file" if "file" in sent.parts else "schema"
        names = ("level", "code", "at", "line", "column", "problem", "advice")
        row = {name: getattr(finding, name) for name in names}
        return {**report, "findings": [{**row, "part": part}]}
    mended = _list_mended(draft.widget, sent)
    report["findings"] = [_place(row, sent) for row in draft.rows() if row["code"] not in mended]
    widget = draft.widget
    if widget is None:
        return report
    report["schema"] = widget.schema.advertised
    content = (
        show_state(widget, str(body.get("state", SAMPLE)))
        if arguments is None
        else ShownState(arguments=arguments)
    )
    try:
        render = render_of(gallery.server, widget, content)
    except CallError as error:
        return {**report, "error": error_json(error)}
    report["result"] = result_of(gallery.server, render)
    drawn = content.render or widget.call(content.arguments)
    report["places"] = find_places(widget, drawn.arguments, drawn.tree)
    if is_json(content.arguments, Limits().json_depth):
        report["arguments"] = content.arguments
    return report


def _list_mended(widget: Widget | None, sent: Sent) -> set[str]:
    if widget is None or sent.path.endswith(JSX_SUFFIX) or "file" in sent.parts:
        return set()
    with suppress(CallError, WidgetError):
        if widget.source == "view" and orjson.loads(pack(widget).content)["template"]:
            return {"W1323", "W1325"}
    return {"W1323"}


def _place(row: Mapping[str, Any], sent: Sent) -> dict[str, Any]:
    at = row["at"]
    if row["file"] == "sidecar":
        part = "sidecar"
    elif sent.path.endswith(JSX_SUFFIX) or at.startswith("/encodedWidget"):
        part = "jsx"
    else:
        part = "schema" if at.startswith("/jsonSchema") else "template"
    part = part if part in sent.parts else next(iter(sent.parts))
    placed, text = {**row, "part": part}, sent.parts[part]
    if part == "schema":
        offset = find_key_offsets(text).get(at.removeprefix("/jsonSchema"), 0)
        placed["line"], placed["column"] = line_and_column(text, offset)
    elif part == "jsx" and at.startswith("/jsonSchema/"):
        start, key = max(text.find("const schema"), 0), at.rpartition("/")[2]
        offsets = (text.find(written, start) for written in (f'"{key}":', f"{key}:"))
        offset = next((position for position in offsets if position >= 0), start)
        placed["line"], placed["column"] = line_and_column(text, offset)
    return placed


async def save_draft(gallery: Gallery, request: Request) -> dict[str, Any]:
    """Save a draft, unless the files have changed since.

    Returns:
        `{"tool", "page", "digest", "parts"}`: `parts` are the written parts.
    """
    uploads, drafts = require(gallery.uploads), require(gallery.drafts)
    sent, body = await _read(gallery, request)
    replaces = body.get("digest")
    if not isinstance(replaces, str) or bool(replaces) is not bool(body.get("tool")):
        raise RefusedError(400, _UNKNOWN)

    def write() -> dict[str, bytes]:
        files = {sent.path: _encode(sent, drafts)}
        if sent.sidecar.strip() or uploads.read_files(sent.path)[1] is not None:
            files[sent.path + SUFFIX] = sent.sidecar.encode()
        return files

    caller = caller_of(request)
    files = await gallery.trials.run_blocking(caller.principal.name, write)
    saved = await save_files(gallery, uploads, files, caller, replaces=replaces)
    written = split_files(sent.path, files[sent.path], files.get(sent.path + SUFFIX, b""))
    return {**saved, "parts": written}


def _encode(sent: Sent, drafts: Drafts) -> bytes:
    if sent.path.endswith(JSX_SUFFIX) or "file" in sent.parts:
        return next(sent.parts[part] for part in ("jsx", "file") if part in sent.parts).encode()
    try:
        file = sent.file()
    except WidgetError:
        # Uploads refuse it, and say why.
        return sent.parts["schema"].encode()
    draft: Draft = drafts.check(file, sent.sidecar, path=sent.path)
    if draft.widget is not None and draft.widget.source == "view":
        return pack(draft.widget).content
    assert not isinstance(file, str)  # noqa: S101 - the path says so
    if draft.widget is not None:
        with suppress(CallError):
            preview = show_state(draft.widget, SAMPLE).tree(draft.widget)
            file = {**file, "outputJsonPreview": preview}
    return orjson.dumps(file, option=orjson.OPT_INDENT_2) + b"\n"


async def previous(gallery: Gallery, request: Request) -> dict[str, Any]:
    """Return the parts and the drawing of the version before, beside the drawing of this version.

    Returns:
        `{"parts", "before", "now"}`. Each drawing is a result, or None if it cannot be drawn.
    """
    widget = gallery.widget(request)
    earlier = gallery.history.before(widget, caller_of(request).principal.audience.sees)
    if earlier is None:
        raise RefusedError(404, {"error": "no version before this one is known"})
    definition = earlier.definition
    return {
        "parts": split(definition.path, _text(definition.content)),
        "before": _drawing(gallery, earlier),
        "now": _drawing(gallery, widget),
    }


def _drawing(gallery: Gallery, widget: Widget) -> dict[str, Any] | None:
    try:
        render = render_of(gallery.server, widget, show_state(widget, SAMPLE))
        return result_of(gallery.server, render)
    except CallError:
        return None


async def vocabulary(_gallery: Gallery, request: Request) -> Response:
    """Answer with the editor's completions: components, values, filters, keys of sidecars.

    Returns:
        `{"components": {type: {"use", "holds", "properties"}}, "icons", "colors", "filters",
        "sidecar"}`. `properties` are rows as of `get_component_details`.
    """
    content = await SYSTEM.threads.run_blocking(_vocabulary)
    return cacheable(request, content, "application/json")


@cache
def _vocabulary() -> bytes:
    vocabulary, colors = load_vocabulary(), list_colors()
    tokens = {value for row in colors["tokens"] for value in row["values"]}
    value = {
        "components": {
            type_: {
                "use": component.use,
                "holds": None if component.holds is None else sorted(component.holds),
                "properties": describe_properties(component),
            }
            for type_, component in vocabulary.components.items()
        },
        "icons": vocabulary.icons,
        "colors": sorted(tokens),
        "filters": sorted(VOCABULARY["filters"]),
        "sidecar": {
            field.alias or name: field.description or ""
            for name, field in Sidecar.model_fields.items()
        },
    }
    return orjson.dumps(value)


async def _read(gallery: Gallery, request: Request) -> tuple[Sent, dict[str, Any]]:
    require_own_origin(request, "may put files here")
    uploads, body = require(gallery.uploads), await json_object(request)
    texts, tool, name = body.get("parts"), body.get("tool"), body.get("file")
    if not isinstance(texts, dict) or not texts.keys() & {"jsx", "template", "file"}:
        raise RefusedError(400, _UNKNOWN)
    if any(part not in PARTS or not isinstance(text, str) for part, text in texts.items()):
        raise RefusedError(400, _UNKNOWN)
    if tool is None:
        if not isinstance(name, str) or not is_widget_name(name) or not name.endswith(JSX_SUFFIX):
            raise RefusedError(400, _UNKNOWN)
        return Sent(path=name, content="", parts=texts), body
    widgets = caller_of(request).snapshot.widgets
    if not isinstance(tool, str):
        raise RefusedError(400, _UNKNOWN)
    if tool not in widgets:
        raise RefusedError(404, {"error": "there is no such widget"})
    path = widgets[tool].definition.path
    content = widgets[tool].definition.content
    if caller_of(request).principal.audience.sees_everything:
        source, _ = await SYSTEM.threads.run_blocking(uploads.read_files, path)
        # A broken file has no parts of its own to change.
        if source is not None and texts.keys() >= split(path, _text(source.content)).keys():
            content = source.content
    return Sent(path=path, content=_text(content), parts=texts), body
