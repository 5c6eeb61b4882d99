"""Circuit breaker: after several failures in a row, refuse calls for a while, then try again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from widgetd.upstreams.limits import LIMITS


def pause_s(failures: int) -> float:
    """Return the pause after so many failures in a row, at least 1."""
    return LIMITS.pauses_s[min(failures, len(LIMITS.pauses_s)) - 1]


@dataclass(slots=True)
class Breaker:
    """A counter of failures in a row.

    Attributes:
        fail_after: Failures that open it.
        clock: Monotonic time in seconds.
    """

    fail_after: int
    clock: Callable[[], float]
    _failures: int = 0
    _opened: int = 0
    _until: float = 0.0
    _is_trying: bool = False

    @property
    def is_open(self) -> bool:
        return self._opened > 0

    def retry_in_s(self) -> float:
        if not self._opened:
            return 0.0
        left = max(self._until - self.clock(), 0.0)
        return max(left, 0.05) if self._is_trying else left

    def admit(self) -> bool:
        """Return whether a call may go through. A call on trial keeps all others waiting."""
        if not self._opened:
            return True
        if self._is_trying or self.clock() < self._until:
            return False
        self._is_trying = True
        return True

    def record_success(self) -> None:
        self._failures = self._opened = 0
        self._is_trying = False

    def record_failure(self) -> None:
        """Count a failure. Earlier calls do not prolong the pause."""
        self._failures += 1
        if self._opened and not self._is_trying:
            return
        if self._is_trying or self._failures >= self.fail_after:
            self._opened += 1
            self._until = self.clock() + pause_s(self._opened)
            self._is_trying = False

    def abandon(self) -> None:
        """End a call without an outcome. The next call may be on trial."""
        self._is_trying = False
