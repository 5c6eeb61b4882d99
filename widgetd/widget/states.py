"""The states that a widget is looked at in: its author's, and those that break layouts.

State -> arguments that the schema admits. A state that the schema does not
leave room for is not there, rather than empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from widgetd.schema.sampling.sample import sample
from widgetd.widget.widget import Widget

SAMPLE = "sample"

_RIGHT_TO_LEFT = "مرحبا بالعالم هذا نص تجريبي يمتد من اليمين إلى اليسار ليختبر التخطيط "
_EMOJI = "🎉 👩🏽‍🚀 ✈️ 🏳️‍🌈 🍜 👨‍👩‍👧‍👦 🚲 ❤️‍🔥 "
_MOST_TEXTS = 200
"""Each text is tried by itself; a schema with more of them has been tried enough."""

_GENERATED: Mapping[str, tuple[str, Literal["empty", "one", "many", "long"]]] = {
    "empty": ("Empty lists", "empty"),
    "one": ("One of each", "one"),
    "many": ("Many of each", "many"),
    "long": ("Long text", "long"),
}
_SPOKEN: Mapping[str, tuple[str, str]] = {
    "rtl": ("Right to left", _RIGHT_TO_LEFT),
    "emoji": ("Emoji", _EMOJI),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One state of a widget.

    Attributes:
        key: What it is called in an address: `sample`, `example-2`, `many`.
        label: What people call it.
        locale: The language that it is to be shown in; empty for the browser's own.
    """

    key: str
    label: str
    locale: str = ""


def states(widget: Widget) -> tuple[State, ...]:
    """The states of `widget`, in the order in which they are offered."""
    examples = widget.definition.sidecar.examples
    return (
        State(key=SAMPLE, label="Sample"),
        *(
            State(key=f"example-{number}", label=example.name or f"Example {number}")
            for number, example in enumerate(examples, 1)
        ),
        *(State(key=key, label=label) for key, (label, _) in _GENERATED.items()),
        *(
            State(key=key, label=label, locale="ar" if key == "rtl" else "")
            for key, (label, _) in _SPOKEN.items()
        ),
    )


def arguments_of(widget: Widget, key: str) -> Mapping[str, Any]:
    """The arguments of `widget` in the state `key`; of its sample where there is no such state."""
    if key in _GENERATED:
        return sample(widget.schema, state=_GENERATED[key][1]) or _sample(widget)
    if key in _SPOKEN:
        return _spoken(widget, _SPOKEN[key][1])
    for number, example in enumerate(widget.definition.sidecar.examples, 1):
        if key == f"example-{number}":
            return example.arguments
    return _sample(widget)


def _sample(widget: Widget) -> Mapping[str, Any]:
    """What the author saw in Studio, else the first example that fits."""
    studio = widget.definition.studio
    drawn = dict(studio.default_state) if studio is not None else {}
    return drawn if drawn and widget.schema.admits(drawn) else widget.example or {}


def _spoken(widget: Widget, words: str) -> Mapping[str, Any]:
    """The sample with as many of its texts as may be said in `words`."""
    said = _sample(widget)
    for path in _texts(said)[:_MOST_TEXTS]:
        tried = _changed(said, path, lambda text: _cut(words, len(text)))
        if widget.schema.admits(tried):
            said = tried
    return said


def _cut(words: str, length: int) -> str:
    """About `length` characters of `words`, which may end in the middle of nothing but a word."""
    repeated = words * (length // len(words) + 1)
    end = repeated.rfind(" ", 0, length + 1)
    return repeated[: end if end > 0 else repeated.index(" ")]


Path = tuple[str | int, ...]


def _texts(value: Any, path: Path = ()) -> list[Path]:
    """Where the texts in `value` stand; those that are no words in any language are left alone."""
    if isinstance(value, str):
        return [path] if value and "://" not in value else []
    steps: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, (Mapping, list)):
        steps = value.items() if isinstance(value, Mapping) else enumerate(value)
    return [found for step, inner in steps for found in _texts(inner, (*path, step))]


def _changed(value: Any, path: Path, change: Callable[[str], str]) -> Any:
    if not path:
        return change(value)
    copy: Any = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = _changed(value[path[0]], path[1:], change)
    return copy
