"""Which of an export's two sources is drawn: Studio's JSX, or the template made of it.

Studio's editor holds JSX; its exporter transcribes that to a template, and may lose some.
Many people then change the template. So the JSX is held against the template as it is
written, and so is its *twin*, the JSX with the exporter's known losses, with the author's
sample and thirty generated sets of arguments. That is evidence and no proof: a change that
none of them reaches passes for none.

    template as it is written   = JSX            the template is drawn
                                = twin, not JSX  the JSX is drawn: the exporter lost some of it
                                otherwise        the template is drawn: somebody changed it
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product, zip_longest
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import orjson

from widgetd.errors import CallError, Finding, WidgetError
from widgetd.schema.json_values import pointer
from widgetd.schema.sampling.sample import State, sample
from widgetd.template import compile_template
from widgetd.template.dialect.exporter import WRAPPED, find_converted
from widgetd.text_search import compile_pattern
from widgetd.widget.components import tree

if TYPE_CHECKING:
    from widgetd.limits import Limits
    from widgetd.schema.validator import Schema
    from widgetd.template import Template
    from widgetd.template.jsx import View
    from widgetd.widget.document import Studio
    from widgetd.widget.widget import Widget

Source = Literal["template", "view"]
"""What is drawn: the Jinja text, or Studio's JSX."""

SETS: Final = 30
"""So many sets of arguments are generated to hold one source against another."""

MOST_STEPS: Final = 150_000
"""All that the drawing may take; ten times what the largest export takes."""

_STATES: Final[tuple[State, ...]] = tuple(
    sorted(get_args(State), key=lambda state: state != "full")
)
"""The telling ones first."""

MOST_DIFFERENCES: Final = 3

ABSENT: Final = object()
"""Stands in a difference for what is not there."""

Difference = tuple[str, Any, Any]
"""Where two values differ: a pointer, what is there, what was wanted."""

