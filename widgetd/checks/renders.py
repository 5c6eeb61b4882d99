"""Render a widget with samples, the author's and generated ones, and say which cannot be shown."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from itertools import chain, takewhile
from typing import Any

import orjson

from widgetd.checks.declared_paths import steps
from widgetd.errors import CallError, Finding, WidgetError
from widgetd.limits import Limits
from widgetd.schema.json_values import resolve_pointer
from widgetd.schema.phrase import join_alternatives, shorten_json
from widgetd.template import Template
from widgetd.widget.actions import WidgetAction
from widgetd.widget.components import check_tree, tree
from widgetd.widget.document import Studio
from widgetd.widget.export import ABSENT, MOST_DIFFERENCES, Difference, differences, differing
from widgetd.widget.samples import (
    Sample,
    filter_admitted,
    generate_samples,
    list_examples,
    list_studio_samples,
)
from widgetd.widget.widget import Widget

_REMEDIES = {
    "W1305": "correct the template",
    "W1306": "put it into a Card, a ListView or a Basic",
    "W1310": "correct the template",
    "W1322": "provide for that in the template, or let the schema not admit it",
}

_STRUCTURAL = frozenset({"W1401", "W1402", "W1406", "W1407"})
"""What generated values cannot bring about: these are said of every tree."""

_MOST_EXHAUSTED = 3

_MOST_STEPS = 500_000
"""All that finding out what is shown may take, in steps of templates; about a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What rendering a sample came to.

    Attributes:
        sample: The sample.
        tree: The widget root; None where it failed.
        fault: Why it failed; empty where it did not.
        at: Where in the file that stands which was drawn.
        code: What it is called where it fails so on all arguments; empty where it did not fail.
        place: Line and column in the template at which it failed; None where that is not known.
        exhausted: Whether it spent all that a render may spend.
    """

    sample: Sample
    tree: dict[str, Any] | None = None
    at: str = "/template"
    fault: str = ""
    code: str = ""
    place: tuple[int, int] | None = None
    exhausted: bool = False


def attempts(widget: Widget) -> Iterator[Outcome]:
    """What drawing `widget` comes to, each time with other arguments that its schema admits.

    The author's own come first, generated ones after; none is drawn before it is asked for. Where
    a template spends all that a render may spend, a few times tell enough.
    """
    authored = (*list_studio_samples(widget.definition), *list_examples(widget.definition))
    exhausted = 0
    for sample in chain(filter_admitted(widget, authored), generate_samples(widget)):
        outcome = render(widget, sample)
        yield outcome
        exhausted += outcome.exhausted
        if exhausted == _MOST_EXHAUSTED:
            return


def render(widget: Widget, sample: Sample) -> Outcome:
    """What rendering `sample`, which the schema admits, comes to."""
    outcome = partial(Outcome, sample=sample, at=widget.drawing_at)
    try:
        return outcome(tree=widget.tree(sample.arguments))
    except CallError as error:
        fault, place = error.message, error.place
        if place is not None:
            fault = fault.removeprefix(f"line {place[0]}: ")
        return outcome(fault=fault, code="W1310", place=place, exhausted=error.code == "W2005")
    except WidgetError as error:
        finding = error.finding
        place = _written(widget, sample, finding)
        return outcome(fault=finding.problem, code=finding.code, place=place)


def _written(widget: Widget, sample: Sample, finding: Finding) -> tuple[int, int] | None:
    """What in the template wrote the place of the output that `finding` is about."""
    template = widget.drawing
    if finding.line is None or finding.column is None or not isinstance(template, Template):
        return None
    arguments = widget.filled(sample.arguments)
    made = template.rendering(arguments)
    if made.mended:
        return None
    before = made.text.split("\n")[: finding.line - 1]
    return template.place(arguments, sum(len(line) + 1 for line in before) + finding.column - 1)


def undrawable(widget: Widget) -> Finding | None:
    """Why no arguments draw `widget`; None where some do, with the first of which it ends."""
    failed = []
    for outcome in attempts(widget):
        if outcome.tree is not None:
            return None
        failed.append(outcome)
    return next(failures(failed), None)


def failures(outcomes: Sequence[Outcome]) -> Iterator[Finding]:
    """Why nothing draws the widget (W1305, W1306, W1310), else what some fail on (W1322)."""
    failed = [one for one in outcomes if one.fault]
    if failed and len(failed) == len(outcomes):
        yield _failure(failed[0], failed[0].code, "whatever it is given")
        return
    alike: dict[str, list[Outcome]] = {}
    for one in failed:
        alike.setdefault(one.fault.partition(" at '")[0], []).append(one)
    for group in alike.values():
        names = join_alternatives([one.sample.name for one in group])
        yield _failure(group[0], "W1322", names)


def _failure(outcome: Outcome, code: str, arguments: str) -> Finding:
    line, column = outcome.place or (None, None)
    return Finding(
        code=code,
        at=outcome.at,
        line=line,
        column=column,
        problem=f"the {name_of(outcome.at)} fails on {arguments}: {outcome.fault}",
        advice=_REMEDIES[code].replace("template", name_of(outcome.at)),
    )


def name_of(at: str) -> str:
    """What people call what stands at the pointer `at`, and is drawn."""
    return "template" if at == "/template" else "JSX"


def unknown_words(outcomes: Iterable[Outcome], texts: Sequence[str]) -> Iterator[Finding]:
    """What the trees say that ChatKit does not know, each once (W14xx).

    Of a tree that generated arguments made, only what stands in the author's own texts.
    """
    known: set[tuple[str, str]] = set()
    for one in outcomes:
        for finding in check_tree(one.tree or {"type": "Basic"}):
            if (finding.code, finding.problem) not in known and (
                one.sample.authored
                or finding.code in _STRUCTURAL
                or _is_written(resolve_pointer(one.tree, finding.at), one.sample.arguments, texts)
            ):
                known.add((finding.code, finding.problem))
                yield Finding(
                    code=finding.code,
                    at=one.at,
                    problem=f"{finding.problem} (at {finding.at or '/'} of the tree)",
                    advice=finding.advice,
                )


def _is_written(value: Any, arguments: Mapping[str, Any], texts: Sequence[str]) -> bool:
    """Whether `value`, a text or a boolean, is the author's own and part of no argument."""
    if isinstance(value, str):
        written = json.dumps(value, ensure_ascii=False)
        if not any(written in text or f"'{written[1:-1]}'" in text for text in texts):
            return False
    # A number, a list or an object may be computed of arguments in many ways.
    return isinstance(value, (str, bool)) and not _holds(arguments, value)


