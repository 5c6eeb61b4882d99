"""The pytest plugin: `*.test.yaml`, folders of CSV files and widgets become items of pytest's own.

In anybody's suite: `pytest -p widgetd.testing.plugin`. It is no entry point of pytest, so that
other people's suites stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from widgetd.browser.baselines import Baselines
from widgetd.browser.keywords import keyword
from widgetd.browser.limits import LIMITS
from widgetd.browser.stage import Stage
from widgetd.browser.steps import perform
from widgetd.errors import ConfigError, WidgetError
from widgetd.testing.csv_folder import CASES, read_folder
from widgetd.testing.runner import THEMES, FailedStepError, Runner, default_case
from widgetd.testing.suite import Case, cases, demand_shown, display, sentence
from widgetd.testing.yaml_file import read_suite
from widgetd.text_search import compile_pattern
from widgetd.widget.naming import JSX_SUFFIX, TESTS_SUFFIX, WIDGET_SUFFIX

YAML = TESTS_SUFFIX
RESULTS = "test-results"
"""Where what shows a failure is put."""

_RUNNER = pytest.StashKey[Runner]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Two flags."""
    group = parser.getgroup("widgetd", "widgets in a browser")
    group.addoption("--update-widgets", action="store_true", help="what is seen now is right")
    group.addoption("--every-widget", action="store_true", help="test each widget as it stands")


def pytest_configure(config: pytest.Config) -> None:
    """One browser for the whole run."""
    config.stash[_RUNNER] = Runner()
    config.add_cleanup(config.stash[_RUNNER].close)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A collector of each file that says what to test."""
    if file_path.name.endswith(YAML) or file_path.name == CASES:
        return TestFile.from_parent(parent, path=file_path)
    if parent.config.getoption("--every-widget") and file_path.name.endswith(
        (WIDGET_SUFFIX, JSX_SUFFIX)
    ):
        return WidgetFile.from_parent(parent, path=file_path)
    return None


class TestFile(pytest.File):
    """A file of tests; whatever it names that is not there is found while it is collected."""

    __test__ = False

    def collect(self) -> Iterable[WidgetItem]:
        """An item for each test and row."""
        folder = _folder_of(self.path)
        try:
            is_yaml = self.path.name.endswith(YAML)
            suite = read_suite(self.path) if is_yaml else read_folder(self.path.parent)
            snapshot = self.config.stash[_RUNNER].server(folder).registry.current
            for case in cases(suite):
                demand_shown(case, snapshot)
                yield WidgetItem.from_parent(
                    self, name=case.name, case=case, folder=folder, traced=True
                )
        except WidgetError as error:
            raise self.CollectError(sentence(error)) from None


class WidgetFile(pytest.File):
    """A widget; it is tested as it stands."""

    def collect(self) -> Iterable[WidgetItem]:
        """An item for each theme; one for why it is not served, where it is not."""
        folder = self.path.parent
        snapshot = self.config.stash[_RUNNER].server(folder).registry.current
        file = self.path.name
        tool = next((one for one, at in snapshot.widgets.items() if at.definition.path == file), "")
        for theme in THEMES if tool else ("served",):
            case = default_case(display(self.path), tool, theme)
            yield WidgetItem.from_parent(self, name=theme, case=case, folder=folder, traced=False)


class NotServedError(Exception):
    """A file is no widget that is served."""


_NOT_OF_A_WORD = compile_pattern(r"\W")
_NOT_OF_A_NAME = compile_pattern(r"[^\w.-]+")


class WidgetItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: Case, folder: Path, traced: bool, **more: Any) -> None:
        super().__init__(**more)
        self.case, self.folder, self.traced = case, folder, traced
        for tag in case.tags:
            mark = _NOT_OF_A_WORD.sub("_", tag)
            self.config.addinivalue_line("markers", f"{mark}: a tag of tests of widgets")
            self.add_marker(mark)

    def runtest(self) -> None:
        """Run it in the run's one browser."""
        runner = self.config.stash[_RUNNER]
        server = runner.server(self.folder)
        if not self.case.widget and not self.traced:
            fault = server.registry.current.faults.get(self.path.name)
            raise NotServedError(str(fault or "it is not served"))
        baselines = Baselines(
            home=self.path.parent,
            prefix=f"pictures/{self.path.name.removesuffix(YAML)}/{self.case.picture}",
            update=self.config.getoption("--update-widgets"),
        )
        evidence = None
        if self.traced:
            folder = _NOT_OF_A_NAME.sub("-", self.nodeid).strip("-")
            evidence = self.config.rootpath / RESULTS / folder
        runner.run(server, self.case, baselines=baselines, evidence=evidence)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where it stands."""
        return self.path, self.case.place.line - 1, f"{self.path.name}: {self.name}"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Which step, what was expected, what was there, and where more is to be seen."""
        error = excinfo.value
        if isinstance(error, FailedStepError):
            file, line, column = error.step.place
            said = [f"{file}:{line}:{column}: {error.error.message} [{error.error.code}]"]
            said += [f"  {error.step.keyword.name} {dict(error.step.arguments) or ''}".rstrip()]
            said += [f"  see {display(one)}" for one in error.evidence]
            said += [f"  | {line}" for line in error.screen.splitlines()]
            return "\n".join(said)
        if isinstance(error, (NotServedError, ConfigError)):
            return str(error)
        return super().repr_failure(excinfo, style)


@dataclass(frozen=True)
class SyncStage:
    """A stage for ordinary tests: `stage.do("Press", target="text=Track")`."""

    _runner: Runner
    _stage: Stage

    def do(self, name: str, /, **arguments: Any) -> Any:
        """One step, and what it answers.

        Raises:
            CallError: It could not be done, or something was not as expected.
        """
        row = keyword(name)
        step = partial(perform, self._stage, row, row.arguments(arguments), timeout_s=LIMITS.step_s)
        return self._runner.portal.call(step)


@pytest.fixture
def stage(request: pytest.FixtureRequest) -> Iterator[SyncStage]:
    """A stage over the widgets of the nearest folder that has any."""
    runner = request.config.stash[_RUNNER]
    server = runner.server(_folder_of(request.path))
    opened = runner.portal.call(runner.open, server)
    try:
        yield SyncStage(runner, opened)
    finally:
        runner.portal.call(opened.close)


def _folder_of(file: Path) -> Path:
    """The nearest folder above `file` that has widgets, or a folder `widgets` with some."""
    for folder in file.absolute().parents:
        for one in (folder, folder / "widgets"):
            if one.is_dir() and any(
                each.name.endswith((WIDGET_SUFFIX, JSX_SUFFIX)) for each in one.iterdir()
            ):
                return one
    return file.parent
