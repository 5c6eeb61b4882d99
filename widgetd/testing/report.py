"""One HTML page about a run: names, steps, pictures, traces and times."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from widgetd.testing.suite import to_file_name
from widgetd.web.templating import html, inline_stylesheet

PAGE = "index.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestOutcome:
    """The outcome of one test, or of a file that could not be collected.

    Attributes:
        name: Path of the file, with the name of the test.
        outcome: `passed`, `failed` or `skipped`.
        problem: What failed, and where.
        steps: The steps as they were done, each with its arguments.
        evidence: Files that show a failure.
    """

    __test__ = False

    name: str
    outcome: str
    duration_s: float
    problem: str = ""
    steps: Sequence[str] = ()
    evidence: Sequence[Path] = ()


def write_report(folder: Path, outcomes: Sequence[TestOutcome]) -> Path:
    """Write the page and copies of all evidence into `folder`, and return the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    tests = [{**asdict(one), "files": list(_copy_evidence(folder, one))} for one in outcomes]
    page = folder / PAGE
    page.write_text(
        html("report.html", {"tests": tests, "stylesheet": inline_stylesheet()}), encoding="utf-8"
    )
    return page


def _copy_evidence(folder: Path, outcome: TestOutcome) -> Iterator[str]:
    """Copy the files of an outcome, and yield their paths in `folder`."""
    if not outcome.evidence:
        return
    home = folder / to_file_name(outcome.name)
    home.mkdir(exist_ok=True)
    for file in outcome.evidence:
        shutil.copyfile(file, home / file.name)
        yield f"{home.name}/{file.name}"
