"""The page inside a frame: the same view that MCP hosts get, under the same policy."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from widgetd.mcp.view import view_html
from widgetd.web.gallery.gallery import Gallery
from widgetd.web.gallery.layout import remembered
from widgetd.widget.origins import origins
from widgetd.widget.widget import Widget


def frame_page(gallery: Gallery, widget: Widget, request: Request) -> Response:
    """The view, allowed to load the images that `widget` may load in a host."""
    images = " ".join(sorted({*origins(widget.definition.template), *gallery.image_origins}))
    headers = {
        "content-security-policy": policy(images),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
    }
    return remembered(request, view_html().encode(), "text/html", headers)


def policy(images: str = "") -> str:
    """What the view may do: run itself, and load images from `images`.

    Source: MCP Apps 2026-01-26, "Host Behavior", the default policy.
    """
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'unsafe-inline'",
            "style-src 'unsafe-inline'",
            f"img-src data: {images}".rstrip(),
            "connect-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'self'",
            # Opened by itself, it is as far from our origin as in its frame.
            "sandbox allow-scripts allow-forms",
        )
    )
