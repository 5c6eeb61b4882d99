"""The fields of a form, and the JSON Schema of the payload that they are sent in.

A field is checked as a browser checks it: in full when the form is submitted,
and only for its type when another action happens to carry it along.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from widgetd.errors import WidgetError
from widgetd.schema.validator import compile_schema

Kind = Literal["string", "number", "boolean", "any"]
Schema = dict[str, Any]

DAY = r"^\d{4}-\d{2}-\d{2}"
"""A day, perhaps with a time."""

MOST_PRECISE = 2**53
"""Beyond this, a browser does not know one integer from the next."""

_FORMATS: Mapping[str, str] = {"email": "email", "url": "iri"}
_FORBIDDEN = frozenset({"__proto__", "prototype", "constructor"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A named field.

    Attributes:
        name: Dotted, as `task.dueDate`, which is sent as `{"task": {"dueDate": ...}}`.
        kind: The JSON type of what it sends; `any` where fields of one name differ.
        required: Whether a form cannot be submitted without it.
        secret: Whether what is typed into it is shown to nobody.
        choices: All that it can send; None where that is not limited.
        rules: What more a JSON Schema says of a value that was filled in.
    """

    name: str
    kind: Kind
    required: bool = False
    secret: bool = False
    choices: tuple[str, ...] | None = None
    rules: Mapping[str, Any] | None = None

    @property
    def path(self) -> tuple[str, ...]:
        """Where in the payload it is: `("task", "dueDate")`."""
        return tuple(part for part in self.name.split(".") if part)

    def schema(self, *, submitted: bool) -> Schema:
        """The JSON Schema of what it sends; when `submitted`, the form had to be complete."""
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
        # A text that need not be there may also be empty.
        bounds = {"anyOf": [{"const": ""}, rules]} if submitted and rules else {}
        return {"type": "string", **bounds}

    def merged(self, other: Field) -> Field:
        """What two fields of one name send: whatever either of them would."""
        if self == other:
            return self
        limited = self.choices is not None and other.choices is not None
        return Field(
            name=self.name,
            kind=self.kind if self.kind == other.kind else "any",
            secret=self.secret or other.secret,
            choices=(*(self.choices or ()), *(other.choices or ())) if limited else None,
        )


def field_of(component: Mapping[str, Any]) -> Field | None:
    """The field that a component is; None where it is none, or sends nothing."""
    if component.get("disabled") is True:
        return None
    found = _field(component)
    if found is None or not found.path or _FORBIDDEN.intersection(found.path):
        return None
    return found


def _field(component: Mapping[str, Any]) -> Field | None:
    name = component.get("name")
    name = name if isinstance(name, str) else ""
    required = component.get("required") is True
    match component.get("type"):
        case "Input":
            kind = str(component.get("inputType"))
            rules: dict[str, Any] = {"format": _FORMATS[kind]} if kind in _FORMATS else {}
            return Field(
                name=name,
                kind="number" if kind == "number" else "string",
                required=required,
                secret=kind == "password",
                rules=rules | _pattern(component),
            )
        case "Textarea":
            return Field(name=name, kind="string", required=required, rules=_pattern(component))
        case "Text":
            editable = component.get("editable")
            if isinstance(editable, Mapping):
                return _field({**editable, "type": "Textarea"})
        case "Checkbox":
            return Field(name=name, kind="boolean", required=required)
        case "RadioGroup":
            choices = tuple(_values(component))
            return Field(name=name, kind="string", required=required, choices=choices)
        case "Select":
            # It sends what it began with, even where that is none of its options.
            first = component.get("defaultValue")
            own = (first,) if isinstance(first, str) else ()
            choices = tuple(dict.fromkeys((*_values(component), *own, "")))
            return Field(name=name, kind="string", choices=choices)
        case "DatePicker":
            # `min` and `max` are the client's to hold: JSON Schema has no word for a range of days.
            return Field(name=name, kind="string", rules={"pattern": DAY})
    return None


def _values(component: Mapping[str, Any]) -> list[str]:
    options = component.get("options")
    values = [
        option.get("value")
        for option in (options if isinstance(options, list) else ())
        if isinstance(option, dict) and option.get("disabled") is not True
    ]
    return [value for value in values if isinstance(value, str)]


def _pattern(component: Mapping[str, Any]) -> dict[str, Any]:
    """The pattern as a browser takes it, of the whole text; none where we cannot match it."""
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


def payload_schema(
    keys: Mapping[str, Schema], fields: Iterable[Field], *, submitted: bool, closed: bool = True
) -> Schema:
    """An object with `keys`, all of them required, and `fields`.

    Args:
        keys: What each key of the author's payload may be.
        fields: What the user adds; none of them has the place of a key.
        submitted: Whether the fields must be complete.
        closed: Whether that is all there may be.
    """
    root = _object(closed)
    root["properties"].update(keys)
    root["required"].extend(keys)
    for field in fields:
        _place(root, field, submitted=submitted, closed=closed)
    return _tidy(root)


def exactly(value: Any) -> Schema:
    """The schema of a value that the author wrote, as it comes back from a browser."""
    heard = as_browser(value)
    return {"const": value} if heard == value else {"enum": [value, heard]}


def as_browser(value: Any) -> Any:
    """A JSON value after a browser has read and written it: large integers lose their end."""
    if isinstance(value, dict):
        return {key: as_browser(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [as_browser(inner) for inner in value]
    if type(value) is int and abs(value) > MOST_PRECISE:
        return int(float(value))
    return value


def _place(root: Schema, field: Field, *, submitted: bool, closed: bool) -> None:
    inner = root
    needed = submitted and field.required
    for part in field.path[:-1]:
        if needed and part not in inner["required"]:
            inner["required"].append(part)
        inner = inner["properties"].setdefault(part, _object(closed))
        if "properties" not in inner:  # a field of that name stands there already
            inner.clear()
            return
    last = field.path[-1]
    if needed and last not in inner["required"]:
        inner["required"].append(last)
    taken = last in inner["properties"]
    inner["properties"][last] = {} if taken else field.schema(submitted=submitted)


def _object(closed: bool) -> Schema:
    bounds = {"additionalProperties": False} if closed else {}
    return {"type": "object", "properties": {}, "required": [], **bounds}


def _tidy(schema: Schema) -> Schema:
    """The same without empty lists of required properties, which old drafts do not allow."""
    for inner in schema.get("properties", {}).values():
        _tidy(inner)
    if schema.get("required") == []:
        del schema["required"]
    return schema
