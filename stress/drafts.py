"""Try many thousand drafts, and measure the memory that stays in use."""

from __future__ import annotations

import gc
import os
from typing import Any

import orjson

from stress.processes import read_usage
from stress.table import Row, info_row, limit_row
from tests.support.widgets import widget_file
from widgetd.author.guide.drafts import Drafts
from widgetd.daemon.wings import admit
from widgetd.server.catalog.snapshot import Snapshot

_GROWTH_MB = 5.0
_WARM_UP = 2_500
"""Drafts before the first measurement: all caches are bounded, and full by then."""


def measure(*, drafts: int) -> list[Row]:
    """Measure the memory after many different drafts, half of them with a fault."""
    trying = Drafts(admit)
    faults = 0
    for number in range(_WARM_UP):
        _try_draft(trying, -number - 1)
    gc.collect()
    before = read_usage(os.getpid()).rss_bytes
    for number in range(drafts):
        faults += not _try_draft(trying, number)["tool"]
    gc.collect()
    grown_mb = (read_usage(os.getpid()).rss_bytes - before) / 1e6
    return [
        info_row(f"{drafts:,} drafts", f"{faults:,} with a fault"),
        limit_row(f"memory grown by {drafts:,} drafts", max(grown_mb, 0.0), _GROWTH_MB, "MB"),
    ]


def _try_draft(trying: Drafts, number: int) -> dict[str, Any]:
    end = "]}" if number % 2 else "{% endfor %}"
    template = (
        '{"type": "Card", "children": [{"type": "Text", '
        f'"value": {{{{ (who ~ "{number}") | tojson }}}}}}{end}'
    )
    widget = orjson.loads(widget_file(f"Draft {number}", template=template))
    return trying.preview(widget, 'description = "A draft."', {"who": "Ada"}, Snapshot.empty())
