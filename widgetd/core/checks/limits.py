"""Limits of the checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckLimits:
    """Limits of the work and the length of checks.

    Attributes:
        depth: Levels of a schema to compare or list.
        named_fields: Fields named in a finding.
        named_actions: Actions named in a finding.
        suggestions: Findings of a check with a slow search for the nearest name.
        probed_fields: Fields tested by another, slow render.
        probe_steps: Template steps of these tests, about a second.
        absent_renders: Renders in search of the absent argument behind a missing property.
        repeated_renders: Renders searched for repeated keys.
        exhausted_renders: Exhausted renders before the rest is skipped.
        description_characters: Length of a tool's description accepted by all known hosts.
        excerpt_characters: Length of an excerpt. A template is one long line of JSON.
    """

    depth: int = 8
    named_fields: int = 8
    named_actions: int = 6
    suggestions: int = 50
    probed_fields: int = 50
    probe_steps: int = 500_000
    absent_renders: int = 24
    repeated_renders: int = 4
    exhausted_renders: int = 3
    description_characters: int = 1_024
    excerpt_characters: int = 76


LIMITS: Final = CheckLimits()
