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
    """

    health_s: float = 5.0
    own_folder_s: float = 0.3


LIMITS: Final = CliLimits()
