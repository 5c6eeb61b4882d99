"""The pytest plugin: `*.test.yaml`, folders of CSV files and widgets become pytest's own items.

`pytest -p widgetd.pytest_plugin` adds it to any suite. It is no entry point of pytest, so
installing widgetd changes no other suite.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from widgetd.author.browser.baselines import Baselines
from widgetd.author.browser.emulated_stage import HostProfile
from widgetd.author.browser.keywords import find_keyword
from widgetd.author.browser.limits import LIMITS
from widgetd.author.browser.stage import Stage
from widgetd.author.browser.steps import perform
from widgetd.author.gallery.test_results import FOLDER
from widgetd.author.testing.csv_folder import CASES, read_folder
from widgetd.author.testing.profiles import choose_profiles
from widgetd.author.testing.report import Reporter
from widgetd.author.testing.runner import FailedStepError, Runner, default_case
from widgetd.author.testing.suite import (
    Case,
    Step,
    display_path,
    format_fault,
    resolve_cases,
    to_file_name,
)
from widgetd.author.testing.yaml_file import read_suite
from widgetd.base.errors import ConfigError, WidgetError
from widgetd.base.text_search import compile_pattern
from widgetd.core.widget.naming import JSX_SUFFIX, TESTS_SUFFIX, WIDGET_SUFFIX
from widgetd.core.widget.states import THEMES
from widgetd.core.widget.widget import Widget
from widgetd.server.search.wishes import check_wishes

_NON_WORD = compile_pattern(r"\W")

_RUNNER = pytest.StashKey[Runner]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("widgetd", "widgets in a browser")
    group.addoption(
        "--update-widgets", action="store_true", help="write pictures and aria snapshots"
    )
    group.addoption("--host", default="", help="emulate a known host, or all")
    group.addoption("--report", default="", metavar="DIR", help="write a page about the run")
    group.addoption("--every-widget", action="store_true", help="test each widget by default")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_RUNNER] = Runner()
    config.add_cleanup(config.stash[_RUNNER].close)
    folder = config.getoption("--report")
    reporter = Reporter(config.rootpath / FOLDER, Path(folder).absolute() if folder else None)
    config.pluginmanager.register(reporter)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if isinstance(item, WidgetItem):
        vars(report)["widgetd"] = item.details
    return report


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.name.endswith(TESTS_SUFFIX) or file_path.name == CASES:
        return TestFile.from_parent(parent, path=file_path)
    if parent.config.getoption("--every-widget") and file_path.name.endswith(
        (WIDGET_SUFFIX, JSX_SUFFIX)
    ):
        return WidgetFile.from_parent(parent, path=file_path)
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if not parent.config.getoption("--every-widget"):
        return None
    folder: pytest.Collector = pytest.Dir.from_parent(parent, path=path)
    return folder


class TestFile(pytest.File):
    """A file of tests. All its names are looked up while it is collected."""

    __test__ = False

    def collect(self) -> Iterable[WidgetItem]:
        folder = _widgets_folder(self.path)
        is_yaml = self.path.name.endswith(TESTS_SUFFIX)
        suite = read_suite(self.path) if is_yaml else read_folder(self.path.parent)
        snapshot = self.config.stash[_RUNNER].server(folder).registry.current
        cases, faults = resolve_cases(suite, snapshot)
        if faults:
            raise self.CollectError("\n".join(map(format_fault, faults)))
        hosts = choose_profiles(self.config.getoption("--host"))
        for case, host in product(cases, hosts or ("",)):
            name = f"{case.name}@{host}" if host else case.name
            yield WidgetItem.from_parent(
                self, name=name, case=case, folder=folder, traced=True, host=hosts.get(host)
            )


class WidgetFile(pytest.File):
    """A widget, tested with its sample in each theme, or in each emulated host."""

    def collect(self) -> Iterable[pytest.Item]:
        folder = self.path.parent
        snapshot = self.config.stash[_RUNNER].server(folder).registry.current
        file = self.path.name
        tool = next((key for key, at in snapshot.widgets.items() if at.definition.path == file), "")
        hosts = choose_profiles(self.config.getoption("--host")) if tool else {}
        for name in (hosts or THEMES) if tool else ("served",):
            case = default_case(display_path(self.path), tool, name, is_host=name in hosts)
            yield WidgetItem.from_parent(
                self, name=name, case=case, folder=folder, traced=False, host=hosts.get(name)
            )
        if tool and not hosts and snapshot.widgets[tool].definition.sidecar.wishes:
            yield WishesItem.from_parent(self, name="wishes", widget=snapshot.widgets[tool])


def _describe_step(step: Step) -> str:
    arguments = {name: value for name, value in step.arguments.items() if value not in ("", None)}
    return f"{step.keyword.name} {arguments or ''}".rstrip()


class NotServedError(Exception):
    """The failure of a file without a served widget."""


class WishesItem(pytest.Item):
    """The wishes of a widget as an item of pytest."""

    def __init__(self, *, widget: Widget, **options: Any) -> None:
        super().__init__(**options)
        self.widget = widget

    def runtest(self) -> None:
        runner = self.config.stash[_RUNNER]
        snapshot = runner.server(self.path.parent).registry.current
        if findings := list(check_wishes(self.widget, snapshot, runner.search)):
            raise WidgetError(*findings)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"{self.path.name}: {self.name}"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, WidgetError):
            return "\n".join(map(str, excinfo.value.findings))
        return super().repr_failure(excinfo, style)


class WidgetItem(pytest.Item):
    """A case as an item of pytest."""

    def __init__(
        self,
        *,
        case: Case,
        folder: Path,
        traced: bool,
        host: HostProfile | None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.case, self.folder, self.traced, self.host = case, folder, traced, host
        self.details: dict[str, Any] = {"steps": [*map(_describe_step, case.steps)]}
        for tag in case.tags:
            mark = _NON_WORD.sub("_", tag)
            self.config.addinivalue_line("markers", f"{mark}: a tag of tests of widgets")
            self.add_marker(mark)

    def runtest(self) -> None:
        runner = self.config.stash[_RUNNER]
        server = runner.server(self.folder, self.host)
        if not self.case.widget and not self.traced:
            fault = server.registry.current.faults.get(self.path.name)
            raise NotServedError(str(fault or "it is not served"))
        if widget := server.registry.current.widgets.get(self.case.widget):
            tested = (self.folder / widget.definition.path).resolve()
            self.details |= {"widget": str(tested), "digest": widget.key}
        baselines = Baselines(
            home=self.path.parent,
            prefix=f"pictures/{self.path.name.removesuffix(TESTS_SUFFIX)}/{self.case.baseline}",
            update=self.config.getoption("--update-widgets"),
        )
        evidence = None
        if self.traced:
            evidence = self.config.rootpath / FOLDER / to_file_name(self.nodeid)
        try:
            runner.run(server, self.case, baselines=baselines, evidence=evidence, host=self.host)
        except FailedStepError as error:
            self.details["evidence"] = [str(file) for file in error.evidence]
            raise

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.case.location.line - 1, f"{self.path.name}: {self.name}"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        error = excinfo.value
        if isinstance(error, FailedStepError):
            file, line, column = error.step.location
            lines = [f"{file}:{line}:{column}: {error.error.message} [{error.error.code}]"]
            lines += [f"  {_describe_step(error.step)}"]
            lines += [f"  see {display_path(file)}" for file in error.evidence]
            # With -q, which the command doubles, the sentence is enough.
            if self.config.get_verbosity() > -2:
                lines += [f"  | {line}" for line in error.screen.splitlines()]
            return "\n".join(lines)
        if isinstance(error, (NotServedError, ConfigError)):
            return str(error)
        return super().repr_failure(excinfo, style)


@dataclass(frozen=True)
class SyncStage:
    """A stage for synchronous tests: `stage.do("Press", target="text=Track")`."""

    _runner: Runner
    _stage: Stage

    def do(self, name: str, /, **arguments: Any) -> Any:
        """Do a step and return its keyword's result.

        Raises:
            CallError: It cannot be done, or something is not as expected.
        """
        keyword = find_keyword(name)
        step = partial(
            perform, self._stage, keyword, keyword.parse(arguments), timeout_s=LIMITS.step_s
        )
        return self._runner.portal.call(step)


@pytest.fixture
def stage(request: pytest.FixtureRequest) -> Iterator[SyncStage]:
    runner = request.config.stash[_RUNNER]
    server = runner.server(_widgets_folder(request.path))
    opened = runner.portal.call(runner.open, server)
    try:
        yield SyncStage(runner, opened)
    finally:
        runner.portal.call(opened.close)


def _widgets_folder(file: Path) -> Path:
    for folder in file.absolute().parents:
        for candidate in (folder, folder / "widgets"):
            if candidate.is_dir() and any(
                path.name.endswith((WIDGET_SUFFIX, JSX_SUFFIX)) for path in candidate.iterdir()
            ):
                return candidate
    return file.parent
