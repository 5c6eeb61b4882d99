"""What one `.widget` file says: bytes in, its parts out, their shapes checked.

Neither schema nor template is looked into here; that they are an object and a
text is all that is known. What the file says beyond the known keys is kept.

Source: what ChatKit Studio exports, version "1.0".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import orjson

from widgetd.errors import Finding, WidgetError, nearest
from widgetd.limits import Limits
from widgetd.schema.json_text import decode, parse
from widgetd.schema.json_values import kind
from widgetd.widget.hidden_characters import visible_within
from widgetd.widget.studio import Studio, decode_studio

VERSION = "1.0"

REQUIRED = ("version", "name", "template")
OPTIONAL = ("jsonSchema", "outputJsonPreview", "encodedWidget")
KNOWN = REQUIRED + OPTIONAL

READ_BY_MODELS = frozenset({"title", "description"})
"""Keys of a schema whose texts reach a model, and are served without what nobody sees."""

MOST_OPEN = 16
"""So many files stay parsed: one is looked into several times in a row, and then for long not."""

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


@dataclass(frozen=True, kw_only=True)
class Export:
    """The parts of one file.

    Attributes:
        said: All that the file says.
    """

    said: Mapping[str, Any]

    @property
    def name(self) -> str:
        """What it is called, to the letter."""
        name: str = self.said["name"]
        return name

    @property
    def template(self) -> str:
        """The Jinja text."""
        template: str = self.said["template"]
        return template

    @property
    def preview(self) -> Mapping[str, Any] | None:
        """The tree that Studio made of its own sample."""
        return self.said.get("outputJsonPreview")

    @property
    def encoded(self) -> str | None:
        """Studio's package, as it stands."""
        return self.said.get("encodedWidget")

    @property
    def extra(self) -> Mapping[str, Any]:
        """The keys of the file that nothing here knows."""
        return {key: value for key, value in self.said.items() if key not in KNOWN}

    @cached_property
    def schema(self) -> Mapping[str, Any] | None:
        """The argument schema, verbatim but for characters that nobody sees; None without one."""
        schema = self.said.get("jsonSchema")
        if schema is None or not _DOUBTFUL.search(orjson.dumps(schema)):
            return schema
        legible: dict[str, Any] = visible_within(schema, READ_BY_MODELS)
        return legible

    @cached_property
    def studio(self) -> Studio | None:
        """Studio's package, decoded; None where it is missing or not Studio's."""
        return None if self.encoded is None else decode_studio(self.encoded)


_DOUBTFUL = re.compile(rb"[^ -~]|\\\\[bfu]")
"""What JSON without whitespace has in it wherever some character may be one that nobody sees."""


def read_export(content: bytes, limits: Limits) -> Export:
    """The parts of a file, their shapes checked.

    Raises:
        WidgetError: It cannot be used as it stands; the finding says where.
    """
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
    return Export(said=file)


@lru_cache(maxsize=MOST_OPEN)
def opened(content: bytes) -> Export:
    """The parts of a file whose shapes were checked before."""
    return Export(said=orjson.loads(decode(content)))


def _missing(key: str, file: Mapping[str, Any]) -> WidgetError:
    near = nearest(key, tuple(other for other in file if other not in KNOWN))
    advice = f"rename '{near}' to it" if near else f"add it: {_ADDED[key]}"
    return _fault("W1105", "", f"the key '{key}' is missing", advice)


def _fault(code: str, at: str, problem: str, advice: str) -> WidgetError:
    return WidgetError(Finding(code=code, at=at, problem=problem, advice=advice))
