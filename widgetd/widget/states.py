"""The states in which people look at a widget: as its author saw it, and what may become of that.

    sample -> preview as it stands -> first example -> one of each -> many of each

The first of these in which there is something to be seen is the sample. The states after it
are made of it, and of the schema only where nobody wrote a sample that fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson

from widgetd.errors import CallError, WidgetError, nearest
from widgetd.schema.sampling import sample as sampling
from widgetd.schema.sampling.sample import State as Generated
from widgetd.schema.validator import Schema, compile_schema
from widgetd.widget.components import tree
from widgetd.widget.variations import lengthened, repeated, reworded, shortened
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
        near = nearest(key, tuple(known))
        hint = f"did you mean '{near}'?" if near else f"it has {', '.join(known)}"
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
        if key == state and given:
            made = vary(widget.schema, given)
        elif key == state:
            made = sampling.sample(widget.schema, state=state)
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
            yield Shown(
                arguments=given,
                label="Sample, which does not fit",
                note=_UNFIT,
                render=_rendered(widget.tree(given), given),
            )
    if preview is not None:
        # The tree that Studio made of its own sample, as it stands in the file.
        called = _called(widget)
        with suppress(WidgetError):
            yield Shown(
                arguments=called,
                label="As exported",
                note=_NO_STATE,
                render=_rendered(tree(orjson.dumps(preview)), called),
            )
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
        waiting: list[Any] = [seen.tree(widget)]
    except CallError:
        return True
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, Mapping):
            says = part.keys() & {"status", "confirm", "cancel"}
            if says or (part.get("type") not in _LAYOUT and part.get("value") != ""):
                return False
            waiting.append(part.get("children"))
    return True
