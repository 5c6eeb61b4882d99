"""What the reloading tells whoever counts: a seam that metrics fill.

It refuses to know what is counted, or for whom.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from widgetd.catalog.change import Change
from widgetd.catalog.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """One swap.

    Attributes:
        snapshot: What is served from now on.
        change: What is other than before.
        saved_s: How long ago the last of the changed files was written; None where none is left.
        routine: Nothing but the timer had asked for the look that found it.
    """

    snapshot: Snapshot
    change: Change
    saved_s: float | None
    routine: bool


class Observer(Protocol):
    """Is told how the reloading goes. Called in the event loop; must neither wait nor raise."""

    def surveyed(self, seconds: float) -> None:
        """The folder was looked at, and its widgets were made, in so many seconds."""

    def swapped(self, swap: Swap) -> None:
        """Something else is served from now on."""
