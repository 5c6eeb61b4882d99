"""Limits of the records of calls and events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLimits:
    """Limits of the audit file, the log, the stored log events and the health check.

    Attributes:
        audit_bytes: Waiting lines of the audit, of about 300 bytes each.
        log_bytes: Waiting lines of the log.
        gather_s: Calls within this time are written together.
        client_chars: Length of a client's name or version.
        retry_s: Time from a lost line to the next attempt to write.
        drain_s: Time at the end for waiting lines.
        rotated_files: Full audit files. `audit.jsonl.1` is the newest.
        blocked_origins: Image origins logged per widget. Callers can name any number.
        events: Stored log events.
        event_bytes: Size of all stored log events.
        field_chars: Length of a field of an event.
        integer_bits: Largest integer of the JSON encoder.
        stalled_s: Time without a scan until the daemon counts as stalled. The longest rebuild of
            many thousand files takes less.
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
