"""Try drafts, many thousand of them, and look at what the process holds on to."""

from __future__ import annotations

import gc
import os
from typing import Any

import orjson

from stress.processes import holdings
from stress.table import Row, at_most, told
from tests.serving import widget_file
from widgetd.catalog.snapshot import Snapshot
from widgetd.daemon.loading import admit
from widgetd.guide.drafts import Drafts

_GROWTH_MB = 5.0
_WARM_UP = 2_500
"""Drafts before the first look: what is remembered of any text is bounded, and full by then."""


def rows(*, drafts: int) -> list[Row]:
    """The row of what a process holds after so many drafts, each another one, half of them bad."""
    trying = Drafts(admit)
    faults = 0
    for number in range(_WARM_UP):
        _tried(trying, -number - 1)
    gc.collect()
    before = holdings(os.getpid()).rss_bytes
    for number in range(drafts):
        faults += not _tried(trying, number)["tool"]
    gc.collect()
    grown_mb = (holdings(os.getpid()).rss_bytes - before) / 1e6
    return [
        told(f"{drafts:,} drafts", f"{faults:,} with a fault"),
        at_most(f"memory grown by {drafts:,} drafts", max(grown_mb, 0.0), _GROWTH_MB, "MB"),
    ]


def _tried(trying: Drafts, number: int) -> dict[str, Any]:
    end = "]}" if number % 2 else "{% endfor %}"
    template = (
        '{"type": "Card", "children": [{"type": "Text", '
        f'"value": {{{{ (who ~ "{number}") | tojson }}}}}}{end}'
    )
    widget = orjson.loads(widget_file(f"Draft {number}", template=template))
    return trying.preview(widget, 'description = "A draft."', {"who": "Ada"}, Snapshot.empty())
