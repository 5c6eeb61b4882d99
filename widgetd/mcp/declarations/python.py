"""Records as Python typed dictionaries."""

from __future__ import annotations

import keyword
from collections.abc import Iterator

from widgetd.mcp.declarations.shape import Record, Shape
from widgetd.mcp.declarations.spelling import Words, spell

HEADER = '''"""What widgetd answers, and what its tools take. Made by `widgetd types`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict, TypeGuard


def _ui_type(response: Mapping[str, Any]) -> object:
    return ((response.get("_meta") or {}).get("widgetd/ui") or {}).get("uiType")'''
BETWEEN = "\n\n\n"


def _literals(values: tuple[object, ...]) -> str:
    # A number is no literal type in Python where it has a fraction.
    if any(isinstance(value, float) for value in values):
        return "float"
    return f"Literal[{', '.join(map(repr, values))}]"


_WORDS = Words(
    scalars={
        "string": "str",
        "integer": "float",
        "number": "float",
        "boolean": "bool",
        "null": "None",
        "any": "Any",
    },
    list_of="list[{}]",
    map_of="dict[str, {}]",
    literals=_literals,
)


def declare(record: Record) -> str:
    """`class Name(TypedDict): …`, or the call where a key is no identifier."""
    plain = all(_is_plain(field.name) for field in record.fields)
    return "\n".join(_class(record) if plain else _call(record))


def alias(name: str, shape: Shape) -> str:
    """`Name = A | B`."""
    return f"{name} = {spell(shape, _WORDS)}"


def guard(name: str, tool: str, ui_type: str) -> str:
    """`is_tool(response)`, which narrows to `NameResponse`."""
    return (
        f"def is_{tool}(response: Mapping[str, Any]) -> TypeGuard[{name}Response]:\n"
        f"    return _ui_type(response) == {ui_type!r}"
    )


def _is_plain(name: str) -> bool:
    """Whether `name` can be declared in a class and stays what it is there."""
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")


def _class(record: Record) -> Iterator[str]:
    yield f"class {record.name}(TypedDict):"
    for field in record.fields:
        said = f"  # {' '.join(field.description.split())}" if field.description else ""
        shape = spell(field.shape, _WORDS)
        yield f"    {field.name}: {shape if field.required else f'NotRequired[{shape}]'}{said}"
    if not record.fields:
        yield "    pass"


def _call(record: Record) -> Iterator[str]:
    yield f'{record.name} = TypedDict("{record.name}", {{'
    for field in record.fields:
        shape = spell(field.shape, _WORDS)
        shown = shape if field.required else f"NotRequired[{shape}]"
        yield f"    {field.name!r}: {shown!r},"
    yield "})"
