"""The states in which people look at a widget: as its author saw it, and what may become of that.

    sample -> preview as it stands -> first example -> one of each -> many of each

The first of these in which there is something to be seen is the sample. The states after it
are made of it, and of the schema only where nobody wrote a sample that fits: made shorter,
longer or wordier, what its author wrote stays together, as the rows of a table keep the keys
of its columns. A change that the schema does not admit is not made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import orjson

from widgetd.errors import CallError, WidgetError
from widgetd.schema.json_values import Path, steps
from widgetd.schema.sampling import sample as sampling
from widgetd.schema.sampling.sample import State as Generated
from widgetd.schema.sampling.words import LONG
from widgetd.schema.validator import Schema, compile_schema
from widgetd.text_search import compile_pattern, did_you_mean
from widgetd.widget.components import tree
from widgetd.widget.components.tree import components
from widgetd.widget.widget import Render, Widget

SAMPLE = "sample"

_LAYOUT = frozenset(
    {"Basic", "Box", "Card", "Col", "Divider", "Form", "ListView", "ListViewItem", "Row", "Spacer"}
    | {"Table", "Table.Cell", "Table.Row", "Transition"}
)
"""Components that are room for others, or between them."""

_MADE: tuple[Generated, ...] = ("one", "many")

_NO_SAMPLE = "The file brings no sample that can be drawn; this one is made from the schema."
_NO_STATE = "The file brings no sample that can be read; this is its preview as it stands."
_UNFIT = "The schema does not admit this sample; it is drawn all the same."

_RIGHT_TO_LEFT = "مرحبا بالعالم هذا نص تجريبي يمتد من اليمين إلى اليسار ليختبر التخطيط "
_EMOJI = "🎉 👩🏽‍🚀 ✈️ 🏳️‍🌈 🍜 👨‍👩‍👧‍👦 🚲 ❤️‍🔥 "


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One state in which people look at a widget.

    Attributes:
        key: What it is called in an address: `sample`, `example-2`, `many`.
        label: What people call it.
        locale: The language that it is to be shown in; empty for the browser's own.
    """

    key: str
    label: str
    locale: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What is to be seen in a state.

    Attributes:
        arguments: What the widget is called with; of a preview, what a change of it begins with.
        label: What people call it.
        note: What they should know about it, in a sentence; empty where there is nothing.
        render: Made already, where no call would make it; None where a call does.
    """

    arguments: Mapping[str, Any]
    label: str = "Sample"
    note: str = ""
    render: Render | None = None

    def tree(self, widget: Widget) -> dict[str, Any]:
        """The widget root.

        Raises:
            CallError: The arguments do not fit, or the template fails on them.
        """
        return (self.render or widget.call(self.arguments)).tree


def states(widget: Widget) -> tuple[State, ...]:
    """The states of `widget`, in the order in which people choose from them."""
    examples = widget.definition.sidecar.examples
    return (
        State(key=SAMPLE, label=_sample(widget).label),
        *(
            State(key=f"example-{number}", label=example.name or f"Example {number}")
            for number, example in enumerate(examples, 1)
        ),
        *(State(key=key, label=label) for key, (label, _) in _VARIED.items()),
        *(
            State(key=key, label=label, locale="ar" if key == "rtl" else "")
            for key, (label, _) in _WORDS.items()
        ),
    )


def state_of(widget: Widget, key: str) -> State:
    """The state of that key.

    Raises:
        CallError: The widget has no such state (W4402).
    """
    known = {one.key: one for one in states(widget)}
    if key not in known:
        hint = did_you_mean(key, known, f"it has {', '.join(known)}")
        raise CallError("W4402", f"{widget.tool} has no state '{key:.60}'; {hint}", path="state")
    return known[key]


def shown(widget: Widget, key: str) -> Shown:
    """What is to be seen of `widget` in the state `key`; the sample where there is none of it."""
    for number, example in enumerate(widget.definition.sidecar.examples, 1):
        if key == f"example-{number}":
            return Shown(arguments=example.arguments)
    sample = _sample(widget)
    given = sample.arguments
    if sample.render is not None:  # which no call made, so that another call need not either
        given = _called(widget)
    made: Mapping[str, Any] | None = None
    for state, (_, vary) in _VARIED.items():
        if key == state:
            schema = widget.schema
            made = vary(schema, given) if given else sampling.sample(schema, state=state)
    if key in _WORDS:
        made = reworded(widget.schema, given, lambda text: _cut(_WORDS[key][1], text))
    other = Shown(arguments=made or {})
    return sample if made is None or (key != "empty" and _is_blank(widget, other)) else other


def _cut(words: str, text: str) -> str:
    """About as many characters of `words` as of `text`, which may end only where a word does."""
    repeated = words * (len(text) // len(words) + 1)
    end = repeated.rfind(" ", 0, len(text) + 1)
    return repeated[: end if end > 0 else repeated.index(" ")]


def _sample(widget: Widget) -> Shown:
    """What the author saw in Studio, else what comes nearest to it; never empty if it can be."""
    shows = (candidate for candidate in _candidates(widget) if not _is_blank(widget, candidate))
    return next(shows, None) or Shown(arguments=widget.example or {})


def _candidates(widget: Widget) -> Iterator[Shown]:
    studio, preview = widget.definition.studio, widget.definition.document.preview
    given = dict(studio.default_state) if studio is not None else {}
    if given and widget.schema.admits(given):
        yield Shown(arguments=given)
    elif given:
        # Although the schema does not admit it, if the template can draw it.
        with suppress(CallError, WidgetError):
            label, drawn = "Sample, which does not fit", _rendered(widget.tree(given), given)
            yield Shown(arguments=given, label=label, note=_UNFIT, render=drawn)
    if preview is not None:
        # The tree that Studio made of its own sample, as it stands in the file.
        called = _called(widget)
        with suppress(WidgetError):
            drawn = _rendered(tree(orjson.dumps(preview)), called)
            yield Shown(arguments=called, label="As exported", note=_NO_STATE, render=drawn)
    yield from _fitting(widget)


def _fitting(widget: Widget) -> Iterator[Shown]:
    """What calls can be made with, but for Studio's sample."""
    yield from (Shown(arguments=given) for given in widget.examples)
    # Without a schema anything is admitted, so it is what the template reads that counts.
    schema = widget.schema if widget.definition.schema else _schema_of_reads(widget)
    for state in _MADE:
        made = sampling.sample(schema, state=state)
        if made is not None and widget.schema.admits(made):
            yield Shown(arguments=made, note=_NO_SAMPLE)


