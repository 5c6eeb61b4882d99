"""The program of a widget's page: all it needs to draw the widget from raw arguments.

    {"n": 9, "a": {"rows": 1}, "b": [...],           the template, or "e", an expression
     "commas": true,                                 its commas may have to be set right
     "defaults": {"p": {"title": {"d": "Orders"}}},  what the schema fills in
     "kinds": {"k": "o", "p": {"count": "n"}},       how slips of models are read
     "derived": {"total": {"n": 2, "a": ..., "e": ...}}, "ids": ["id"],
     "state": {"all": false},                        names beside the arguments
     "local": {"toggle": {"all": {"n": 2, ...}}},    what local actions assign
     "icons": {"lucide:car": [["path", {...}]]}}

A program discloses the template to every client of the page. A widget that the page could not
draw exactly as the server has no program, and is drawn from results, as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, Protocol

import orjson

from widgetd.core.schema.keywords import Subschema
from widgetd.core.widget.components.lucide import find_icons
from widgetd.core.widget.limits import LIMITS

if TYPE_CHECKING:
    from widgetd.core.schema.validator import Schema
    from widgetd.core.template.ir import Program
    from widgetd.core.widget.definition import Definition
    from widgetd.core.widget.filling import Filler
    from widgetd.core.widget.local_state import LocalState
    from widgetd.core.widget.sources import Drawing


class WidgetParts(Protocol):
    """The parts of a widget in its page, each compiled on first use."""

    definition: Definition

    @property
    def drawing(self) -> Drawing: ...
    @property
    def filler(self) -> Filler: ...
    @property
    def local(self) -> LocalState: ...
    @property
    def schema(self) -> Schema: ...


class NoProgramError(Exception):
    """A widget cannot be drawn by its page alone. The message says why, as a clause."""


class MissingOperationError(NoProgramError):
    """The page lacks an operation of the program.

    Attributes:
        source: The program.
        place: Where its source has the operation, as `Op.place`.
    """

    def __init__(self, message: str, *, source: Program, place: int) -> None:
        super().__init__(message)
        self.source, self.place = source, place


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
    program = _encode(widget.drawing.program())
    derived = {path: _encode(value.program) for path, value in widget.filler.derived.items()}
    parts: dict[str, Any] = {
        "defaults": _collect_defaults(widget.schema),
        "kinds": _walk(widget.schema, _describe_kind),
        "derived": derived,
        "ids": list(sidecar.ids),
        # The texts of a program hold JSON.
        "icons": find_icons(orjson.dumps(program).replace(b'\\"', b'"')),
        "state": dict(sidecar.state),
        "local": {
            action: {name: _encode(expression.program) for name, expression in assigned.items()}
            for action, assigned in widget.local.actions.items()
        },
    }
    program |= {name: part for name, part in parts.items() if part}
    try:
        json = orjson.dumps(program)
    except orjson.JSONEncodeError:
        raise NoProgramError("a number has more than 64 bits") from None
    if len(json) > LIMITS.program_bytes:
        most = f"{LIMITS.program_bytes:,}"
        raise NoProgramError(f"its program has {len(json):,} bytes, more than {most}")
    return json


def program_or_empty(widget: WidgetParts) -> bytes:
    """Return the program of a widget's page as JSON, empty if it has none."""
    try:
        return page_program(widget)
    except NoProgramError:
        return b""


def program_digest(program: bytes) -> str:
    """Return the digest by which a page knows results of its own program, or an empty text."""
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


def _encode(program: Program) -> dict[str, Any]:
    # A start with proven widgets makes no program.
    from widgetd.core.template.ir import to_json  # noqa: PLC0415
    from widgetd.core.template.vocabulary import (  # noqa: PLC0415
        describe_operation,
        missing_in_page,
    )

    if missing := missing_in_page(program):
        raise MissingOperationError(
            f"the page does not have '{describe_operation(missing)}'",
            source=program,
            place=missing.place,
        )
    is_body = type(program.root) is tuple  # an operation is a named tuple
    encoded: dict[str, Any] = {"n": program.size, "a": dict(program.arguments)}
    if program.may_need_commas:
        encoded["commas"] = True
    encoded["b" if is_body else "e"] = to_json(program.root)
    return encoded


_Describe = Callable[[Subschema, Mapping[str, Any], dict[str, Any]], None]
"""Adds to the last what the second says of a part of a schema, itself or a target of the part."""


def _collect_defaults(schema: Schema) -> Any:
    """Return `{"d": default, "p": {name: ...}, "i": ...}` of a schema.

    Raises:
        NoProgramError: A default depends on a condition.
    """
    with_default = {id(part) for part in schema.document.subschemas() if "default" in part}
    reached: set[int] = set()

    def describe(part: Subschema, target: Mapping[str, Any], description: dict[str, Any]) -> None:
        if "default" in target and "d" not in description:
            reached.add(id(target))
            if schema.explainer().fits(part, target["default"]):
                description["d"] = target["default"]

    defaults = _walk(schema, describe) if with_default else {}
    if not with_default <= reached:
        raise NoProgramError("a default depends on a condition")
    return defaults


_KINDS: Final = {
    "integer": "n",
    "number": "n",
    "boolean": "b",
    "object": "o",
    "array": "a",
    "string": "s",
}


def _describe_kind(_: Subschema, target: Mapping[str, Any], description: dict[str, Any]) -> None:
    if isinstance(target.get("type"), str) and target["type"] in _KINDS:
        description["k"] = _KINDS[target["type"]]
    if choices := [choice for choice in target.get("enum", ()) if isinstance(choice, str)]:
        description["e"] = choices


def _walk(schema: Schema, describe: _Describe) -> Any:
    """Describe a schema, its properties as `p` and items as `i`. A kind alone is returned itself.

    A recursive schema is followed to some depth.

    Raises:
        NoProgramError: It has too many parts.
    """
    left = LIMITS.program_schemas

    def follow(part: Subschema, nesting: int) -> Any:
        nonlocal left
        description: dict[str, Any] = {}
        properties: dict[str, Any] = {}
        for target in (part, *schema.document.targets(part)) if nesting else ():
            left -= 1
            if left < 0:
                raise NoProgramError("its schema has too many parts")
            if isinstance(target, Mapping):
                describe(part, target, description)
                for name, inner in target.get("properties", {}).items():
                    if inside := follow(inner, nesting - 1):
                        properties[name] = inside
                if inside := follow(target.get("items", True), nesting - 1):
                    description["i"] = inside
        if properties:
            description["p"] = properties
        return description["k"] if description.keys() == {"k"} else description

    return follow(schema.document.root, LIMITS.program_depth)
