"""The timeouts of commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class CliLimits:
    """Timeouts of commands.

    Attributes:
        health_s: Time for a running daemon to answer `widgetd health`.
    """

    health_s: float = 5.0


LIMITS: Final = CliLimits()
