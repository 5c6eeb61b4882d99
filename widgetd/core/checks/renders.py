"""Checks of renders with the author's samples and generated arguments."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice, takewhile
from typing import Any

import orjson

from widgetd.base.errors import CallError, Finding, WidgetError
from widgetd.base.limits import Limits
from widgetd.base.text_search import compile_pattern
from widgetd.core.checks.absent import (
    absence_finding,
    find_absent_argument,
    find_shown_argument,
    untyped_finding,
)
from widgetd.core.checks.declared_paths import split_path
from widgetd.core.checks.limits import LIMITS
from widgetd.core.schema.json_text import find_duplicate_key, iterate_places, line_and_column
from widgetd.core.schema.json_values import resolve_pointer
from widgetd.core.schema.phrase import join_alternatives
from widgetd.core.studio.compare import describe_differences, differ, differences
from widgetd.core.studio.limits import LIMITS as STUDIO_LIMITS
from widgetd.core.studio.places import enclosing_place, find_places
from widgetd.core.template import Template
from widgetd.core.widget.actions import WidgetAction
from widgetd.core.widget.components import check_tree, tree
from widgetd.core.widget.components.tree import walk_components
from widgetd.core.widget.samples import Sample, filter_admitted, generate_samples, list_authored
from widgetd.core.widget.widget import Widget

_REMEDIES = {
    "W1305": "correct the template",
    "W1306": "put it into a Card, a ListView or a Basic",
    "W1310": "correct the template",
    "W1322": "provide for that in the template, or let the schema not admit it",
}

_STRUCTURAL = frozenset({"W1401", "W1402", "W1406", "W1407"})
"""Codes reported for every tree, because generated values cannot cause them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of rendering a sample.

    Attributes:
        sample: The sample.
        tree: The widget root, None after a fault.
        fault: The problem, empty without a fault.
        at: Pointer to the rendered source.
        code: Code to report if all samples have faults.
        place: Line and column of the fault in the template, None if unknown.
        exhausted: Whether the render used up its budget.
    """

    sample: Sample
    tree: dict[str, Any] | None = None
    at: str = "/template"
    fault: str = ""
    code: str = ""
    place: tuple[int, int] | None = None
    exhausted: bool = False


def render_samples(widget: Widget) -> Iterator[Outcome]:
    """Render each sample that the schema accepts, lazily.

    The author's samples come before the generated arguments.
    """
    authored = filter_admitted(widget, list_authored(widget.definition))
    exhausted = 0
    for sample in chain(authored, generate_samples(widget)):
        outcome = render_sample(widget, sample)
        yield outcome
        exhausted += outcome.exhausted
        if exhausted == LIMITS.exhausted_renders:
            return


def render_sample(widget: Widget, sample: Sample) -> Outcome:
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
        place = _find_origin(widget, sample, finding)
        return outcome(fault=finding.problem, code=finding.code, place=place)


def _find_origin(widget: Widget, sample: Sample, finding: Finding) -> tuple[int, int] | None:
    template = widget.drawing
    if finding.line is None or finding.column is None or not isinstance(template, Template):
        return None
    arguments = widget.fill(sample.arguments)
    rendering = template.rendering(arguments)
    if rendering.repaired:
        return None
    before = rendering.text.split("\n")[: finding.line - 1]
    return template.place(arguments, sum(len(line) + 1 for line in before) + finding.column - 1)


def explain_undrawable(widget: Widget) -> Finding | None:
    """Return why no arguments render, or None. Stops at the first successful render."""
    failed = []
    for outcome in render_samples(widget):
        if outcome.tree is not None:
            return None
        failed.append(outcome)
    return next(check_failures(failed), None)


def check_failures(outcomes: Sequence[Outcome]) -> Iterator[Finding]:
    """Yield why nothing renders (W1305, W1306, W1310), else which samples fail (W1322)."""
    failed = [outcome for outcome in outcomes if outcome.fault]
    if failed and len(failed) == len(outcomes):
        yield _failure_finding(failed[0], failed[0].code, "any arguments")
        return
    alike: dict[str, list[Outcome]] = {}
    for outcome in failed:
        alike.setdefault(outcome.fault.partition(" at '")[0], []).append(outcome)
    for group in alike.values():
        names = join_alternatives([outcome.sample.name for outcome in group])
        yield _failure_finding(group[0], "W1322", names)


def _failure_finding(outcome: Outcome, code: str, arguments: str) -> Finding:
    line, column = outcome.place or (None, None)
    return Finding(
        code=code,
        at=outcome.at,
        line=line,
        column=column,
        problem=f"the {source_name(outcome.at)} fails on {arguments}: {outcome.fault}",
        advice=_REMEDIES[code].replace("template", source_name(outcome.at)),
    )


_COMPONENT = compile_pattern(r"(?:/children(?:/[0-9]++)*+)*+")
"""Pointer of a component in a template's output, where lists of children may nest."""


