"""Python values as JSON has them: their types, their places, and the limits of JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, TypeAlias, TypeGuard

import orjson

from widgetd.base.errors import Finding, WidgetError

# The value of a JSON text, of unknown type.
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

_CLASSES: Mapping[str, type] = {name: python for python, name in JSON_TYPES.items()}
"""The class of each type's values, but for numbers, which have two."""

EMPTY = (None,)

MISSING = object()
"""The value of something that is absent, where null would be a value."""

_LEAST, _MOST = -(2**63), 2**64 - 1
"""The 64-bit integers, signed or unsigned; readers of JSON disagree about larger ones."""


def pointer(*steps: str | int) -> str:
    """Build the JSON pointer of `steps`.

    Source: RFC 6901, section 3.
    """
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def resolve_pointer(value: Json, at: str) -> Json:
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
    return WidgetError(Finding(code=code, at=at, problem=problem, advice=advice))


def join_path(path: Path) -> str:
    """Write `path` as a caller would: `legs[0].from`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def path_names(path: str) -> tuple[str, ...]:
    """Return the property names on a dotted path: `legs.from` for `legs.from` and `legs[].from`."""
    return tuple(path.replace("[]", "").split("."))


def kind(value: object) -> str:
    return NAMES.get(type(value)) or f"a Python {type(value).__name__}"


def is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_type(value: Json, name: str) -> bool:
    if name == "integer":
        return is_number(value) and value == value // 1
    if name == "number":
        return is_number(value)
    return isinstance(value, _CLASSES.get(name, object))


def equality_key(value: Json) -> Hashable:
    """Return a key shared by values that JSON Schema considers equal: 1 and 1.0, but not true."""
    if isinstance(value, dict):
        return frozenset((key, equality_key(inner)) for key, inner in value.items())
    if isinstance(value, list):
        return tuple(equality_key(inner) for inner in value)
    return (bool, value) if isinstance(value, bool) else value


def is_json(value: Json, deepest: int) -> bool:
    """Return whether `value` could come from a JSON text of at most `deepest` levels.

    Every call pays for this, so it is optimised for the answer, and leaves the reason to
    `find_non_json`.
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
                # An empty container counts as a level, too.
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


def is_too_deep(value: Json, deepest: int) -> bool:
    """Return whether more than `deepest` containers nest in `value`, itself included."""
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
    """Count the values in `value`, itself included, to little more than `most`."""
    count = 1
    waiting = [value]
    while waiting and count <= most:
        inner = waiting.pop()
        if isinstance(inner, (dict, list)):
            count += len(inner)
            waiting.extend(inner.values() if isinstance(inner, dict) else inner)
    return count


def size(value: Json, most: int) -> int:
    """Measure the work of reading `value`: a step per value, and per 64 characters of a text.

    Stops soon after `most`, so a value inside itself has a size, too.
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
    count = 0
    waiting = [value]
    while waiting and count < most:
        inner = waiting.pop()
        if isinstance(inner, dict):
            count += sum(element is None for element in inner.values())
            waiting.extend(inner.values())
        elif isinstance(inner, list):
            waiting.extend(inner)
    return min(count, most)


def find_non_json(value: Json) -> tuple[Path, str] | None:
    """Find the first place in `value` without an expression in JSON, and the reason.

    `value` must not be too deep.
    """
    if why := _name_non_json(value):
        return (), why
    for step, inner in steps(value):
        if (type(inner) is not str or not inner.isascii()) and (fault := find_non_json(inner)):
            return (step, *fault[0]), fault[1]
    return None


def steps(value: Json) -> Iterable[tuple[str | int, Json]]:
    """Return names or indices with the values in `value`. A scalar has none."""
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def _name_non_json(value: Json) -> str | None:
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


def copy_exact(json_text: bytes) -> bytes:
    """Copy `json_text` for storage: orjson's own result keeps its spare capacity allocated."""
    return bytes(memoryview(json_text))


def to_json(value: object) -> bytes:
    """Encode `value` as JSON, also if orjson cannot, as with integers beyond 64 bits."""
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


def copy_json(value: Json, deepest: int) -> Json:
    """Copy the JSON `value` using dictionaries and lists only.

    Raises:
        WidgetError: `value` nests deeper than `deepest` (W1103), or is not JSON (W1104).
    """
    return _copy(value) if is_json(value, deepest) else _copy_or_locate(value, deepest, ())


def _copy(value: Json) -> Json:
    if type(value) is dict:
        return {key: _copy(inner) for key, inner in value.items()}
    return [_copy(inner) for inner in value] if type(value) is list else value


def _copy_or_locate(value: Json, deepest: int, path: Path) -> Json:
    if isinstance(value, Mapping):
        value = dict(value)
    if why := _name_non_json(value):
        problem = f"{why} cannot be said in JSON"
        raise error_at("W1104", pointer(*path), problem, "write plain JSON values")
    if isinstance(value, (dict, list)) and len(path) >= deepest:
        problem = f"the JSON nests deeper than {deepest} levels"
        raise error_at("W1103", pointer(*path[:4]), problem, "use fewer levels")
    if isinstance(value, dict):
        return {key: _copy_or_locate(inner, deepest, (*path, key)) for key, inner in value.items()}
    if isinstance(value, list):
        return [_copy_or_locate(inner, deepest, (*path, i)) for i, inner in enumerate(value)]
    return value
