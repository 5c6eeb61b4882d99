"""Rewrite a folder of widgets continuously, and know what each must show at what time.

Each widget shows its revision twice, so that a result made of two revisions is detected.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from stress.styles import STYLES, in_place
from tests.support.widgets import widget_file

WHO = "Ada"

_TEMPLATE = (
    '{"type":"Card","children":[{"type":"Text","value":"REV"},'
    '{"type":"Text","value":{{ (who ~ " REV") | tojson }}}]}'
)


def widget_content(name: str, revision: int) -> bytes:
    """Return the file of the widget `name` at `revision`."""
    return widget_file(name, template=_TEMPLATE.replace("REV", str(revision))).encode()


def revision_of(tree: Mapping[str, Any]) -> int | None:
    """Return the revision that a result for `WHO` shows; None if it shows two."""
    first, second = (child["value"] for child in tree["children"])
    return int(first) if second == f"{WHO} {first}" else None


class Churn:
    """Widgets that one thread rewrites again and again; other threads may read their state.

    Args:
        folder: Their folder, filled at once.
        widgets: Their number.
        promise_s: Time after a save from which calls must return its revision.
        break_every: Saves after which a file is left broken until its next save; 0 for never.
        seed: Of the random order of saves.
    """

    def __init__(
        self,
        folder: Path,
        *,
        widgets: int,
        promise_s: float = 1.0,
        break_every: int = 0,
        seed: int = 0,
    ) -> None:
        self._folder = folder
        self._promise_s = promise_s
        self._break_every = break_every
        self._random = Random(seed)
        self._saved: dict[str, list[float]] = {}
        self.broken: set[str] = set()
        self.breaks = 0
        for number in range(widgets):
            name = f"w{number}"
            self._path(name).write_bytes(widget_content(name, 0))
            self._saved[name] = [time.monotonic()]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the tools."""
        return tuple(self._saved)

    @property
    def revisions(self) -> dict[str, int]:
        """Return the revision of each file, or the last one while it is broken."""
        return {name: len(saved) - 1 for name, saved in self._saved.items()}

    def oldest_allowed(self, name: str, at_s: float) -> int:
        """Return the oldest revision that a call of `name` made at `at_s` may show.

        Args:
            name: The tool.
            at_s: The reading of the monotonic clock.
        """
        saved = self._saved[name]
        return next(
            (n for n in reversed(range(len(saved))) if saved[n] <= at_s - self._promise_s), 0
        )

    def run(self, mutations: int, pause_s: float) -> None:
        """Save `mutations` times, `pause_s` apart; it blocks, so run it in a thread."""
        for number in range(1, mutations + 1):
            self.save(self._random.choice(self.names))
            if self._break_every and number % self._break_every == 0:
                self._break_one()
            time.sleep(pause_s)  # plays people who save files

    def save(self, name: str) -> None:
        """Write the next revision of `name`, in any style."""
        style = self._random.choice(STYLES)
        style(self._path(name), widget_content(name, len(self._saved[name])))
        self._saved[name].append(time.monotonic())
        self.broken.discard(name)

    def repair(self) -> None:
        """Save the files that are broken."""
        for name in tuple(self.broken):
            self.save(name)

    def _break_one(self) -> None:
        """Break a file that is old enough for its revision to be the last good one."""
        before_s = time.monotonic() - self._promise_s
        settled = [name for name in self.names if self._saved[name][-1] < before_s]
        if settled:
            name = self._random.choice(settled)
            in_place(self._path(name), widget_content(name, len(self._saved[name]))[:-20])
            self.broken.add(name)
            self.breaks += 1

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.widget"
