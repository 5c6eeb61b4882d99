"""Rendering each template, against the same template compiled by Jinja.

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
from benchmarks.measuring import Pairs, alternate, combined, median
from benchmarks.table import Row, at_most, spread
from tests.corpus import corpus_files
from widgetd import CallError, Widget, WidgetError, load_widget

# Long enough for the clock, short enough for both arms to meet the same machine.
_BATCH_S = 0.001

_JINJA = Environment(autoescape=False)  # the templates make JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One template, and what renders it.

    Attributes:
        path: The file.
        ours: Renders the sample.
        theirs: Renders the sample by Jinja.
    """

    path: Path
    ours: Callable[[], str]
    theirs: Callable[[], str]


def rows(most: int) -> Iterator[Row]:
    """The rows of this family, from at most so many pairs for each template."""
    paths = [*bundled(), *corpus_files()]
    cases = [case for case in map(_case, paths) if case is not None]
    taken = [_taken(case, min(most, 60)) for case in cases]
    ratios = [median(pairs.ours) / median(pairs.theirs) for pairs in taken]
    worst = cases[ratios.index(max(ratios))].path.name
    told = f"{len(cases)} templates of {len(paths)}: those that both render to the same JSON."
    for what, limit, combine, remark in (
        ("render, compiled Jinja, median template", 0.5, median, told),
        ("render, compiled Jinja, worst template", 1.5, max, f"The worst is {worst}."),
    ):
        yield Row(
            what=what,
            bar=at_most(limit),
            ratio=combined(taken, combine),
            ours=spread(median(pairs.ours) for pairs in taken),
            theirs=spread(median(pairs.theirs) for pairs in taken),
            pairs=min(most, 60),
            remark=remark,
        )


def _case(path: Path) -> Case | None:
    """The case of a file; None where one of the two cannot render it, or renders something else."""
    try:
        widget = load_widget(path)
        arguments = _sample(widget)
        compiled = _JINJA.from_string(widget.definition.template)
        if json.loads(compiled.render(arguments)) != json.loads(widget.template.render(arguments)):
            return None
    except (WidgetError, CallError, TemplateError, TypeError, ValueError):
        return None
    return Case(
        path=path,
        ours=lambda: widget.template.render(arguments),
        theirs=lambda: compiled.render(arguments),
    )


def _sample(widget: Widget) -> Mapping[str, Any]:
    studio = widget.definition.studio
    return widget.example or {} if studio is None else dict(studio.default_state)


def _taken(case: Case, pairs: int) -> Pairs:
    started_s = time.perf_counter()
    case.ours()
    turns = max(1, int(_BATCH_S / (time.perf_counter() - started_s)))
    return alternate(_batch(case.ours, turns), _batch(case.theirs, turns), pairs=pairs)


def _batch(render: Callable[[], str], turns: int) -> Callable[[], float]:
    def timed() -> float:
        started_s = time.perf_counter()
        for _ in range(turns):
            render()
        return (time.perf_counter() - started_s) / turns

    return timed
