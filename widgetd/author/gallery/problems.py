"""Findings about widgets: the fault of a file, and the warnings of a widget.

Warnings take a render of every state, so a worker thread finds them once for each version of a
widget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args
from weakref import WeakKeyDictionary

import anyio

from widgetd.base.errors import Finding, WidgetError
from widgetd.base.files.folder import open_folder
from widgetd.base.files.source import read
from widgetd.base.limits import Limits
from widgetd.base.system import SYSTEM
from widgetd.core.checks.report import describe, locate
from widgetd.core.widget.theme import Theme
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.snapshot import Snapshot

Verdict = Literal["fault", "warning", "none"]

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A finding with its line.

    Attributes:
        line: Its number in the file, or None where the file cannot be read.
        excerpt: The line, cut to what fits.
        caret: Characters of the excerpt before the place.
    """

    finding: Finding
    line: int | None = None
    column: int | None = None
    excerpt: str = ""
    caret: int = 0


class Problems:
    """Faults and warnings of widgets. Warnings are cached, broken files are read again.

    Args:
        folder: The folder of widgets.
        check_widget: The rules for widgets.
    """

    def __init__(
        self,
        folder: Path,
        check_widget: Callable[..., tuple[Finding, ...]],
    ) -> None:
        self._folder = folder
        self.check_widget = check_widget
        self._limiter = anyio.CapacityLimiter(1)
        self._known = WeakKeyDictionary[Widget, tuple[Theme, tuple[Problem, ...]]]()

    def fault(self, snapshot: Snapshot, path: str) -> Problem | None:
        finding = snapshot.faults.get(path)
        return None if finding is None else self.locate(finding)

    def locate(self, finding: Finding) -> Problem:
        contents = {}
        with suppress(OSError, WidgetError), open_folder(self._folder) as folder:
            source = read(folder, finding.path, limit_bytes=Limits().file_bytes, quiet_ms=0)
            contents[finding.path] = source.content.decode(errors="replace")
        return _build_problem(finding, contents)

    async def warnings(self, widget: Widget, theme: Theme) -> tuple[Problem, ...]:
        def find() -> tuple[Problem, ...]:
            definition = widget.definition
            contents = {definition.path: definition.content.decode(errors="replace")}
            return tuple(
                _build_problem(f, contents) for f in self.check_widget(widget, theme=theme)
            )

        entry = self._known.get(widget)
        if entry is None or entry[0] != theme:
            entry = theme, await SYSTEM.threads.run_blocking(find, limiter=self._limiter)
            self._known[widget] = entry
        return entry[1]

    async def verdict(self, snapshot: Snapshot, widget: Widget) -> Verdict:
        if widget.definition.path in snapshot.faults:
            return "fault"
        return "warning" if await self.warnings(widget, snapshot.theme) else "none"


def problem_json(problem: Problem | None) -> dict[str, Any] | None:
    """`{"path", "line", "column", "level", "code", "at", "problem", "advice", "excerpt"}`."""
    if problem is None:
        return None
    row = describe(problem.finding, problem.line, problem.column)
    return {**row, "excerpt": problem.excerpt}


def _build_problem(finding: Finding, contents: Mapping[str, str]) -> Problem:
    location = locate(finding, contents)
    if location is None:
        return Problem(finding=finding, line=finding.line, column=finding.column)
    caret, excerpt = location.excerpt()
    return Problem(
        finding=finding, line=location.line, column=location.column, excerpt=excerpt, caret=caret
    )
