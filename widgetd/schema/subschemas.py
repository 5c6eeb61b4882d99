"""Say where a JSON Schema holds further schemas, and what each of them looks at.

One table serves every draft. It refuses to know what a keyword means beyond that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

# What a JSON text holds, as Python has it; the code that reads it asks before it uses.
Json: TypeAlias = Any
Subschema: TypeAlias = Mapping[str, Json] | bool
Reach = Literal["same", "inside", "apart"]

# What a subschema is held against: the same value, something inside it, or nothing by itself.
PLAIN: Mapping[str, Reach] = {
    "allOf": "same",
    "anyOf": "same",
    "oneOf": "same",
    "not": "same",
    "if": "same",
    "then": "same",
    "else": "same",
    "items": "inside",
    "prefixItems": "inside",
    "additionalItems": "inside",
    "unevaluatedItems": "inside",
    "contains": "inside",
    "additionalProperties": "inside",
    "unevaluatedProperties": "inside",
    "propertyNames": "inside",
    "contentSchema": "apart",
}
NAMED: Mapping[str, Reach] = {
    "properties": "inside",
    "patternProperties": "inside",
    "dependentSchemas": "same",
    "dependencies": "same",
    "$defs": "apart",
    "definitions": "apart",
}


class Part(NamedTuple):
    """A schema within a schema, and the JSON pointer that leads from the one to the other."""

    pointer: str
    schema: Subschema
    reach: Reach


def pointer(*steps: str | int) -> str:
    """The JSON pointer made of `steps`.

    Source: RFC 6901, section 3.
    """
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def parts(schema: Subschema) -> Iterator[Part]:
    """Every schema directly within `schema`, in the order of its keys."""
    if isinstance(schema, bool):
        return
    for keyword, value in schema.items():
        if keyword in PLAIN:
            yield from _plain(keyword, value)
        elif keyword in NAMED and isinstance(value, dict):
            for name, part in value.items():
                if isinstance(part, (dict, bool)):
                    yield Part(pointer(keyword, name), part, NAMED[keyword])


def _plain(keyword: str, value: Json) -> Iterator[Part]:
    if isinstance(value, (dict, bool)):
        yield Part(pointer(keyword), value, PLAIN[keyword])
    elif isinstance(value, list):
        for index, part in enumerate(value):
            if isinstance(part, (dict, bool)):
                yield Part(pointer(keyword, index), part, PLAIN[keyword])