def _holds(holder: Any, value: Any) -> bool:
    """Whether a text or a boolean is, or stands in, `holder`."""
    if isinstance(holder, (Mapping, list)):
        inside = holder.values() if isinstance(holder, Mapping) else holder
        return any(_holds(each, value) for each in inside)
    return type(holder) is type(value) and bool(holder == value)


def hidden_fields(actions: Collection[WidgetAction]) -> Iterator[Finding]:
    """Each field that never arrives, because a payload has a key of that name (W1408)."""
    for action in actions:
        for key, field in action.collisions:
            yield Finding(
                code="W1408",
                at="/template",
                problem=f"the key '{key}' in the payload of '{action.type}' hides the form's "
                f"field '{field}'",
                advice="give one of the two another name",
            )


def preview_differences(
    widget: Widget, studio: Studio, preview: Mapping[str, Any]
) -> Iterator[Finding]:
    """One finding that says how Studio's preview and our render of its sample differ (W1323)."""
    own = render(widget, Sample(name="", arguments=studio.default_state, authored=True))
    if own.tree is None:
        return
    try:
        expected = tree(orjson.dumps(preview))
    except WidgetError as error:
        problem = f"the preview is no widget: {error.finding.problem}"
        advice = "export the widget again"
        yield Finding(code="W1323", at="/outputJsonPreview", problem=problem, advice=advice)
        return
    found = list(differences(own.tree, expected))
    if found:
        rest = len(found) - MOST_DIFFERENCES
        more = f", and {rest} more" if rest > 0 else ""
        yield Finding(
            code="W1323",
            at="/outputJsonPreview",
            problem=f"the sample in encodedWidget renders otherwise: {told(found, 'not')}{more}",
            advice=_stale(widget, expected, own.tree),
        )


def _stale(widget: Widget, preview: Any, own: Any) -> str:
    """What to do about a preview that is not met, by whom the JSX agrees with."""
    studio = widget.definition.studio
    try:
        arguments = widget.filled({} if studio is None else studio.default_state)
        view = tree(widget.view.render(arguments))
    except (CallError, WidgetError):
        return "export the widget again, or correct the template"
    if not any(True for _ in differing(view, preview)):
        return "the JSX draws the preview: write in the template what it says, or export again"
    if not any(True for _ in differing(view, own)):
        return "the JSX draws the same: export the widget again, for its preview or sample is old"
    return "the JSX draws neither: export the widget again, and correct what was changed since"


def told(differences: Sequence[Difference], between: str) -> str:
    """The first of the differences of two trees, as a finding says them."""
    return "; ".join(
        f"{at or '/'} is {_said(got)}, {between} {_said(want)}"
        for at, got, want in differences[:MOST_DIFFERENCES]
    )


def _said(value: Any) -> str:
    return "absent" if value is ABSENT else shorten_json(value)


class ShownInOutput:
    """Whether another value at a path changes the output of any of `samples`.

    All paths share one budget of steps; once it is spent, whatever is asked of counts as shown.

    Attributes:
        left: How many steps are left; below 0 it is spent.
    """

    def __init__(self, widget: Widget, samples: Iterable[Sample]) -> None:
        self.left = _MOST_STEPS
        self._widget = widget
        self._before = [
            (sample.arguments, self._output(sample.arguments))
            for sample in takewhile(lambda _: self.left >= 0, samples)
        ]

    def __call__(self, path: str) -> bool:
        """Whether it does, as far as the budget could tell."""
        for arguments, text in self._before:
            if self.left < 0:
                return True
            other = deepcopy(dict(arguments))
            if _alter(other, steps(path)) and self._output(other) != text:
                return True
        return False

    def _output(self, arguments: Mapping[str, Any]) -> str | None:
        try:
            made = self._widget.drawing.rendering(arguments)
        except CallError as error:
            self.left -= Limits().steps if error.code == "W2005" else 0
            return None
        self.left -= made.steps
        return made.text


def _alter(value: Any, path: list[str]) -> bool:
    """Put another value at `path`, in every element on the way; whether there was one."""
    step, rest = path[0], path[1:]
    if step == "[]":
        keys: Iterable[Any] = range(len(value)) if isinstance(value, list) else ()
    else:
        keys = [step] if isinstance(value, dict) and step in value else []
    altered = False
    for key in keys:
        if rest:
            altered = _alter(value[key], rest) or altered
        else:
            value[key] = _other(value[key])
            altered = True
    return altered


def _other(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value}*"
        case list() | dict():
            return type(value)()
        case _:
            return "*"
