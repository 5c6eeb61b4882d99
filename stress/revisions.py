"""Widgets that show their revision twice, so that a mixture of two is detected."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from tests.support.clients import Connection, Era
from tests.support.widgets import widget_file

WHO = "Ada"
ERAS: tuple[Era, Era] = ("legacy", "modern")

_TEMPLATE = (
    '{"type":"Card","children":[{"type":"Text","value":"REV"},'
    '{"type":"Text","value":{{ (who ~ " REV") | tojson }}}]}'
)


def widget_content(name: str, revision: int) -> bytes:
    """Return the file of the widget `name` at `revision`."""
    return widget_file(name, template=_TEMPLATE.replace("REV", str(revision))).encode()


def revision_of(tree: Mapping[str, Any]) -> int | None:
    """Return the revision that a result for `WHO` shows; None if it shows two."""
    first, second = (child["value"] for child in tree["children"])
    return int(first) if second == f"{WHO} {first}" else None


async def read_revision(client: Connection, name: str) -> int | None:
    """Return the revision that a widget shows; None if it shows none, or two."""
    tree = (await client.call(name, who=WHO)).structured_content
    return None if tree is None else revision_of(tree)


class Writer:
    """A folder of widgets that a thread saves again and again.

    Attributes:
        revisions: The revision of each file.
    """

    def __init__(self, folder: Path, *, widgets: int) -> None:
        self._folder = folder
        self._random = Random(0)
        self.revisions = {f"w{number}": -1 for number in range(widgets)}
        for name in self.revisions:
            self.save(name)

    def run(self, saves: int, pause_s: float) -> None:
        """Save `saves` times, `pause_s` apart; it blocks, so run it in a thread."""
        for _ in range(saves):
            self.save(self._random.choice(list(self.revisions)))
            time.sleep(pause_s)  # plays people who save files

    def save(self, name: str) -> None:
        """Write the next revision in place, or rename it over the file."""
        path, revision = self._folder / f"{name}.widget", self.revisions[name] + 1
        if self._random.random() < 0.5:
            path.write_bytes(widget_content(name, revision))
        else:
            aside = path.with_suffix(".tmp")
            aside.write_bytes(widget_content(name, revision))
            aside.replace(path)
        self.revisions[name] = revision
