"""Say which subschemas a value is held to, in place and inside it.

A schema holds some of its parts against the value itself (`anyOf`, `then`, …),
others against its properties or elements. What depends on whether a value fits
is asked of a `Judge`. It refuses to explain anything.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Protocol

from widgetd.schema.subschemas import Json, Subschema


class Judge(Protocol):
    """Knows one document, and whether a value fits a part of it."""

    @property
    def exhausted(self) -> bool:
        """Whether the judge knows no more, and says of everything that it fits."""
        ...

    def fits(self, schema: Subschema, value: Json) -> bool:
        """Whether `value` fits `schema`."""
        ...

    def matches(self, pattern: str, text: str) -> bool:
        """Whether `text` holds a match of `pattern`."""
        ...

    def targets(self, schema: Subschema) -> tuple[Subschema, ...]:
        """What the references directly in `schema` lead to."""
        ...


def in_place(judge: Judge, schema: Mapping[str, Json], value: Json) -> Iterator[Subschema]:
    """The parts of `schema` that a fitting `value` itself is held to, and fits."""
    yield from judge.targets(schema)
    yield from schema.get("allOf", ())
    for keyword in ("anyOf", "oneOf"):
        yield from (part for part in schema.get(keyword, ()) if judge.fits(part, value))
    yield from conditional(judge, schema, value)
    yield from dependent(schema, value)


def held_to(judge: Judge, schemas: Iterable[Subschema], value: Json) -> list[Mapping[str, Json]]:
    """Everything that a fitting `value` is held to in place, each once, outer before inner.

    Once, because two ways to the same schema would be four a level deeper.
    """
    found: dict[int, Mapping[str, Json]] = {}
    waiting = deque(schemas)
    while waiting:
        schema = waiting.popleft()
        if not isinstance(schema, bool) and id(schema) not in found:
            found[id(schema)] = schema
            waiting.extend(in_place(judge, schema, value))
    return list(found.values())


def conditional(judge: Judge, schema: Mapping[str, Json], value: Json) -> Iterator[Subschema]:
    """`if` and `then`, or `else`."""
    if "if" not in schema:
        return
    if judge.fits(schema["if"], value):
        yield schema["if"]
        yield schema.get("then", True)
    else:
        yield schema.get("else", True)


def dependent(schema: Mapping[str, Json], value: Json) -> Iterator[Subschema]:
    """The parts that hold because `value` has a certain property."""
    for keyword in ("dependentSchemas", "dependencies"):
        for name, part in schema.get(keyword, {}).items():
            if isinstance(value, dict) and name in value and not isinstance(part, list):
                yield part


def needed(schema: Mapping[str, Json], present: Container[str]) -> Iterator[str]:
    """The properties that must be there beside those that are `present`."""
    yield from schema.get("required", ())
    for keyword in ("dependentRequired", "dependencies"):
        for name, others in schema.get(keyword, {}).items():
            if name in present and isinstance(others, list):
                yield from others


def property_parts(judge: Judge, schema: Mapping[str, Json], name: str) -> Iterator[Subschema]:
    """What the property `name` is held to, by the keywords of `schema` alone."""
    found = list(declared_parts(judge, schema, name))
    yield from found
    if not found and "additionalProperties" in schema:
        yield schema["additionalProperties"]


def declared_parts(judge: Judge, schema: Mapping[str, Json], name: str) -> Iterator[Subschema]:
    """What the property `name` is held to by its name."""
    named = schema.get("properties", {})
    if name in named:
        yield named[name]
    for pattern, part in schema.get("patternProperties", {}).items():
        if not judge.exhausted and judge.matches(pattern, name):
            yield part


def element_part(schema: Mapping[str, Json], index: int) -> Subschema:
    """What the element at `index` is held to, by the keywords of `schema` alone."""
    first, rest = element_parts(schema)
    return first[index] if index < len(first) else rest


def element_parts(schema: Mapping[str, Json]) -> tuple[list[Subschema], Subschema]:
    """What each of the first elements is held to, and what all others are, in any draft."""
    items = schema.get("items", True)
    if isinstance(items, list):
        return items, schema.get("additionalItems", True)
    return schema.get("prefixItems", []), items


def evaluated(judge: Judge, schema: Subschema, value: Json, *, but: str = "") -> set[str | int]:
    """The properties or elements of `value` that `schema`, its keyword `but` aside, speaks of.

    Source: JSON Schema 2020-12 core, section 11.
    """
    seen: set[str | int] = set()
    for part in held_to(judge, [schema], value):
        seen.update(_seen_by(judge, part, value, but if part is schema else ""))
    return seen


def _seen_by(
    judge: Judge, schema: Mapping[str, Json], value: Json, but: str
) -> Iterable[str | int]:
    keywords = schema.keys() - {but}
    if isinstance(value, dict):
        if keywords & {"additionalProperties", "unevaluatedProperties"}:
            return value
        return [name for name in value if any(True for _ in declared_parts(judge, schema, name))]
    if not isinstance(value, list):
        return ()
    first, _ = element_parts(schema)
    rest = "additionalItems" if isinstance(schema.get("items"), list) else "items"
    if keywords & {"unevaluatedItems", rest}:
        return range(len(value))
    return [*range(min(len(first), len(value))), *_contained(judge, schema, value)]


def _contained(judge: Judge, schema: Mapping[str, Json], value: list[Json]) -> Iterator[int]:
    if "contains" in schema:
        for index, element in enumerate(value):
            if judge.exhausted or judge.fits(schema["contains"], element):
                yield index
