"""The pages of the guide, for people: the same text that agents get."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from widgetd.errors import CallError
from widgetd.guide.guide import page, pages
from widgetd.guide.markdown import blocks
from widgetd.web.app import PAGE_HEADERS
from widgetd.web.gallery.gallery import Gallery
from widgetd.web.templating import html


async def guide_page(gallery: Gallery, request: Request) -> dict[str, Any] | Response:
    """One page beside the list of all of them; the first where the address names none."""
    known = pages()
    name = request.path_params.get("name", next(iter(known)))
    shown = {**gallery.layout(request), "pages": tuple(known.values())}
    try:
        found = page(name)
    except CallError as error:
        missing = {**shown, "page": None, "blocks": (), "problem": error.message}
        return HTMLResponse(html("guide.html", missing), 404, PAGE_HEADERS)
    return {**shown, "page": found, "blocks": tuple(blocks(found.text)), "problem": ""}
