"""The audit file: one line of JSON per call and upload, without argument values.

    on_call -> (the answer is sent) -> line -> LineQueue -> file

Neither encoding nor a slow disk delays a call: a line is made after the answer was sent. Lines are
written whole or not at all.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson

from widgetd.base.errors import ConfigError
from widgetd.base.files.write import append_lines
from widgetd.base.logs import get_logger
from widgetd.base.system import SYSTEM, System
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import LINK_CLIENT
from widgetd.server.observe.limits import LIMITS
from widgetd.server.observe.line_queue import LineQueue
from widgetd.server.observe.observer import ActionRecord, CallRecord, Observer, Upload

_log = get_logger()


class Audit(Observer):
    """The writer of the audit file.

    Attributes:
        lines: Lines waiting for the disk.

    Raises:
        ConfigError: The file cannot be written (W0006). A full disk raises nothing.
    """

    def __init__(self, path: Path, *, most_bytes: int, system: System = SYSTEM) -> None:
        self._path = path
        self._system = system
        self._most_bytes = most_bytes
        self._records: list[CallRecord] = []
        self.lines = LineQueue(
            self._append,
            lambda calls: _line(event="audit.lost", calls=calls),
            most_bytes=LIMITS.audit_bytes,
            gather_s=LIMITS.gather_s,
            system=system,
        )
        self._failing = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _, full = append_lines(path, [_line(event="audit.started")], system.disk)
        except OSError as error:
            problem = f"the audit file {path} cannot be written ({error.strerror})"
            raise ConfigError("W0006", problem, "name another with --audit", exit_code=3) from None
        self._report(full)

    def on_call(self, call: CallRecord) -> None:
        self._records.append(call)
        if len(self._records) == 1:
            asyncio.get_running_loop().call_soon(self._queue_records)

    def _queue_records(self) -> None:
        records, self._records = self._records, []
        for call in records:
            widget = call.widget
            self.lines.add(
                _line(
                    event="call",
                    principal=_principal(call.principal),
                    client=call.client[: LIMITS.client_chars],
                    client_version=call.client_version[: LIMITS.client_chars],
                    **({"via": "link"} if call.client == LINK_CLIENT else {}),
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

    def on_upload(self, upload: Upload) -> None:
        self._queue_records()
        self.lines.add(
            _line(
                event="upload",
                principal=_principal(upload.uploader),
                path=upload.path,
                tool=upload.tool,
                outcome=upload.outcome,
                code=upload.code,
                bytes_in=upload.size_bytes,
            )
        )

    def on_action(self, action: ActionRecord) -> None:
        self._queue_records()
        self.lines.add(
            _line(
                event="action",
                principal=_principal(action.principal),
                widget=action.widget,
                action=action.action[: LIMITS.client_chars],
                upstream=action.upstream,
                tool=action.tool,
                outcome=action.outcome,
                code=action.code,
                ms=round(action.seconds * 1000, 3),
            )
        )

    @contextmanager
    def running(self) -> Iterator[None]:
        """Write lines while the block runs, and the rest at its end."""
        with self.lines.running():
            try:
                yield
            finally:
                self._queue_records()

    def _report(self, problem: OSError | None) -> None:
        if problem is not None and not self._failing:
            _log.warning("audit.failed", problem=problem.strerror)
        elif problem is None and self._failing:
            _log.info("audit.recovered", lost=self.lines.lost)
        self._failing = problem is not None

    def _append(self, lines: Sequence[bytes]) -> int:
        path, started = self._path, []
        try:
            if path.exists() and path.stat().st_size >= self._most_bytes:
                for number in range(LIMITS.rotated_files, 0, -1):
                    younger = path.with_name(f"{path.name}.{number - 1}") if number > 1 else path
                    if younger.exists():
                        younger.replace(path.with_name(f"{path.name}.{number}"))
                started = [_line(event="audit.started")]
            written, problem = append_lines(path, [*started, *lines], self._system.disk)
        except OSError as error:
            written, problem = 0, error
        self._report(problem)
        return max(0, written - len(started))


@lru_cache(maxsize=1024)
def _principal(name: str) -> str:
    return blake2b(name.encode(), digest_size=6).hexdigest() if name else ""


def _shape(widget: Widget | None, arguments: Mapping[str, Any]) -> dict[str, str]:
    declared = {} if widget is None else widget.schema.advertised.get("properties", {})
    shape = {
        name: f"array {len(value)}"
        if isinstance(value, list)
        else _KINDS.get(type(value), "object")
        for name, value in arguments.items()
        if name in declared
    }
    # Undeclared names may be user data, so they are only counted.
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


def _line(**fields: Any) -> bytes:
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    return orjson.dumps({"at": at, **fields}, option=orjson.OPT_APPEND_NEWLINE)
