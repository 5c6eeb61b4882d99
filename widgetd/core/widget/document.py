"""Parse a `.widget` file into its parts and check their shapes.

Schema and template are checked only for being an object and a text. Unknown keys are kept.

Source: what ChatKit Studio exports, version "1.0".
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any

import orjson

from widgetd.base.limits import AT_WORK, Limits
from widgetd.base.text_search import compile_pattern, nearest
from widgetd.core.schema.json_text import decode, parse_file
from widgetd.core.schema.json_values import error_at, kind
from widgetd.core.widget.hidden_characters import strip_hidden_within

VERSION = "1.0"

ENCODED = "/encodedWidget"
VIEW = f"{ENCODED}/view"
"""The JSON pointer of Studio's JSX in the file's encoded package."""

READ_BY_MODELS = frozenset({"title", "description"})
"""Keys of a schema whose texts reach a model, and are served without hidden characters."""

SHAPES: Mapping[str, tuple[type, str, str]] = {
    "version": (str, "a string", f'"{VERSION}"'),
    "name": (str, "a string", "what people call the widget"),
    "template": (str, "a string", "the Jinja text that Studio exports"),
    "jsonSchema": (dict, "an object", ""),
    "outputJsonPreview": (dict, "an object", ""),
    "encodedWidget": (str, "a string", ""),
}
"""The type of each key, its name, and for a required key the advice what to add."""

KNOWN = tuple(SHAPES)
REQUIRED = tuple(key for key, (_, _, added) in SHAPES.items() if added)
OPTIONAL = tuple(key for key in KNOWN if key not in REQUIRED)

_NO_VIEW = ", and no JSX is there in its place"

_DOUBTFUL = compile_pattern(rb"[^ -~]|\\\\[bfu]")
"""Matches any JSON without whitespace that may contain a hidden character."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Studio:
    """ChatKit Studio's own source of the widget, packed into a file beside the template.

    Only used to explain and to give examples. A widget is served without it. The JSON Schema beside
    the zod schema in newer exports is often stale, so it is not read.

    Attributes:
        id: Studio's own, as `wig_1a2b3c4d`.
        name: Often differs from the file's.
        view: The JSX, source of the template.
        default_state: A sample of arguments, not always valid.
        states: Further samples, as Studio keeps them.
    """

    id: str = ""
    name: str
    view: str
    default_state: Mapping[str, Any]
    states: tuple[Mapping[str, Any], ...] = ()

    @property
    def samples(self) -> tuple[Mapping[str, Any], ...]:
        """The samples with arguments, the preview's first."""
        return tuple(state for state in (self.default_state, *self.states) if state)


def decode_package(encoded: str) -> dict[str, Any] | None:
    """Decode Studio's package with all of its keys, or return None if `encoded` holds none.

    Args:
        encoded: Base64, URL-safe or standard, with or without padding, of JSON.
    """
    compact = "".join(encoded.split()).translate(str.maketrans("-_", "+/")).rstrip("=")
    try:
        packed = base64.b64decode(compact + "=" * (-len(compact) % 4), validate=True)
        package = orjson.loads(packed)
    except (binascii.Error, ValueError):
        return None
    return package if isinstance(package, dict) else None


@lru_cache(maxsize=AT_WORK)
def decode_studio(encoded: str) -> Studio | None:
    """Decode the used parts of Studio's package, or return None if `encoded` holds none."""
    package = decode_package(encoded)
    if package is None:
        return None
    texts = {key: value for key, value in package.items() if isinstance(value, str)}
    state, states = package.get("defaultState"), package.get("states")
    listed = states if isinstance(states, list) else []
    return Studio(
        id=texts.get("id", ""),
        name=texts.get("name", ""),
        view=texts.get("view", ""),
        default_state=MappingProxyType(state if isinstance(state, dict) else {}),
        states=tuple(MappingProxyType(entry) for entry in listed if isinstance(entry, dict)),
    )


