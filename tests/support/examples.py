"""The number of cases that a test tries."""

from __future__ import annotations

import os

from hypothesis import settings

SCALE = float(os.environ.get("SCALE", "1"))
"""1 in CI; a proof at full size has more."""


def examples(count: int) -> settings:
    """Return settings that try `count` examples, times SCALE."""
    return settings(max_examples=max(1, round(count * SCALE)))
