"""Reports of a run of tests: results for the gallery, and an HTML page."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from widgetd.author.gallery.test_results import TestResult, write_results
from widgetd.author.testing.suite import display_path, to_file_name
from widgetd.server.web.templating import html, inline_stylesheet


class Reporter:
    """Collects the outcomes of a run, also in several processes, and writes them.

    Args:
        results: The gallery's folder of results.
        folder: The folder of the page about the run, or None without a page.
    """

    def __init__(self, results: Path, folder: Path | None) -> None:
        self._results_folder = results
        self._folder = folder
        self._tests: list[dict[str, Any]] = []
        self._results: list[TestResult] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and report.outcome == "passed":
            return
        details = getattr(report, "widgetd", {})
        evidence = [Path(file) for file in details.get("evidence", ())]
        self._record(report, report.duration, details.get("steps", ()), evidence)
        if details.get("widget"):
            pictures = (file for file in evidence if file.suffix == ".png")
            folder = self._results_folder
            result = TestResult(
                name=report.nodeid,
                widget=details["widget"],
                digest=details["digest"],
                outcome=report.outcome,
                problem=report.longreprtext.partition("\n")[0],
                pictures=tuple(str(file.relative_to(folder)) for file in pictures),
            )
            self._results.append(result)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._record(report, 0.0)

    def _record(
        self,
        report: pytest.TestReport | pytest.CollectReport,
        duration_s: float,
        steps: Sequence[str] = (),
        evidence: Sequence[Path] = (),
    ) -> None:
        test = {"name": report.nodeid, "outcome": report.outcome, "problem": report.longreprtext}
        more = {"duration_s": duration_s, "steps": steps, "evidence": evidence}
        self._tests.append({**test, **more})

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._results:
            write_results(self._results, self._results_folder)
        if self._folder is None:
            return
        for test in self._tests:
            home = self._folder / to_file_name(test["name"])
            for file in test["evidence"]:
                home.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, home / file.name)
            test["files"] = [f"{home.name}/{file.name}" for file in test["evidence"]]
        self._folder.mkdir(parents=True, exist_ok=True)
        page = self._folder / "index.html"
        context = {"tests": self._tests, "stylesheet": inline_stylesheet()}
        page.write_text(html("report.html", context), encoding="utf-8")
        terminalreporter.write_line(f"report: {display_path(page)}")
