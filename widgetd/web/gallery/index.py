"""The index: every widget as a picture, every broken file with what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from starlette.datastructures import QueryParams
from starlette.responses import Response

from widgetd.catalog.snapshot import Snapshot
from widgetd.web.gallery.faults import fault_card, problem_json
from widgetd.web.gallery.filters import Found, Wanted, find
from widgetd.web.gallery.gallery import Gallery
from widgetd.web.gallery.layout import bar, choice, kept, page, theme_of
from widgetd.web.gallery.markup import Markup, el, fragment
from widgetd.web.gallery.problems import Verdict
from widgetd.web.gallery.welcome import welcome
from widgetd.widget.widget import Widget


async def index_page(gallery: Gallery, query: QueryParams) -> Response:
    """The index as a page."""
    snapshot = gallery.snapshot
    wanted = Wanted.of(query)
    found = await find(gallery, snapshot, wanted)
    body = fragment(
        bar(_search(wanted, query), _theme(query), query=query, mark=gallery.mark),
        el(
            "main",
            _found(found, snapshot, wanted, query) if snapshot.entries else welcome(gallery),
            id="main",
            data_page="index",
            data_upload=gallery.upload,
        ),
    )
    return page("Widgets", body, script="index.js", query=query)


async def index_json(gallery: Gallery, query: QueryParams) -> dict[str, Any]:
    """`{"generation", "widgets": [{"name", "title", ...}], "refused": [{...}]}`."""
    snapshot = gallery.snapshot
    found = await find(gallery, snapshot, Wanted.of(query))
    return {
        "generation": snapshot.generation,
        "widgets": [_row(gallery, snapshot, one) for one in found.widgets],
        "refused": [problem_json(problem) for problem in found.refused],
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
            for n in ("tag", "problems", "theme")
            if n in query
        ),
        role="search",
        action="/",
        class_="search",
    )


def _theme(query: QueryParams) -> Markup:
    options = (("", "Auto"), ("light", "Light"), ("dark", "Dark"))
    return choice("Theme", "theme", options, theme_of(query))


def _found(found: Found, snapshot: Snapshot, wanted: Wanted, query: QueryParams) -> Markup:
    return fragment(
        el(
            "div",
            el("h1", _counted(len(found.widgets), snapshot, wanted), id="count"),
            _filters(snapshot, wanted, query),
            class_="intro",
        ),
        el(
            "section",
            el("h2", "Files that are not served", class_="hidden"),
            *(fault_card(problem, "This file is not served") for problem in found.refused),
            class_="refused",
            aria_label="Files that are not served",
            id="refused",
            hidden=not found.refused,
        ),
        el(
            "ul",
            *(_tile(one, snapshot, query) for one in found.widgets),
            class_="tiles",
            id="tiles",
        ),
        el(
            "p",
            "Nothing here is like that. ",
            el("a", "Show every widget", href=kept("/", query, "theme")),
            class_="nothing",
            id="nothing",
            hidden=bool(found.widgets),
        ),
    )


def _counted(shown: int, snapshot: Snapshot, wanted: Wanted) -> str:
    noun = "widget" if shown == 1 else "widgets"
    if not wanted.all:
        return f"{shown} of {len(snapshot.widgets)} widgets"
    return f"{shown} {noun}"


def _filters(snapshot: Snapshot, wanted: Wanted, query: QueryParams) -> Markup:
    tags = sorted({tag for widget in snapshot.widgets.values() for tag in widget.definition.tags})
    return el(
        "nav",
        _filter("All", kept("/", query, "q", "theme"), chosen=not (wanted.tag or wanted.verdict)),
        *(_filter(tag, _with(query, "tag", tag), chosen=tag == wanted.tag) for tag in tags),
        el(
            "span",
            *(
                _filter(
                    label, _with(query, "problems", key), chosen=key == wanted.verdict, kind=key
                )
                for key, label in _verdicts(snapshot)
            ),
            class_="verdicts",
        ),
        class_="filters",
        id="filters",
        aria_label="Filter",
    )


def _verdicts(snapshot: Snapshot) -> Iterable[tuple[Verdict, str]]:
    """What may be asked for; a broken file only where there is one."""
    if snapshot.faults:
        yield "fault", f"Broken {len(snapshot.faults)}"
    yield "warning", "Warnings"
    yield "none", "No problems"


def _filter(label: str, href: str, *, chosen: bool, kind: Verdict | None = None) -> Markup:
    current = "true" if chosen else None
    return el("a", label, href=href, aria_current=current, data_verdict=kind)


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
