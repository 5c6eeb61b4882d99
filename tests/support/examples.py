"""The number of examples that a property test tries."""

from __future__ import annotations

import os

from hypothesis import settings

_SCALE = float(os.environ.get("SCALE", "1"))


def examples(count: int) -> settings:
    """Return settings that try `count` examples, times SCALE: `make laws` has it at 20."""
    return settings(max_examples=max(1, round(count * _SCALE)))
