"""The page of a widget that is not there, or not any more."""

from __future__ import annotations

from starlette.datastructures import QueryParams
from starlette.responses import Response

from widgetd.errors import nearest
from widgetd.web.gallery.gallery import Gallery
from widgetd.web.gallery.layout import bar, kept, page
from widgetd.web.gallery.markup import el, fragment


def missing_page(gallery: Gallery, tool: str, query: QueryParams) -> Response:
    """Say so, and name the widget that was most likely meant."""
    match = nearest(tool, tuple(gallery.snapshot.widgets))
    body = fragment(
        bar(query=query, mark=gallery.mark),
        el(
            "main",
            el("h1", f"There is no widget “{tool}”"),
            el(
                "p",
                "It may have been renamed, or its file removed. ",
                ("Did you mean ", el("a", match, href=kept(f"/w/{match}", query, "theme")), "? ")
                if match
                else None,
                el("a", "Show every widget", href=kept("/", query, "theme")),
                class_="lead",
            ),
            id="main",
            class_="welcome",
            data_page="missing",
            data_tool=tool,
        ),
    )
    return page("No such widget", body, script="missing.js", query=query, status=404)
