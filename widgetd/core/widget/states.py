"""Show a widget in typical states: the author's sample, and variations of it.

    sample -> preview as it stands -> first example -> one of each -> many of each

The sample is the first of these with visible content. The later states vary it, and use the schema
only if no valid sample exists: shortening, repeating or rewording keeps the author's values
together, as the rows of a table keep the keys of its columns. A change outside the schema is not
made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial, reduce
from operator import getitem
from typing import Any, Literal

import orjson

from widgetd.base.errors import CallError, WidgetError
from widgetd.base.text_search import compile_pattern, did_you_mean
from widgetd.core.schema.json_values import Path, replace_at, steps
from widgetd.core.schema.sampling.sample import State as Generated
from widgetd.core.schema.sampling.words import LONG
from widgetd.core.schema.validator import Schema, compile_schema
from widgetd.core.widget.components import tree
from widgetd.core.widget.components.traits import get_traits
from widgetd.core.widget.components.tree import iterate_components
from widgetd.core.widget.limits import LIMITS
from widgetd.core.widget.widget import Render, Widget

SAMPLE = "sample"

THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
GRID_WIDTHS_PX = (320, 400, 768)
"""Themes and widths at which all states of a widget are shown beside each other."""

Arguments = Mapping[str, Any]

_MADE: tuple[Generated, ...] = ("one", "many")

_NO_SAMPLE = "The file brings no sample that can be drawn; this one is made from the schema."
_NO_STATE = "The file brings no sample that can be read; this is its preview as it stands."
_UNFIT = "The schema does not admit this sample; it is drawn all the same."

_RIGHT_TO_LEFT = "مرحبا بالعالم هذا نص تجريبي يمتد من اليمين إلى اليسار ليختبر التخطيط "
_EMOJI = "🎉 👩🏽‍🚀 ✈️ 🏳️‍🌈 🍜 👨‍👩‍👧‍👦 🚲 ❤️‍🔥 "


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A state in which people look at a widget.

    Attributes:
        key: Its name in an address: `sample`, `example-2`, `many`.
        label: Its name for people.
        locale: The language to show it in, empty for the browser's own.
    """

    key: str
    label: str
    locale: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownState:
    """The content of a state.

    Attributes:
        arguments: The widget's arguments. Of a preview, the start of variations.
        label: Its name for people.
        note: A sentence about it, or empty.
        render: The finished render if no call would produce it, None if a call does.
    """

    arguments: Mapping[str, Any]
    label: str = "Sample"
    note: str = ""
    render: Render | None = None

    def tree(self, widget: Widget) -> dict[str, Any]:
        """Return the widget root.

        Raises:
            CallError: The arguments are invalid, or the template fails on them.
        """
        return (self.render or widget.call(self.arguments)).tree


def list_states(widget: Widget) -> tuple[State, ...]:
    examples = widget.definition.sidecar.examples
    return (
        State(key=SAMPLE, label=_choose(widget, _list_candidates(widget)).label),
        *(
            State(key=f"example-{number}", label=example.name or f"Example {number}")
            for number, example in enumerate(examples, 1)
        ),
        *(
            State(key=key, label=label, locale="ar" if key == "rtl" else "")
            for key, (label, *_) in _VARIED.items()
        ),
    )


def find_state(widget: Widget, key: str) -> State:
    """Return the state of this key.

    Raises:
        CallError: The widget has no such state (W4402).
    """
    states = {state.key: state for state in list_states(widget)}
    if key not in states:
        hint = did_you_mean(key, states, f"it has {', '.join(states)}")
        raise CallError("W4402", f"{widget.tool} has no state '{key:.60}'; {hint}", path="state")
    return states[key]


def show_state(widget: Widget, key: str) -> ShownState:
    """Return the content of the state `key`, or the sample if it cannot be made."""
    for number, example in enumerate(widget.definition.sidecar.examples, 1):
        if key == f"example-{number}":
            return ShownState(arguments=example.arguments)
    sample = _choose(widget, _list_candidates(widget))
    if key not in _VARIED:
        return sample
    # If the sample is not from a call, a call may fail on its arguments.
    arguments = sample.arguments if sample.render is None else _choose_arguments(widget)
    _, style, vary = _VARIED[key]
    schema = widget.schema
    varied = schema.sample(state=style) if style and not arguments else vary(schema, arguments)
    if varied is None:
        return sample
    other = ShownState(arguments=varied)
    return sample if key != "empty" and _is_blank(widget, other) else other


