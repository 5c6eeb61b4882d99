"""Render a widget's samples, the author's and generated ones, and say which cannot be shown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from widgetd.checks.declared_paths import steps
from widgetd.checks.samples import Sample
from widgetd.errors import CallError, Finding, WidgetError
from widgetd.schema.describe import alternatives
from widgetd.schema.sampling.sample import State, sample
from widgetd.widget.components import check_tree, tree
from widgetd.widget.widget import Widget

_STATES: Mapping[State, str] = {
    "required": "the required fields only",
    "full": "all fields",
    "empty": "empty lists",
    "one": "one element in each list",
    "two": "two elements in each list",
    "many": "many elements in each list",
    "long": "long texts",
    "nulls": "null wherever it is admitted",
    "nasty": "quotes, line breaks and markup in texts",
}

_REMEDIES = {
    "W1305": "correct the template",
    "W1306": "put it into a Card, a ListView or a Basic",
    "W1310": "correct the template",
    "W1322": "provide for that in the template, or let the schema not admit it",
}

_STRUCTURAL = frozenset({"W1401", "W1402", "W1406", "W1407"})
"""What generated values cannot bring about: these are said of every tree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Arguments that a widget ought to render.

    Attributes:
        name: As `the required fields only`.
        arguments: Admitted by the schema.
        authored: Whether a person wrote them, so that their values mean something.
    """

    name: str
    arguments: Mapping[str, Any]
    authored: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What rendering a case came to.

    Attributes:
        case: The case.
        tree: The widget root; None where it failed.
        fault: Why it failed; empty where it did not.
        code: What it is called where it fails so on all arguments; empty where it did not fail.
    """

    case: Case
    tree: dict[str, Any] | None = None
    fault: str = ""
    code: str = ""


def generated(widget: Widget) -> Iterator[Case]:
    """The cases that are made from the schema."""
    for state, name in _STATES.items():
        arguments = sample(widget.schema, state=state)
        if arguments is None:
            continue
        yield Case(name=name, arguments=arguments, authored=False)
        if state == "full":
            yield from _edges(widget, arguments)


def _edges(widget: Widget, full: Mapping[str, Any]) -> Iterator[Case]:
    """The same arguments with every number, then every text, as small as can be."""
    for name, kinds, least in (("zeros", (int, float), 0), ("empty texts", (str,), "")):
        arguments = _with_each(full, kinds, least)
        if widget.schema.admits(arguments):
            yield Case(name=name, arguments=arguments, authored=False)


def _with_each(value: Any, kinds: tuple[type, ...], least: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _with_each(inner, kinds, least) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_each(inner, kinds, least) for inner in value]
    return least if isinstance(value, kinds) and not isinstance(value, bool) else value


def authored(widget: Widget, samples: Iterable[Sample]) -> Iterator[Case]:
    """The author's samples, as far as the schema admits them."""
    for one in samples:
        if widget.schema.admits(dict(one.arguments)):
            yield Case(name=one.name, arguments=one.arguments, authored=True)


def outcome(widget: Widget, case: Case) -> Outcome:
    """Render one case."""
    try:
        filled = widget.schema.with_defaults(dict(case.arguments))
        return Outcome(case=case, tree=tree(widget.template.render(filled)))
    except CallError as error:
        return Outcome(case=case, fault=error.message, code="W1310")
    except WidgetError as error:
        return Outcome(case=case, fault=error.finding.problem, code=error.finding.code)


def failures(outcomes: Collection[Outcome]) -> Iterator[Finding]:
    """Each way in which rendering fails, and in which cases (W1305, W1306, W1310, W1322).

    A root that is none is a fault even where only some arguments make it, for none should.
    """
    cases: dict[str, list[Outcome]] = {}
    for one in outcomes:
        if one.fault:
            cases.setdefault(one.fault.partition(" at '")[0], []).append(one)
    for alike in cases.values():
        always = len(alike) == len(outcomes)
        names = "whatever it is given" if always else alternatives([one.case.name for one in alike])
        code = alike[0].code if always or alike[0].code == "W1306" else "W1322"
        yield Finding(
            code=code,
            at="/template",
            problem=f"the template fails on {names}: {alike[0].fault}",
            advice=_REMEDIES[code],
        )


def vocabulary(outcomes: Iterable[Outcome]) -> Iterator[Finding]:
    """What the trees say that ChatKit does not know, each once (W14xx)."""
    said: set[tuple[str, str]] = set()
    for one in outcomes:
        for finding in check_tree(one.tree or {"type": "Basic"}):
            known = (finding.code, finding.problem) in said
            if not known and (one.case.authored or finding.code in _STRUCTURAL):
                said.add((finding.code, finding.problem))
                yield Finding(
                    code=finding.code,
                    at="/template",
                    problem=f"{finding.problem} (at {finding.at or '/'} of the tree)",
                    advice=finding.advice,
                )


def shows(widget: Widget, cases: Iterable[Case]) -> Callable[[str], bool]:
    """Whether another value at a path changes the output of any of `cases`."""
    before = [(case.arguments, _output(widget, case.arguments)) for case in cases]

    def changes(path: str) -> bool:
        for arguments, output in before:
            other = deepcopy(dict(arguments))
            if _alter(other, steps(path)) and _output(widget, other) != output:
                return True
        return False

    return changes


def _output(widget: Widget, arguments: Mapping[str, Any]) -> str | None:
    try:
        return widget.template.render(arguments)
    except CallError:
        return None


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
