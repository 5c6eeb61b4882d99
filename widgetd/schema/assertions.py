"""The keywords that look at one value only, each as a question to that value.

They explain, they do not decide: what a schema admits is the validator's word.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sized
from fractions import Fraction
from typing import Protocol, TypeAlias

from widgetd.schema.subschemas import Json

Question: TypeAlias = Callable[[Json, Json, Mapping[str, Json], "Texts"], bool]


class Texts(Protocol):
    """Decides about strings, in the validator's own way."""

    def matches(self, pattern: str, text: str) -> bool:
        """Whether `text` holds a match of `pattern`."""
        ...

    def has_format(self, name: str, text: str) -> bool:
        """Whether `text` has the format `name`; true of a format that is unknown."""
        ...


def is_number(value: Json) -> bool:
    """Whether `value` is a JSON number; a boolean is none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_type(value: Json, name: str) -> bool:
    """Whether `value` has the JSON Schema type `name`; 1.0 is an integer."""
    if name == "integer":
        return is_number(value) and value == value // 1
    if name == "number":
        return is_number(value)
    python = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None)}
    return isinstance(value, python.get(name, object))


def identity(value: Json) -> Hashable:
    """A key that two values share when JSON Schema holds them equal: 1 and 1.0, but not true."""
    if isinstance(value, dict):
        return frozenset((key, identity(inner)) for key, inner in value.items())
    if isinstance(value, list):
        return tuple(identity(inner) for inner in value)
    return (bool, value) if isinstance(value, bool) else value


def equal(one: Json, other: Json) -> bool:
    """Whether JSON Schema holds two values equal: 1 and 1.0, but not 1 and true."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)


def _type(value: Json, names: Json, *_: Json) -> bool:
    named = names if isinstance(names, list) else [names]
    return any(is_type(value, name) for name in named)


def _below(value: Json, limit: Json, schema: Mapping[str, Json], _: Texts) -> bool:
    if schema.get("exclusiveMaximum") is True and value == limit:
        return False
    return not is_number(value) or value <= limit


def _above(value: Json, limit: Json, schema: Mapping[str, Json], _: Texts) -> bool:
    if schema.get("exclusiveMinimum") is True and value == limit:
        return False
    return not is_number(value) or value >= limit


def _strictly_below(value: Json, limit: Json, *_: Json) -> bool:
    draft_4 = isinstance(limit, bool)
    return draft_4 or not is_number(value) or value < limit


def _strictly_above(value: Json, limit: Json, *_: Json) -> bool:
    draft_4 = isinstance(limit, bool)
    return draft_4 or not is_number(value) or value > limit


def _multiple(value: Json, step: Json, *_: Json) -> bool:
    if not is_number(value):
        return True
    # As decimals, the way they are written: 0.3 is a multiple of 0.1.
    return (Fraction(str(value)) / Fraction(str(step))).denominator == 1


def _at_least(kind: type[Sized]) -> Question:
    def long_enough(value: Json, low: Json, *_: Json) -> bool:
        return not isinstance(value, kind) or bool(len(value) >= low)

    return long_enough


def _at_most(kind: type[Sized]) -> Question:
    def short_enough(value: Json, high: Json, *_: Json) -> bool:
        return not isinstance(value, kind) or bool(len(value) <= high)

    return short_enough


def _matches(value: Json, pattern: Json, _: Mapping[str, Json], texts: Texts) -> bool:
    return not isinstance(value, str) or texts.matches(str(pattern), value)


def _has_format(value: Json, name: Json, _: Mapping[str, Json], texts: Texts) -> bool:
    return not isinstance(value, str) or texts.has_format(str(name), value)


def _unique(value: Json, wanted: Json, *_: Json) -> bool:
    if wanted is not True or not isinstance(value, list):
        return True
    return len({identity(element) for element in value}) == len(value)


QUESTIONS: Mapping[str, Question] = {
    "const": lambda value, only, *_: equal(value, only),
    "enum": lambda value, choices, *_: any(equal(value, choice) for choice in choices),
    "minimum": _above,
    "maximum": _below,
    "exclusiveMinimum": _strictly_above,
    "exclusiveMaximum": _strictly_below,
    "multipleOf": _multiple,
    "minLength": _at_least(str),
    "maxLength": _at_most(str),
    "pattern": _matches,
    "format": _has_format,
    "minItems": _at_least(list),
    "maxItems": _at_most(list),
    "uniqueItems": _unique,
    "minProperties": _at_least(dict),
    "maxProperties": _at_most(dict),
}


def fails(schema: Mapping[str, Json], value: Json, texts: Texts) -> str | None:
    """A keyword of `schema` that `value` fails, seen from outside; `type` before all others."""
    if "type" in schema and not _type(value, schema["type"]):
        return "type"
    for keyword, argument in schema.items():
        question = QUESTIONS.get(keyword)
        if question is not None and not question(value, argument, schema, texts):
            return keyword
    return None
