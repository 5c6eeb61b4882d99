"""Records as Python typed dictionaries."""

from __future__ import annotations

import keyword
from collections.abc import Iterator

from widgetd.declarations.shape import (
    ListOf,
    Literals,
    MapOf,
    Named,
    Record,
    Scalar,
    Shape,
    Union,
)

HEADER = (
    "from __future__ import annotations\n\nfrom typing import Any, Literal, NotRequired, TypedDict"
)

_SCALARS = {"string": "str", "number": "float", "boolean": "bool", "null": "None", "any": "Any"}


def declare(record: Record) -> str:
    """`class Name(TypedDict): …`, or the call where a key is no identifier."""
    plain = all(
        field.name.isidentifier() and not keyword.iskeyword(field.name) for field in record.fields
    )
    return "\n".join(_class(record) if plain else _call(record))


def alias(name: str, options: list[str]) -> str:
    """`Name = A | B`."""
    return f"{name} = {' | '.join(options) or 'None'}"


def _class(record: Record) -> Iterator[str]:
    yield f"class {record.name}(TypedDict):"
    for field in record.fields:
        said = f"  # {' '.join(field.description.split())}" if field.description else ""
        shape = _type(field.shape)
        yield f"    {field.name}: {shape if field.required else f'NotRequired[{shape}]'}{said}"


def _call(record: Record) -> Iterator[str]:
    yield f'{record.name} = TypedDict("{record.name}", {{'
    for field in record.fields:
        shape = _type(field.shape)
        shown = shape if field.required else f"NotRequired[{shape}]"
        yield f"    {field.name!r}: {shown!r},"
    yield "})"


def _type(shape: Shape) -> str:
    match shape:
        case Scalar(name):
            return _SCALARS[name]
        case Literals(values):
            return _literals(values)
        case ListOf(element):
            return f"list[{_type(element)}]"
        case MapOf(value):
            return f"dict[str, {_type(value)}]"
        case Named(name):
            return name
        case Union(options):
            return " | ".join(map(_type, options))
        case Record():
            return shape.name


def _literals(values: tuple[object, ...]) -> str:
    # A number is no literal type in Python where it has a fraction.
    if any(isinstance(value, float) for value in values):
        return "float"
    return f"Literal[{', '.join(map(repr, values))}]"
