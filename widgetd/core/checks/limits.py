"""The limits of checks, in one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckLimits:
    """Bounds of how much a check examines and reports.

    Attributes:
        depth: Levels of a schema that are compared or listed.
        named_fields: Fields that one finding names.
        named_actions: Actions that one finding names.
        suggestions: Findings of a check for which the nearest names are searched, which takes long.
        probed_fields: Fields that are tested by rendering again, which takes long.
        probe_steps: Template steps of these tests; about a second.
        absent_renders: Renders that look for the argument whose absence leaves a property out.
        repeated_renders: Renders whose output is searched for keys that are written twice.
        exhausted_renders: Renders that may exhaust their budget before no more are tried.
        description_characters: Length of a tool's description that hosts are known to accept.
        excerpt_characters: Length of an excerpt; a template is one long line of JSON.
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
