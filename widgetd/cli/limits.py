"""The timeouts and periods of commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class CliLimits:
    """Timeouts and periods of commands.

    Attributes:
        status_s: Time for daemons to answer `widgetd status`, 2 s with the start of the command.
        record_bytes: Size of a daemon's answer, and of the record of a running daemon.
        own_folder_s: Period of looking for ./widgets while `dev` shows the bundled examples.
        rollback_s: Time for a running daemon to take up a rollback.
        rollback_poll_s: Period of looking whether it did.
    """

    status_s: float = 1.5
    record_bytes: int = 65_536
    own_folder_s: float = 0.3
    rollback_s: float = 3.0
    rollback_poll_s: float = 0.05


LIMITS: Final = CliLimits()
