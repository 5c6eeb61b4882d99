"""The page that draws results, as it was built from `view/`; a value, read once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from widgetd.schema.json_values import to_json
from widgetd.widget.components.lucide import icons_in

FRAME_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'unsafe-inline'",
        "style-src 'unsafe-inline'",
        "img-src data: {images}",
        "connect-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
        # Opened by itself, it is as far from our origin as in its frame.
        "sandbox allow-scripts allow-forms",
    )
)
"""What the view in a frame may do: run itself, and load images from where its widget has them.

Source: MCP Apps 2026-01-26, "Host Behavior", the default policy.
"""

INLINE_ID = "widgetd-tree"
"""Of the element that holds what the page draws."""


@cache
def view_html() -> str:
    """The whole page, with everything that it needs in it."""
    return (files("widgetd.view") / "view.html").read_text(encoding="utf-8")


def frame_headers(image_origins: Iterable[str]) -> dict[str, str]:
    """The headers of the page in a host's frame, which may load images from these origins."""
    images = " ".join(sorted(set(image_origins)))
    return {
        "content-security-policy": FRAME_POLICY.replace(" {images}", images and f" {images}"),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
    }


def drawing(
    tree: Mapping[str, Any], *, theme: str, locale: str, title: str, fonts: str = ""
) -> str:
    """The page with one widget in it, which it draws without a host; see `inline`."""
    json = inline(tree, theme=theme, locale=locale, title=title, fonts=fonts)
    block = f'<script type="application/json" id="{INLINE_ID}">{json}</script>'
    return view_html().replace("<head>", f"<head>{block}", 1)


def inline(tree: Mapping[str, Any], *, theme: str, locale: str, title: str, fonts: str = "") -> str:
    """What a page that draws one widget without a host holds, as JSON that no element ends.

    Args:
        tree: The widget root.
        theme: `light` or `dark`.
        locale: The language that numbers and dates are shown in.
        title: Of the document.
        fonts: A CSS list of font families; empty for the view's own.
    """
    told: dict[str, Any] = {"widget": tree, "theme": theme, "locale": locale, "title": title}
    told["icons"] = icons_in(tree)
    if fonts:
        told["styles"] = {"variables": {"--font-sans": fonts}}
    return to_json(told).decode().replace("<", "\\u003c")