@dataclass(frozen=True, kw_only=True)
class WidgetDocument:
    """The parts of a file.

    Attributes:
        content: The whole object in the file.
        written: The file's own text if an author wrote it as JSX.
    """

    content: Mapping[str, Any]
    written: str | None = None

    @property
    def name(self) -> str:
        """The name exactly as written."""
        return str(self.content["name"])

    @property
    def template(self) -> str:
        return str(self.content.get("template") or "")

    @property
    def view(self) -> str:
        return "" if self.studio is None else self.studio.view

    @property
    def preview(self) -> Mapping[str, Any] | None:
        """Studio's tree of its own sample."""
        return self.content.get("outputJsonPreview")

    @property
    def encoded_studio(self) -> str | None:
        return self.content.get("encodedWidget")

    @cached_property
    def schema(self) -> Mapping[str, Any] | None:
        """The argument schema, verbatim except for hidden characters, or None."""
        schema = self.content.get("jsonSchema")
        if schema is None or not _DOUBTFUL.search(orjson.dumps(schema)):
            return schema
        legible: dict[str, Any] = strip_hidden_within(schema, READ_BY_MODELS)
        return legible

    @cached_property
    def studio(self) -> Studio | None:
        """Studio's package, decoded, None if it is missing or not Studio's."""
        if self.written is not None:
            state = MappingProxyType(dict(self.content["sample"]))
            return Studio(name=self.name, view=self.written, default_state=state)
        return decode_studio(self.encoded_studio) if isinstance(self.encoded_studio, str) else None


def read_document(content: bytes, limits: Limits) -> WidgetDocument:
    """Parse a file and check the shapes of its parts.

    Raises:
        WidgetError: It cannot be used. The finding says where.
    """
    document = WidgetDocument(content=_pack(parse_file(content, limits)))
    file, has_view = document.content, bool(document.view.strip())
    for key in REQUIRED:
        if key not in file and not (key == "template" and has_view):
            near = nearest(key, tuple(other for other in file if other not in KNOWN))
            advice = f"rename '{near}' to it" if near else f"add it: {SHAPES[key][2]}"
            also = _NO_VIEW if key == "template" and not near else ""
            raise error_at("W1105", "", f"the key '{key}' is missing{also}", advice)
    for key, (expected, name, _) in SHAPES.items():
        value = file.get(key)
        may_be_null = key in OPTIONAL or (key == "template" and has_view)
        if not isinstance(value, expected) and not (value is None and may_be_null):
            raise error_at("W1106", f"/{key}", f"this is {kind(value)}", f"write {name}")
    if file["version"] != VERSION:
        problem = f"the version is '{file['version'][:20]}'"
        raise error_at("W1107", "/version", problem, f"export the widget as version {VERSION}")
    if not document.template.strip() and not has_view:
        advice = "export the widget from ChatKit Studio again"
        raise error_at("W1106", "/template", f"the template is empty{_NO_VIEW}", advice)
    return document


def _pack(file: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a file whose package stands at the top, not encoded, as Studio exports it."""
    if not isinstance(file.get("view"), str) or file.keys() & {"template", "encodedWidget"}:
        return file
    encoded = base64.b64encode(orjson.dumps(file)).decode()
    return {"version": VERSION, **file, "encodedWidget": encoded}


@lru_cache(maxsize=AT_WORK)
def reparse_document(content: bytes) -> WidgetDocument:
    return WidgetDocument(content=_pack(orjson.loads(decode(content))))


def read_jsx(content: bytes, name: str, limits: Limits) -> WidgetDocument:
    """Parse a file written by its author as JSX.

    Args:
        content: An element, and beside it `const schema = {…}` and `const sample = {…}`.
        name: The widget's name.
        limits: The file's maximum size.

    Raises:
        WidgetError: It cannot be used. The finding says where (W1327).
    """
    from widgetd.core.template.jsx import constants  # noqa: PLC0415 - few files need it

    text = decode(content)
    declared = constants(text, limits=limits)
    for key, value in declared.items():
        if not isinstance(value, dict):
            raise error_at("W1327", "", f"'{key}' is {kind(value)}", "write an object")
    schema = {"jsonSchema": declared["schema"]} if "schema" in declared else {}
    file = {"version": VERSION, "name": name, "sample": declared.get("sample", {}), **schema}
    return WidgetDocument(content=file, written=text)


@lru_cache(maxsize=AT_WORK)
def reparse_jsx(content: bytes, name: str) -> WidgetDocument:
    return read_jsx(content, name, Limits())
