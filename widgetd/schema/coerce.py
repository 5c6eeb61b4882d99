"""Coerce what models typically get wrong, one value at a time.

A table says, for each type that was wanted, what else a model sends for it; a
choice is known in another case, and a null that may not be there is none at all.
Nothing else is guessed at: a coerced value is what the sent one says, read in another way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from widgetd.schema.document import Document, Subschema
from widgetd.schema.explain import Explainer
from widgetd.schema.faults import MISSING, NEEDLESS_NULL, Fault, Faults
from widgetd.schema.json_text import NotJsonError, parse_sent
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
        return parse_sent(sent)
    except NotJsonError:
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
    arguments: Json, explainer: Explainer, admits: Callable[[Json], bool]
) -> tuple[Json, tuple[str, ...], Faults]:
    """`arguments`, which do not fit, with every fault read in another way.

    One may bring others to light, as in an object that came as a string.

    Returns:
        The arguments that fit, with one sentence for each value that was read in another way; or,
        with no sentence, those that came but for needless nulls, and why they do not fit.
    """
    told: list[str] = []
    failed: tuple[Json, Faults] | None = None
    for _ in range(MOST_ROUNDS):
        arguments, faults, absent = _without_nulls(arguments, explainer)
        told += _absent(absent)
        if told and admits(arguments):
            return arguments, tuple(told), ()
        failed = failed or (arguments, faults)
        meant = {fault.path: _best(fault, explainer) for fault in _outermost(faults)}
        readable = {path: reading for path, reading in meant.items() if reading is not None}
        if not meant or len(readable) < len(meant):
            break
        arguments = replaced(arguments, {path: new for path, (new, _) in readable.items()})
        told += [f"{dotted(path)}: {said}" for path, (_, said) in readable.items()]
    arguments, faults = failed or (arguments, ())
    return arguments, (), faults


def _without_nulls(arguments: Json, explainer: Explainer) -> tuple[Json, Faults, Iterable[Path]]:
    """`arguments` without nulls that need not be there and may not, what is wrong then, and where.

    That a property is required may be said elsewhere than what it may be; its null is told, too.
    """
    root = explainer.document.root
    absent: dict[Path, Fault] = {}
    faults = explainer.faults(root, arguments)
    while found := {fault.path: fault for fault in faults if fault.keyword == NEEDLESS_NULL}:
        arguments = replaced(arguments, dict.fromkeys(found, MISSING))
        absent |= found
        faults = explainer.faults(root, arguments)
    told = (absent.get(fault.path, fault) if fault.value is MISSING else fault for fault in faults)
    return arguments, tuple(told), absent


def _absent(paths: Iterable[Path]) -> Iterator[str]:
    """What is said of the nulls at `paths`; of those in the elements of one array, once."""
    alike: dict[Path, list[Path]] = {}
    for path in paths:
        names = tuple(step for step in path if isinstance(step, str))
        alike.setdefault(names, []).append(path)
    for same in alike.values():
        more = f" and {len(same) - 1} more" if len(same) > 1 else ""
        yield f"{dotted(same[0])}{more}: null was read as absent"


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
    if isinstance(fault.value, str):
        choice = _choice(document, fault.schema, fault.value)
        if choice is not None:
            yield choice, "a choice in another case or with spaces around it was read as it is"
    wanted = wanted_types(document, fault.schema)
    for name, reading, told in TABLE:
        if name in wanted:
            meant = reading(fault.value)
            if meant is not MISSING and is_type(meant, name):
                yield meant, told


def _choice(document: Document, schema: Subschema, sent: str) -> str | None:
    """The one text that `schema` offers which differs in case or in space around it only."""
    offered = {
        choice
        for part in _alternatives(document, schema)
        for choice in _choices(part)
        if isinstance(choice, str)
    }
    trimmed = {choice for choice in offered if choice.strip() == sent.strip()}
    folded = {choice for choice in offered if choice.strip().casefold() == sent.strip().casefold()}
    meant = trimmed or folded
    return meant.pop() if len(meant) == 1 else None


def wanted_types(document: Document, schema: Subschema) -> frozenset[str]:
    """The types of the values that `schema` admits, as far as references and unions say."""
    found: set[str] = set()
    for part in _alternatives(document, schema):
        choices = _choices(part)
        found.update(
            type_names(part)
            or (name for name, *_ in TABLE for one in choices if is_type(one, name))
        )
    return frozenset(found)


def _alternatives(
    document: Document, schema: Subschema, depth: int = 4
) -> Iterator[Mapping[str, Json]]:
    """`schema`, and what it refers to or chooses from, as far as `depth` references and unions."""
    if isinstance(schema, bool):
        return
    yield schema
    if depth:
        inner = (*document.targets(schema), *schema.get("anyOf", ()), *schema.get("oneOf", ()))
        for part in inner:
            yield from _alternatives(document, part, depth - 1)


def _choices(schema: Mapping[str, Json]) -> Sequence[Json]:
    offered: Sequence[Json] = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return offered


def replaced(value: Json, by: Mapping[Path, Json]) -> Json:
    """A copy of `value` in which what `by` says stands at its paths, none of them in another.

    `MISSING` stands for a property that is taken out. Everything else is shared.
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
