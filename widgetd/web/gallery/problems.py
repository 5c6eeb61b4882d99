"""What can be said against a widget: the fault of its file now, and its warnings.

Warnings cost a render in every state, so they are found in a worker thread and
kept for as long as the widget is.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args
from weakref import WeakKeyDictionary

import anyio.to_thread

from widgetd.catalog.crash_journal import CrashJournal
from widgetd.catalog.snapshot import Snapshot
from widgetd.checks import check_widget
from widgetd.checks.report import Locations
from widgetd.errors import Finding, WidgetError
from widgetd.files.folder import open_folder
from widgetd.files.source import read
from widgetd.limits import Limits
from widgetd.widget.widget import Widget

Verdict = Literal["fault", "warning", "none"]
"""The worst that can be said against a widget."""

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A finding with the line that it is about.

    Attributes:
        line: The line in the file; None where the file cannot be read.
        excerpt: The line, cut to what fits.
        caret: How many characters of the excerpt stand before the place.
    """

    finding: Finding
    line: int | None = None
    column: int | None = None
    excerpt: str = ""
    caret: int = 0


class Problems:
    """Finds problems, and remembers each widget's warnings.

    A broken file is read again for its excerpt.
    """

    def __init__(
        self, folder: Path, journal: CrashJournal, image_origins: tuple[str, ...] = ()
    ) -> None:
        self._folder = folder
        self._image_origins = image_origins
        self._journal = journal
        self._limiter = anyio.CapacityLimiter(1)
        self._known: WeakKeyDictionary[Widget, tuple[Problem, ...]] = WeakKeyDictionary()

    def fault(self, snapshot: Snapshot, path: str) -> Problem | None:
        """Why the file at `path` is not served as it stands; None if it is."""
        finding = snapshot.faults.get(path)
        if finding is None:
            return None
        locations = Locations({})
        with suppress(OSError, WidgetError), open_folder(self._folder) as folder:
            held = read(folder, finding.path, limit_bytes=Limits().file_bytes, quiet_ms=0)
            locations = _locations(finding.path, held.content)
        return located(finding, locations)

    async def warnings(self, widget: Widget) -> tuple[Problem, ...]:
        """What can be said about `widget`, as it is served."""
        known = self._known.get(widget)
        if known is None:
            find = partial(self._warnings, widget)
            known = await anyio.to_thread.run_sync(find, limiter=self._limiter)
            self._known[widget] = known
        return known

    async def verdict(self, snapshot: Snapshot, widget: Widget) -> Verdict:
        """The worst that can be said against `widget`; a fault is that of its file as it is now."""
        if widget.definition.path in snapshot.faults:
            return "fault"
        return "warning" if await self.warnings(widget) else "none"

    def _warnings(self, widget: Widget) -> tuple[Problem, ...]:
        with self._journal.rendering(widget.key):
            found = check_widget(widget, image_origins=self._image_origins)
        locations = _locations(widget.definition.path, widget.definition.content)
        return tuple(located(one, locations) for one in found)


def problem_json(problem: Problem | None) -> dict[str, Any] | None:
    """`{"path", "line", "column", "level", "code", "at", "problem", "advice", "excerpt"}`."""
    if problem is None:
        return None
    finding = problem.finding
    return {
        "path": finding.path,
        "line": problem.line,
        "column": problem.column,
        "level": finding.level,
        "code": finding.code,
        "at": finding.at,
        "problem": finding.problem,
        "advice": finding.advice,
        "excerpt": problem.excerpt,
    }


def located(finding: Finding, locations: Locations) -> Problem:
    """`finding` with the line that it is about."""
    location = locations.locate(finding)
    if location is None:
        return Problem(finding=finding, line=finding.line, column=finding.column)
    caret, excerpt = location.excerpt()
    return Problem(
        finding=finding, line=location.line, column=location.column, excerpt=excerpt, caret=caret
    )


def _locations(path: str, content: bytes) -> Locations:
    return Locations({path: content.decode(errors="replace")})
