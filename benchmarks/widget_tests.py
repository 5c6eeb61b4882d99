"""Test real widgets in a browser: `python -m benchmarks.widget_tests [FOLDER …]` prints the table.

Each widget is a test in both themes, as `widgetd test` makes them: drawn, quiet, accessible, no
wider than its room. Beside it stands what the same page loads and runs of axe take in bare
Playwright.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree as ET

from benchmarks.bare_pages import run
from benchmarks.corpus import CORPUS
from benchmarks.folders import BUNDLED
from widgetd.author.testing.widgets import server_over
from widgetd.core.widget.sidecar import SUFFIX
from widgetd.core.widget.states import SAMPLE, THEMES, show_state
from widgetd.server.render.result import Policy, tool_result

BAR = 2.0


def main(folders: Sequence[Path] = (BUNDLED, CORPUS)) -> None:
    """Print the number of tests, each failure with its reason, and the duration."""
    found = sorted(file for folder in folders for file in folder.rglob("*.widget"))
    with TemporaryDirectory() as into:
        # Each in a folder of its own: files of different people may have the same name.
        widgets = [_alone(file, Path(into) / str(number)) for number, file in enumerate(found)]
        _test(widgets, Path(into))


def _alone(file: Path, folder: Path) -> Path:
    folder.mkdir()
    for one in (file, file.with_name(file.name + SUFFIX)):
        if one.exists():
            shutil.copy(one, folder)
    return folder / file.name


def _test(widgets: Sequence[Path], into: Path) -> None:
    report = into / "report.xml"
    started = time.perf_counter()
    command = [sys.executable, "-m", "widgetd", "test", *map(str, widgets)]
    subprocess.run(
        [*command, "--", "--junitxml", str(report)], stdout=subprocess.DEVNULL, check=False
    )
    ours_s = time.perf_counter() - started
    cases = list(ET.parse(report).iter("testcase"))
    failed = {case: case.find("failure") for case in cases}
    tally = Counter(failure is None for failure in failed.values())
    print(f"{len(widgets)} widgets: {tally[True]} tests pass, {tally[False]} fail")
    for case, failure in failed.items():
        if failure is not None:
            lines = (failure.text or "").strip().splitlines() or [""]
            print(f"fails: {case.get('name')}: {lines[0].removeprefix(f'{into}/')}")
    started = time.perf_counter()
    count = run(list(_results(widgets)), files("axe_playwright_python") / "axe.min.js")
    theirs_s = time.perf_counter() - started
    verdict = "held" if ours_s / theirs_s <= BAR else "MISSED"
    print(f"{ours_s:.1f} s; {count} page loads and runs of axe in bare Playwright {theirs_s:.1f} s")
    print(f"ratio {ours_s / theirs_s:.2f}, bar ≤ {BAR:g}, {verdict}")


def _results(widgets: Sequence[Path]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each theme and the tool result of each served widget."""
    for folder in sorted({file.parent for file in widgets}):
        server = server_over(folder)
        snapshot = server.registry.current
        for widget in snapshot.widgets.values():
            state = show_state(widget, SAMPLE)
            render = server.rendering.compute_now(
                widget, state.arguments, snapshot.generation, owner="", drawing=state.render
            )
            policy = Policy(inline_max_bytes=len(render.tree))
            result = tool_result(render, "chatkit", policy=policy).values()
            yield from ((theme, result) for theme in THEMES)


if __name__ == "__main__":
    main(*([[Path(one) for one in sys.argv[1:]]] if sys.argv[1:] else []))