def _schema_of_reads(widget: Widget) -> Schema:
    """What the template reads: `legs[].from.city` is a text in an object in each of a list."""
    root: dict[str, Any] = {"type": "object"}
    for path in sorted(read.path for read in widget.template.reads if not read.index):
        part = root
        for step in path.split("."):
            name = step.rstrip("[]")
            part["type"] = "object"
            part = part.setdefault("properties", {}).setdefault(name, {"type": "string"})
            for _ in range(step.count("[]")):
                part["type"] = "array"
                part = part.setdefault("items", {"type": "string"})
    return compile_schema(root)


def _called(widget: Widget) -> Mapping[str, Any]:
    """Arguments of a call in which there is something to be seen."""
    shows = (one.arguments for one in _fitting(widget) if not _is_blank(widget, one))
    return next(shows, None) or widget.example or {}


def _rendered(root: dict[str, Any], arguments: Mapping[str, Any]) -> Render:
    return Render(tree=root, json=orjson.dumps(root), arguments=arguments, steps=0)


def _is_blank(widget: Widget, seen: Shown) -> bool:
    """Whether nothing is to be seen but room for something, or nothing at all."""
    try:
        parts = components(seen.tree(widget))
    except CallError:
        return True
    return not any(
        part.keys() & {"status", "confirm", "cancel"}
        or (part.get("type") not in _LAYOUT and part.get("value") != "")
        for part in parts
    )


# --- a sample made shorter, longer or wordier ---

MANY = 20
"""Elements of a list, where the schema leaves it open."""

_MOST_TEXTS = 200
"""Each text is tried by itself; a sample with more of them has been tried enough."""

_LONG_CHARACTERS = (300, 140, 80, 48, 32, 20, 12)
"""Lengths that are tried, the longest first."""

_NO_WORDS = compile_pattern(r"(?a)[^\w]*[a-z0-9_.:/#%+-]*[^\w]*")
"""A text that stands for something: the name of an icon, a colour, a time; empty, too."""

_IDENTITY = compile_pattern(r"\A(?:id|key|value|slug|sku|\w+Id|\w+_id)\Z")
"""What a property is called whose value tells one element from another."""

_DATE = compile_pattern(r"\d{4}-\d\d-\d\d")


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


def repeated(schema: Schema, sample: Mapping[str, Any]) -> Mapping[str, Any]:
    """`sample` with the elements of each list again and again, but for lists within lists."""
    names = _names(sample)
    lists = [path for path, value in _parts(sample) if isinstance(value, list) and value]
    for path in lists:
        value = _at(sample, path)
        if any(isinstance(step, int) for step in path) or _names_others(value, names):
            continue
        told = _told_apart_by(schema, sample, path)
        for count in range(MANY, len(value), -1):
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


Vary = Callable[[Any, Mapping[str, Any]], Mapping[str, Any]]

_VARIED: Mapping[Generated, tuple[str, Vary]] = {
    "empty": ("Empty lists", lambda schema, given: shortened(schema, given, 0)),
    "one": ("One of each", lambda schema, given: shortened(schema, given, 1)),
    "many": ("Many of each", repeated),
    "long": ("Long text", lengthened),
}
_WORDS: Mapping[str, tuple[str, str]] = {
    "rtl": ("Right to left", _RIGHT_TO_LEFT),
    "emoji": ("Emoji", _EMOJI),
}
