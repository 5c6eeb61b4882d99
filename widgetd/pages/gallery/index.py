"""The index: every widget as a picture, every broken file with what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import QueryParams
from starlette.responses import Response

from widgetd.catalog.snapshot import Snapshot
from widgetd.pages.gallery.faults import fault_card, problem_json
from widgetd.pages.gallery.gallery import Gallery
from widgetd.pages.gallery.markup import Markup, el, fragment
from widgetd.pages.gallery.shell import bar, choice, kept, page, theme_of
from widgetd.pages.gallery.welcome import welcome
from widgetd.tools.search import Search
from widgetd.widget.compiled import Widget


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which widgets the address asks for.

    Attributes:
        words: What they are about; empty for all.
        tag: A tag that they have; empty for any.
        troubled: Only those whose file is broken.
    """

    words: str
    tag: str
    troubled: bool

    @classmethod
    def of(cls, query: QueryParams) -> Wanted:
        """What the query of an address asks for."""
        return cls(
            words=query.get("q", "").strip(),
            tag=query.get("tag", ""),
            troubled=query.get("problems", "") == "1",
        )

    def among(self, snapshot: Snapshot, search: Search) -> list[Widget]:
        """The widgets of `snapshot` that are asked for, in the order of their names.

        Not the best first: whoever looks for a picture finds it where it was before.
        """
        hits, _ = search.find(snapshot, self.words, len(snapshot.widgets))
        found = {hit.widget.tool for hit in hits}
        return [
            widget
            for tool, widget in snapshot.widgets.items()
            if tool in found and self._admits(widget, snapshot)
        ]

    def _admits(self, widget: Widget, snapshot: Snapshot) -> bool:
        definition = widget.definition
        if self.tag and self.tag not in definition.tags:
            return False
        return not self.troubled or definition.path in snapshot.faults


def index_page(gallery: Gallery, query: QueryParams) -> Response:
    """The index as a page."""
    snapshot = gallery.snapshot
    wanted = Wanted.of(query)
    body = fragment(
        bar(_search(wanted, query), _theme(query), query=query, mark=gallery.mark),
        el(
            "main",
            _found(gallery, snapshot, wanted, query) if snapshot.entries else welcome(gallery),
            id="main",
            data_page="index",
            data_upload=gallery.upload,
        ),
    )
    return page("Widgets", body, script="index.js", query=query)


def index_json(gallery: Gallery, query: QueryParams) -> dict[str, Any]:
    """`{"generation", "widgets": [{"name", "title", ...}], "refused": [{...}]}`."""
    snapshot = gallery.snapshot
    return {
        "generation": snapshot.generation,
        "widgets": [
            _row(gallery, snapshot, one) for one in Wanted.of(query).among(snapshot, gallery.search)
        ],
        "refused": [
            problem_json(problem)
            for finding in snapshot.refused
            if (problem := gallery.problems.fault(snapshot, finding.path))
        ],
    }


def _row(gallery: Gallery, snapshot: Snapshot, widget: Widget) -> dict[str, Any]:
    definition = widget.definition
    fault = gallery.problems.fault(snapshot, definition.path)
    return {
        "name": widget.tool,
        "title": definition.title,
        "description": widget.description,
        "tags": definition.tags,
        "path": definition.path,
        "digest": widget.key,
        "page": f"/w/{widget.tool}",
        "fault": None if fault is None else problem_json(fault),
    }


def _search(wanted: Wanted, query: QueryParams) -> Markup:
    return el(
        "form",
        el("label", "Search widgets", class_="hidden", for_="q"),
        el(
            "input",
            type="search",
            name="q",
            id="q",
            value=wanted.words,
            placeholder="Search widgets",
            autocomplete="off",
            spellcheck="false",
        ),
        el("kbd", "/", aria_hidden="true"),
        *(
            el("input", type="hidden", name=n, value=query[n])
            for n in ("tag", "theme")
            if n in query
        ),
        role="search",
        action="/",
        class_="search",
    )


def _theme(query: QueryParams) -> Markup:
    options = (("", "Auto"), ("light", "Light"), ("dark", "Dark"))
    return choice("Theme", "theme", options, theme_of(query))


def _found(gallery: Gallery, snapshot: Snapshot, wanted: Wanted, query: QueryParams) -> Markup:
    widgets = wanted.among(snapshot, gallery.search)
    troubles = [
        problem
        for finding in snapshot.refused
        if (problem := gallery.problems.fault(snapshot, finding.path))
    ]
    return fragment(
        el(
            "div",
            el("h1", _counted(len(widgets), snapshot, wanted), id="count"),
            _filters(snapshot, wanted, query),
            class_="intro",
        ),
        el(
            "section",
            el("h2", "Files that are not served", class_="hidden"),
            *(fault_card(problem, "This file is not served") for problem in troubles),
            class_="refused",
            aria_label="Files that are not served",
            id="refused",
            hidden=not troubles,
        ),
        el("ul", *(_tile(one, snapshot, query) for one in widgets), class_="tiles", id="tiles"),
        el(
            "p",
            "Nothing here is called that. ",
            el("a", "Show every widget", href=kept("/", query, "theme")),
            class_="nothing",
            id="nothing",
            hidden=bool(widgets),
        ),
    )


def _counted(shown: int, snapshot: Snapshot, wanted: Wanted) -> str:
    noun = "widget" if shown == 1 else "widgets"
    if wanted.words or wanted.tag or wanted.troubled:
        return f"{shown} of {len(snapshot.widgets)} widgets"
    return f"{shown} {noun}"


def _filters(snapshot: Snapshot, wanted: Wanted, query: QueryParams) -> Markup:
    tags = sorted({tag for widget in snapshot.widgets.values() for tag in widget.definition.tags})
    faults = len(snapshot.faults)
    return el(
        "nav",
        _filter("All", kept("/", query, "q", "theme"), chosen=not (wanted.tag or wanted.troubled)),
        *(_filter(tag, _with(query, "tag", tag), chosen=tag == wanted.tag) for tag in tags),
        _filter(
            f"Broken {faults}", _with(query, "problems", "1"), chosen=wanted.troubled, trouble=True
        )
        if faults
        else None,
        class_="filters",
        id="filters",
        aria_label="Filter",
    )


def _filter(label: str, href: str, *, chosen: bool, trouble: bool = False) -> Markup:
    return el(
        "a",
        label,
        href=href,
        aria_current="true" if chosen else None,
        class_="trouble" if trouble else None,
    )


def _with(query: QueryParams, name: str, value: str) -> str:
    held = {key: query[key] for key in ("q", "theme") if query.get(key)}
    return kept("/", QueryParams({**held, name: value}), "q", "tag", "problems", "theme")


def _tile(widget: Widget, snapshot: Snapshot, query: QueryParams) -> Markup:
    definition = widget.definition
    return el(
        "li",
        el("div", el("div", class_="bones", aria_hidden="true"), class_="tile-stage", inert=True),
        el(
            "div",
            el("h2", el("a", definition.title, href=kept(f"/w/{widget.tool}", query, "theme"))),
            el("p", widget.description, class_="says", title=widget.description),
            el("p", el("code", widget.tool), *_marks(widget, snapshot), class_="marks"),
            class_="tile-text",
        ),
        class_="tile",
        data_tool=widget.tool,
        data_title=definition.title,
        data_key=widget.key,
    )


def _marks(widget: Widget, snapshot: Snapshot) -> Iterable[Markup]:
    if widget.definition.path in snapshot.faults:
        yield el("span", "Broken, showing the last good version", class_="badge trouble")
    yield el("span", class_="badge caution", data_warnings=widget.tool, hidden=True)
