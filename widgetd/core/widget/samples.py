"""List arguments to try a widget with: its author's, and generated samples.

The schema admits all but the author's own. An impossible sample is absent rather than empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from widgetd.core.schema.json_text import line_and_column
from widgetd.core.schema.sampling.sample import State
from widgetd.core.widget.definition import Definition
from widgetd.core.widget.sidecar import SUFFIX
from widgetd.core.widget.widget import Widget

Variant = State | Literal["zeros", "blank"]
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
"""All generated samples, with their names in findings."""


_CONSTANT = "const sample"
"""The beginning of the sample in a file of JSX, and its name in findings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Arguments that a widget should render.

    Attributes:
        name: As `the example 'on time'`, or `the required fields only`.
        arguments: The arguments, by property.
        authored: Whether a person wrote them, so their values mean something.
        path: The file with the sample, empty for the widget's own.
        at: Their JSON pointer in it.
    """

    name: str
    arguments: Mapping[str, Any]
    authored: bool = False
    path: str = ""
    at: str = ""

    def place(self, view: str) -> tuple[int | None, int | None]:
        """Return the line and column of its constant in the JSX, None if it stands elsewhere."""
        at = view.find(_CONSTANT) if self.name == _CONSTANT else -1
        return (None, None) if at < 0 else line_and_column(view, at)


def list_studio_samples(definition: Definition) -> Iterator[Sample]:
    is_jsx = definition.is_jsx
    for state in definition.studio.samples if definition.studio else ():
        yield Sample(
            name=_CONSTANT if is_jsx else "the sample in encodedWidget",
            at="" if is_jsx else "/encodedWidget",
            arguments=dict(state),
            authored=True,
        )


def list_examples(definition: Definition) -> Iterator[Sample]:
    for index, example in enumerate(definition.sidecar.examples):
        yield Sample(
            name=f"the example '{example.name}'" if example.name else f"example {index + 1}",
            path=definition.path + SUFFIX,
            at=f"/examples/{index}",
            arguments=example.arguments,
            authored=True,
        )


def list_authored(definition: Definition) -> Iterator[Sample]:
    return chain(list_studio_samples(definition), list_examples(definition))


def filter_admitted(widget: Widget, samples: Iterable[Sample]) -> Iterator[Sample]:
    return (sample for sample in samples if widget.schema.admits(dict(sample.arguments)))


def generate_samples(
    widget: Widget, variants: Iterable[Variant] = tuple(GENERATED)
) -> Iterator[Sample]:
    full: Mapping[str, Any] | None = None
    for variant in variants:
        arguments: Mapping[str, Any] | None
        if variant == "zeros" or variant == "blank":  # noqa: PLR1714 - mypy reads it so
            # All fields, with every number 0 or every text empty.
            full = full or widget.schema.sample(state="full")
            least = ((int, float), 0) if variant == "zeros" else ((str,), "")
            arguments = None if full is None else _replace_each(full, *least)
            if not widget.schema.admits(arguments):
                continue
        else:
            arguments = widget.schema.sample(state=variant)
            full = arguments if variant == "full" else full
        if arguments is not None:
            yield Sample(name=GENERATED[variant], arguments=arguments)


def _replace_each(value: Any, types: tuple[type, ...], least: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _replace_each(inner, types, least) for key, inner in value.items()}
    if isinstance(value, list):
        return [_replace_each(inner, types, least) for inner in value]
    return least if isinstance(value, types) and not isinstance(value, bool) else value