def _choose(widget: Widget, candidates: Iterator[ShownState]) -> ShownState:
    shows = (candidate for candidate in candidates if not _is_blank(widget, candidate))
    return next(shows, None) or ShownState(arguments=widget.example)


# The author's sample in Studio, and its substitutes, the nearest first.
def _list_candidates(widget: Widget) -> Iterator[ShownState]:
    studio, preview = widget.definition.studio, widget.definition.document.preview
    state = dict(studio.default_state) if studio is not None else {}
    if state and widget.schema.admits(state):
        yield ShownState(arguments=state)
    elif state:
        # The schema does not admit it, but the template may be able to draw it.
        with suppress(CallError, WidgetError):
            label, drawn = "Sample, which does not fit", _build_render(widget.tree(state), state)
            yield ShownState(arguments=state, label=label, note=_UNFIT, render=drawn)
    if preview is not None:
        # Studio's tree of its own sample, unchanged from the file.
        called = _choose_arguments(widget)
        with suppress(WidgetError):
            drawn = _build_render(tree(orjson.dumps(preview)), called)
            yield ShownState(arguments=called, label="As exported", note=_NO_STATE, render=drawn)
    yield from _list_callable(widget)


def _list_callable(widget: Widget) -> Iterator[ShownState]:
    yield from (ShownState(arguments=arguments) for arguments in widget.examples)
    # Without a schema anything is valid, so sample what the template reads.
    schema = widget.schema if widget.definition.schema else _infer_schema(widget)
    for state in _MADE:
        sample = schema.sample(state=state)
        if sample is not None and widget.schema.admits(sample):
            yield ShownState(arguments=sample, note=_NO_SAMPLE)


def _infer_schema(widget: Widget) -> Schema:
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


def _choose_arguments(widget: Widget) -> Mapping[str, Any]:
    return _choose(widget, _list_callable(widget)).arguments or widget.example


def _build_render(root: dict[str, Any], arguments: Mapping[str, Any]) -> Render:
    return Render(tree=root, json=orjson.dumps(root), arguments=arguments, steps=0)


def _is_blank(widget: Widget, seen: ShownState) -> bool:
    try:
        parts = iterate_components(seen.tree(widget))
    except CallError:
        return True
    return not any(
        part.keys() & {"status", "confirm", "cancel"}
        or not (get_traits(part).layout or part.get("value") == "")
        for part in parts
    )


# --- a sample made shorter, longer or wordier ---


_LONG_CHARACTERS = (300, 140, 80, 48, 32, 20, 12)
"""Lengths to try, the longest first."""

_NO_WORDS = compile_pattern(r"(?a)[^\w]*[a-z0-9_.:/#%+-]*[^\w]*")
"""A text that is a code rather than words: an icon's name, a colour, a time; also empty."""

_IDENTITY = compile_pattern(r"\A(?:id|key|value|slug|sku|\w+Id|\w+_id)\Z")
"""Names of properties whose values identify elements."""

_DATE = compile_pattern(r"\d{4}-\d\d-\d\d")


def _shorten_lists(length: int, schema: Schema, sample: Arguments) -> Arguments:
    names = _collect_names(sample)
    waiting: list[Path] = [()]
    while waiting:
        path = waiting.pop()
        value = _get_at(sample, path)
        if isinstance(value, list) and not _hold_names(value, names):
            shorter = (value[:count] for count in range(length, len(value)))
            sample = _change(schema, sample, path, shorter)
        waiting += [(*path, step) for step, _ in steps(_get_at(sample, path))]
    return sample


def _repeat_elements(schema: Schema, sample: Arguments) -> Arguments:
    names = _collect_names(sample)
    lists = [path for path, value in _iterate_values(sample) if isinstance(value, list) and value]
    for path in lists:
        value = _get_at(sample, path)
        if any(isinstance(step, int) for step in path) or _hold_names(value, names):
            continue
        apart = _find_distinguishing(schema, sample, path)
        longer = (
            [_repeat_element(value, number, apart) for number in range(count)]
            for count in range(LIMITS.many_elements, len(value), -1)
        )
        sample = _change(schema, sample, path, longer)
    return sample


