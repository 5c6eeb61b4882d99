"""Fill a widget from any answers with any mappings for a while; each fills it or is refused."""

from __future__ import annotations

import time
from collections import Counter

from stress.fuzzing import generate_until
from stress.table import Row, info_row, limit_row
from tests.unit.upstreams.feed_attacks import FILLINGS, FeedAttack, judge

_FILL_MS = 250


def measure(*, seconds: float) -> list[Row]:
    """Measure answers of upstreams and their mappings.

    Args:
        seconds: Duration.
    """
    verdicts, worst_s = Counter[bool](), 0.0
    ends_s = time.monotonic() + seconds

    def fill(filling: FeedAttack) -> None:
        nonlocal worst_s
        started_s = time.process_time()
        verdicts[judge(filling)] += 1
        worst_s = max(worst_s, time.process_time() - started_s)

    generate_until(ends_s, FILLINGS, fill)
    what = f"answers of upstreams with mappings, {seconds:.0f} s"
    return [
        info_row(what, f"{verdicts[True]:,} filled, {verdicts[False]:,} refused"),
        limit_row("  the longest", worst_s * 1000, _FILL_MS, "ms", "processor"),
    ]