_NONE: Final = compile_pattern(r"(?i)\(\s*none\s*\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How the JSX of a file and its template agree.

    Attributes:
        agrees: Whether they always draw the same.
        is_export: Whether the template draws what the exporter makes of the JSX.
        differences: Where they differ first: what the template draws, and what the JSX.
    """

    agrees: bool
    is_export: bool
    differences: tuple[Difference, ...] = ()


Reason = Literal["", "asked", "missing", "faulty", "lost", "edited", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is drawn of a file, and why.

    Attributes:
        source: That; empty where the file holds no JSX, so that there is no choice.
        reason: Why: the sidecar says so, there is no template, it cannot be compiled, the
            exporter lost some of the JSX, somebody changed the template, the JSX cannot be
            compiled; empty where the two agree as far as anybody had to look.
        fault: What is wrong with the one that cannot be compiled.
    """

    source: Source | Literal[""]
    reason: Reason = ""
    fault: Finding | None = None


def choose(widget: Widget) -> Choice:
    """Which of its two sources is drawn; that one can be compiled then.

    Raises:
        WidgetError: None of them can.
    """
    definition = widget.definition
    asked = definition.sidecar.source
    if asked == "view" and not definition.view:
        problem = "the sidecar asks for the JSX, and the file holds none"
        advice = "export the widget again, or leave 'source' out"
        finding = Finding(code="W1327", problem=problem, advice=advice, path=definition.path)
        raise WidgetError(finding)
    if definition.is_jsx:
        _ = widget.view
        return Choice(source="view", reason="asked")
    if asked == "view" or (asked is None and not definition.template.strip()):
        _ = widget.view
        return Choice(source="view", reason="asked" if asked else "missing")
    try:
        template = widget.template
    except WidgetError as error:
        if asked is not None or not _draws_the_preview(widget):
            raise
        return Choice(source="view", reason="faulty", fault=error.finding)
    if asked is not None or not definition.view:
        return Choice(source="template" if definition.view else "", reason="asked" if asked else "")
    if not may_have_lost(definition.template, template):
        return Choice(source="template")
    try:
        comparison = widget.comparison
    except WidgetError as error:
        return Choice(source="template", reason="refused", fault=error.finding)
    if comparison.is_export and not comparison.agrees:
        return Choice(source="view", reason="lost")
    return Choice(source="template", reason="" if comparison.agrees else "edited")


def may_have_lost(text: str, template: Template) -> bool:
    """Whether a template looks as if its exporter had lost something; only then it may have."""
    if WRAPPED.search(text) or find_converted(text):
        return True
    return bool(_NONE.search(text)) and any(each.code == "W1307" for each in template.warnings)


def _draws_the_preview(widget: Widget) -> bool:
    """Whether the JSX of a widget makes of its sample what Studio made of it."""
    studio, preview = widget.definition.studio, widget.definition.document.preview
    if studio is None or preview is None:
        return False
    try:
        drawn = tree(widget.view.render(widget.schema.with_defaults(dict(studio.default_state))))
        return not any(True for _ in differing(drawn, tree(orjson.dumps(preview))))
    except (CallError, WidgetError):
        return False


def compared(template: str, studio: Studio, schema: Schema, limits: Limits) -> Comparison:
    """Hold a template against the JSX that it was made of."""
    from widgetd.template.jsx import compile_twin, compile_view  # noqa: PLC0415 - few files need it

    written = compile_template(template, limits=limits, to_the_letter=True)
    view = compile_view(studio.view, limits=limits)
    twin = compile_twin(studio.view, limits=limits)
    found: tuple[Difference, ...] = ()
    is_export, left = True, MOST_STEPS
    for each in argument_sets(studio, schema):
        arguments = schema.with_defaults(dict(each))
        (of_template, of_view, of_twin), steps = zip(
            *(_drawn(source, arguments, limits) for source in (written, view, twin)), strict=True
        )
        found = found or tuple(islice(differing(of_template, of_view), MOST_DIFFERENCES + 1))
        is_export = is_export and not any(True for _ in differing(of_template, of_twin))
        left -= sum(steps)
        if left < 0 or (found and not is_export):
            break
    return Comparison(agrees=not found, is_export=is_export or not found, differences=found)


def argument_sets(studio: Studio, schema: Schema) -> Iterator[Mapping[str, Any]]:
    """Yield the samples of Studio, then generated arguments that the schema admits."""
    yield from studio.samples
    for seed, state in islice(product(range(SETS), _STATES), SETS):
        made = sample(schema, state=state, seed=seed)
        if made is not None:
            yield made


def _drawn(
    source: Template | View, arguments: Mapping[str, Any], limits: Limits
) -> tuple[dict[str, Any] | None, int]:
    """Render `arguments`; return the tree, None if there is none, and the number of steps."""
    try:
        made = source.rendering(arguments)
    except CallError as error:
        return None, limits.steps if error.code == "W2005" else 0
    try:
        return tree(made.text), made.steps
    except WidgetError:
        return None, made.steps


def differing(got: Any, want: Any) -> Iterator[Difference]:
    """Where two trees differ; null is the same as what is not there."""
    if orjson.dumps(got) == orjson.dumps(want):  # nearly all are the same to the letter
        return
    for at, one, other in differences(got, want):
        if {id(one), id(other)} != {id(None), id(ABSENT)}:
            yield at, one, other


def differences(got: Any, want: Any, at: str = "") -> Iterator[Difference]:
    """Where two JSON values differ."""
    if isinstance(got, dict) and isinstance(want, dict):
        for key in dict.fromkeys([*want, *got]):
            inner = at + pointer(key)
            yield from differences(got.get(key, ABSENT), want.get(key, ABSENT), inner)
    elif isinstance(got, list) and isinstance(want, list):
        for index, (one, other) in enumerate(zip_longest(got, want, fillvalue=ABSENT)):
            yield from differences(one, other, f"{at}/{index}")
    elif got is not want and (got != want or isinstance(got, bool) is not isinstance(want, bool)):
        yield at, got, want
