"""The latest log events of this process, for `get_logs`.

    structlog -> LogRing -> get_logs

Remote readers see them. So paths are reduced to their last name, and messages of libraries and
exceptions are dropped, because they may contain a caller's data.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from widgetd.base.errors import CallError
from widgetd.base.system import SYSTEM
from widgetd.base.text_search import compile_pattern
from widgetd.server.observe.limits import LIMITS

LEVELS = ("debug", "info", "warning", "error", "critical")

_FOREIGN_WORDS = frozenset({"message", "exc_info", "exception", "stack_info", "stack"})
_ON_DISK = compile_pattern(r"(?<![\w.:/])/(?:[^\s/'\"]+/)+")


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One event: `{"at": "2026-…Z", "level": "info", "event": "catalog.swapped", …}`.

    Attributes:
        number: Sequence number within this process, from 1.
        line: The same as JSON.
    """

    number: int
    epoch_s: float
    fields: Mapping[str, Any]
    line: bytes = field(repr=False)


class LogRing:
    """A structlog processor for the latest events, bounded in number and bytes.

    Attributes:
        bytes_kept: Total length of the stored lines.
    """

    def __init__(
        self, most_events: int = LIMITS.events, most_bytes: int = LIMITS.event_bytes
    ) -> None:
        self._most_events = most_events
        self._most_bytes = most_bytes
        self._events: deque[LogEvent] = deque()
        self._lock = threading.Lock()
        self._number = 0
        # Cursors of another process must be recognised.
        self._process = SYSTEM.numbers.token_hex(4)
        self.bytes_kept = 0

    def __call__(self, _logger: object, method: str, event: Mapping[str, Any]) -> Mapping[str, Any]:
        at = str(event.get("timestamp", ""))
        fields = {
            "at": at,
            "level": event.get("level", method),
            "event": event.get("event", ""),
            **{
                name: _redact(value)
                for name, value in event.items()
                if name not in {"timestamp", "level", "event"} | _FOREIGN_WORDS
                and not name.startswith("_")
            },
        }
        line = orjson.dumps(fields)
        with self._lock:
            self._number += 1
            self._events.append(LogEvent(self._number, epoch_s(at), fields, line))
            self.bytes_kept += len(line)
            while len(self._events) > self._most_events or self.bytes_kept > self._most_bytes:
                self.bytes_kept -= len(self._events.popleft().line)
        return event

    def __len__(self) -> int:
        return len(self._events)

    def after(self, cursor: str) -> tuple[list[LogEvent], int]:
        """Return the events after `cursor`, oldest first, and the number evicted since then.

        Args:
            cursor: A result of `cursor_of`. Empty for all events.

        Raises:
            CallError: The cursor is not of this process (W3102).
        """
        with self._lock:
            events = list(self._events)
        oldest = events[0].number if events else self._number + 1
        number = 0
        if cursor:
            process, _, digits = cursor.partition(".")
            is_number = digits.isdecimal() and len(digits) <= len(str(self._number))
            if process != self._process or not is_number or int(digits) > self._number:
                problem = f"'{cursor[:40]}' is no cursor of this process; leave 'after' out"
                raise CallError("W3102", problem, path="after")
            number = int(digits)
        dropped = max(oldest - number - 1, 0) if cursor else 0
        return events[max(number - oldest + 1, 0) :], dropped

    def cursor_of(self, event: LogEvent | None = None) -> str:
        """Return the cursor after `event`, by default after the newest event."""
        return f"{self._process}.{self._number if event is None else event.number}"


def epoch_s(at: object) -> float:
    """Parse a time as `2026-05-01T12:00:00Z` into seconds since the epoch, 0 if it is invalid."""
    try:
        return datetime.fromisoformat(str(at)).timestamp()
    except ValueError:
        return 0.0


def _redact(value: Any) -> Any:
    if isinstance(value, str):
        # A file's name need not be UTF-8.
        text = value.encode(errors="backslashreplace").decode()
        return _ON_DISK.sub("", text)[: LIMITS.field_chars]
    if isinstance(value, (list, tuple)):
        return [_redact(item) for item in value[:100]]
    if isinstance(value, int) and value.bit_length() > LIMITS.integer_bits:
        return "a large number"
    return value if isinstance(value, (int, float, bool)) or value is None else str(type(value))
