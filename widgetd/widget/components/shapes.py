"""What a property of a component may be, read from the annotation of a Python class.

An annotation becomes a handful of alternatives over JSON values. Knows typing
and pydantic's ways to say things, and nothing of any one component.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, StringConstraints
from typing_extensions import is_typeddict


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """An object with known fields.

    Attributes:
        name: The class that describes it.
        fields: What each of its fields may be.
        required: The fields that it must have.
    """

    name: str
    fields: Mapping[str, Shape]
    required: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a value may be: any one of these.

    Attributes:
        anything: Whether every value will do.
        scalars: Names of JSON types that are admitted as such: `string`, `number`, `boolean`.
        values: Literal values that are admitted.
        patterns: Regular expressions, of which a string that begins so is admitted.
        records: Objects that are admitted.
        entries: What the values of an object with any keys must be; None where that is no choice.
        items: What the elements of an array must be; None where an array is no choice.
    """

    anything: bool = False
    scalars: frozenset[str] = frozenset()
    values: tuple[Any, ...] = ()
    patterns: tuple[str, ...] = ()
    records: tuple[Record, ...] = ()
    entries: Shape | None = None
    items: Shape | None = None

    def admits(self, value: object) -> bool:
        """Whether `value` as such may stand here; what is within it is not looked at."""
        if self.anything or value is None:
            return True
        if isinstance(value, dict):
            return bool(self.records) or self.entries is not None
        if isinstance(value, list):
            return self.items is not None
        if scalar(value) in self.scalars or any(_same(value, one) for one in self.values):
            return True
        return isinstance(value, str) and any(re.match(one, value) for one in self.patterns)

    @property
    def expected(self) -> str:
        """What may stand here, as a noun phrase: `a string or an object`."""
        names = [_ARTICLES[name] for name in sorted(self.scalars)]
        names += ["one of a few words"] if self.values or self.patterns else []
        names += ["a list"] if self.items is not None else []
        names += ["an object"] if self.records or self.entries is not None else []
        return either(names)


_ARTICLES = {"string": "a string", "number": "a number", "boolean": "true or false"}

ANYTHING = Shape(anything=True)


def either(names: list[str]) -> str:
    """`names` as a choice: `a, b or c`."""
    return " or ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def scalar(value: object) -> str:
    """The JSON type of a value that is neither object nor array."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return "string" if isinstance(value, str) else "null"


def shape(annotation: object) -> Shape:
    """The shape of every value that `annotation` describes."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation is Any:
        return ANYTHING
    if origin in {Union, UnionType}:
        return _union([shape(one) for one in arguments if one is not NoneType])
    if origin is Literal:
        return Shape(values=tuple(one for one in _flat(arguments) if one is not None))
    if origin is Annotated:
        return _annotated(arguments)
    if origin is list:
        return Shape(items=shape(arguments[0]))
    if origin is dict:
        return Shape(entries=shape(arguments[1]))
    if origin is NotRequired:
        return shape(arguments[0])
    return _plain(annotation)


def record(kind: type[BaseModel]) -> Record:
    """The fields of a pydantic model as they are written in JSON, its children aside."""
    hints = get_type_hints(kind, include_extras=True)
    fields = {name: shape(hints[name]) for name in kind.model_fields if name != "children"}
    return Record(
        name=kind.__name__,
        fields=fields,
        required=frozenset(name for name in fields if kind.model_fields[name].is_required()),
    )


_SCALARS: Mapping[object, str] = {
    str: "string",
    datetime: "string",
    int: "number",  # Studio's own types know only `number`
    float: "number",
    bool: "boolean",
}


def _plain(annotation: object) -> Shape:
    if annotation in _SCALARS:
        return Shape(scalars=frozenset({_SCALARS[annotation]}))
    if is_typeddict(annotation):
        return Shape(records=(_typed_dict(annotation),))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return Shape(records=(record(annotation),))
    return ANYTHING


def _typed_dict(kind: Any) -> Record:
    hints = get_type_hints(kind, include_extras=True)
    return Record(
        name=kind.__name__,
        fields={name: shape(hint) for name, hint in hints.items()},
        required=frozenset(
            name for name, hint in hints.items() if get_origin(hint) is not NotRequired
        ),
    )


def _annotated(arguments: tuple[Any, ...]) -> Shape:
    patterns = tuple(
        str(one.pattern)
        for one in arguments[1:]
        if isinstance(one, StringConstraints) and one.pattern
    )
    return Shape(patterns=patterns) if patterns else shape(arguments[0])


def _union(shapes: list[Shape]) -> Shape:
    return Shape(
        anything=any(one.anything for one in shapes),
        scalars=frozenset().union(*(one.scalars for one in shapes)),
        values=tuple(value for one in shapes for value in one.values),
        patterns=tuple(pattern for one in shapes for pattern in one.patterns),
        records=tuple(record for one in shapes for record in one.records),
        entries=next((one.entries for one in shapes if one.entries is not None), None),
        items=next((one.items for one in shapes if one.items is not None), None),
    )


def _flat(arguments: tuple[Any, ...]) -> list[Any]:
    """The values of a Literal, those of a Literal within it included."""
    flat: list[Any] = []
    for one in arguments:
        flat.extend(_flat(get_args(one)) if get_origin(one) is Literal else [one])
    return flat


def _same(value: object, literal: object) -> bool:
    return type(value) is type(literal) and value == literal
