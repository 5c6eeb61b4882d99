"""Progress of commands that take longer than a second, on standard error.

A terminal shows a bar with count, total and time left, a pipe plain lines.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Self, TextIO

from widgetd.base.system import SYSTEM, Clock
from widgetd.base.text_search import compile_pattern

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

COUNTED: Mapping[str, str] = MappingProxyType(
    {"build": "pages", "check": "files", "shot": "pictures", "test": "tests"}
)
"""The things that each command counts."""

PROGRESS_LINE = compile_pattern(r"(\d{1,3}) of (\d{1,3}) tests.*\n")
"""A line in a pipe about fewer than a thousand tests."""

SILENT_S = 1.0
"""Time before anything is written."""

LINE_S = 5.0
"""Time between two lines in a pipe."""


class Progress:
    """The progress of a command; a context, which names what is complete after Ctrl-C.

    Args:
        command: A command of `COUNTED`.
        total: The number of things it counts.
        quiet: Write no progress.
        stream: The stream to write to. Default: standard error.
    """

    def __init__(
        self,
        command: str,
        total: int = 0,
        *,
        quiet: bool = False,
        stream: TextIO | None = None,
        clock: Clock = SYSTEM.clock,
    ) -> None:
        self._noun, self.total, self.done = COUNTED[command], total, 0
        self._quiet, self._stream, self._clock = quiet, stream or sys.stderr, clock
        self._due_s = clock.steady_s() + SILENT_S
        self._bar: Bar | None = None

    def advance(self) -> None:
        self.done += 1
        now_s = self._clock.steady_s()
        if self.done == 1:  # before which a browser may have started
            self._first_s = now_s
        if self._quiet or now_s < self._due_s:
            return
        text = self._state
        if self.done > 1:
            left_s = (now_s - self._first_s) / (self.done - 1) * (self.total - self.done)
            text += f", {left_s / 60:.0f} min left" if left_s >= 100 else f", {left_s:.0f} s left"
        if self._stream.isatty() and os.environ.get("TERM") != "dumb":
            self._draw(text)
        else:
            self._write(text)
            self._due_s = now_s + LINE_S

    def _draw(self, text: str) -> None:
        if self._bar is None:
            # Imported late: it takes longer than most commands.
            from rich.console import Console  # noqa: PLC0415
            from rich.progress import BarColumn, Progress, TextColumn  # noqa: PLC0415

            columns = BarColumn(), TextColumn("{task.description}")
            console = Console(file=self._stream)
            self._bar = Progress(*columns, console=console, transient=True)
            self._bar.add_task(text)
            self._bar.start()
        self._bar.update(
            self._bar.task_ids[0], completed=self.done, total=self.total, description=text
        )

    @property
    def _state(self) -> str:
        return f"{self.done:,} of {self.total:,} {self._noun}"

    def _write(self, line: str) -> None:
        print(line, file=self._stream, flush=True)

    def close(self, *, interrupted: bool = False) -> None:
        """Remove the bar, and name what is complete if the command was interrupted."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        if interrupted:
            self._write(f"stopped: {self._state} are complete")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        self.close(interrupted=kind is not None and issubclass(kind, KeyboardInterrupt))
