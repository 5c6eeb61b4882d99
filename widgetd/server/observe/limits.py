"""The limits of what is recorded of calls and events, in one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLimits:
    """Limits of the audit file, of the log, of the stored log events and of the health check.

    Attributes:
        audit_bytes: Lines of the audit, of about 300 bytes, that wait for the disk.
        log_bytes: Lines of the log that wait for its reader.
        gather_s: Calls that end within this time are written by one worker thread call.
        client_chars: Length of a client's name or version.
        retry_s: Time after a lost line until another write is tried without new lines.
        drain_s: Time at the end for the lines that wait.
        rotated_files: Full audit files; `audit.jsonl.1` is the newest of them.
        blocked_origins: Image origins logged per widget; callers can name any number.
        events: Stored log events.
        event_bytes: Size of all stored log events.
        field_chars: Length of one field of an event.
        integer_bits: Size of an integer that the JSON encoder accepts.
        stalled_s: Time without a scan after which the daemon counts as stalled; the longest
            rebuild of many thousand files takes less.
    """

    audit_bytes: int = 4 * 1024 * 1024
    log_bytes: int = 256 * 1024
    gather_s: float = 0.1
    client_chars: int = 80
    retry_s: float = 5.0
    drain_s: float = 2.0
    rotated_files: int = 4
    blocked_origins: int = 8
    events: int = 5_000
    event_bytes: int = 2 * 1024 * 1024
    field_chars: int = 2_000
    integer_bits: int = 63
    stalled_s: float = 30.0


LIMITS: Final = RecordLimits()
