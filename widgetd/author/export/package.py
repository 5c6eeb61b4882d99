"""A widget as a complete file of ChatKit Studio's: template, schema, preview, and its own source.

Studio edits the JSX in `encodedWidget`, others draw the template. Of 64 exports with a view, all
have the keys below; 47 have `jsonSchema` and `schemaMode` as well, and in none is there an element
of `states`, so no new one is made up here.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson

from widgetd.author.export.transcribe import transcribe
from widgetd.base.errors import CallError, WidgetError
from widgetd.base.text_search import compile_pattern
from widgetd.core.studio.compare import differ
from widgetd.core.template import compile_template
from widgetd.core.widget.components import tree
from widgetd.core.widget.document import VERSION, decode_package
from widgetd.core.widget.naming import WIDGET_SUFFIX, stem
from widgetd.core.widget.states import SAMPLE, list_states, show_state

if TYPE_CHECKING:
    from widgetd.core.template import Template
    from widgetd.core.template.jsx import View
    from widgetd.core.widget.widget import Widget

_ZOD: Final = """\
import { z } from "zod"

const WidgetState = z.strictObject({})

export default WidgetState"""
"""The schema in Studio's other notation, which it does not read in the mode `jsonSchema`."""

_PLAIN: Final = compile_pattern(r"[^\"{}<>&\\\x00-\x1f]*")
"""A text that an attribute may hold as it is."""

_NAME: Final = compile_pattern(r"[A-Za-z_]\w*")
"""A name that a tag or an attribute may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A file for Studio.

    Attributes:
        content: The bytes of the `.widget` file.
        unknown: Sentences on what Studio will not know of the widget.
    """

    content: bytes
    unknown: tuple[str, ...]


def pack(widget: Widget) -> Package:
    """Write `widget` as Studio would export it.

    The JSX is the file's own, or that of the sample's tree. The template is the file's own if it
    is what is drawn; else one is made of the JSX, and left out if it draws any state differently.

    Raises:
        CallError: The widget cannot be drawn with its sample.
    """
    definition, shown = widget.definition, show_state(widget, SAMPLE)
    studio, preview = definition.studio, shown.tree(widget)
    unknown = [NOT_IN_STUDIO]
    view = definition.view or format_tree(preview)
    if not definition.view:
        unknown.append("The JSX is that of the sample alone, because the file holds no other.")
    elif widget.choice.reason == "edited":
        unknown.append("The template was edited after the export, and the JSX lacks that edit.")
    schema = widget.schema.advertised
    template = definition.template if widget.source != "view" else _transcribe(widget)
    if not template:
        unknown.append("There is no template, because Jinja cannot say all of the JSX.")
    encoded = definition.document.encoded_studio
    package = {
        **((decode_package(encoded) if isinstance(encoded, str) else None) or {}),
        "id": studio.id if studio and studio.id else f"wig_{widget.key[:8]}",
        "name": definition.name,
        "view": view,
        "defaultState": shown.arguments,
        "states": list(studio.states) if studio else [],
        "schemaValidity": "valid",
        "viewValidity": "valid",
        "defaultStateValidity": "valid",
    }
    if not package.get("schema"):
        package |= {"schema": _ZOD, "schemaMode": "jsonSchema"}
    package.setdefault("schemaMode", "zod")
    file = {
        **({} if definition.is_jsx else definition.document.content),
        "version": VERSION,
        "name": definition.name,
        "template": template,
        "jsonSchema": schema,
        "outputJsonPreview": preview,
        "encodedWidget": base64.b64encode(
            orjson.dumps({**package, "jsonSchema": schema}, default=dict)
        ).decode(),
    }
    content = orjson.dumps(file, option=orjson.OPT_INDENT_2, default=dict) + b"\n"
    return Package(content=content, unknown=tuple(unknown))


def file_name(widget: Widget) -> str:
    """Return the name of the file that `pack` writes, as `Flight Tracker.widget`."""
    return f"{stem(widget.definition.path)}{WIDGET_SUFFIX}"


NOT_IN_STUDIO: Final = (
    "Studio knows neither the sidecar (description, summary, examples, feed, local state) nor "
    "what widgetd fills in; keep it beside the file."
)


def _transcribe(widget: Widget) -> str:
    """Return a template that draws each state as the JSX does; empty if there is none."""
    definition, limits = widget.definition, widget.limits
    transcript = transcribe(definition.view, widget.schema.advertised, limits=limits)
    if transcript.lost:
        return ""
    try:
        template = compile_template(transcript.template, limits=limits)
    except WidgetError:
        return ""
    for state in list_states(widget):
        arguments = widget.fill(show_state(widget, state.key).arguments)
        if differ(_draw(template, arguments), _draw(widget.view, arguments)):
            return ""
    return transcript.template


def _draw(source: Template | View, arguments: Mapping[str, Any]) -> Any:
    try:
        return tree(source.render(arguments))
    except (CallError, WidgetError) as error:
        return type(error).__name__


def format_tree(node: Any, indent: str = "") -> str:
    """Format a tree of components as JSX; what is no component is written as a value."""
    if not isinstance(node, dict) or not _NAME.fullmatch(str(node.get("type", ""))):
        return f"{indent}{{{_to_json(node)}}}"
    children = node.get("children") or []
    children = children if isinstance(children, list) else [children]
    attributes = "".join(
        _format_attribute(name, value)
        for name, value in node.items()
        if name not in {"type", "children"} and value is not None
    )
    head = f"{indent}<{node['type']}{attributes}"
    if not children:
        return f"{head} />"
    inner = "\n".join(format_tree(child, indent + "  ") for child in children)
    return f"{head}>\n{inner}\n{indent}</{node['type']}>"


def _format_attribute(name: str, value: Any) -> str:
    if not _NAME.fullmatch(name):
        return f" {{...{_to_json({name: value})}}}"
    if value is True:
        return f" {name}"
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return f' {name}="{value}"'
    return f" {name}={{{_to_json(value)}}}"


def _to_json(value: Any) -> str:
    return orjson.dumps(value, default=dict).decode()
