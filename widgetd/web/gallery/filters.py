"""Which widgets an address of the index asks for: by their words, their tag, their problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.datastructures import QueryParams

from widgetd.catalog.snapshot import Snapshot
from widgetd.web.gallery.gallery import Gallery
from widgetd.web.gallery.problems import VERDICTS, Problem, Verdict
from widgetd.widget.widget import Widget


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which widgets the address asks for.

    Attributes:
        words: What they are about; empty for all.
        tag: A tag that they have; empty for any.
        verdict: The worst that is said against them; None for anything.
    """

    words: str = ""
    tag: str = ""
    verdict: Verdict | None = None

    @classmethod
    def of(cls, query: QueryParams) -> Wanted:
        """What the query of an address asks for; what it does not know, it does not ask for."""
        asked = query.get("problems", "")
        return cls(
            words=query.get("q", "").strip(),
            tag=query.get("tag", ""),
            verdict=next((verdict for verdict in VERDICTS if verdict == asked), None),
        )

    @property
    def all(self) -> bool:
        """Whether every widget is wanted."""
        return self == Wanted()

    @property
    def refused(self) -> bool:
        """Whether files that are not served at all are wanted too."""
        return self.verdict in (None, "fault")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What an address asks for, as it is now.

    Attributes:
        widgets: In the order of their names, not the best first: whoever looks for a picture
            finds it where it was before.
        refused: Why files are not served at all.
    """

    widgets: Sequence[Widget]
    refused: Sequence[Problem]


async def find(gallery: Gallery, snapshot: Snapshot, wanted: Wanted) -> Found:
    """What `wanted` asks for in `snapshot`; to know of a warning takes a render in every state."""
    hits, _ = gallery.search.find(snapshot, wanted.words, len(snapshot.widgets))
    named = {hit.widget.tool for hit in hits}
    widgets = [
        widget
        for tool, widget in snapshot.widgets.items()
        if tool in named and (not wanted.tag or wanted.tag in widget.definition.tags)
    ]
    problems = gallery.problems
    if wanted.verdict is not None:
        widgets = [
            one for one in widgets if await problems.verdict(snapshot, one) == wanted.verdict
        ]
    faults = (problems.fault(snapshot, finding.path) for finding in snapshot.refused)
    return Found(
        widgets=widgets, refused=[fault for fault in faults if fault] if wanted.refused else []
    )
