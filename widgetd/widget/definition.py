"""A source whose shape was checked: what a `.widget` file says, and its sidecar.

Neither schema nor template is looked into here; that they are an object and a
text is all that is known. What the file says beyond the known keys is kept.

Source: what ChatKit Studio exports, version "1.0".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import orjson

from widgetd.errors import Finding, WidgetError, nearest
from widgetd.files.source import Source
from widgetd.widget.jsontext import parse
from widgetd.widget.jsonvalues import kind
from widgetd.widget.limits import Limits
from widgetd.widget.naming import (
    RESERVED,
    camel_case,
    folders,
    kebab_case,
    title,
    tool_name,
)
from widgetd.widget.sidecar import Sidecar, read_sidecar
from widgetd.widget.studio import Studio, decode_studio
from widgetd.widget.visible import visible, visible_within

VERSION = "1.0"

REQUIRED = ("version", "name", "template")
OPTIONAL = ("jsonSchema", "outputJsonPreview", "encodedWidget")
KNOWN = REQUIRED + OPTIONAL

READ_BY_MODELS = frozenset({"title", "description"})
"""Keys of a schema whose texts reach a model, and are served without what nobody sees."""

_TYPES: Mapping[str, tuple[type, str]] = {
    "version": (str, "a string"),
    "name": (str, "a string"),
    "template": (str, "a string"),
    "jsonSchema": (dict, "an object"),
    "outputJsonPreview": (dict, "an object"),
    "encodedWidget": (str, "a string"),
}

_ADDED: Mapping[str, str] = {
    "version": f'"{VERSION}"',
    "name": "what people call the widget",
    "template": "the Jinja text that Studio exports",
}

DEFAULTS = Limits()


@dataclass(frozen=True, kw_only=True)
class Definition:
    """What one file and its sidecar say.

    Attributes:
        path: The file, relative to the widgets folder.
        digest: Identifies the content of both.
        name: As the file says it, without the characters that nobody sees.
        tool: The name of the MCP tool.
        title: What people call the widget.
        description: The sidecar's, else the file's, else the schema's; empty where none has one.
        schema: The argument schema, verbatim but for characters that nobody sees; None where there
            is none.
        template: The Jinja text.
        preview: The tree that Studio made of its own sample.
        encoded: Studio's package, as it stands.
        studio: The same, decoded; None where it is missing or not Studio's.
        sidecar: What the sidecar says.
        extra: The keys of the file that nothing here knows.
        content: The file's own text, for findings that point into it.
    """

    path: str
    digest: str
    name: str
    tool: str
    title: str
    description: str
    schema: Mapping[str, Any] | None
    template: str
    preview: Mapping[str, Any] | None
    encoded: str | None
    sidecar: Sidecar
    extra: Mapping[str, Any]
    content: bytes

    @cached_property
    def studio(self) -> Studio | None:
        """Studio's package, decoded on first use; None where it is missing or not Studio's."""
        return None if self.encoded is None else decode_studio(self.encoded)

    @property
    def ui_type(self) -> str:
        """The type of response, in kebab-case."""
        return self.sidecar.ui_type or kebab_case(self.tool)

    @property
    def component(self) -> str:
        """The name of the widget as a class: `FlightTracker`."""
        return camel_case(self.tool)

    @property
    def tags(self) -> tuple[str, ...]:
        """The sidecar's tags, and the subfolders that the file lies in."""
        return tuple(dict.fromkeys(self.sidecar.tags + folders(self.path)))


def define(
    source: Source, sidecar: Source | None = None, *, limits: Limits = DEFAULTS
) -> Definition:
    """Check the shape of a file and its sidecar.

    Raises:
        WidgetError: One of the two cannot be used as it stands; the finding says which, and where.
    """
    try:
        file = _parse(source.content, limits)
        tool = _tool(file["name"], source.path)
    except WidgetError as error:
        raise error.of(source.path) from None
    said = read_sidecar(sidecar)
    name = visible(file["name"])
    return Definition(
        path=source.path,
        digest=_digest(source, sidecar),
        name=name,
        tool=tool,
        title=visible(said.title or title(name, source.path)),
        description=_description(said, file),
        schema=_legible(file.get("jsonSchema")),
        template=file["template"],
        preview=file.get("outputJsonPreview"),
        encoded=file.get("encodedWidget"),
        sidecar=said,
        extra={key: value for key, value in file.items() if key not in KNOWN},
        content=source.content,
    )


def _parse(content: bytes, limits: Limits) -> dict[str, Any]:
    file = parse(content, limits)
    for key in REQUIRED:
        if key not in file:
            raise _missing(key, file)
    for key, (expected, name) in _TYPES.items():
        value = file.get(key)
        if not isinstance(value, expected) and not (value is None and key in OPTIONAL):
            raise _fault("W1106", f"/{key}", f"this is {kind(value)}", f"write {name}")
    if file["version"] != VERSION:
        problem = f"the version is '{file['version'][:20]}'"
        raise _fault("W1107", "/version", problem, f"export the widget as version {VERSION}")
    if not file["template"].strip():
        advice = "export the widget from ChatKit Studio again"
        raise _fault("W1106", "/template", "the template is empty", advice)
    return file


def _missing(key: str, file: Mapping[str, Any]) -> WidgetError:
    near = nearest(key, tuple(other for other in file if other not in KNOWN))
    advice = f"rename '{near}' to it" if near else f"add it: {_ADDED[key]}"
    return _fault("W1105", "", f"the key '{key}' is missing", advice)


def _tool(name: str, path: str) -> str:
    tool = tool_name(name, path)
    if tool in RESERVED:
        problem = f"the tool name '{tool}' is one of widgetd's own"
        raise _fault("W1109", "/name", problem, "give the widget another name")
    return tool


def _description(said: Sidecar, file: Mapping[str, Any]) -> str:
    schema = file.get("jsonSchema") or {}
    for told in (said.description, file.get("description"), schema.get("description")):
        if isinstance(told, str) and told.strip():
            return visible(told).strip()
    return ""


def _legible(schema: dict[str, Any] | None) -> dict[str, Any] | None:
    if schema is None or not _DOUBTFUL.search(orjson.dumps(schema)):
        return schema
    legible: dict[str, Any] = visible_within(schema, READ_BY_MODELS)
    return legible


_DOUBTFUL = re.compile(rb"[^ -~]|\\\\[bfu]")
"""What JSON without whitespace has in it wherever some character may be one that nobody sees."""


def _digest(source: Source, sidecar: Source | None) -> str:
    if sidecar is None:
        return source.digest
    return blake2b(f"{source.digest}+{sidecar.digest}".encode(), digest_size=16).hexdigest()


def _fault(code: str, at: str, problem: str, advice: str) -> WidgetError:
    return WidgetError(Finding(code=code, at=at, problem=problem, advice=advice))
