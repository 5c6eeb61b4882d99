"""Arguments that a widget is tried with: its author's, and generated ones.

All but an author's own are admitted by the schema. What the schema does not leave
room for is not there, rather than empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from widgetd.schema.sampling import sample as sampling
from widgetd.widget.definition import Definition
from widgetd.widget.sidecar import SUFFIX
from widgetd.widget.widget import Widget

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
