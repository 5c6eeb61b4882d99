"""The page for drawing results, built from `view/`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from orjson import Fragment

from widgetd.core.schema.json_values import to_json
from widgetd.core.widget.components.lucide import find_icons
from widgetd.core.widget.page_program import program_digest
from widgetd.core.widget.theme import Theme

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
        # An opaque origin: even a directly opened page has no access to ours.
        "sandbox allow-scripts allow-forms",
    )
)
"""Content security policy of the view in a frame: its own scripts and the widget's images.

Source: MCP Apps 2026-01-26, "Host Behavior", the default policy.
"""

INLINE_ID = "widgetd-tree"
"""Id of the element with the data of an inline page."""


@cache
def view_html() -> str:
    return (files("widgetd.view") / "view.html").read_text(encoding="utf-8")


PROGRAM_ID = "widgetd-program"
"""Id of the element with the page's program."""


PALETTE_ID = "widgetd-palette"
"""Id of the element with the folder's theme."""


def page_of(view: str, program: bytes, theme: Theme) -> str:
    if theme.json:
        view = _with_block(view, PALETTE_ID, _escaped(theme.json))
    if not program:
        return view
    digest = f' data-digest="{program_digest(program)}"'
    return _with_block(view, PROGRAM_ID, _escaped(program), digest)


def _with_block(view: str, element: str, json: str, attributes: str = "") -> str:
    block = f'<script type="application/json" id="{element}"{attributes}>{json}</script>'
    return view.replace("<head>", f"<head>{block}", 1)


def _escaped(json: bytes) -> str:
    return json.decode().replace("<", "\\u003c")


def frame_headers(image_origins: Iterable[str]) -> dict[str, str]:
    images = " ".join(sorted(set(image_origins)))
    return {
        "content-security-policy": FRAME_POLICY.replace(" {images}", images and f" {images}"),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
    }


def drawing(
    tree: Mapping[str, Any], *, theme: str, locale: str, title: str, fonts: str = ""
) -> str:
    json = inline(tree, theme=theme, locale=locale, title=title, fonts=fonts)
    return _with_block(view_html(), INLINE_ID, json)


def inline(
    tree: Mapping[str, Any],
    *,
    theme: str,
    locale: str,
    title: str,
    fonts: str = "",
    palette: bytes = b"",
) -> str:
    """Encode a widget's data for a page without a host, safe inside `<script>`.

    Args:
        tree: The widget root.
        theme: `light` or `dark`.
        locale: The language of numbers and dates.
        title: The document's title.
        fonts: A CSS list of font families. Empty for the view's own.
        palette: The folder's theme as JSON. Empty without one.
    """
    data: dict[str, Any] = {"widget": tree, "theme": theme, "locale": locale, "title": title}
    data["icons"] = find_icons(tree)
    if fonts:
        data["styles"] = {"variables": {"--font-sans": fonts}}
    if palette:
        data["palette"] = Fragment(palette)
    return _escaped(to_json(data))
