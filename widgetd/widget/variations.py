"""A sample made shorter, longer or wordier: what else its widget may have to hold.

What its author wrote stays together: the rows of a table keep the keys of its columns. A
change that the schema does not admit is not made, so a sample that fits goes on fitting.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from typing import Any

from widgetd.schema.json_values import Path, steps
from widgetd.schema.sampling.words import LONG
from widgetd.schema.validator import Schema

MANY = 20
"""Elements of a list, where the schema leaves it open."""

_MOST_TEXTS = 200
"""Each text is tried by itself; a sample with more of them has been tried enough."""

_LONG_CHARACTERS = (300, 140, 80, 48, 32, 20, 12)
"""Lengths that are tried, the longest first."""

_NO_WORDS = re.compile(r"[^\w]*[a-z0-9_.:/#%+-]*[^\w]*", re.ASCII)
"""A text that stands for something: the name of an icon, a colour, a time; empty, too."""

_IDENTITY = re.compile(r"id|key|value|slug|sku|\w+Id|\w+_id")
"""What a property is called whose value tells one element from another."""

_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def shortened(schema: Schema, sample: Mapping[str, Any], length: int) -> Mapping[str, Any]:
    """`sample` with lists of at most `length` elements, or of as many as there must be."""
    names = _names(sample)
    waiting: list[Path] = [()]
    while waiting:
        path = waiting.pop()
        value = _at(sample, path)
        if isinstance(value, list) and not _names_others(value, names):
            shorter = (value[:count] for count in range(length, len(value)))
            tried = (_with(sample, path, one) for one in shorter)
            sample = next(filter(schema.admits, tried), sample)
        waiting += [(*path, step) for step, _ in steps(_at(sample, path))]
    return sample


def repeated(schema: Schema, sample: Mapping[str, Any], most: int = MANY) -> Mapping[str, Any]:
    """`sample` with the elements of each list again and again, but for lists within lists."""
    names = _names(sample)
    lists = [path for path, value in _parts(sample) if isinstance(value, list) and value]
    for path in lists:
        value = _at(sample, path)
        if any(isinstance(step, int) for step in path) or _names_others(value, names):
            continue
        told = _told_apart_by(schema, sample, path)
        for count in range(most, len(value), -1):
            longer = [_again(value, number, told) for number in range(count)]
            tried = _with(sample, path, longer)
            if schema.admits(tried):
                sample = tried
                break
    return sample


def lengthened(schema: Schema, sample: Mapping[str, Any]) -> Mapping[str, Any]:
    """`sample` with texts as long as they may be, but for those that are no words."""
    for path in _texts(sample):
        text = _at(sample, path)
        if _NO_WORDS.fullmatch(text):
            continue
        longer = (f"{text} {LONG * 3}"[:most].rstrip() for most in _LONG_CHARACTERS)
        tried = (_with(sample, path, one) for one in longer if len(one) > len(text))
        sample = next(filter(schema.admits, tried), sample)
    return sample


def reworded(
    schema: Schema, sample: Mapping[str, Any], reword: Callable[[str], str]
) -> Mapping[str, Any]:
    """`sample` with each text that may be another as `reword` has it."""
    for path in _texts(sample):
        tried = _with(sample, path, reword(_at(sample, path)))
        if schema.admits(tried):
            sample = tried
    return sample


def _with(value: Any, path: Path, other: Any) -> Any:
    """A copy of `value` in which `other` is at `path`."""
    if not path:
        return other
    copy: Any = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = _with(value[path[0]], path[1:], other)
    return copy


def _parts(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Everything in `value`, what is around before what is within."""
    yield path, value
    for step, inner in steps(value):
        yield from _parts(inner, (*path, step))


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _texts(sample: Mapping[str, Any]) -> list[Path]:
    """Where the texts are that may be others: no address, nothing that others are found by."""
    names = _names(sample)
    found = [(path, text) for path, text in _parts(sample) if isinstance(text, str)]
    times = Counter(text for _, text in found)
    return [
        path
        for path, text in found
        if text and "://" not in text and not text.startswith("data:")
        if text not in names and not (times[text] > 1 and _IDENTITY.fullmatch(str(path[-1])))
    ][:_MOST_TEXTS]


def _names(sample: Mapping[str, Any]) -> frozenset[str]:
    """The names of all properties."""
    return frozenset(
        name for _, value in _parts(sample) if isinstance(value, Mapping) for name in value
    )


def _names_others(elements: list[Any], names: frozenset[str]) -> bool:
    """Whether each of `elements` says the name of a property: a column, or a series of a chart."""
    own = _names({"": elements})
    return bool(elements) and all(
        isinstance(element, Mapping)
        and any(isinstance(text, str) and text in names - own for text in element.values())
        for element in elements
    )


def _told_apart_by(schema: Schema, sample: Mapping[str, Any], path: Path) -> frozenset[str]:
    """The properties in which the elements of a list differ, and may differ further."""
    elements = _at(sample, path)
    if not all(isinstance(element, Mapping) for element in elements):
        return frozenset({""})
    first = elements[0]
    differing = set()
    for name, text in first.items():
        if not isinstance(text, str):
            continue
        if not _IDENTITY.fullmatch(name):
            values = {str(element.get(name)) for element in elements}
            words = _DATE.match(text) or any(map(str.isalpha, text))
            if not words or not 1 < len(values) == len(elements):
                continue
        if schema.admits(_with(sample, (*path, 0, name), _another(text, 2, 1))):
            differing.add(name)
    return frozenset(differing)


def _again(elements: list[Any], number: int, told_apart_by: frozenset[str]) -> Any:
    """The element at `number` of a list that begins anew where it ends."""
    rounds, index = divmod(number, len(elements))
    element = elements[index]
    if not rounds:
        return element
    if isinstance(element, str):
        return _another(element, rounds + 1, len(elements))
    if not isinstance(element, Mapping):
        return element
    return {
        name: _another(value, rounds + 1, len(elements))
        if name in told_apart_by and isinstance(value, str)
        else value
        for name, value in element.items()
    }


def _another(text: str, time: int, apart: int) -> str:
    """`text` for the element that is like its own for the `time`th time."""
    if "://" in text or text.startswith("data:"):
        return text
    if _DATE.match(text):
        later = date.fromisoformat(text[:10]) + timedelta(days=apart * (time - 1))
        return f"{later}{text[10:]}"
    return f"{text}-{time}" if _NO_WORDS.fullmatch(text) else f"{text} {time}"
