"""Python values as JSON has them: their types, their places, and whether JSON can say them."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, TypeAlias, TypeGuard

import orjson

from widgetd.errors import Finding, WidgetError

# What a JSON text holds, as Python has it; the code that reads it asks before it uses.
Json: TypeAlias = Any
Path = tuple[str | int, ...]

NAMES: Mapping[type, str] = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    type(None): "null",
}

JSON_TYPES: Mapping[type, str] = {
    dict: "object",
    list: "array",
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
}
"""The types of JSON; an integer is a number."""

TYPES = tuple(dict.fromkeys(JSON_TYPES.values()))

EMPTY = (None,)

MISSING = object()
"""The value of something that is absent, where null would be a value."""

_LEAST, _MOST = -(2**63), 2**64 - 1
"""The integers that 64 bits hold, with a sign or without; beyond them readers of JSON disagree."""


def pointer(*steps: str | int) -> str:
    """The JSON pointer made of `steps`.

    Source: RFC 6901, section 3.
    """
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def pointed(value: Json, at: str) -> Json:
    """What stands at the JSON pointer `at` in `value`; None where nothing does."""
    for step in at.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def error_at(code: str, at: str, problem: str, advice: str) -> WidgetError:
    """The error of what stands at the JSON pointer `at`."""
    return WidgetError(Finding(code=code, at=at, problem=problem, advice=advice))


def dotted(path: Path) -> str:
    """`path` as a caller writes it: `legs[0].from`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def path_names(path: str) -> tuple[str, ...]:
    """The property names on a dotted path; lists on it need no word: `legs[].from`, `legs.from`."""
    return tuple(path.replace("[]", "").split("."))


def kind(value: object) -> str:
    """The JSON type of `value` with its article, or what Python calls it."""
    return NAMES.get(type(value)) or f"a Python {type(value).__name__}"


def is_number(value: object) -> TypeGuard[float]:
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


def is_json(value: Json, deepest: int) -> bool:
    """Whether `value` is what a JSON text of at most `deepest` levels says.

    On the path of every call, so it finds out as fast as it can, and not why.
    """
    level = [value]
    for _ in range(deepest + 1):
        within: list[Json] = []
        for current in level:
            kind = type(current)
            if kind is dict:
                for key in current:
                    if type(key) is not str or not (key.isascii() or _encodable(key)):
                        return False
                # What is empty holds something all the same, or it would not count as a level.
                within.extend(current.values() if current else EMPTY)
            elif kind is list:
                within.extend(current or EMPTY)
            elif not (kind is str and current.isascii()) and not _is_scalar(current):
                return False
        if not within:
            return True
        level = within
    return False


def _is_scalar(value: Json) -> bool:
    if isinstance(value, str):
        return type(value) is str and _encodable(value)
    if type(value) is int:
        return _LEAST <= value <= _MOST
    return type(value) in NAMES and (type(value) is not float or math.isfinite(value))


