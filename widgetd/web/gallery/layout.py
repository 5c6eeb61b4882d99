"""What every page has around it: the head, the bar, and the policy that it is sent with."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from urllib.parse import urlencode

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from widgetd.web.gallery.markup import Child, Markup, el, fragment

STATIC = "/gallery/static"
THEMES = ("light", "dark")

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "frame-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""A page runs only our own files, talks only to us, and cannot be framed."""

HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


@cache
def static(name: str) -> bytes:
    """A file of the gallery's own.

    Raises:
        FileNotFoundError: There is none of that name.
    """
    return (files("widgetd.web.gallery") / "static" / name).read_bytes()


def address(name: str) -> str:
    """Where a file of the gallery's own is."""
    return f"{STATIC}/{name}"


def remembered(request: Request, content: bytes, kind: str, headers: Mapping[str, str]) -> Response:
    """`content`, or word that the browser has it already; it asks each time, so none is stale."""
    tag = f'"{blake2b(content, digest_size=8).hexdigest()}"'
    said = {**headers, "cache-control": "no-cache", "etag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=said)
    return Response(content, media_type=kind, headers=said)


def page(
    title: str, body: Child, *, script: str, query: QueryParams, status: int = 200
) -> Response:
    """A whole page.

    Args:
        title: Of the document.
        body: What stands below the bar.
        script: The page's own module.
        query: The address's query; it holds the theme.
        status: Of the response.
    """
    html = el(
        "html",
        el("head", *_head(title, script)),
        el(
            "body",
            el("a", "Skip to the content", class_="skip", href="#main"),
            body,
            el("div", id="toasts", role="status", aria_live="polite"),
        ),
        lang="en",
        data_theme=theme_of(query) or None,
    )
    return HTMLResponse("<!doctype html>\n" + html, status_code=status, headers=HEADERS)


def _head(title: str, script: str) -> tuple[Markup, ...]:
    return (
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", title),
        el("link", rel="icon", href=address("icon.svg"), type="image/svg+xml"),
        el("link", rel="stylesheet", href=address("gallery.css")),
        el("script", type="module", src=address(script)),
    )


def bar(*inside: Child, query: QueryParams, mark: str) -> Markup:
    """The bar at the top: where one is, and what one can do there.

    Args:
        inside: What can be done.
        query: The address's query.
        mark: Of the snapshot that the page shows, so that its script knows when it is old.
    """
    return el(
        "header",
        el(
            "a",
            el("span", class_="mark", aria_hidden="true"),
            "widgetd",
            class_="home",
            href=kept("/", query, "theme"),
            aria_label="widgetd, all widgets",
        ),
        *inside,
        el(
            "span",
            el("span", "Connecting"),
            class_="live",
            data_live="wait",
            data_mark=mark,
            role="status",
        ),
        class_="bar",
    )


def choice(label: str, name: str, options: tuple[tuple[str, str], ...], chosen: str) -> Markup:
    """A row of radio buttons of which one is pressed; its script keeps the address in step."""
    return el(
        "fieldset",
        el("legend", label, class_="hidden"),
        *(
            el(
                "label",
                el("input", type="radio", name=name, value=value, checked=value == chosen),
                el("span", shown),
            )
            for value, shown in options
        ),
        class_="choice",
        data_choice=name,
    )


def theme_of(query: QueryParams) -> str:
    """The theme that the address asks for; empty for that of the system."""
    asked = query.get("theme", "")
    return asked if asked in THEMES else ""


def kept(path: str, query: QueryParams, *names: str) -> str:
    """`path` with those parts of the address that go along from page to page."""
    held = {name: query[name] for name in names if query.get(name)}
    return f"{path}?{urlencode(held)}" if held else path


def json_block(json: str) -> Markup:
    """Pretty JSON with its parts marked for colour, and a button that copies it."""
    return el(
        "div",
        copy_button("Copy"),
        el("pre", el("code", _coloured(json)), tabindex="0"),
        class_="block",
    )


def text_block(text: str, *, wrap: bool = False) -> Markup:
    """Text as it stands, with a button that copies it; a single long line is wrapped on demand."""
    inside = (copy_button("Copy"), el("pre", el("code", text), tabindex="0"))
    return el("div", *inside, class_="block wrap" if wrap else "block")


def copy_button(label: str, text: str | None = None) -> Markup:
    """A button that copies `text`, or else the block that it stands in."""
    return el("button", label, type="button", class_="copy", data_copy=text or "")


def _coloured(json: str) -> Markup:
    lines = []
    for line in json.splitlines(keepends=True):
        indent = line[: len(line) - len(line.lstrip(" "))]
        key, colon, rest = line.strip(" ").partition('": ')
        if colon and key.startswith('"'):
            lines += [indent, el("b", key + '"'), ": ", rest]
        else:
            lines.append(line)
    return fragment(lines)
