"""Fields of a form, and the JSON Schema of their payload.

A field is validated as a browser does it: in full when the form is submitted, and only for its type
when another action carries it along.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from widgetd.base.errors import WidgetError
from widgetd.core.schema.validator import compile_schema
from widgetd.core.widget.components.traits import get_traits

Kind = Literal["string", "number", "boolean", "any"]
JsonSchema = dict[str, Any]

DAY = r"^\d{4}-\d{2}-\d{2}"
"""A day, optionally with a time."""

MOST_PRECISE = 2**53
"""Beyond this, a browser cannot tell adjacent integers apart."""

_MOST_INTEGER = 2**64 - 1
"""Integers beyond this are written as other numbers in JSON."""

_FORMATS: Mapping[str, str] = {"email": "email", "url": "iri"}
_REQUESTS: Mapping[str, str] = {
    "email": "Give an email address, as name@example.org.",
    "iri": "Give an address, as https://example.org.",
}
_FORBIDDEN = frozenset({"__proto__", "prototype", "constructor"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """A named field.

    Attributes:
        name: Dotted, as `task.dueDate`, and sent as `{"task": {"dueDate": ...}}`.
        kind: The JSON type of its value, `any` if fields of the same name differ.
        required: Whether the form cannot be submitted without it.
        secret: Whether its value must not be shown.
        choices: All its possible values, None if they are unlimited.
        rules: Further JSON Schema keywords for a non-empty value.
    """

    name: str
    kind: Kind
    required: bool = False
    secret: bool = False
    choices: tuple[str, ...] | None = None
    rules: Mapping[str, Any] | None = None

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(part for part in self.name.split(".") if part)

    @property
    def request(self) -> str:
        rules = self.rules or {}
        if self.choices is not None:
            return "Choose one of those that are offered."
        if self.kind in ("boolean", "number"):
            return "Tick this." if self.kind == "boolean" else "Give a number."
        if rules.get("pattern") == DAY:
            return "Give a day."
        otherwise = "Write this in the form that is asked for." if rules else "Fill this in."
        return _REQUESTS.get(rules.get("format", ""), otherwise)

    def schema(self, *, submitted: bool) -> JsonSchema:
        needed = submitted and self.required
        if self.choices is not None:
            return {"enum": list(self.choices)}
        match self.kind:
            case "any":
                return {}
            case "boolean":
                return {"const": True} if needed else {"type": "boolean"}
            case "number":
                return {"type": "number" if needed else ["number", "null"]}
        rules = dict(self.rules or {})
        if needed:
            return {"type": "string", "minLength": 1, **rules}
        # An optional text may also be empty.
        bounds = {"anyOf": [{"const": ""}, rules]} if submitted and rules else {}
        return {"type": "string", **bounds}

    def merge(self, other: FormField) -> FormField:
        """Return a field with the values of this or another field of its name."""
        if self == other:
            return self
        limited = self.choices is not None and other.choices is not None
        return FormField(
            name=self.name,
            kind=self.kind if self.kind == other.kind else "any",
            secret=self.secret or other.secret,
            choices=(*(self.choices or ()), *(other.choices or ())) if limited else None,
        )


def find_field(component: Mapping[str, Any]) -> FormField | None:
    if component.get("disabled") is True:
        return None
    field = _read_field(component)
    if field is None or not field.path or _FORBIDDEN.intersection(field.path):
        return None
    return field


def _read_field(component: Mapping[str, Any]) -> FormField | None:
    name = component.get("name")
    name = name if isinstance(name, str) else ""
    required = component.get("required") is True
    match get_traits(component).field:
        case "input":
            kind = str(component.get("inputType"))
            rules: dict[str, Any] = {"format": _FORMATS[kind]} if kind in _FORMATS else {}
            return FormField(
                name=name,
                kind="number" if kind == "number" else "string",
                required=required,
                secret=kind == "password",
                rules=rules | _build_pattern_rules(component),
            )
        case "text":
            return FormField(
                name=name, kind="string", required=required, rules=_build_pattern_rules(component)
            )
        case "editable":
            editable = component.get("editable")
            if isinstance(editable, Mapping):
                return _read_field({**editable, "type": "Textarea"})
        case "checkbox":
            return FormField(name=name, kind="boolean", required=required)
        case "radio":
            choices = tuple(_list_values(component))
            return FormField(name=name, kind="string", required=required, choices=choices)
        case "select":
            # It sends its default value, even outside its options.
            first = component.get("defaultValue")
            own = (first,) if isinstance(first, str) else ()
            choices = tuple(dict.fromkeys((*_list_values(component), *own, "")))
            return FormField(name=name, kind="string", choices=choices)
        case "date":
            # Clients enforce `min` and `max`. JSON Schema has no keyword for a range of days.
            return FormField(name=name, kind="string", rules={"pattern": DAY})
    return None


def _list_values(component: Mapping[str, Any]) -> Sequence[str]:
    options = component.get("options")
    values = [
        option.get("value")
        for option in (options if isinstance(options, list) else ())
        if isinstance(option, dict) and option.get("disabled") is not True
    ]
    return list(dict.fromkeys(value for value in values if isinstance(value, str)))


def _build_pattern_rules(component: Mapping[str, Any]) -> dict[str, Any]:
    pattern = component.get("pattern")
    if not isinstance(pattern, str) or not pattern:
        return {}
    whole = f"^(?:{pattern})$"
    return {"pattern": whole} if _is_usable(whole) else {}


@lru_cache(maxsize=256)
def _is_usable(pattern: str) -> bool:
    try:
        compile_schema({"properties": {"text": {"pattern": pattern}}})
    except WidgetError:
        return False
    return True


def build_payload_schema(
    keys: Mapping[str, JsonSchema],
    fields: Iterable[FormField],
    *,
    submitted: bool,
    closed: bool = True,
    optional: Collection[str] = (),
) -> JsonSchema:
    """Build the schema of an object with `keys` and `fields`.

    Args:
        keys: The schema of each key in the author's payload.
        fields: The user's input, under other names than the keys.
        submitted: Whether the fields must be complete.
        closed: Whether further properties are forbidden.
        optional: Keys not required.
    """
    root = _build_object(closed)
    root["properties"].update(keys)
    for key in keys:
        if key not in optional:
            _require(root, key)
    for field in fields:
        _add_field(root, field, submitted=submitted, closed=closed)
    return root


def build_exact_schema(value: Any) -> JsonSchema:
    """Build the schema of an author's value, as a browser returns it."""
    returned = to_browser_value(value)
    return {"const": value} if returned == value else {"enum": [value, returned]}


def to_browser_value(value: Any) -> Any:
    """Return a JSON value as a browser would after reading it: large integers lose digits."""
    if isinstance(value, dict):
        return {key: to_browser_value(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [to_browser_value(inner) for inner in value]
    if type(value) is int and abs(value) > MOST_PRECISE:
        returned = float(value)
        return returned if returned > _MOST_INTEGER else int(returned)
    return value


def _add_field(root: JsonSchema, field: FormField, *, submitted: bool, closed: bool) -> None:
    inner = root
    needed = submitted and field.required
    for part in field.path[:-1]:
        if needed:
            _require(inner, part)
        inner = inner["properties"].setdefault(part, _build_object(closed))
        if "properties" not in inner:  # another field has the same name
            inner.clear()
            return
    last = field.path[-1]
    if needed:
        _require(inner, last)
    taken = last in inner["properties"]
    inner["properties"][last] = {} if taken else field.schema(submitted=submitted)


def _build_object(closed: bool) -> JsonSchema:
    bounds = {"additionalProperties": False} if closed else {}
    return {"type": "object", "properties": {}, **bounds}


def _require(schema: JsonSchema, name: str) -> None:
    required = schema.setdefault("required", [])  # old drafts do not allow an empty list
    if name not in required:
        required.append(name)