def _lengthen_texts(schema: Schema, sample: Arguments) -> Arguments:
    for path in _find_texts(sample):
        text = _get_at(sample, path)
        if not _NO_WORDS.fullmatch(text):
            longer = (f"{text} {LONG * 3}"[:most].rstrip() for most in _LONG_CHARACTERS)
            sample = _change(schema, sample, path, (x for x in longer if len(x) > len(text)))
    return sample


def _replace_texts(words: str, schema: Schema, sample: Arguments) -> Arguments:
    for path in _find_texts(sample):
        length = len(_get_at(sample, path))
        repeated = words * (length // len(words) + 1)
        end = repeated.rfind(" ", 0, length + 1)
        text = repeated[: end if end > 0 else repeated.index(" ")]
        sample = _change(schema, sample, path, [text])
    return sample


def _change(schema: Schema, sample: Arguments, path: Path, values: Iterable[Any]) -> Arguments:
    tried = (replace_at(sample, {path: value}) for value in values)
    return next(filter(schema.admits, tried), sample)


def _iterate_values(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    yield path, value
    for step, inner in steps(value):
        yield from _iterate_values(inner, (*path, step))


def _get_at(value: Any, path: Path) -> Any:
    return reduce(getitem, path, value)


def _find_texts(sample: Arguments) -> list[Path]:
    names = _collect_names(sample)
    texts = [(path, text) for path, text in _iterate_values(sample) if isinstance(text, str)]
    times = Counter(text for _, text in texts)
    return [
        path
        for path, text in texts
        if text and "://" not in text and not text.startswith("data:")
        if text not in names and not (times[text] > 1 and _IDENTITY.fullmatch(str(path[-1])))
    ][: LIMITS.varied_texts]


def _collect_names(sample: Arguments) -> frozenset[str]:
    return frozenset(
        name for _, value in _iterate_values(sample) if isinstance(value, Mapping) for name in value
    )


def _hold_names(elements: list[Any], names: frozenset[str]) -> bool:
    own = _collect_names({"": elements})
    return bool(elements) and all(
        isinstance(element, Mapping)
        and any(isinstance(text, str) and text in names - own for text in element.values())
        for element in elements
    )


def _find_distinguishing(schema: Schema, sample: Arguments, path: Path) -> frozenset[str]:
    """Find the different properties of the elements of a list that may differ further."""
    elements = _get_at(sample, path)
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
        if schema.admits(replace_at(sample, {(*path, 0, name): _vary_text(text, 2, 1)})):
            differing.add(name)
    return frozenset(differing)


def _repeat_element(elements: list[Any], number: int, told_apart_by: frozenset[str]) -> Any:
    rounds, index = divmod(number, len(elements))
    element = elements[index]
    if not rounds:
        return element
    if isinstance(element, str):
        return _vary_text(element, rounds + 1, len(elements))
    if not isinstance(element, Mapping):
        return element
    return {
        name: _vary_text(value, rounds + 1, len(elements))
        if name in told_apart_by and isinstance(value, str)
        else value
        for name, value in element.items()
    }


def _vary_text(text: str, time: int, apart: int) -> str:
    if "://" in text or text.startswith("data:"):
        return text
    if _DATE.match(text):
        later = date.fromisoformat(text[:10]) + timedelta(days=apart * (time - 1))
        return f"{later}{text[10:]}"
    return f"{text}-{time}" if _NO_WORDS.fullmatch(text) else f"{text} {time}"


_VARIED: Mapping[str, tuple[str, Generated | None, Callable[[Schema, Arguments], Arguments]]] = {
    "empty": ("Empty lists", "empty", partial(_shorten_lists, 0)),
    "one": ("One of each", "one", partial(_shorten_lists, 1)),
    "many": ("Many of each", "many", _repeat_elements),
    "long": ("Long text", "long", _lengthen_texts),
    "rtl": ("Right to left", None, partial(_replace_texts, _RIGHT_TO_LEFT)),
    "emoji": ("Emoji", None, partial(_replace_texts, _EMOJI)),
}
"""The label of each further state, the sample to generate without the author's, and its change."""
