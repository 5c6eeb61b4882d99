"""Limits of Studio comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class StudioLimits:
    """Limits of a comparison of an export's two sources.

    Attributes:
        sets: Generated sets of arguments.
        steps: Steps of all renders; ten times the need of the largest export.
        differences: Differences named in a finding.
        losses: Values named in a finding, among those lost from the JSX by an edit.
    """

    sets: int = 30
    steps: int = 150_000
    differences: int = 3
    losses: int = 30


LIMITS: Final = StudioLimits()
