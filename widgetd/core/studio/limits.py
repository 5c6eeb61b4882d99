"""The limits of the studio room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class StudioLimits:
    """Limits of a comparison of an export's two sources.

    Attributes:
        sets: Generated sets of arguments.
        steps: Steps of all renders; ten times what the largest export takes.
        differences: Differences that a finding names.
        losses: Values that a finding names, of those that the JSX has and an edited template lacks.
    """

    sets: int = 30
    steps: int = 150_000
    differences: int = 3
    losses: int = 30


LIMITS: Final = StudioLimits()
