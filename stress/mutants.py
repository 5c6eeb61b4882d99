"""Put one fault after the other into the bundled widgets and the view, and see which tests fail.

What no test notices could break for everybody without a word.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson

from stress.table import Row, info_row, zero_row
from widgetd.author.browser import stage
from widgetd.author.browser.baselines import Baselines
from widgetd.author.testing.runner import FailedStepError, Runner
from widgetd.author.testing.suite import resolve_cases
from widgetd.author.testing.widgets import server_over
from widgetd.author.testing.yaml_file import read_suite
from widgetd.base.files.folder import bundled_folder

_FLIGHT, _TASK, _NOTICE = "Flight Tracker", "Create Task", "Enable Notification"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One fault.

    Attributes:
        name: The fault in words.
        widget: Widget whose tests must fail.
        before: Part of its template that is replaced.
        after: Replacement.
        view: HTML added to the page that draws widgets.
    """

    name: str
    widget: str
    before: str = ""
    after: str = ""
    view: str = ""


MUTANTS = (
    Mutant(name="a label changed", widget=_FLIGHT, before="Follow this flight", after="Follow it"),
    Mutant(name="an action renamed", widget=_FLIGHT, before="flight.track", after="flight.follow"),
    Mutant(
        name="a key of the payload dropped",
        widget=_FLIGHT,
        before=',"date":{{ (date) | tojson }}}',
        after="}",
    ),
    Mutant(
        name="a button hidden",
        widget=_FLIGHT,
        view="<style>[data-action] { display: none !important }</style>",
    ),
    Mutant(
        name="a button disabled",
        widget=_NOTICE,
        before='"style":"primary"',
        after='"style":"primary","disabled":true',
    ),
    Mutant(
        name="a button off the screen",
        widget=_NOTICE,
        view="<style>[data-action] { position: fixed !important; left: -9999px }</style>",
    ),
    Mutant(
        name="the contrast lowered",
        widget=_FLIGHT,
        view="<style>[data-component=Badge] { color: #ddd !important }</style>",
    ),
    Mutant(name="an image missing", widget=_FLIGHT, before='"name":"globe"', after='"name":"dot"'),
    Mutant(name="a field renamed", widget=_TASK, before='"task.notes"', after='"task.note"'),
    Mutant(
        name="a list emptied",
        widget=_NOTICE,
        before="{%-for line in (includes if includes is defined and includes is not none else [])",
        after="{%-for line in ([])",
    ),
    Mutant(
        name="a colour of the wrong theme",
        widget=_FLIGHT,
        before='"dark":"blue-900"',
        after='"dark":"blue-50"',
    ),
    Mutant(
        name="an error in the console",
        widget=_FLIGHT,
        view='<script>console.error("It broke")</script>',
    ),
)


def measure(folder: Path, *, mutants: int) -> list[Row]:
    """Measure the example tests: none fails without a fault, at least one with each."""
    chosen = MUTANTS[:mutants]
    runner = Runner()
    try:
        whole = [
            failure
            for widget in sorted({one.widget for one in chosen})
            for failure in _failures(runner, folder, Mutant(name="none", widget=widget))
        ]
        noticed = {one.name: next(_failures(runner, folder, one), "") for one in chosen}
    finally:
        runner.close()
    lines = [info_row(f"  {name}", by or "unnoticed") for name, by in noticed.items()]
    missed = sum(not by for by in noticed.values())
    return [
        zero_row("example tests that fail without a fault", len(whole), "; ".join(whole)),
        zero_row("faults that no test notices", missed, f"{len(chosen)}"),
        *lines,
    ]


def _failures(runner: Runner, folder: Path, mutant: Mutant) -> Iterator[str]:
    """Yield the place and code of each test's failing step."""
    into = folder / mutant.name
    shutil.copytree(bundled_folder(), into, dirs_exist_ok=True)
    _spoil(into / f"{mutant.widget}.widget", {mutant.before: mutant.after} if mutant.before else {})
    suite = into / f"{mutant.widget}.test.yaml"
    server = server_over(into)
    with _in_the_view(mutant.view):
        cases, _ = resolve_cases(read_suite(suite), server.registry.current)
        for case in cases:
            try:
                prefix = f"pictures/{mutant.widget}/{case.baseline}"
                baselines = Baselines(home=into, prefix=prefix)
                runner.run(server, case, baselines=baselines, evidence=None)
            except FailedStepError as failed:
                yield f"{suite.name}:{failed.step.location.line} {failed.error.code}"


def _spoil(file: Path, changes: Mapping[str, str]) -> None:
    document = orjson.loads(file.read_bytes())
    for before, after in changes.items():
        assert before in document["template"], before
        document["template"] = document["template"].replace(before, after)
    if changes:
        file.write_bytes(orjson.dumps(document))


@contextmanager
def _in_the_view(more: str) -> Iterator[None]:
    plain = vars(stage)["view_html"]
    vars(stage)["view_html"] = lambda: plain().replace("</head>", f"{more}</head>", 1)
    try:
        yield
    finally:
        vars(stage)["view_html"] = plain
