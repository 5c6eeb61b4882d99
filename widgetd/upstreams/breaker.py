"""After several failures in a row, ask no more for a while; then once, to see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

PAUSES_S = (1.0, 2.0, 5.0, 15.0, 60.0)
"""After a failure, the next, and so on; the last for all that follow."""


@dataclass(slots=True)
class Breaker:
    """Counts failures in a row.

    Attributes:
        fail_after: So many open it.
        clock: Tells the time, in seconds that never run backwards.
    """

    fail_after: int
    clock: Callable[[], float]
    _failures: int = 0
    _opened: int = 0
    _until: float = 0.0
    _trying: bool = False

    @property
    def is_open(self) -> bool:
        """Whether calls are refused, or one is on trial."""
        return self._opened > 0

    def retry_in_s(self) -> float:
        """How long until the next call may go through; 0 where it may now."""
        if not self._opened:
            return 0.0
        left = max(self._until - self.clock(), 0.0)
        return max(left, 0.05) if self._trying else left

    def admit(self) -> bool:
        """Whether a call may go through; where it is on trial, all others wait for what it says."""
        if not self._opened:
            return True
        if self._trying or self.clock() < self._until:
            return False
        self._trying = True
        return True

    def succeeded(self) -> None:
        """A call was answered."""
        self._failures = self._opened = 0
        self._trying = False

    def failed(self) -> None:
        """A call was not; calls that began before it opened do not open it further."""
        self._failures += 1
        if self._opened and not self._trying:
            return
        if self._trying or self._failures >= self.fail_after:
            pause_s = PAUSES_S[min(self._opened, len(PAUSES_S) - 1)]
            self._opened += 1
            self._until = self.clock() + pause_s
            self._trying = False

    def abandoned(self) -> None:
        """A call ended without saying anything of the upstream; the next one may be on trial."""
        self._trying = False
