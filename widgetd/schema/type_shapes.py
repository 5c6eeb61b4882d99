"""See a schema as Python would: an object with fields, a list, a choice, or a plain value.

A view for describing types. What a value must really be, the validator knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from widgetd.schema.document import Document, Subschema
from widgetd.schema.json_values import Json


def held_together(document: Document, schema: Subschema) -> Iterator[Mapping[str, Json]]:
    """`schema` and everything that holds wherever it does, by reference or `allOf`."""
    waiting = [schema]
    seen: set[int] = set()
    while waiting:
        part = waiting.pop(0)
        if not isinstance(part, bool) and id(part) not in seen:
            seen.add(id(part))
            yield part
            waiting += [*document.targets(part), *part.get("allOf", ())]


def properties(document: Document, schema: Subschema) -> dict[str, list[Subschema]]:
    """What each declared property is held to, wherever it is declared."""
    found: dict[str, list[Subschema]] = {}
    for part in held_together(document, schema):
        for name, held in part.get("properties", {}).items():
            found.setdefault(name, []).append(held)
    return found


def required(document: Document, schema: Subschema) -> set[str]:
    """The properties that must be there."""
    return {name for part in held_together(document, schema) for name in part.get("required", ())}


def bearer(document: Document, schema: Mapping[str, Json]) -> Mapping[str, Json]:
    """The schema that a pure reference stands for, so that all who refer to it share one model."""
    while not schema.keys() & {"properties", "allOf"}:
        target = next(iter(document.targets(schema)), True)
        if isinstance(target, bool):
            break
        schema = target
    return schema


def branches(document: Document, schema: Subschema) -> list[Subschema]:
    """The alternatives of a union; none where `schema` is no union."""
    for part in held_together(document, schema):
        for keyword in ("anyOf", "oneOf"):
            if part.get(keyword):
                found: list[Subschema] = part[keyword]
                return found
    return []
