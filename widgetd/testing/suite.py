"""What a file of tests says, and the cases that come of it.

Everything that names something is looked up here, before anything runs: keywords, their
arguments, variables, targets, modules. A file that gets through fails only for what a widget does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from widgetd.browser.keywords import Keyword, keyword
from widgetd.browser.stage import shown_in, widget_of
from widgetd.catalog.snapshot import Snapshot
from widgetd.errors import CallError, Finding, WidgetError
from widgetd.testing.limits import LIMITS
from widgetd.text_search import compile_pattern, did_you_mean

_NOT_OF_A_NAME = compile_pattern(r"[^\w.-]+")
_VARIABLE = compile_pattern(r"\$(\$)?\{([^{}]*+)\}")


class Place(NamedTuple):
    """Where something stands in a file, from 1."""

    file: str
    line: int
    column: int


def wrong(place: Place, code: str, problem: str, advice: str) -> WidgetError:
    """A file cannot be run, and where, why and what would be right."""
    file, line, column = place
    return WidgetError(
        Finding(code=code, problem=problem, advice=advice, path=file, line=line, column=column)
    )


def sentence(error: WidgetError) -> str:
    """`error` as compilers say it: file:line:column, so that editors lead there."""
    one = error.finding
    return f"{one.path}:{one.line}:{one.column}: {one.problem}; {one.advice} [{one.code}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A step as it is written.

    Attributes:
        does: A keyword, or a module with `use`.
        given: Its arguments, with variables in them.
        when: Variables and the value, or values, with which the step is done.
    """

    does: str
    given: Any = None
    is_use: bool = False
    when: Mapping[str, Any] = field(default_factory=dict)
    place: Place = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """Steps with a name, for several tests; whoever uses it gives its parameters values."""

    parameters: tuple[str, ...] = ()
    steps: tuple[Written, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """One test as it is written; `rows` are the variables of each time that it runs."""

    name: str
    tags: tuple[str, ...] = ()
    rows: tuple[Mapping[str, Any], ...] = ({},)
    steps: tuple[Written, ...]
    place: Place = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """All that one file, or one folder of CSV files, says."""

    widget: str = ""
    variables: Mapping[str, Any] = field(default_factory=dict)
    targets: Mapping[str, Any] = field(default_factory=dict)
    modules: Mapping[str, Module] = field(default_factory=dict)
    tests: tuple[Test, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step that is ready to be done."""

    keyword: Keyword
    arguments: Mapping[str, Any]
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One test with one row of variables.

    Attributes:
        name: Of the test, with the row in brackets where there are several.
        picture: Begins the names of its pictures.
        widget: The one that is meant where a step names none.
    """

    name: str
    picture: str
    tags: tuple[str, ...]
    widget: str
    steps: tuple[Step, ...]
    place: Place


def cases(suite: Suite) -> Iterator[Case]:
    """The cases of `suite`, each ready to be run.

    Raises:
        WidgetError: A name is unknown (W4101, W4402), arguments do not fit (W4102), or two cases
            would have the same name, and so the same pictures (W4401).
    """
    had, left = dict[str, Place](), LIMITS.file_steps
    for test in suite.tests:
        for row in test.rows:
            known = {**suite.targets, **suite.variables, **row}
            name = test.name
            if len(test.rows) > 1:
                name += f"[{'-'.join(f'{value!s:.60}' for value in row.values())}]"
            picture = _NOT_OF_A_NAME.sub("-", name).strip("-").lower()
            if picture in had:
                problem = f"'{name:.60}' has the name of the test in line {had[picture].line}"
                raise wrong(test.place, "W4401", problem, "call it otherwise, for its pictures")
            had[picture] = test.place
            if len(had) > LIMITS.cases:
                problem = f"the file has more than {LIMITS.cases:,} tests, rows counted"
                raise wrong(test.place, "W4401", problem, "make several files of it")
            granted = min(LIMITS.steps, left)
            budget = _Budget(granted)
            steps = tuple(_steps(suite, test.steps, known, budget))
            left -= granted - budget.left
            yield Case(
                name=name,
                picture=picture,
                tags=test.tags,
                widget=str(filled(suite.widget, known, test.place)),
                steps=steps,
                place=test.place,
            )


@dataclass(slots=True)
class _Budget:
    """The steps that one case may still have."""

    left: int

    def spend(self, place: Place) -> None:
        self.left -= 1
        if self.left < 0:
            problem = f"a test may have {LIMITS.steps:,} steps, and all of a file"
            problem = f"{problem} {LIMITS.file_steps:,}, those of modules included"
            raise wrong(place, "W4401", problem, "use fewer modules, or make several files of it")


def _steps(
    suite: Suite,
    steps: tuple[Written, ...],
    known: Mapping[str, Any],
    budget: _Budget,
    depth: int = 0,
) -> Iterator[Step]:
    for step in steps:
        # Also of a step that comes to nothing: modules that use modules multiply.
        budget.spend(step.place)
        if not _is_due(step, known):
            continue
        if step.is_use:
            module = suite.modules.get(step.does)
            if module is None:
                raise _unknown(step.place, "module", step.does, suite.modules)
            if depth == LIMITS.module_depth:
                problem = f"modules use each other more than {LIMITS.module_depth} deep"
                raise wrong(step.place, "W4402", problem, "let none use itself")
            given = filled(step.given or {}, known, step.place)
            inner = {**known, **_bound(step, module, given)}
            yield from _steps(suite, module.steps, inner, budget, depth + 1)
            continue
        try:
            row = keyword(step.does)
            arguments = row.arguments(filled(step.given, known, step.place))
        except CallError as error:
            problem, _, advice = error.message.partition("; ")
            advice = advice or "`widgetd guide testing` says what each takes"
            raise wrong(step.place, error.code, problem, advice) from None
        yield Step(keyword=row, arguments=arguments, place=step.place)


def demand_shown(case: Case, snapshot: Snapshot) -> None:
    """Return if each widget that `case` shows is there, and has the state that it is shown in.

    Raises:
        WidgetError: One is not (W2001), or has not (W4402).
    """
    subject = case.widget
    for step in case.steps:
        given = step.arguments
        if step.keyword.slug != "show_widget" or given.get("render_id"):
            continue
        subject = given.get("widget") or subject
        try:
            widget = widget_of(snapshot, subject)
            if not given.get("arguments"):
                shown_in(widget, given.get("state", ""))
        except CallError as error:
            problem, _, advice = error.message.partition("; ")
            if snapshot.faults and error.code == "W2001":
                advice = "`widgetd check` says why files are refused"
            raise wrong(step.place, error.code, problem, advice) from None


def _is_due(step: Written, known: Mapping[str, Any]) -> bool:
    for name, value in step.when.items():
        if name not in known:
            raise _unknown(step.place, "variable", name, known)
        if known[name] not in (value if isinstance(value, list) else [value]):
            return False
    return True


def _bound(step: Written, module: Module, given: Any) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        given = dict(zip(module.parameters, [given], strict=False))
    for name in given:
        if name not in module.parameters:
            raise _unknown(step.place, f"parameter of '{step.does}'", name, module.parameters)
    for name in module.parameters:
        if name not in given:
            problem = f"the module '{step.does}' needs '{name}'"
            raise wrong(step.place, "W4402", problem, "give it a value")
    return dict(given)


def filled(value: Any, known: Mapping[str, Any], place: Place) -> Any:
    """`value` with variables in their places; a text that is one alone becomes its value.

    Raises:
        WidgetError: A variable is unknown (W4402).
    """
    if isinstance(value, Mapping):
        return {key: filled(one, known, place) for key, one in value.items()}
    if isinstance(value, list):
        return [filled(one, known, place) for one in value]
    if not isinstance(value, str):
        return value

    def look_up(name: str) -> Any:
        if name not in known:
            raise _unknown(place, "variable", name, known)
        return known[name]

    alone = _VARIABLE.fullmatch(value)
    if alone and not alone[1]:
        return look_up(alone[2].strip())
    # "$${" is how "${" is written.
    return _VARIABLE.sub(lambda one: one[0][1:] if one[1] else str(look_up(one[2].strip())), value)


def _unknown(place: Place, what: str, name: str, known: Any) -> WidgetError:
    advice = did_you_mean(name, known, f"there is {', '.join(known) or 'none'}")
    return wrong(place, "W4402", f"there is no {what} '{name:.60}'", advice)


def display(file: Path) -> str:
    """The file as it is called from here."""
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)
