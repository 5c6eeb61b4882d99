"""One line of JSON for each call and each upload: who, what, how it ended; never what was said.

    called -> (its answer goes out) -> line -> queue -> writer thread -> file

A call is done when it is noted: its line is made once its answer is on its way, and a slow
disk delays no call. A queue that is
full loses lines, and so does a disk; what was lost is counted at once, and confessed by a
line of its own as soon as there is room. No line is ever torn.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import orjson

from widgetd.catalog.intake import Upload
from widgetd.errors import ConfigError
from widgetd.files.write import append_lines
from widgetd.logs import get_logger
from widgetd.observe.observer import CallRecord, Notice
from widgetd.widget.widget import Widget

MOST_WAITING = 10_000
"""Lines, of 300 bytes or so, that wait for the disk."""

GATHER_S = 0.1
"""Calls that end within so short a time are written at once, by one trip to the thread."""

LONGEST_NAME = 80
"""Characters of what a client says of itself."""

RETRY_S = 5.0
"""How long after a line was lost the disk is asked again, where nobody calls."""

KEPT = 4
"""Full files beside the one that is written: `audit.jsonl.1` is the youngest of them."""

_log = get_logger()


class Audit:
    """Writes what was called.

    Args:
        path: The file; made if need be, appended to if it is there.
        most_bytes: A file that is larger makes room for a new one.

    Attributes:
        lost: How many lines the disk, or the queue, had no room for.

    Raises:
        ConfigError: The file cannot be written (W0006); a full disk is no reason.
    """

    def __init__(self, path: Path, *, most_bytes: int) -> None:
        self._path = path
        self._most_bytes = most_bytes
        self._records: list[CallRecord] = []
        self._waiting: deque[bytes] = deque()
        self.lost = 0
        self._unconfessed = 0
        self._failing = False
        self._came = anyio.Event()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _, full = append_lines(path, [_line(event="audit.started")])
        except OSError as error:
            problem = f"the audit file {path} cannot be written ({error.strerror})"
            raise ConfigError("W0006", problem, "name another with --audit", exit_code=3) from None
        self._report(full)

    def on_call(self, call: CallRecord) -> None:
        """Have a line written about `call`, as soon as the event loop has sent its answer."""
        self._records.append(call)
        if len(self._records) == 1:
            asyncio.get_running_loop().call_soon(self._write_down)

    def _write_down(self) -> None:
        told, self._records = self._records, []
        for call in told:
            widget = call.widget
            self._add(
                _line(
                    event="call",
                    principal=_principal(call.principal),
                    client=call.client[:LONGEST_NAME],
                    client_version=call.client_version[:LONGEST_NAME],
                    tool=call.tool,
                    widget="" if widget is None else widget.tool,
                    outcome=call.outcome,
                    code=call.code,
                    ms=round(call.seconds * 1000, 3),
                    bytes_in=_size(call.arguments),
                    bytes_out=_size(call.answer),
                    shape=_shape(widget, call.arguments),
                )
            )

    def _add(self, line: bytes) -> None:
        if len(self._waiting) >= MOST_WAITING:
            self._lose(1)
            return
        self._waiting.append(line)
        self._came.set()

    def on_render(self, widget: Widget, steps: int) -> None:
        """Whatever a call renders is part of its line."""

    def on_upload(self, upload: Upload) -> None:
        """Have a line written about who brought which file, and what came of it."""
        self._write_down()
        self._add(
            _line(
                event="upload",
                principal=_principal(upload.writer),
                path=upload.path,
                tool=upload.tool,
                outcome=upload.outcome,
                code=upload.code,
                bytes_in=upload.size_bytes,
            )
        )

    def on_notice(self, notice: Notice) -> None:
        """Notices are no calls."""

    async def write(self) -> None:
        """Write what waits, until cancelled; then once more."""
        try:
            while True:
                # What was lost is confessed when there is room, whether or not anybody calls.
                with anyio.move_on_after(RETRY_S if self._unconfessed else None):
                    await self._came.wait()
                self._came = anyio.Event()
                await anyio.sleep(GATHER_S)
                await self._flush()
        finally:
            with anyio.CancelScope(shield=True):
                await self._flush()

    async def _flush(self) -> None:
        self._write_down()
        lines, unconfessed = list(self._waiting), self._unconfessed
        self._waiting.clear()
        confession = [_line(event="audit.lost", calls=unconfessed)] if unconfessed else []
        if not (lines or confession):
            return
        written, problem = await anyio.to_thread.run_sync(self._append, lines + confession)
        if written > len(lines):
            self._unconfessed -= unconfessed
        self._lose(max(0, len(lines) - written))
        self._report(problem)

    def _lose(self, lines: int) -> None:
        self.lost += lines
        self._unconfessed += lines

    def _report(self, problem: OSError | None) -> None:
        """Say that the disk takes no lines, or takes them again, once for each time it changes."""
        if problem is not None and not self._failing:
            _log.warning("audit.failed", problem=problem.strerror)
        elif problem is None and self._failing:
            _log.info("audit.recovered", lost=self.lost)
        self._failing = problem is not None

    def _append(self, lines: list[bytes]) -> tuple[int, OSError | None]:
        """How many of `lines` were written, and why it was not all of them."""
        path, started = self._path, []
        try:
            if path.exists() and path.stat().st_size >= self._most_bytes:
                for number in range(KEPT, 0, -1):
                    younger = path.with_name(f"{path.name}.{number - 1}") if number > 1 else path
                    if younger.exists():
                        younger.replace(path.with_name(f"{path.name}.{number}"))
                started = [_line(event="audit.started")]
            written, problem = append_lines(path, started + lines)
        except OSError as error:
            return 0, error
        return max(0, written - len(started)), problem


@lru_cache(maxsize=1024)
def _principal(name: str) -> str:
    """Stands for a principal, the same in every file; empty for whoever has no name."""
    return blake2b(name.encode(), digest_size=6).hexdigest() if name else ""


def _shape(widget: Widget | None, arguments: Mapping[str, Any]) -> dict[str, str]:
    """What kind of values came for which of the widget's own fields: `{"legs": "array 2"}`.

    A name that the widget does not declare may be somebody's data, so it is not written down.
    """
    declared = {} if widget is None else widget.schema.advertised.get("properties", {})
    shape = {
        name: f"array {len(value)}"
        if isinstance(value, list)
        else _KINDS.get(type(value), "object")
        for name, value in arguments.items()
        if name in declared
    }
    others = len(arguments) - len(shape)
    return {**shape, "+": f"others {others}"} if others else shape


_KINDS = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
}


def _size(value: Mapping[str, Any] | bytes) -> int:
    if isinstance(value, bytes):
        return len(value)
    try:
        return len(orjson.dumps(value, default=str))
    except orjson.JSONEncodeError:  # an integer of more than 64 bits, for one
        return len(json.dumps(value, default=str))


def _line(**said: Any) -> bytes:
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    return orjson.dumps({"at": at, **said}, option=orjson.OPT_APPEND_NEWLINE)
