"""The program of a widget's page: all it needs to draw the widget from raw arguments.

    {"n": 9, "a": {"rows": 1}, "b": [...],           the template, or "e", one expression
     "commas": true,                                 its commas may have to be set right
     "defaults": {"p": {"title": {"d": "Orders"}}},  what the schema fills in
     "kinds": {"k": "o", "p": {"count": "n"}},       how slips of models are read
     "derived": {"total": {"n": 2, "a": ..., "e": ...}}, "ids": ["id"],
     "state": {"all": false},                        names beside the arguments
     "local": {"toggle": {"all": {"n": 2, ...}}},    what local actions assign
     "icons": {"lucide:car": [["path", {...}]]}}

A program discloses the template to every client that may read the page. What the page could
not draw as the server does has no program, and is drawn from results, as ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, Protocol

import orjson

from widgetd.schema.keywords import Subschema
from widgetd.widget.components.lucide import find_icons

if TYPE_CHECKING:
    from widgetd.schema.validator import Schema
    from widgetd.template.ir import Program
    from widgetd.widget.definition import Definition
    from widgetd.widget.filling import Filler
    from widgetd.widget.local_state import LocalState
    from widgetd.widget.sources import Drawing


class WidgetParts(Protocol):
    """The parts of a widget that its page is made of; each is compiled on first use."""

    @property
    def definition(self) -> Definition: ...  # noqa: D102
    @property
    def drawing(self) -> Drawing: ...  # noqa: D102
    @property
    def filler(self) -> Filler: ...  # noqa: D102
    @property
    def local(self) -> LocalState: ...  # noqa: D102
    @property
    def schema(self) -> Schema: ...  # noqa: D102


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramLimits:
    """The limits of one program.

    Attributes:
        bytes: Its JSON.
        nesting: How deep schemas are followed.
        parts: How many parts of schemas are visited.
    """

    bytes: int = 16 * 1024
    nesting: int = 16
    parts: int = 2_000


LIMITS: Final = ProgramLimits()


class NoProgramError(Exception):
    """A widget cannot be drawn by its page alone; the message says why, as a clause."""


def page_program(widget: WidgetParts) -> bytes:
    """Return the program of a widget's page as JSON.

    Raises:
        NoProgramError: Only the server can draw this widget, or its author wants it so.
    """
    sidecar = widget.definition.sidecar
    if not sidecar.program:
        raise NoProgramError("the sidecar says so")
    if sidecar.permission == "elevated":
        raise NoProgramError("its permission is elevated, and a program discloses the template")
    if sidecar.feeds:
        raise NoProgramError("a feed fills it")
    program = widget.drawing.program()
    if program is None:
        raise NoProgramError("its template and its JSX are merged")
    made = _of(program)
    derived = {path: _of(each.program) for path, each in widget.filler.derived.items()}
    document = widget.schema.document
    parts: dict[str, Any] = {
        "defaults": _defaults(widget.schema),
        "kinds": _Walk().kinds(document.root, widget.schema),
        "derived": derived,
        "ids": list(sidecar.ids),
        "icons": find_icons(_json_inside(made)),
        "state": dict(sidecar.state),
        "local": {
            action: {name: _of(each.program) for name, each in assigned.items()}
            for action, assigned in widget.local.actions.items()
        },
    }
    made |= {name: part for name, part in parts.items() if part}
    try:
        json = orjson.dumps(made)
    except orjson.JSONEncodeError:
        raise NoProgramError("a number has more than 64 bits") from None
    if len(json) > LIMITS.bytes:
        raise NoProgramError(f"its program has {len(json):,} bytes, more than {LIMITS.bytes:,}")
    return json


def program_or_empty(widget: WidgetParts) -> bytes:
    """Return the program of a widget's page as JSON, empty if it has none."""
    try:
        return page_program(widget)
    except NoProgramError:
        return b""


def program_digest(program: bytes) -> str:
    """Return the digest by which a page knows results of its own program; empty without one."""
    return blake2b(program, digest_size=6).hexdigest() if program else ""


