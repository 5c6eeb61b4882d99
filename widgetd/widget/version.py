"""Which of two versions is the older one: `1.5.0-beta.2`, `1.5.0`, `1.10`.

Source: Semantic Versioning 2.0.0, section 11; less or more than three numbers are taken too.
"""

from __future__ import annotations

import re

PATTERN = r"^[0-9]{1,9}(\.[0-9]{1,9}){0,3}(-[0-9A-Za-z.-]{1,40})?(\+[0-9A-Za-z.-]{1,40})?$"
"""What a version looks like; what stands behind `+` is of no account."""

Precedence = tuple[tuple[int, ...], tuple[object, ...]]

_RELEASE: tuple[object, ...] = (1,)


def precedence(version: str) -> Precedence | None:
    """What sorts as versions do; None for what is no version."""
    if re.match(PATTERN, version) is None or version.endswith("\n"):
        return None
    numbers, _, candidate = version.partition("+")[0].partition("-")
    counted = tuple(map(int, numbers.split(".")))
    return counted + (0,) * (4 - len(counted)), _candidate(candidate)


def _candidate(text: str) -> tuple[object, ...]:
    """Every candidate comes before the release, a number before a word, fewer parts before more."""
    if not text:
        return _RELEASE
    parts = [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in text.split(".")]
    return (0, *parts)
