"""Arguments that a widget is tried and looked at with: its author's, and generated ones.

All but an author's own are admitted by the schema. What the schema does not leave
room for is not there, rather than empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from widgetd.schema.sampling import sample as sampling
from widgetd.widget.definition import Definition
from widgetd.widget.sidecar import SUFFIX
from widgetd.widget.widget import Widget

SAMPLE = "sample"

Variant = sampling.State | Literal["zeros", "blank"]
"""A way to make arguments from a schema."""

GENERATED: Mapping[Variant, str] = {
    "required": "the required fields only",
    "full": "all fields",
    "zeros": "zeros",
    "blank": "empty texts",
    "empty": "empty lists",
    "one": "one element in each list",
    "two": "two elements in each list",
    "many": "many elements in each list",
    "long": "long texts",
    "nulls": "null wherever it is admitted",
    "nasty": "quotes, line breaks and markup in texts",
}
"""All of them, with what each is called in a finding."""

_RIGHT_TO_LEFT = "مرحبا بالعالم هذا نص تجريبي يمتد من اليمين إلى اليسار ليختبر التخطيط "
_EMOJI = "🎉 👩🏽‍🚀 ✈️ 🏳️‍🌈 🍜 👨‍👩‍👧‍👦 🚲 ❤️‍🔥 "
_MOST_TEXTS = 200
"""Each text is tried by itself; a schema with more of them has been tried enough."""

_LABELS: Mapping[sampling.State, str] = {
    "empty": "Empty lists",
    "one": "One of each",
    "many": "Many of each",
    "long": "Long text",
}
_WORDS: Mapping[str, tuple[str, str]] = {
    "rtl": ("Right to left", _RIGHT_TO_LEFT),
    "emoji": ("Emoji", _EMOJI),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Arguments that a widget ought to render.

    Attributes:
        name: As `the example 'on time'`, or `the required fields only`.
        arguments: By property.
        authored: Whether a person wrote them, so that their values mean something.
        path: The file they stand in; empty for the widget's own.
        at: Where in it, as a JSON pointer.
    """

    name: str
    arguments: Mapping[str, Any]
    authored: bool = False
    path: str = ""
    at: str = ""


def studio_samples(definition: Definition) -> Iterator[Sample]:
    """The samples that stand in the file, the one that the preview was made from first."""
    for state in definition.studio.samples if definition.studio else ():
        yield Sample(
            name="the sample in encodedWidget",
            at="/encodedWidget",
            arguments=dict(state),
            authored=True,
        )


def examples(definition: Definition) -> Iterator[Sample]:
    """The examples that stand in the sidecar."""
    for index, example in enumerate(definition.sidecar.examples):
        yield Sample(
            name=f"the example '{example.name}'" if example.name else f"example {index + 1}",
            path=definition.path + SUFFIX,
            at=f"/examples/{index}",
            arguments=example.arguments,
            authored=True,
        )


def admitted(widget: Widget, samples: Iterable[Sample]) -> Iterator[Sample]:
    """Those of an author's samples that the schema admits."""
    return (one for one in samples if widget.schema.admits(dict(one.arguments)))


def generated(widget: Widget, variants: Iterable[Variant] = tuple(GENERATED)) -> Iterator[Sample]:
    """Samples made from the schema."""
    full: Mapping[str, Any] | None = None
    for variant in variants:
        arguments: Mapping[str, Any] | None
        if variant == "zeros" or variant == "blank":  # noqa: PLR1714 - mypy reads it so
            # All fields, with every number or every text as small as can be.
            full = full or sampling.sample(widget.schema, state="full")
            least = ((int, float), 0) if variant == "zeros" else ((str,), "")
            arguments = None if full is None else _with_each(full, *least)
            if not widget.schema.admits(arguments):
                continue
        else:
            arguments = sampling.sample(widget.schema, state=variant)
            full = arguments if variant == "full" else full
        if arguments is not None:
            yield Sample(name=GENERATED[variant], arguments=arguments)


def _with_each(value: Any, types: tuple[type, ...], least: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _with_each(inner, types, least) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_each(inner, types, least) for inner in value]
    return least if isinstance(value, types) and not isinstance(value, bool) else value


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


def states(widget: Widget) -> tuple[State, ...]:
    """The states of `widget`, in the order in which people choose from them."""
    examples = widget.definition.sidecar.examples
    return (
        State(key=SAMPLE, label="Sample"),
        *(
            State(key=f"example-{number}", label=example.name or f"Example {number}")
            for number, example in enumerate(examples, 1)
        ),
        *(State(key=key, label=label) for key, label in _LABELS.items()),
        *(
            State(key=key, label=label, locale="ar" if key == "rtl" else "")
            for key, (label, _) in _WORDS.items()
        ),
    )


def arguments_of(widget: Widget, key: str) -> Mapping[str, Any]:
    """The arguments of `widget` in the state `key`; of its sample where there is no such state."""
    for state in _LABELS:
        if key == state:
            return sampling.sample(widget.schema, state=state) or _sample(widget)
    if key in _WORDS:
        return _in_words(widget, _WORDS[key][1])
    for number, example in enumerate(widget.definition.sidecar.examples, 1):
        if key == f"example-{number}":
            return example.arguments
    return _sample(widget)


def _sample(widget: Widget) -> Mapping[str, Any]:
    """What the author saw in Studio, else the first example that fits."""
    studio = widget.definition.studio
    drawn = dict(studio.default_state) if studio is not None else {}
    return drawn if drawn and widget.schema.admits(drawn) else widget.example or {}


def _in_words(widget: Widget, words: str) -> Mapping[str, Any]:
    """The sample with as many of its texts as may be said in `words`."""

    def cut(text: str) -> str:
        """About as many characters of `words`, which may end only where a word does."""
        repeated = words * (len(text) // len(words) + 1)
        end = repeated.rfind(" ", 0, len(text) + 1)
        return repeated[: end if end > 0 else repeated.index(" ")]

    arguments = _sample(widget)
    for path in _texts(arguments)[:_MOST_TEXTS]:
        changed = _changed(arguments, path, cut)
        if widget.schema.admits(changed):
            arguments = changed
    return arguments


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