def locate(widget: Widget, outcome: Outcome, at: str) -> tuple[int | None, int | None]:
    """Return the line and column of the source that wrote the component around a value."""
    if outcome.tree is None:
        return None, None
    arguments, drawing = widget.fill(outcome.sample.arguments), widget.drawing
    if outcome.at != "/template":
        offset = enclosing_place(find_places(widget, arguments, outcome.tree), at)
        return (None, None) if offset is None else line_and_column(widget.definition.view, offset)
    if not isinstance(drawing, Template) or (rendering := drawing.rendering(arguments)).repaired:
        return None, None
    offsets = [
        place.offset
        for place in iterate_places(rendering.text)
        if place.lexeme == "{" and _COMPONENT.fullmatch(place.pointer)
    ]
    # The tree has lost what is no component, and nothing else, so the order is the same.
    pointers = [pointer for pointer, _ in walk_components(outcome.tree)]
    if len(offsets) != len(pointers):
        return None, None
    offset = enclosing_place(dict(zip(pointers, offsets, strict=True)), at)
    return (None, None) if offset is None else drawing.place(arguments, offset)


def move_to_source(widget: Widget, outcome: Outcome, finding: Finding) -> Finding:
    """Move a finding from the tree to the source of its component."""
    line, column = locate(widget, outcome, finding.at)
    return replace(finding, at=outcome.at, line=line, column=column)


def source_name(at: str) -> str:
    return "template" if at == "/template" else "JSX"


def check_vocabulary(widget: Widget, outcomes: Sequence[Outcome]) -> Iterator[Finding]:
    """Yield what ChatKit does not know in the trees (W14xx), each problem once.

    A missing property is reported at the absent argument behind it, once for all components.
    """
    texts = (widget.definition.template, widget.definition.view)
    reported: set[tuple[str, str]] = set()
    absent: dict[tuple[str, ...], list[Finding]] = {}
    for outcome in outcomes:
        arguments = outcome.sample.arguments
        for finding in check_tree(outcome.tree or {"type": "Basic"}):
            value = resolve_pointer(outcome.tree, finding.at)
            if (finding.code, finding.problem) in reported or not (
                outcome.sample.authored
                or finding.code in _STRUCTURAL
                or _is_written(value, arguments, texts)
            ):
                continue
            reported.add((finding.code, finding.problem))
            if finding.code == "W1407" and len(absent) < STUDIO_LIMITS.differences:
                donors = (other.sample.arguments for other in outcomes if other is not outcome)
                if path := find_absent_argument(widget, arguments, donors, finding):
                    absent.setdefault(path, []).append(finding)
                    continue
                if component_path := find_shown_argument(arguments, value):
                    yield untyped_finding(component_path)
                    continue
            problem = f"{finding.problem} (at {finding.at or '/'} of the tree)"
            yield move_to_source(widget, outcome, replace(finding, problem=problem))
    for path, lacks in absent.items():
        yield absence_finding(path, lacks)


def check_repeated_keys(widget: Widget, outcomes: Iterable[Outcome]) -> Iterator[Finding]:
    """Yield each key written twice by a template or by an element of JSX (W1123).

    The last value counts: `{"type": "Input", "type": "email"}` is an `email` component.
    """
    repeated: dict[tuple[str, str], tuple[int, int] | None] = {}
    if isinstance(widget.drawing, Template):
        for outcome in islice(outcomes, LIMITS.repeated_renders):
            with suppress(CallError):
                arguments = widget.fill(outcome.sample.arguments)
                for key, location in _find_repeated(widget.drawing, arguments):
                    repeated.setdefault(key, location)
    else:
        for owner, name, offset in widget.view.repeated_attributes:
            location = line_and_column(widget.definition.view, offset)
            repeated.setdefault((owner, name), location)
    for (owner, name), location in repeated.items():
        line, column = location or (None, None)
        kind = name == "type" and _KINDS.get(owner)
        yield Finding(
            code="W1123",
            at=widget.drawing_at,
            line=line,
            column=column,
            problem=f"'{name}' is written twice" + (f" in '{owner}'" if owner else ""),
            advice=f"write its kind as '{kind}'" if kind else "leave one of them out",
        )


