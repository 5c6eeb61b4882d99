"""Coerce what models typically get wrong, one value at a time.

A table lists, for each expected type, what models send instead. A choice is recognised in another
case, a null in an optional property counts as absent where null is not allowed, and a table may be
written as names and lists (`tabular`). Nothing else is guessed: a coerced value says the same as
the sent value, in another type.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping

from widgetd.base.text_search import compile_pattern
from widgetd.core.schema.document import SchemaDocument
from widgetd.core.schema.explain import Explainer
from widgetd.core.schema.json_text import NotJsonError, parse_json
from widgetd.core.schema.json_values import MISSING, Json, Path, is_type, join_path, replace_at
from widgetd.core.schema.keywords import list_choices, list_types
from widgetd.core.schema.limits import LIMITS
from widgetd.core.schema.phrase import ArgumentFault, Faults
from widgetd.core.schema.rank import NEEDLESS_NULL
from widgetd.core.schema.tabular import read_table

_DIGITS = r"-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,3})?"
NUMBER = compile_pattern(rf"(?:[€$£¥] ?)?({_DIGITS})(?: ?(?:%|[€$£¥]|[A-Z]{{3}}))?")
WORDS: Mapping[str, Json] = {"true": True, "false": False, "null": None}
LABEL = "label"
LABELLED = "a text was read as an object's label"
_NO_WORD = compile_pattern(r"[^A-Za-z0-9]+")
CHOICE = "a choice in another case or with spaces around it was read as it is"


def _read_number(sent: Json) -> Json:
    text = sent.strip() if isinstance(sent, str) else ""
    digits = NUMBER.fullmatch(text)
    return json.loads(digits[1]) if digits else MISSING


def _write_number(sent: Json) -> Json:
    return str(sent) if type(sent) in (int, float) else MISSING


def _read_word(sent: Json) -> Json:
    return WORDS.get(sent.strip().lower(), MISSING) if isinstance(sent, str) else MISSING


def _read_json(sent: Json) -> Json:
    if not isinstance(sent, str) or not sent.lstrip().startswith(("{", "[")):
        return MISSING
    try:
        return parse_json(sent)
    except NotJsonError:
        return MISSING


def _wrap(sent: Json) -> Json:
    """Put `sent` into an array. Null is no value, and a leading bracket means a broken array."""
    broken = isinstance(sent, str) and sent.lstrip().startswith("[")
    return MISSING if sent is None or broken else [sent]


TABLE: tuple[tuple[str, Callable[[Json], Json], str], ...] = (
    ("integer", _read_number, "a number in quotes was read as a number"),
    ("number", _read_number, "a number in quotes was read as a number"),
    ("string", _write_number, "a number was read as a text"),
    ("boolean", _read_word, "a boolean in quotes was read as a boolean"),
    ("null", _read_word, "null in quotes was read as null"),
    ("object", _read_json, "a string that holds JSON was read as an object"),
    ("array", _read_json, "a string that holds JSON was read as an array"),
    ("array", _wrap, "one value was read as an array of one"),
)
"""An expected type, how to read another value as that type, and the report of doing so."""


def coerce(
    arguments: Json, explainer: Explainer, admits: Callable[[Json], bool]
) -> tuple[Json, tuple[str, ...], Faults]:
    """Coerce `arguments` wherever they are at fault.

    Coercing a value may reveal further faults, as in an object sent as a string.

    Returns:
        Valid arguments, with a sentence for each coerced value. Or, without a sentence, the
        arguments without needless nulls and coerced as far as possible, and the remaining faults.
    """
    coerced: list[str] = []
    failed: tuple[Json, Faults] | None = None
    if table := read_table(arguments, explainer.document.root):
        arguments, coerced = table[0], [table[1]]
        if admits(arguments):
            return arguments, tuple(coerced), ()
    unread = len(coerced)  # reports without a reading of the value
    for _ in range(LIMITS.coercion_rounds):
        arguments, faults, nulls = _drop_nulls(arguments, explainer)
        reports = list(_report_nulls(nulls))
        coerced, unread = coerced + reports, unread + len(reports)
        if coerced and admits(arguments):
            return arguments, tuple(coerced), ()
        failed = failed or (arguments, faults)
        readings: dict[Path, tuple[Json, str]] = {}
        outermost = _keep_outermost(faults)
        for fault in outermost:
            if reading := _read(fault, explainer):
                readings[fault.path] = reading
        # All or nothing: another value refuses the arguments anyway.
        if not outermost or len(readings) < len(outermost):
            if len(coerced) == unread:  # nothing was read, so these are the faults as sent
                failed = _omit_fitting(arguments, faults, readings, outermost, explainer)
            break
        arguments = replace_at(arguments, {path: new for path, (new, _) in readings.items()})
        coerced += [f"{join_path(path)}: {report}" for path, (_, report) in readings.items()]
    arguments, faults = failed or (arguments, ())
    return arguments, (), faults


def _omit_fitting(
    arguments: Json,
    faults: Faults,
    readings: Mapping[Path, tuple[Json, str]],
    outermost: Iterable[ArgumentFault],
    explainer: Explainer,
) -> tuple[Json, Faults]:
    fitting = {
        fault.path: readings[fault.path][0]
        for fault in outermost
        if fault.path in readings and explainer.fits(fault.schema, readings[fault.path][0])
    }
    left = tuple(fault for fault in faults if not _is_within(fault.path, fitting))
    return replace_at(arguments, fitting), left


def _is_within(path: Path, others: Container[Path]) -> bool:
    return any(path[:length] in others for length in range(len(path) + 1))


def _drop_nulls(arguments: Json, explainer: Explainer) -> tuple[Json, Faults, Iterable[Path]]:
    """Drop needless nulls from places that forbid them. Return the faults left, and the places.

    Another subschema may require the property: then its null is reported instead of its absence.
    """
    root = explainer.document.root
    dropped: dict[Path, ArgumentFault] = {}
    faults = explainer.find_faults(root, arguments)
    while nulls := {fault.path: fault for fault in faults if fault.keyword == NEEDLESS_NULL}:
        arguments = replace_at(arguments, dict.fromkeys(nulls, MISSING))
        dropped |= nulls
        faults = explainer.find_faults(root, arguments)
    left = (dropped.get(fault.path, fault) if fault.value is MISSING else fault for fault in faults)
    return arguments, tuple(left), dropped


def _report_nulls(paths: Iterable[Path]) -> Iterator[str]:
    alike: dict[Path, list[Path]] = {}
    for path in paths:
        names = tuple(step for step in path if isinstance(step, str))
        alike.setdefault(names, []).append(path)
    for same in alike.values():
        more = f" and {len(same) - 1} more" if len(same) > 1 else ""
        yield f"{join_path(same[0])}{more}: null was read as absent"


def _keep_outermost(faults: Faults) -> list[ArgumentFault]:
    kept: dict[Path, ArgumentFault] = {}
    for fault in sorted(faults, key=lambda fault: len(fault.path)):
        if not _is_within(fault.path, kept):
            kept[fault.path] = fault
    return list(kept.values())


def _read(fault: ArgumentFault, explainer: Explainer) -> tuple[Json, str] | None:
    """Return the first fitting reading, else the first: it may be coerced further."""
    readings = list(_list_readings(explainer.document, fault))
    fitting = (reading for reading in readings if explainer.fits(fault.schema, reading[0]))
    return next(fitting, readings[0] if readings else None)


def _list_readings(document: SchemaDocument, fault: ArgumentFault) -> Iterator[tuple[Json, str]]:
    """Yield what else the value at `fault` may mean, likeliest first, with the report of each."""
    if fault.value is MISSING or fault.keyword not in ("type", "const", "enum"):
        return
    branches = list(document.reach(fault.schema, "anyOf", "oneOf"))
    if isinstance(fault.value, str):
        choice = _find_choice(branches, fault.value)
        if choice is not None:
            yield choice, CHOICE
    expected = {
        name
        for part in branches
        for name in list_types(part)
        or (name for name, *_ in TABLE for value in list_choices(part) if is_type(value, name))
    }
    for name, read, report in TABLE:
        if name in expected:
            value = read(fault.value)
            if value is not MISSING and is_type(value, name):
                yield value, report
    if isinstance(fault.value, str) and not fault.value.lstrip().startswith(("{", "[")):
        for part in branches:
            names = part.get("required", ()) if "object" in list_types(part) else ()
            if LABEL in names and len(names) <= 2:
                slug = _NO_WORD.sub("_", fault.value).strip("_").lower()[:40]
                yield {name: fault.value if name == LABEL else slug for name in names}, LABELLED


def _find_choice(branches: Iterable[Mapping[str, Json]], sent: str) -> str | None:
    choices = {
        choice for part in branches for choice in list_choices(part) if isinstance(choice, str)
    }
    trimmed = {choice for choice in choices if choice.strip() == sent.strip()}
    folded = {choice for choice in choices if choice.strip().casefold() == sent.strip().casefold()}
    matching = trimmed or folded
    return matching.pop() if len(matching) == 1 else None
