"""The timeouts and periods of commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class CliLimits:
    """Timeouts and periods of commands.

    Attributes:
        health_s: Time for a running daemon to answer `widgetd health`.
        own_folder_s: Period of looking for ./widgets while `dev` shows the bundled examples.
        rollback_s: Time for a running daemon to take up a rollback.
        rollback_poll_s: Period of looking whether it did.
    """

    health_s: float = 5.0
    own_folder_s: float = 0.3
    rollback_s: float = 3.0
    rollback_poll_s: float = 0.05


LIMITS: Final = CliLimits()
