"""All attacks of the tests as drafts: `python -m tests.unit.author.guide.draft_attacks`.

A timer of the kernel ends the process where one draft takes too long, and it can have only so
much memory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from stress.attackfiles import ATTACKS
from tests.support.limits import try_each
from widgetd.author.guide.drafts import Drafts
from widgetd.core.schema.json_text import NotJsonError, parse_json
from widgetd.daemon.wings import admit
from widgetd.server.catalog.snapshot import Snapshot

BAD = Path(__file__).parents[3] / "widgets" / "bad"


def drafts() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of each and the object that a caller would send."""
    contents = [(f"attack {n}", make(f"A{n}")) for n, make in enumerate(ATTACKS)]
    contents += [(path.stem, path.read_bytes()) for path in sorted(BAD.glob("*.widget"))]
    for name, content in contents:
        try:
            document = parse_json(content)
        except NotJsonError:
            continue
        if isinstance(document, dict):
            yield name, document


def main() -> None:
    """Try each within ten times the bar, and say it before it begins."""
    trying = Drafts(admit)
    trying.preview({"version": "1.0", "name": "A", "template": "{}"}, "", None, Snapshot.empty())

    def attacked(widget: dict[str, Any]) -> None:
        orjson.dumps(trying.preview(widget, "", None, Snapshot.empty()), default=str)

    count = try_each((name, partial(attacked, widget)) for name, widget in list(drafts()))
    sys.stdout.write(f"done: {count}\n")


if __name__ == "__main__":
    main()
