"""The comparison of an export's template with the JSX that it was made of.

The template as it is written is rendered beside the JSX and beside the JSX as Studio exports it,
with the author's samples and generated arguments. That is evidence and no proof: an edit that none
of these arguments reaches goes unnoticed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product, zip_longest
from typing import TYPE_CHECKING, Any, Final, get_args

import orjson

from widgetd.base.errors import CallError, WidgetError
from widgetd.core.schema.json_values import pointer
from widgetd.core.schema.phrase import shorten_json
from widgetd.core.schema.sampling.sample import State
from widgetd.core.studio.limits import LIMITS
from widgetd.core.template import compile_template
from widgetd.core.widget.components import tree

if TYPE_CHECKING:
    from widgetd.base.limits import Limits
    from widgetd.core.schema.validator import Schema
    from widgetd.core.template import Template
    from widgetd.core.template.jsx import View
    from widgetd.core.widget.document import Studio
    from widgetd.core.widget.sources import Difference
    from widgetd.core.widget.widget import Widget


ABSENT: Final = object()
"""Stands in a difference for a missing value."""

_STATES: Final[tuple[State, ...]] = tuple(
    sorted(get_args(State), key=lambda state: state != "full")
)
"""All states; `full`, which shows most differences, first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The agreement of a template with the JSX.

    Attributes:
        edits: The first differences of the template from what the exporter makes of the JSX.
        losses: The first differences of what the exporter makes of the JSX from the JSX.
        agrees: Whether the template rendered as the JSX each time.
    """

    edits: tuple[Difference, ...] = ()
    losses: tuple[Difference, ...] = ()
    agrees: bool

    @property
    def is_export(self) -> bool:
        """Return whether the template renders what the exporter makes of the JSX, or the JSX."""
        return self.agrees or not self.edits


def compare(widget: Widget) -> Comparison:
    """Compare the template of `widget` with its JSX; the file holds both.

    Raises:
        WidgetError: One of the two cannot be compiled.
    """
    from widgetd.core.studio.exporter import ExporterBuilder  # noqa: PLC0415 - few files need JSX
    from widgetd.core.template.jsx import View  # noqa: PLC0415

    definition, limits = widget.definition, widget.limits
    assert definition.studio is not None  # noqa: S101 - it holds the JSX
    view = widget.view  # before the export, because its fault says where in the file it is
    literal = compile_template(definition.template, limits=limits, to_the_letter=True)
    exported = View(definition.view, limits, builder=ExporterBuilder)
    sources = literal, exported, view
    return compare_sources(sources, definition.studio, widget.schema, limits)


def compare_sources(
    sources: tuple[Template, View, View], studio: Studio, schema: Schema, limits: Limits
) -> Comparison:
    """Compare a template, the JSX as Studio exports it and the JSX, as far as the steps last."""
    found: dict[str, tuple[Difference, ...]] = {"edits": (), "losses": ()}
    agrees, left = True, LIMITS.steps
    for each in argument_sets(studio, schema):
        arguments = schema.with_defaults(dict(each))
        (of_template, of_export, of_view), steps = zip(
            *(_render(source, arguments, limits) for source in sources), strict=True
        )
        pairs = {"edits": (of_template, of_export), "losses": (of_export, of_view)}
        for name, (got, want) in pairs.items():
            found[name] = found[name] or tuple(
                islice(tree_differences(got, want), LIMITS.losses + 1)
            )
        agrees = agrees and not differ(of_template, of_view)
        left -= sum(steps)
        if left < 0 or (all(found.values()) and not agrees):
            break
    return Comparison(**found, agrees=agrees)


def argument_sets(studio: Studio, schema: Schema) -> Iterator[Mapping[str, Any]]:
    """Yield Studio's samples, then generated arguments that the schema admits."""
    yield from studio.samples
    yield from generate_arguments(schema, LIMITS.sets)


def generate_arguments(schema: Schema, count: int) -> Iterator[Mapping[str, Any]]:
    for seed, state in islice(product(range(count), _STATES), count):
        arguments = schema.sample(state=state, seed=seed)
        if arguments is not None:
            yield arguments


def _render(
    source: Template | View, arguments: Mapping[str, Any], limits: Limits
) -> tuple[dict[str, Any] | None, int]:
    try:
        rendering = source.rendering(arguments)
    except CallError as error:
        return None, limits.steps if error.code == "W2005" else 0
    try:
        return tree(rendering.text), rendering.steps
    except WidgetError:
        return None, rendering.steps


def differ(got: Any, want: Any) -> bool:
    """Return whether two trees differ."""
    return any(True for _ in tree_differences(got, want))


def tree_differences(got: Any, want: Any) -> Iterator[Difference]:
    """Yield the differences of two trees, in which null is the same as a missing value."""
    if orjson.dumps(got) == orjson.dumps(want):  # nearly all are the same to the letter
        return
    for at, one, other in differences(got, want):
        if {id(one), id(other)} != {id(None), id(ABSENT)}:
            yield at, one, other


def differences(got: Any, want: Any, at: str = "") -> Iterator[Difference]:
    """Yield the differences of two JSON values."""
    if isinstance(got, dict) and isinstance(want, dict):
        for key in dict.fromkeys([*want, *got]):
            inner = at + pointer(key)
            yield from differences(got.get(key, ABSENT), want.get(key, ABSENT), inner)
    elif isinstance(got, list) and isinstance(want, list):
        for index, (one, other) in enumerate(zip_longest(got, want, fillvalue=ABSENT)):
            yield from differences(one, other, f"{at}/{index}")
    elif got is not want and (got != want or isinstance(got, bool) is not isinstance(want, bool)):
        yield at, got, want


def describe_differences(
    found: Sequence[Difference], between: str, most: int = LIMITS.differences
) -> str:
    """Describe the first differences of two trees, as a finding's clause."""
    return "; ".join(
        f"{at or '/'} is {_format(got)}, {between} {_format(want)}"
        for at, got, want in found[:most]
    )


def _format(value: Any) -> str:
    return "absent" if value is ABSENT else shorten_json(value)