def _find_repeated(
    template: Template, arguments: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, str], tuple[int, int] | None]]:
    rendering = template.rendering(arguments)
    if find_duplicate_key(rendering.text) is None:
        return
    owners: dict[str, str] = {}
    reported: set[tuple[str, str]] = set()
    for place in iterate_places(rendering.text):
        if place.part == "type" and place.earlier is None:
            owners[place.around] = place.lexeme.strip('"')
        key = owners.get(place.around, ""), str(place.part)
        if place.earlier is not None and key not in reported:
            reported.add(key)
            at = None if rendering.repaired else place.key_offset
            yield key, None if at is None else template.place(arguments, at)


_KINDS = {"Input": "inputType", "Button": "submit", "Chart": "series"}
"""The property of a component for its HTML `type`."""


def _is_written(value: Any, arguments: Mapping[str, Any], texts: Sequence[str]) -> bool:
    if isinstance(value, str):
        written = json.dumps(value, ensure_ascii=False)
        if not any(written in text or f"'{written[1:-1]}'" in text for text in texts):
            return False
    # A number, a list or an object may be computed from arguments in many ways.
    return isinstance(value, (str, bool)) and not _contains(arguments, value)


def _contains(holder: Any, value: Any) -> bool:
    if isinstance(holder, (Mapping, list)):
        inside = holder.values() if isinstance(holder, Mapping) else holder
        return any(_contains(item, value) for item in inside)
    return type(holder) is type(value) and bool(holder == value)


def check_field_collisions(widget: Widget, actions: Collection[WidgetAction]) -> Iterator[Finding]:
    """Yield each field hidden by a payload key of the same name (W1408)."""
    for action in actions:
        for key, field in action.collisions:
            yield Finding(
                code="W1408",
                at=widget.drawing_at,
                problem=f"the key '{key}' in the payload of '{action.type}' hides the form's "
                f"field '{field}'",
                advice="give one of the two another name",
            )


def check_preview(widget: Widget) -> Iterator[Finding]:
    """Yield a finding about the differences of Studio's preview and our render (W1323)."""
    studio, preview = widget.definition.studio, widget.definition.document.preview
    if studio is None or preview is None:
        return
    own = render_sample(widget, Sample(name="", arguments=studio.default_state, authored=True))
    if own.tree is None:
        return
    try:
        expected = tree(orjson.dumps(preview))
    except WidgetError as error:
        problem = f"the preview is no widget: {error.finding.problem}"
        advice = "export the widget again"
        yield Finding(code="W1323", at="/outputJsonPreview", problem=problem, advice=advice)
        return
    unequal = list(differences(own.tree, expected))
    if unequal:
        rest = len(unequal) - STUDIO_LIMITS.differences
        more = f", and {rest} more" if rest > 0 else ""
        described = describe_differences(unequal, "not")
        yield Finding(
            code="W1323",
            at="/outputJsonPreview",
            problem=f"the sample in encodedWidget renders differently: {described}{more}",
            advice=_advise_on_preview(widget, studio.default_state, expected, own.tree),
        )


def _advise_on_preview(widget: Widget, sample: Mapping[str, Any], preview: Any, own: Any) -> str:
    try:
        view = tree(widget.view.render(widget.fill(sample)))
    except (CallError, WidgetError):
        return "export the widget again, or correct the template"
    if not differ(view, preview):
        return "the JSX draws the preview: write in the template what it says, or export again"
    if not differ(view, own):
        return "the JSX draws the same: export the widget again, for its preview or sample is old"
    return "the JSX draws neither: export the widget again, and correct what was changed since"


class OutputProbe:
    """A test whether a change of a field changes the output of a sample.

    All paths share a budget of steps. When it is spent, every further path counts as shown.

    Attributes:
        left: Steps left, negative once the budget is spent.
    """

    def __init__(self, widget: Widget, samples: Iterable[Sample]) -> None:
        self.left = LIMITS.probe_steps
        self._widget = widget
        self._before = [
            (sample.arguments, self._output(sample.arguments))
            for sample in takewhile(lambda _: self.left >= 0, samples)
        ]

    def __call__(self, path: str) -> bool:
        """Return whether the value at `path` is shown."""
        for arguments, text in self._before:
            if self.left < 0:
                return True
            other = _alter(arguments, split_path(path))
            if other != arguments and self._output(other) != text:
                return True
        return False

    def _output(self, arguments: Mapping[str, Any]) -> str | None:
        try:
            rendering = self._widget.drawing.rendering(arguments)
        except CallError as error:
            self.left -= Limits().steps if error.code == "W2005" else 0
            return None
        self.left -= rendering.steps
        return rendering.text


def _alter(value: Any, path: Sequence[str]) -> Any:
    if not path:
        return _change(value)
    step, *rest = path
    if step == "[]" and isinstance(value, list):
        return [_alter(item, rest) for item in value]
    if isinstance(value, Mapping) and step in value:
        return {**value, step: _alter(value[step], rest)}
    return value


def _change(value: Any) -> Any:
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
