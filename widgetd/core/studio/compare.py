"""The comparison of an export's template with its JSX.

Renders the template, the JSX and the JSX as Studio exports it, with samples and generated
arguments. This is evidence and no proof: these arguments may miss an edit.
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
"""A missing value in a difference."""

_STATES: Final[tuple[State, ...]] = tuple(
    sorted(get_args(State), key=lambda state: state != "full")
)
"""All states, with `full` first: it shows most differences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The agreement of a template with its JSX.

    Attributes:
        edits: The first differences of the template from the exporter's output.
        losses: The first differences of the exporter's output from the JSX.
        agrees: Whether the template always rendered as the JSX.
    """

    edits: tuple[Difference, ...] = ()
    losses: tuple[Difference, ...] = ()
    agrees: bool

    @property
    def is_export(self) -> bool:
        """Return whether the template renders as the exporter's output, or as the JSX."""
        return self.agrees or not self.edits


def compare(widget: Widget) -> Comparison:
    """Compare the template of `widget` with the JSX in the same file.

    Raises:
        WidgetError: One of the two does not compile.
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
    """Compare a template, the JSX as Studio exports it and the JSX, within the limit of steps."""
    differences: dict[str, tuple[Difference, ...]] = {"edits": (), "losses": ()}
    agrees, left = True, LIMITS.steps
    for example in argument_sets(studio, schema):
        arguments = schema.with_defaults(dict(example))
        (of_template, of_export, of_view), steps = zip(
            *(_render(source, arguments, limits) for source in sources), strict=True
        )
        pairs = {"edits": (of_template, of_export), "losses": (of_export, of_view)}
        for name, (got, want) in pairs.items():
            differences[name] = differences[name] or tuple(
                islice(tree_differences(got, want), LIMITS.losses + 1)
            )
        agrees = agrees and not differ(of_template, of_view)
        left -= sum(steps)
        if left < 0 or (all(differences.values()) and not agrees):
            break
    return Comparison(**differences, agrees=agrees)


def argument_sets(studio: Studio, schema: Schema) -> Iterator[Mapping[str, Any]]:
    """Yield Studio's samples, then generated arguments."""
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
    return any(True for _ in tree_differences(got, want))


def tree_differences(got: Any, want: Any) -> Iterator[Difference]:
    """Yield the differences of two trees. Null equals a missing value."""
    if orjson.dumps(got) == orjson.dumps(want):  # nearly all are the same to the letter
        return
    for at, value, other in differences(got, want):
        if {id(value), id(other)} != {id(None), id(ABSENT)}:
            yield at, value, other


def differences(got: Any, want: Any, at: str = "") -> Iterator[Difference]:
    if isinstance(got, dict) and isinstance(want, dict):
        for key in dict.fromkeys([*want, *got]):
            inner = at + pointer(key)
            yield from differences(got.get(key, ABSENT), want.get(key, ABSENT), inner)
    elif isinstance(got, list) and isinstance(want, list):
        for index, (left, right) in enumerate(zip_longest(got, want, fillvalue=ABSENT)):
            yield from differences(left, right, f"{at}/{index}")
    elif got is not want and (got != want or isinstance(got, bool) is not isinstance(want, bool)):
        yield at, got, want


def describe_differences(
    pairs: Sequence[Difference], between: str, most: int = LIMITS.differences
) -> str:
    return "; ".join(
        f"{at or '/'} is {_format(got)}, {between} {_format(want)}"
        for at, got, want in pairs[:most]
    )


def _format(value: Any) -> str:
    return "absent" if value is ABSENT else shorten_json(value)
