"""Which subschemas a value is held to, in place and inside it.

A schema holds some of its parts against the value itself (`anyOf`, `then`, …),
others against its properties or elements. What depends on whether a value fits
is asked of an `Evaluator`.

Source: JSON Schema 2020-12 core, sections 10 and 11, which call these keywords applicators.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import partial
from typing import Protocol

from widgetd.schema.document import Subschema
from widgetd.schema.json_values import Json


class Evaluator(Protocol):
    """Knows one document, and whether a value fits a part of it."""

    @property
    def exhausted(self) -> bool:
        """Whether its budget ran out, so that it says of everything that it fits."""
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


def held_to(
    evaluator: Evaluator, schemas: Iterable[Subschema], value: Json
) -> list[Mapping[str, Json]]:
    """Everything that a fitting `value` is held to in place, each once, outer before inner.

    Once, because two ways to the same schema would be four a level deeper.
    """
    found: dict[int, Mapping[str, Json]] = {}
    waiting = deque(schemas)
    while waiting:
        schema = waiting.popleft()
        if isinstance(schema, bool) or id(schema) in found:
            continue
        found[id(schema)] = schema
        waiting.extend([*evaluator.targets(schema), *schema.get("allOf", ())])
        for keyword in ("anyOf", "oneOf"):
            branches = schema.get(keyword, ())
            waiting.extend(branch for branch in branches if evaluator.fits(branch, value))
        waiting.extend(conditional(evaluator, schema, value))
        waiting.extend(dependent(schema, value))
    return list(found.values())


def conditional(
    evaluator: Evaluator, schema: Mapping[str, Json], value: Json
) -> Iterator[Subschema]:
    """`if` and `then`, or `else`."""
    if "if" not in schema:
        return
    if evaluator.fits(schema["if"], value):
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


def property_parts(
    evaluator: Evaluator, schema: Mapping[str, Json], name: str
) -> Iterator[Subschema]:
    """What the property `name` is held to, by the keywords of `schema` alone."""
    found = list(declared_parts(evaluator, schema, name))
    yield from found
    if not found and "additionalProperties" in schema:
        yield schema["additionalProperties"]


def declared_parts(
    evaluator: Evaluator, schema: Mapping[str, Json], name: str
) -> Iterator[Subschema]:
    """What the property `name` is held to by its name."""
    named = schema.get("properties", {})
    if name in named:
        yield named[name]
    for pattern, part in schema.get("patternProperties", {}).items():
        if not evaluator.exhausted and evaluator.matches(pattern, name):
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


def evaluated(evaluator: Evaluator, schema: Subschema, value: Json, *, but: str) -> set[str | int]:
    """The properties or elements of `value` that `schema`, its keyword `but` aside, speaks of.

    Source: JSON Schema 2020-12 core, section 11.
    """
    seen: set[str | int] = set()
    for part in held_to(evaluator, [schema], value):
        keywords = part.keys() - {but} if part is schema else part.keys()
        if isinstance(value, dict):
            if keywords & {"additionalProperties", "unevaluatedProperties"}:
                seen.update(value)
            else:
                declared = partial(declared_parts, evaluator, part)
                seen.update(name for name in value if next(declared(name), None) is not None)
        elif isinstance(value, list):
            first, _ = element_parts(part)
            rest = "additionalItems" if isinstance(part.get("items"), list) else "items"
            if keywords & {"unevaluatedItems", rest}:
                seen.update(range(len(value)))
                continue
            seen.update(range(min(len(first), len(value))))
            seen.update(
                index
                for index, element in enumerate(value if "contains" in part else ())
                if evaluator.exhausted or evaluator.fits(part["contains"], element)
            )
    return seen
