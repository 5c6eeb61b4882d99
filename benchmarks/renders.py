"""Rendering each template, against the same template compiled by Jinja, and each JSX, against it.

Only what both render counts; a render's text need not be the same to the letter,
but the JSON it stands for must be.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, TemplateError

from benchmarks.folders import bundled
from benchmarks.ratios import Pairs, alternate, combine_ratios, median
from benchmarks.table import Row, at_most, spread
from tests.support.corpus import corpus_files
from widgetd import CallError, Widget, WidgetError, load_widget
from widgetd.base.limits import Limits
from widgetd.core.studio.compare import compare
from widgetd.core.template import Template, compile_template
from widgetd.core.template.jsx import View
from widgetd.core.template.parser import parse
from widgetd.core.template.template import build_program
from widgetd.core.widget.components import tree

# Long enough for the clock, short enough for both arms to meet the same machine.
_BATCH_S = 0.001

_JINJA = Environment(autoescape=False)  # the templates make JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One template and the two functions that render it.

    Attributes:
        path: The file.
        ours: Renders the sample, or does what else is measured.
        theirs: Does it by Jinja, or with the template.
    """

    path: Path
    ours: Callable[[], object]
    theirs: Callable[[], object]


def measure_rows(most: int) -> Iterator[Row]:
    """Measure the rows of this family."""
    paths = [*bundled(), *corpus_files()]
    cases = [case for case in map(_case, paths) if case is not None]
    timings = [_take(case, min(most, 60)) for case in cases]
    ratios = [median(pairs.ours) / median(pairs.theirs) for pairs in timings]
    worst = cases[ratios.index(max(ratios))].path.name
    scope = f"{len(cases)} templates of {len(paths)}: those that both render to the same JSON."
    for what, limit, combine, remark in (
        ("render, compiled Jinja, median template", 0.5, median, scope),
        ("render, compiled Jinja, worst template", 1.5, max, f"The worst is {worst}."),
    ):
        yield Row(
            what=what,
            bar=at_most(limit),
            ratio=combine_ratios(timings, combine),
            ours=spread(median(pairs.ours) for pairs in timings),
            theirs=spread(median(pairs.theirs) for pairs in timings),
            pairs=min(most, 60),
            remark=remark,
        )
    yield from _of_views(paths, min(most, 60))


def _of_views(paths: list[Path], most: int) -> Iterator[Row]:
    """Measure the JSX of exports against their templates."""
    all_views = [views for views in map(_views, paths) if views is not None]
    scope = f"{len(all_views)} exports whose JSX and template draw the same."
    for what, limit, at, remark in (
        ("compile JSX, its template, median export", 3, 0, scope),
        ("render JSX, its template, median export", 2, 1, f"{scope} From arguments to the tree."),
    ):
        timings = [_take(views[at], most) for views in all_views]
        yield Row(
            what=what,
            bar=at_most(limit),
            ratio=combine_ratios(timings, median),
            ours=spread(median(pairs.ours) for pairs in timings),
            theirs=spread(median(pairs.theirs) for pairs in timings),
            pairs=most,
            remark=remark,
        )


def _views(path: Path) -> tuple[Case, Case] | None:
    """Build the cases that compile and render both sources; None if these differ."""
    try:
        widget = load_widget(path)
        definition = widget.definition
        if not definition.view or not compare(widget).agrees:
            return None
        arguments = widget.fill(_sample(widget))
        tree(widget.view.render(arguments))
    except (WidgetError, CallError):
        return None
    limits = Limits()
    compiling = Case(
        path=path,
        ours=lambda: View(definition.view, limits),
        theirs=lambda: _compile(definition.template, limits),
    )
    rendering = Case(
        path=path,
        ours=lambda: tree(widget.view.render(arguments)),
        theirs=lambda: tree(widget.template.render(arguments)),
    )
    return compiling, rendering


def _compile(template: str, limits: Limits) -> Template:
    build_program.cache_clear()
    parse.cache_clear()  # else only the first of many compilations reads the text
    return compile_template(template, limits=limits)


def _case(path: Path) -> Case | None:
    """Build the case of a file; None unless both render the same tree."""
    try:
        widget = load_widget(path)
        arguments = _sample(widget)
        compiled = _JINJA.from_string(widget.definition.template)
        template = widget.template
        if json.loads(compiled.render(arguments)) != json.loads(template.render(arguments)):
            return None
    except (WidgetError, CallError, TemplateError, TypeError, ValueError):
        return None
    return Case(
        path=path,
        ours=lambda: template.render(arguments),
        theirs=lambda: compiled.render(arguments),
    )


def _sample(widget: Widget) -> Mapping[str, Any]:
    studio = widget.definition.studio
    return widget.example if studio is None else dict(studio.default_state)


def _take(case: Case, pairs: int) -> Pairs:
    started_s = time.perf_counter()
    case.ours()
    turns = max(1, int(_BATCH_S / (time.perf_counter() - started_s)))
    return alternate(_batch(case.ours, turns), _batch(case.theirs, turns), pairs=pairs)


def _batch(render: Callable[[], object], turns: int) -> Callable[[], float]:
    def timed() -> float:
        started_s = time.perf_counter()
        for _ in range(turns):
            render()
        return (time.perf_counter() - started_s) / turns

    return timed
