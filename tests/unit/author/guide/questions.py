"""Sixty questions of authors, with the entries that answer them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from unittest import mock

from tests.support.widgets import snapshot_of
from widgetd.author.guide.reference import Reference
from widgetd.base.files.folder import bundled_folder
from widgetd.daemon.loading import build_catalog
from widgetd.daemon.wings import admit
from widgetd.server.catalog.loader import Loader
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.search.search_index import SearchIndex
from widgetd.settings import Settings, describe_settings

QUESTIONS: list[tuple[str, str, list[str]]] = json.loads(
    Path(__file__).with_name("reference_questions.json").read_text()
)
"""Each with the kind of what was meant, and its names."""

FIRST = 3


@cache
def bundled_snapshot() -> Snapshot:
    """Return the bundled widgets."""
    load = Loader(admit).load
    widgets = build_catalog(Settings(), bundled_folder(), load, quiet_ms=0).scan().widgets
    return snapshot_of(*widgets.values())


def find_misses(*, plainly: bool = False) -> list[str]:
    """Return the questions whose answer is not among the first results.

    Args:
        plainly: Look up the very words only: no other word for a thing, and no slip.
    """
    if plainly:
        with mock.patch.object(SearchIndex, "_meanings", _itself):
            return find_misses()
    reference = Reference(describe_settings())
    return [
        question
        for question, kind, names in QUESTIONS
        if not any(
            item["kind"] == kind and item["name"] in names
            for item in reference.find(bundled_snapshot(), question, (), FIRST)[0]
        )
    ]


def _itself(index: SearchIndex[object], word: str) -> dict[str, float]:
    return {word: 1.0} if word in index._postings else {}
