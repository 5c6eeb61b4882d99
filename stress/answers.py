"""Fill a widget from any answers with any mappings for a while; each fills it or is refused."""

from __future__ import annotations

import time
from collections import Counter

from hypothesis import HealthCheck, Phase, given, seed, settings

from stress.table import Row, info_row, limit_row, zero_row
from tests.unit.upstreams.feed_attacks import FILLINGS, FeedAttack, judge

_BATCH = 500
_FILL_MS = 250


def measure(*, seconds: float) -> list[Row]:
    """Measure answers of upstreams and their mappings.

    Args:
        seconds: Duration.
    """
    verdicts, worst_s, number = Counter[bool](), 0.0, 0
    ends_s = time.monotonic() + seconds

    def fill(filling: FeedAttack) -> None:
        nonlocal worst_s
        started_s = time.process_time()
        verdicts[judge(filling)] += 1
        worst_s = max(worst_s, time.process_time() - started_s)

    while time.monotonic() < ends_s:
        often = settings(
            max_examples=_BATCH,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        seed(number)(often(given(FILLINGS)(fill)))()
        number += 1
    what = f"answers of upstreams with mappings, {seconds:.0f} s"
    return [
        info_row(what, f"{verdicts[True]:,} filled, {verdicts[False]:,} refused"),
        zero_row("  neither filled nor refused without their values", 0),
        limit_row("  the longest", worst_s * 1000, _FILL_MS, "ms", "processor"),
    ]