def page_digest(widget: WidgetParts) -> str:
    """Return the digest of a widget's page: the view, its program, and the origins of images.

    Hosts cache a page and its policy by URI (openai/openai-apps-sdk-examples#206).
    """
    origins = " ".join(sorted(widget.definition.image_origins))
    parts = (_view_digest().encode(), origins.encode(), program_or_empty(widget))
    return blake2b(b"\0".join(parts), digest_size=6).hexdigest()


@cache
def _view_digest() -> str:
    view: dict[str, Any] = orjson.loads((files("widgetd.view") / "view.json").read_bytes())
    return str(view["sha256"])


def _json_inside(program: dict[str, Any]) -> bytes:
    """Return the JSON of a program with the JSON in its texts as it will be written."""
    return orjson.dumps(program).replace(b'\\"', b'"')


def _of(program: Program) -> dict[str, Any]:
    # A start whose widgets are proven makes no program.
    from widgetd.template.ir import to_json  # noqa: PLC0415
    from widgetd.template.vocabulary import missing_in_page  # noqa: PLC0415

    if word := missing_in_page(program):
        raise NoProgramError(f"the page does not have '{word}'")
    is_body = type(program.root) is tuple  # an operation is a named one
    made: dict[str, Any] = {"n": program.size, "a": dict(program.arguments)}
    if program.may_need_commas:
        made["commas"] = True
    made["b" if is_body else "e"] = to_json(program.root)
    return made


def _defaults(schema: Schema) -> dict[str, Any]:
    """Return the defaults below `properties`, `items` and references, as a tree.

    Raises:
        NoProgramError: A default stands elsewhere, so that it depends on a condition.
    """
    document, walk = schema.document, _Walk()
    with_default = {id(part) for part in document.subschemas() if "default" in part}
    if not with_default:
        return {}
    made = walk.defaults(document.root, schema)
    if not with_default <= walk.reached:
        raise NoProgramError("a default depends on a condition")
    return made


_KINDS: Final = {
    "integer": "n",
    "number": "n",
    "boolean": "b",
    "object": "o",
    "array": "a",
    "string": "s",
}


class _Walk:
    """A walk through a schema, bounded; a recursive schema is followed to some depth.

    Attributes:
        reached: The identities of the parts with a default that were visited.
    """

    def __init__(self) -> None:
        self.reached: set[int] = set()
        self._left = LIMITS.parts

    def _parts(self, part: Subschema, schema: Schema) -> Iterator[Mapping[str, Any]]:
        for each in (part, *schema.document.targets(part)):
            self._left -= 1
            if self._left < 0:
                raise NoProgramError("its schema has too many parts")
            if isinstance(each, Mapping):
                yield each

    def defaults(
        self, part: Subschema, schema: Schema, nesting: int = LIMITS.nesting
    ) -> dict[str, Any]:
        """Return `{"d": default, "p": {name: ...}, "i": ...}` of a part, without what is empty."""
        made: dict[str, Any] = {}
        properties: dict[str, Any] = {}
        for each in self._parts(part, schema) if nesting else ():
            if "default" in each and "d" not in made:
                self.reached.add(id(each))
                if schema.explainer().fits(part, each["default"]):
                    made["d"] = each["default"]
            for name, inner in each.get("properties", {}).items():
                if found := self.defaults(inner, schema, nesting - 1):
                    properties[name] = found
            if found := self.defaults(each.get("items", True), schema, nesting - 1):
                made["i"] = found
        return {**made, "p": properties} if properties else made

    def kinds(self, part: Subschema, schema: Schema, nesting: int = LIMITS.nesting) -> Any:
        """Return `{"k": kind, "e": choices, "p": {name: ...}, "i": ...}`, or the kind alone."""
        made: dict[str, Any] = {}
        properties: dict[str, Any] = {}
        for each in self._parts(part, schema) if nesting else ():
            if isinstance(each.get("type"), str) and each["type"] in _KINDS:
                made["k"] = _KINDS[each["type"]]
            choices = [one for one in each.get("enum", ()) if isinstance(one, str)]
            if choices:
                made["e"] = choices
            for name, inner in each.get("properties", {}).items():
                if found := self.kinds(inner, schema, nesting - 1):
                    properties[name] = found
            if found := self.kinds(each.get("items", True), schema, nesting - 1):
                made["i"] = found
        if properties:
            made["p"] = properties
        return made["k"] if made.keys() == {"k"} else made
