"""The fields of a form: what each of them may send.

A field is checked as a browser checks it: in full when the form is submitted,
and only for its type when another action happens to carry it along.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from widgetd.errors import WidgetError
from widgetd.schema.validator import compile_schema

Kind = Literal["string", "number", "boolean", "any"]

DAY = r"^\d{4}-\d{2}-\d{2}"
"""A day, perhaps with a time."""

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

    def schema(self, *, submitted: bool) -> dict[str, Any]:
        """The JSON Schema of what it sends.

        Args:
            submitted: Whether the form was submitted, and so had to be complete.
        """
        needed = submitted and self.required
        if self.choices is not None:
            return {"enum": list(self.choices)}
        if self.kind == "any":
            return {}
        if self.kind == "boolean":
            return {"const": True} if needed else {"type": "boolean"}
        if self.kind == "number":
            return {"type": "number" if needed else ["number", "null"]}
        return {"type": "string", **(self._demands() if submitted else {})}

    def _demands(self) -> dict[str, Any]:
        """What is asked of a text; one that need not be there may also be empty."""
        rules = dict(self.rules or {})
        if self.required:
            return {"minLength": 1, **rules}
        return {"anyOf": [{"const": ""}, rules]} if rules else {}

    def beside(self, other: Field) -> Field:
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
    make = _MAKERS.get(str(component.get("type")))
    found = None if make is None or component.get("disabled") is True else make(component)
    if found is None or not found.path or _FORBIDDEN.intersection(found.path):
        return None
    return found


def _input(component: Mapping[str, Any]) -> Field:
    kind = str(component.get("inputType"))
    rules: dict[str, Any] = {"format": _FORMATS[kind]} if kind in _FORMATS else {}
    return Field(
        name=_name(component),
        kind="number" if kind == "number" else "string",
        required=component.get("required") is True,
        secret=kind == "password",
        rules=rules | _pattern(component),
    )


def _textarea(component: Mapping[str, Any]) -> Field:
    required = component.get("required") is True
    return Field(name=_name(component), kind="string", required=required, rules=_pattern(component))


def _checkbox(component: Mapping[str, Any]) -> Field:
    required = component.get("required") is True
    return Field(name=_name(component), kind="boolean", required=required)


def _radio_group(component: Mapping[str, Any]) -> Field:
    required = component.get("required") is True
    choices = tuple(_values(component))
    return Field(name=_name(component), kind="string", required=required, choices=choices)


def _select(component: Mapping[str, Any]) -> Field:
    # It sends what it began with, even where that is none of its options.
    begun = component.get("defaultValue")
    own = (begun,) if isinstance(begun, str) else ()
    choices = tuple(dict.fromkeys((*_values(component), *own, "")))
    return Field(name=_name(component), kind="string", choices=choices)


def _date_picker(component: Mapping[str, Any]) -> Field:
    # Its `min` and `max` are the client's to hold: JSON Schema has no word for a range of days.
    return Field(name=_name(component), kind="string", rules={"pattern": DAY})


def _text(component: Mapping[str, Any]) -> Field | None:
    editable = component.get("editable")
    return _textarea(editable) if isinstance(editable, Mapping) else None


_MAKERS: Mapping[str, Callable[[Mapping[str, Any]], Field | None]] = {
    "Input": _input,
    "Textarea": _textarea,
    "Checkbox": _checkbox,
    "RadioGroup": _radio_group,
    "Select": _select,
    "DatePicker": _date_picker,
    "Text": _text,
}


def _name(component: Mapping[str, Any]) -> str:
    name = component.get("name")
    return name if isinstance(name, str) else ""


def _values(component: Mapping[str, Any]) -> Iterator[str]:
    options = component.get("options")
    for option in options if isinstance(options, list) else ():
        if isinstance(option, dict) and option.get("disabled") is not True:
            value = option.get("value")
            if isinstance(value, str):
                yield value


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
