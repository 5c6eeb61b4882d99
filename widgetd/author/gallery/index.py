"""The index: a tile for each matching widget, and each broken file with its fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import QueryParams
from starlette.requests import Request

from widgetd.author.gallery.gallery import Gallery
from widgetd.author.gallery.problems import VERDICTS, Problem, Verdict, problem_json
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import WRITE, Caller
from widgetd.server.web.page import caller_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Filters in an address.

    Attributes:
        words: Words to search, or empty for all widgets.
        tag: A tag of the widget, or empty for any.
        verdict: The widget's worst finding, or None for any.
    """

    words: str = ""
    tag: str = ""
    verdict: Verdict | None = None

    @classmethod
    def of(cls, query: QueryParams) -> Filters:
        problems = query.get("problems", "")
        return cls(
            words=query.get("q", "").strip(),
            tag=query.get("tag", ""),
            verdict=next((verdict for verdict in VERDICTS if verdict == problems), None),
        )

    @property
    def is_set(self) -> bool:
        return self != Filters()


async def index_page(gallery: Gallery, request: Request) -> dict[str, Any]:
    caller, filters = caller_of(request), Filters.of(request.query_params)
    snapshot = caller.snapshot
    widgets, refused = await _find(gallery, caller, filters)
    return {
        **gallery.layout(request),
        "snapshot": snapshot,
        "filters": filters,
        "widgets": widgets,
        "refused": refused,
        "tags": sorted({tag for row in snapshot.widgets.values() for tag in row.definition.tags}),
        "upload": gallery.uploads is not None and WRITE in caller.principal.scopes,
        "folder": gallery.folder.name,
        "examples": gallery.uploads is not None and not gallery.uploads.is_begun,
        "url": gallery.url,
    }


async def index_json(gallery: Gallery, request: Request) -> dict[str, Any]:
    """Return the index for programs: `{"generation", "widgets": [{...}], "refused": [{...}]}`."""
    caller = caller_of(request)
    snapshot = caller.snapshot
    widgets, refused = await _find(gallery, caller, Filters.of(request.query_params))
    return {
        "generation": snapshot.generation,
        "widgets": [
            {
                "name": widget.tool,
                "title": widget.definition.title,
                "description": widget.description,
                "tags": widget.definition.tags,
                "path": widget.definition.path,
                "digest": widget.key,
                "page": f"/w/{widget.tool}",
                "fault": problem_json(gallery.problems.fault(snapshot, widget.definition.path)),
            }
            for widget in widgets
        ],
        "refused": [problem_json(problem) for problem in refused],
    }


async def _find(
    gallery: Gallery, caller: Caller, filters: Filters
) -> tuple[Sequence[Widget], Sequence[Problem]]:
    """Return the matching widgets, and the faults of refused files.

    Widgets keep the order of their names, not of the search: people find a tile where it was
    before. The filter for warnings takes a render of every state. A search for widgets hides
    other files.
    """
    snapshot, search = caller.snapshot, gallery.server.search
    # The index for models, too: both find the same by the same words.
    hits, _ = await search.search(caller, filters.words, len(snapshot.widgets))
    named = {hit.widget.tool for hit in hits}
    widgets = [
        widget
        for tool, widget in snapshot.widgets.items()
        if tool in named and (not filters.tag or filters.tag in widget.definition.tags)
    ]
    problems, verdict = gallery.problems, filters.verdict
    if verdict is not None:
        widgets = [row for row in widgets if await problems.verdict(snapshot, row) == verdict]
    if verdict not in (None, "fault") or filters.words or filters.tag:
        return widgets, ()
    findings = (*snapshot.refusals, *snapshot.theme.findings)
    return widgets, [problems.locate(finding) for finding in findings]
