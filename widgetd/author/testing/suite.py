"""A suite of tests as written, and its cases.

All names are looked up here, before anything runs: keywords, their arguments,
variables, targets, modules, widgets and their states. A file without faults fails only because
of a widget. All faults of a file are collected for a single report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from widgetd.author.browser.keywords import Keyword, find_keyword
from widgetd.author.browser.stage import find_widget, load_state
from widgetd.author.testing.limits import LIMITS
from widgetd.base.errors import CallError, Finding, WidgetError
from widgetd.base.text_search import compile_pattern, did_you_mean
from widgetd.server.catalog.snapshot import Snapshot

_NON_FILE_NAME = compile_pattern(r"[^\w.-]+")
_VARIABLE = compile_pattern(r"\$(\$)?\{([^{}]*+)\}")


Answers = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Answers of upstreams in dry runs, by upstream and tool."""


class FileLocation(NamedTuple):
    """A place in a file. Lines and columns count from 1."""

    file: str
    line: int
    column: int

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"


def suite_error(location: FileLocation, code: str, problem: str, advice: str) -> WidgetError:
    file, line, column = location
    return WidgetError(
        Finding(code=code, problem=problem, advice=advice, path=file, line=line, column=column)
    )


def format_fault(at: Finding) -> str:
    """Return a fault in the form of compilers, `file:line:column: …`, for editors to follow."""
    return f"{at.path}:{at.line}:{at.column}: {at.problem}; {at.advice} [{at.code}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenStep:
    """A step as written.

    Attributes:
        name: A keyword, or with `is_use` a module.
        arguments: With variables in them.
        when: The values of variables, or lists of values, for which the step is done.
    """

    name: str
    arguments: Any = None
    is_use: bool = False
    when: Mapping[str, Any] = field(default_factory=dict)
    location: FileLocation = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """Named steps with parameters, for tests to use."""

    parameters: tuple[str, ...] = ()
    steps: tuple[WrittenStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """A test as written. It runs once for each of `rows`, its variables."""

    name: str
    tags: tuple[str, ...] = ()
    rows: tuple[Mapping[str, Any], ...] = ({},)
    steps: tuple[WrittenStep, ...]
    location: FileLocation = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A test file, or a folder of CSV files.

    Attributes:
        widget: Tool of the widget for steps without a name.
        widget_location: Its place in the file.
        faults: Unreadable parts.
        upstreams: Answers in place of upstreams, see `DryRun`.
    """

    widget: str = ""
    widget_location: FileLocation | None = field(default=None, compare=False)
    variables: Mapping[str, Any] = field(default_factory=dict)
    targets: Mapping[str, Any] = field(default_factory=dict)
    modules: Mapping[str, Module] = field(default_factory=dict)
    tests: tuple[Test, ...] = ()
    faults: tuple[Finding, ...] = ()
    upstreams: Answers = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step ready to be done."""

    keyword: Keyword
    arguments: Mapping[str, Any]
    location: FileLocation


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A test with a row of variables.

    Attributes:
        name: Of the test, with the row in brackets where there are several.
        baseline: Prefix of the names of its baselines.
        widget: Tool of the widget for steps without a name.
        upstreams: Answers in place of upstreams, see `DryRun`.
    """

    name: str
    baseline: str
    tags: tuple[str, ...]
    widget: str
    steps: tuple[Step, ...]
    location: FileLocation
    upstreams: Answers = field(default_factory=dict)


def resolve_cases(suite: Suite, snapshot: Snapshot) -> tuple[list[Case], list[Finding]]:
    """Return the cases of `suite`, each ready to run, and its faults.

    Args:
        suite: As it was read.
        snapshot: The widgets under test.

    Returns:
        The cases, and the faults: unreadable parts (W4401), an unknown name (W2001, W4101,
        W4402), unsuitable arguments (W4102), a test without steps or with the name of
        another (W4401). Where there are faults the cases are incomplete.
    """
    resolver = _Resolver(suite, snapshot)
    if suite.widget and "${" not in suite.widget:
        resolver.require_widget(suite.widget, suite.widget_location)
    return list(resolver.cases()), list(dict.fromkeys(resolver.faults))


class _Resolver:
    def __init__(self, suite: Suite, snapshot: Snapshot) -> None:
        self.faults = list(suite.faults)
        self._suite = suite
        self._snapshot = snapshot
        self._file_steps = LIMITS.file_steps
        self._case_steps = 0

    def cases(self) -> Iterator[Case]:
        names = dict[str, FileLocation]()
        for test in self._suite.tests:
            for row in test.rows:
                try:
                    yield self._case(test, row, names)
                except WidgetError as error:
                    self.faults.append(error.finding)
                if len(names) > LIMITS.cases or len(self.faults) >= LIMITS.faults:
                    return

    def _case(self, test: Test, row: Mapping[str, Any], names: dict[str, FileLocation]) -> Case:
        variables = {**self._suite.targets, **self._suite.variables, **row}
        name = test.name
        if len(test.rows) > 1:
            name += f"[{'-'.join(f'{value!s:.60}' for value in row.values())}]"
        baseline = to_file_name(name).lower()
        if baseline in names:
            problem = f"'{name:.60}' has the name of the test in line {names[baseline].line}"
            advice = "give it another, for its pictures are named after it"
            raise suite_error(test.location, "W4401", problem, advice)
        names[baseline] = test.location
        if len(names) > LIMITS.cases:
            problem = f"the file has more than {LIMITS.cases:,} tests, rows counted"
            raise suite_error(test.location, "W4401", problem, "split it into several files")
        self._case_steps, known_faults = LIMITS.steps, len(self.faults)
        widget = str(fill_in(self._suite.widget, variables, test.location))
        if widget != self._suite.widget:
            self.require_widget(widget, self._suite.widget_location)
        steps = tuple(self._steps(test.steps, variables))
        if not steps and len(self.faults) == known_faults and not self._suite.faults:
            problem = "no step of the test is done" if test.steps else "the test has no steps"
            raise suite_error(test.location, "W4401", problem, "write what it does and expects")
        self._check_shown(widget, steps)
        return Case(
            name=name,
            baseline=baseline,
            tags=test.tags,
            widget=widget,
            steps=steps,
            location=test.location,
            upstreams=self._suite.upstreams,
        )

    def _steps(
        self, steps: tuple[WrittenStep, ...], variables: Mapping[str, Any], depth: int = 0
    ) -> Iterator[Step]:
        for step in steps:
            # Also of a step without effect: modules in modules multiply.
            self._spend_step(step.location)
            try:
                if not _is_due(step, variables):
                    continue
                if not step.is_use:
                    yield _step(step, variables)
                    continue
                module = self._suite.modules.get(step.name)
                if module is None:
                    raise _unknown(step.location, "module", step.name, self._suite.modules)
                if depth == LIMITS.module_depth:
                    problem = f"modules use each other more than {LIMITS.module_depth} deep"
                    raise suite_error(step.location, "W4402", problem, "let none use itself")
                arguments = fill_in(step.arguments or {}, variables, step.location)
                inner = {**variables, **_parameters(step, module, arguments)}
            except WidgetError as error:
                self.faults.append(error.finding)
                continue
            yield from self._steps(module.steps, inner, depth + 1)

    def _spend_step(self, location: FileLocation) -> None:
        self._case_steps -= 1
        self._file_steps -= 1
        if min(self._case_steps, self._file_steps) < 0:
            problem = (
                f"a test may have {LIMITS.steps:,} steps, and all of a file "
                f"{LIMITS.file_steps:,}, those of modules included"
            )
            advice = "use fewer modules, or split the file into several"
            raise suite_error(location, "W4401", problem, advice)

    def _check_shown(self, widget: str, steps: tuple[Step, ...]) -> None:
        subject = widget
        for step in steps:
            arguments = step.arguments
            if step.keyword.slug != "show_widget" or arguments.get("render_id"):
                continue
            subject = arguments.get("widget") or subject
            state = None if arguments.get("arguments") else arguments.get("state", "")
            self.require_widget(subject, step.location, state)

    def require_widget(
        self, name: str, location: FileLocation | None, state: str | None = None
    ) -> None:
        try:
            widget = find_widget(self._snapshot, name)
            if state is not None:
                load_state(widget, state)
        except CallError as error:
            problem, _, advice = error.message.partition("; ")
            if self._snapshot.faults and error.code == "W2001":
                advice = "`widgetd check` says why files are refused"
            fault = suite_error(location or FileLocation("", 1, 1), error.code, problem, advice)
            self.faults.append(fault.finding)


def _step(step: WrittenStep, variables: Mapping[str, Any]) -> Step:
    try:
        keyword = find_keyword(step.name)
        arguments = keyword.parse(fill_in(step.arguments, variables, step.location))
    except CallError as error:
        problem, _, advice = error.message.partition("; ")
        advice = advice or "`widgetd guide testing` says what each keyword takes"
        raise suite_error(step.location, error.code, problem, advice) from None
    return Step(keyword=keyword, arguments=arguments, location=step.location)


def _is_due(step: WrittenStep, variables: Mapping[str, Any]) -> bool:
    for name, value in step.when.items():
        if name not in variables:
            raise _unknown(step.location, "variable", name, variables)
        if variables[name] not in (value if isinstance(value, list) else [value]):
            return False
    return True


def _parameters(step: WrittenStep, module: Module, arguments: Any) -> Mapping[str, Any]:
    if not isinstance(arguments, Mapping):
        arguments = dict(zip(module.parameters, [arguments], strict=False))
    for name in arguments:
        if name not in module.parameters:
            what = f"parameter of '{step.name}'"
            raise _unknown(step.location, what, name, module.parameters)
    for name in module.parameters:
        if name not in arguments:
            problem = f"the module '{step.name}' needs '{name}'"
            raise suite_error(step.location, "W4402", problem, "give it a value")
    return dict(arguments)


def fill_in(value: Any, variables: Mapping[str, Any], location: FileLocation) -> Any:
    """Return `value` with its variables replaced. A text of a single variable becomes its value.

    Raises:
        WidgetError: A variable is unknown (W4402).
    """
    if isinstance(value, Mapping):
        return {key: fill_in(item, variables, location) for key, item in value.items()}
    if isinstance(value, list):
        return [fill_in(item, variables, location) for item in value]
    if not isinstance(value, str):
        return value

    def look_up(name: str) -> Any:
        if name not in variables:
            raise _unknown(location, "variable", name, variables)
        return variables[name]

    whole = _VARIABLE.fullmatch(value)
    if whole and not whole[1]:
        return look_up(whole[2].strip())
    # "$${" is how "${" is written.
    return _VARIABLE.sub(lambda m: m[0][1:] if m[1] else str(look_up(m[2].strip())), value)


def _unknown(location: FileLocation, what: str, name: str, names: Any) -> WidgetError:
    advice = did_you_mean(name, names, f"there is {', '.join(names) or 'none'}")
    return suite_error(location, "W4402", f"there is no {what} '{name:.60}'", advice)


def to_file_name(text: str) -> str:
    return _NON_FILE_NAME.sub("-", text).strip("-")


def display_path(file: Path) -> str:
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)
