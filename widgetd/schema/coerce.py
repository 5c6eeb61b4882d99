"""Coerce what models typically get wrong, one value at a time.

A table says, for each type that was wanted, what else a model sends for it. Nothing
but the type is guessed at: a coerced value is what the sent one says, read in another way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping

import orjson

from widgetd.schema.document import Document, Subschema
from widgetd.schema.explain import Explainer
from widgetd.schema.faults import MISSING, Fault, Faults
from widgetd.schema.json_values import Json, Path, dotted, is_type
from widgetd.schema.types import type_names

NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?")
WORDS: Mapping[str, Json] = {"true": True, "false": False, "null": None}

MOST_ROUNDS = 8

Reading = Callable[[Json], Json]


def _number(sent: Json) -> Json:
    text = sent.strip() if isinstance(sent, str) else ""
    return json.loads(text) if NUMBER.fullmatch(text) else MISSING


def _word(sent: Json) -> Json:
    return WORDS.get(sent.strip().lower(), MISSING) if isinstance(sent, str) else MISSING


def _text(sent: Json) -> Json:
    """The object or array that a string holds as JSON."""
    if not isinstance(sent, str) or not sent.lstrip().startswith(("{", "[")):
        return MISSING
    try:
        return orjson.loads(sent)
    except orjson.JSONDecodeError:
        return MISSING


def _alone(sent: Json) -> Json:
    """An array of what was sent; null is no value, and what begins an array is a broken one."""
    broken = isinstance(sent, str) and sent.lstrip().startswith("[")
    return MISSING if sent is None or broken else [sent]


# What was wanted, how what was sent is read, and how that is told.
TABLE: tuple[tuple[str, Reading, str], ...] = (
    ("integer", _number, "a number in quotes was read as a number"),
    ("number", _number, "a number in quotes was read as a number"),
    ("boolean", _word, "a boolean in quotes was read as a boolean"),
    ("null", _word, "null in quotes was read as null"),
    ("object", _text, "a string that holds JSON was read as an object"),
    ("array", _text, "a string that holds JSON was read as an array"),
    ("array", _alone, "one value was read as an array of one"),
)


def coerced(
    arguments: Json, faults: Faults, explainer: Explainer, admits: Callable[[Json], bool]
) -> tuple[Json, tuple[str, ...]] | None:
    """`arguments` with every fault read in another way, and what was done; `None` if that fails.

    One may bring others to light, as in an object that came as a string.
    """
    told: list[str] = []
    for _ in range(MOST_ROUNDS if faults else 0):
        for fault in _outermost(faults):
            meant = _best(fault, explainer)
            if meant is None:
                return None
            arguments = replaced(arguments, fault.path, meant[0])
            told.append(f"{dotted(fault.path)}: {meant[1]}")
        if admits(arguments):
            return arguments, tuple(told)
        faults = explainer.faults(explainer.document.root, arguments)
        if not faults:
            break
    return None


def _outermost(faults: Faults) -> list[Fault]:
    """The faults that stand in no other, so that each can be coerced by itself."""
    kept: dict[Path, Fault] = {}
    for fault in sorted(faults, key=lambda fault: len(fault.path)):
        path = fault.path
        if not any(path[:length] in kept for length in range(len(path) + 1)):
            kept[path] = fault
    return list(kept.values())


def _best(fault: Fault, explainer: Explainer) -> tuple[Json, str] | None:
    """The first reading that fits as it is, else the first that may be coerced further."""
    found = list(readings(explainer.document, fault))
    fitting = (meant for meant in found if explainer.fits(fault.schema, meant[0]))
    return next(fitting, found[0] if found else None)


def readings(document: Document, fault: Fault) -> Iterator[tuple[Json, str]]:
    """What else the value at `fault` may mean, likeliest first, and how that is told."""
    if fault.value is MISSING or fault.keyword not in ("type", "const", "enum"):
        return
    wanted = wanted_types(document, fault.schema)
    for name, reading, told in TABLE:
        if name in wanted:
            meant = reading(fault.value)
            if meant is not MISSING and is_type(meant, name):
                yield meant, told


def wanted_types(document: Document, schema: Subschema, depth: int = 4) -> frozenset[str]:
    """The types of the values that `schema` admits, as far as `depth` references and unions say."""
    if isinstance(schema, bool):
        return frozenset()
    if named := type_names(schema):
        return frozenset(named)
    choices = schema.get("enum", [schema["const"]] if "const" in schema else [])
    found = {name for choice in choices for name, *_ in TABLE if is_type(choice, name)}
    if depth:
        inner = [*document.targets(schema), *schema.get("anyOf", ()), *schema.get("oneOf", ())]
        for part in inner:
            found |= wanted_types(document, part, depth - 1)
    return frozenset(found)


def replaced(value: Json, path: Path, by: Json) -> Json:
    """A copy of `value` in which `by` stands at `path`; everything else is shared."""
    if not path:
        return by
    step, *rest = path
    copy = value.copy()
    copy[step] = replaced(value[step], tuple(rest), by)
    return copy
