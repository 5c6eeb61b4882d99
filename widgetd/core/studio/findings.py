"""Findings about losses of Studio's exporter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from widgetd.base.errors import CallError, Finding, WidgetError
from widgetd.core.studio.choose import find_changed
from widgetd.core.studio.compare import compare, describe_differences, differ
from widgetd.core.studio.limits import LIMITS
from widgetd.core.template.dialect.exporter import find_wrappers
from widgetd.core.widget.components import tree
from widgetd.core.widget.sources import Difference
from widgetd.core.widget.widget import Widget

Trees = Sequence[tuple[Mapping[str, Any], dict[str, Any]]]
"""Arguments with the tree rendered from the served source."""


def check_template_source(widget: Widget, trees: Trees) -> Iterator[Finding]:
    """Yield the faults of the template, and the reason for its differences from the JSX."""
    choice, fault = widget.choice, widget.choice.fault
    if choice.reason == "missing":
        yield Finding(
            code="W1325",
            problem="there is no template, so the JSX in encodedWidget is drawn",
            advice="export the widget again to have one, if others than widgetd draw it",
        )
    elif choice.reason == "faulty" and fault is not None:
        problem = f"the JSX is drawn, for the template cannot be: {fault.problem}"
        yield replace(fault, code="W1325", problem=problem)
    elif choice.losses:
        most = LIMITS.differences if choice.source == "view" else LIMITS.losses
        yield Finding(
            code="W1307",
            at="/template",
            problem=f"the exporter lost some of the JSX: {_describe(choice.losses, 'not', most)}",
            advice="widgetd draws the JSX; others draw the template, unless it says the same"
            if choice.source == "view"
            else "write these values into the template, or make its edits in the JSX and leave "
            "the template empty",
        )
    if choice.source == "view":
        return
    of_jsx = f"; nor can the JSX be drawn: line {fault.line}: {fault.problem}" if fault else ""
    for warning in widget.template.warnings:
        if warning.code != "W1307":
            yield replace(warning, at="/template")
        elif not choice.losses:
            yield replace(warning, at="/template", problem=warning.problem + of_jsx)
            if of_jsx:
                break
    yield from _check_edits(widget, trees)


def _check_edits(widget: Widget, trees: Trees) -> Iterator[Finding]:
    choice = widget.choice
    edits, blame = choice.edits, choice.blame
    if not choice.reason and _renders_differently(widget, trees):
        comparison = compare(widget)
        edits = () if comparison.is_export else comparison.edits
        blame = find_changed(widget)
    if edits:
        changed, advice = _CHANGED[blame]
        yield Finding(
            code="W1326",
            at="/template",
            problem=f"{changed}: {_describe(edits, 'where the JSX says')}",
            advice=f"{advice}; widgetd draws the template, or the JSX where the sidecar says "
            'source = "view"',
        )


_CHANGED: Mapping[str, tuple[str, str]] = {
    "template": ("the template was edited after the export", "exporting again undoes that"),
    "view": ("the JSX was changed after the export", "exporting again adopts that"),
    "": ("the template and the JSX disagree", "exporting again makes the template of the JSX"),
}
"""The problem and advice of W1326, by changed source."""


_OTHERWISE: Mapping[str, tuple[str, str]] = {
    "strict": ("=== or !==", "write == and !="),
    "sum": ("a text added to what may be a number", "write ~ for +"),
    "bare": ("a value without tojson", "write {{ x | tojson }}"),
    "raw": ("a value inside quotes", "write {{ (… ~ x) | tojson }} without the quotes"),
    "absent": ("an optional argument", "write {{ (x if x is defined else none) | tojson }}"),
}
"""Constructs that other readers misread or refuse, and their replacements."""


def check_other_readers(widget: Widget) -> Iterator[Finding]:
    """Yield a finding on constructs unknown to chatkit's `WidgetTemplate` (W1328).

    Optional arguments alone do not count: every export with such arguments fails there, even
    Studio's own.
    """
    first: dict[str, int] = {}
    for what, line in () if widget.source == "view" else widget.template.unusual:
        first.setdefault(what, line)
    if not first:
        return
    required = widget.schema.advertised.get("required", ())
    for read in widget.template.reads if widget.definition.schema is not None else ():
        certain = (
            (read.guarded and not read.decides)
            or read.index
            or any(sign in read.path for sign in ".[")
        )
        if not certain and read.path not in {*required, *read.certain}:
            first.setdefault("absent", read.line)
    listed = ", ".join(f"{_OTHERWISE[what][0]} (line {line})" for what, line in first.items())
    yield Finding(
        code="W1328",
        at="/template",
        line=min(first.values()),
        problem=f"chatkit's WidgetTemplate cannot read all of it: {listed}",
        advice="widgetd does; for both, " + "; ".join(_OTHERWISE[what][1] for what in first),
    )


def _renders_differently(widget: Widget, trees: Trees) -> bool:
    if not widget.choice.source:
        return False
    try:
        view = widget.view
    except WidgetError:
        return False
    for arguments, served in trees:
        try:
            drawn = tree(view.render(widget.fill(arguments)))
        except (CallError, WidgetError) as error:
            if isinstance(error, CallError) and error.code == "W2005":
                return False  # the other samples would take as long
            continue
        if differ(served, drawn):
            return True
    return False


def _describe(pairs: Sequence[Difference], between: str, most: int = LIMITS.differences) -> str:
    more = ", and so on" if len(pairs) > most else ""
    return describe_differences(pairs, between, most) + more


def check_wrapped_data(template: str) -> Iterator[Finding]:
    """Yield each property whose objects the exporter took for components (W1324).

    Any object with a string `type` looks like a component, as in a chart's series.
    """
    first: dict[str, int] = {}
    for start, _, name in find_wrappers(template):
        first.setdefault(name.strip('"'), start)
    for name, start in first.items():
        yield Finding(
            code="W1324",
            at="/template",
            line=template.count("\n", 0, start) + 1,
            problem=f"the exporter made 'Text' components of '{name}', which is data",
            advice="widgetd draws the data; to be understood by others, replace each "
            '{"type": "Text", "value": {…}} by its value',
        )