def too_deep(value: Json, deepest: int) -> bool:
    """Whether `value` holds more than `deepest` containers, one in the other, itself included."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(deepest):
        if not level:
            return False
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
    return bool(level)


def count_nodes(value: Json, most: int) -> int:
    """Count the values of which `value` is made, itself included, to little more than `most`."""
    count = 1
    waiting = [value]
    while waiting and count <= most:
        inner = waiting.pop()
        if isinstance(inner, (dict, list)):
            count += len(inner)
            waiting.extend(inner.values() if isinstance(inner, dict) else inner)
    return count


def size(value: Json, most: int) -> int:
    """About how much there is to look through in `value`: values, and texts by 64 characters.

    Counted little further than `most`, so that what holds itself has a size, too.
    """
    count = 0
    level = [value]
    while level and count <= most:
        count += len(level)
        within: list[Json] = []
        for current in level:
            kind = type(current)
            if kind is str:
                if len(current) > 64:
                    count += len(current) >> 6
            elif kind is dict:
                within.extend(current.values())
            elif kind is list:
                within.extend(current)
        level = within
    return count


def count_nulls(value: Json, most: int) -> int:
    """Count the properties in `value` that are null, up to `most`."""
    count = 0
    waiting = [value]
    while waiting and count < most:
        inner = waiting.pop()
        if isinstance(inner, dict):
            count += sum(one is None for one in inner.values())
            waiting.extend(inner.values())
        elif isinstance(inner, list):
            waiting.extend(inner)
    return min(count, most)


def not_json(value: Json) -> tuple[Path, str] | None:
    """The first place in `value`, not too deep itself, that JSON cannot say; and what is there."""
    if why := _not_json_here(value):
        return (), why
    for step, inner in steps(value):
        if (type(inner) is not str or not inner.isascii()) and (found := not_json(inner)):
            return (step, *found[0]), found[1]
    return None


def steps(value: Json) -> Iterable[tuple[str | int, Json]]:
    """The steps from `value` to what it holds: names or indices; none from a scalar."""
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def _not_json_here(value: Json) -> str | None:
    if type(value) not in NAMES:
        return kind(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f"the number {value}"
    if isinstance(value, int) and not _LEAST <= value <= _MOST:
        return "an integer of more than 64 bits"
    if isinstance(value, str) and not _encodable(value):
        return "a string with half a character (a lone surrogate)"
    for key in value if isinstance(value, dict) else ():
        if type(key) is not str:
            return f"an object with {kind(key)} as a key"
        if not _encodable(key):
            return "an object with half a character in a key"
    return None


def _encodable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def exact(json_text: bytes) -> bytes:
    """A copy for whoever keeps it: behind what orjson writes, there is room that stays taken."""
    return bytes(memoryview(json_text))


def to_json(value: object) -> bytes:
    """`value` as JSON; also what orjson does not write, as an integer of more than 64 bits."""
    try:
        return orjson.dumps(value, default=dict)
    except orjson.JSONEncodeError:
        return json.dumps(value, default=dict).encode()


def replace_at(value: Json, by: Mapping[Path, Json]) -> Json:
    """Copy `value` with the values of `by` at its paths, none of which lies inside another.

    Everything beside these paths is shared with `value`. `MISSING` removes a property.
    """
    copies: dict[Path, Json] = {}
    for path, new in by.items():
        if not path:
            return new
        for length in range(len(path)):
            at = path[:length]
            if at not in copies:
                copies[at] = (copies[at[:-1]][at[-1]] if at else value).copy()
                if at:
                    copies[at[:-1]][at[-1]] = copies[at]
        if new is MISSING:
            del copies[path[:-1]][path[-1]]
        else:
            copies[path[:-1]][path[-1]] = new
    return copies[()] if by else value


def copied(value: Json, deepest: int) -> Json:
    """A copy of the JSON `value`, made of dictionaries and lists only.

    Raises:
        WidgetError: `value` nests deeper than `deepest` (W1103), or is not JSON (W1104).
    """
    return _copy(value) if is_json(value, deepest) else _located_copy(value, deepest, ())


def _copy(value: Json) -> Json:
    if type(value) is dict:
        return {key: _copy(inner) for key, inner in value.items()}
    return [_copy(inner) for inner in value] if type(value) is list else value


def _located_copy(value: Json, deepest: int, path: Path) -> Json:
    """The same of other mappings, or the fault and where it is."""
    if isinstance(value, Mapping):
        value = dict(value)
    if why := _not_json_here(value):
        problem = f"{why} cannot be said in JSON"
        raise error_at("W1104", pointer(*path), problem, "write plain JSON values")
    if isinstance(value, (dict, list)) and len(path) >= deepest:
        problem = f"the JSON nests deeper than {deepest} levels"
        raise error_at("W1103", pointer(*path[:4]), problem, "use fewer levels")
    if isinstance(value, dict):
        return {key: _located_copy(inner, deepest, (*path, key)) for key, inner in value.items()}
    if isinstance(value, list):
        return [_located_copy(inner, deepest, (*path, i)) for i, inner in enumerate(value)]
    return value
