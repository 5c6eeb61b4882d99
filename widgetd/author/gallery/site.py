"""The gallery as static files: each page, and each state of each widget.

A file lies where a daemon would answer with it, so pages and scripts are the same. `data-built`
tells scripts about the missing daemon.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import anyio
from starlette.requests import Request
from starlette.responses import Response

from widgetd.author.gallery.gallery import Gallery
from widgetd.author.gallery.pages import PAGES
from widgetd.author.guide.guide import ORDER
from widgetd.base.errors import ConfigError
from widgetd.base.text_search import compile_pattern
from widgetd.core.widget.components import load_vocabulary
from widgetd.core.widget.states import list_states
from widgetd.server.access.principal import Caller
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.progress import Progress
from widgetd.server.web.app import routes
from widgetd.server.web.static_files import static_files

MARK = ".widgetd-site"
"""A file that marks a folder as a site, which may be overwritten."""

_DATA = (
    "/gallery/tile/{tool}",
    "/w/{tool}/problems",
    "/w/{tool}/problems.json",
    "/w/{tool}/studio.widget",
)
_FOLDERS = ("w", "guide", "components", "gallery")
_LINK = compile_pattern(r'(?<= )(href|src|action)="/')
_POLICY = "content-security-policy"
_NOT_IN_A_PAGE = ("frame-ancestors ", "sandbox ")
"""Directives that are valid only in a header, not in `<meta>`."""


def build(gallery: Gallery, folder: Path, base: str, *, quiet: bool = True) -> int:
    """Write the site of `gallery` and return its number of files.

    Args:
        gallery: The gallery.
        folder: Created, or an overwritten site.
        base: The path at which it will be served, such as `/widgets/`.
        quiet: Show no progress.

    Raises:
        ConfigError: The folder holds something else (W0002).
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / MARK).exists():
        advice = "name a new one, or one that this command wrote"
        raise ConfigError("W0002", f"there is something else in {folder}", advice)
    for name in _FOLDERS:
        shutil.rmtree(folder / name, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    # First, so a site written in part may be overwritten.
    (folder / MARK).touch()
    with Progress("build", quiet=quiet) as progress:
        return anyio.run(_write, replace(gallery, built=base), folder, progress)


async def _write(gallery: Gallery, folder: Path, progress: Progress) -> int:
    caller, count = Caller(snapshot=gallery.server.registry.current), 0
    answers = {route.path: route.endpoint for route in routes(PAGES, gallery)}

    def write(place: str, content: bytes) -> None:
        nonlocal count
        file = folder / place.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        count += 1

    addresses = list(_list_addresses(gallery, caller.snapshot))
    progress.total = len(addresses)
    for kind, path, parameters in addresses:
        address = path.format(**parameters)
        scope = {"type": "http", "method": "GET", "path": address, "path_params": parameters}
        empty = {"query_string": b"", "headers": [], "state": {"caller": caller}}
        response: Response = await answers[path](Request({**scope, **empty}))
        if kind == "page":
            write(f"{address}/index.html", _make_static(response, gallery.built or "/"))
        else:
            quoted = {name: quote(value) for name, value in parameters.items()}
            write(path.format(**quoted), bytes(response.body))
        progress.advance()
    for name, content in static_files("widgetd.author.gallery").items():
        write(f"gallery/static/{name}", content)
    return count


def _list_addresses(
    gallery: Gallery, snapshot: Snapshot
) -> Iterator[tuple[Literal["page", "data"], str, Mapping[str, str]]]:
    yield "page", "/", {}
    if not gallery.clean:
        yield "data", "/index.json", {}
        yield from (("page", path, {}) for path in ("/guide", "/components", "/gallery/frame"))
        yield from (("page", "/guide/{name}", {"name": name}) for name in ORDER)
        types = load_vocabulary().components
        yield from (("data", "/gallery/sheet/{type}.json", {"type": type_}) for type_ in types)
    for tool, widget in snapshot.widgets.items():
        yield "page", "/w/{tool}", {"tool": tool}
        yield "page", "/w/{tool}/grid", {"tool": tool}
        yield "page", "/gallery/frame/{tool}", {"tool": tool}
        yield from (
            ("data", path, {"tool": tool}) for path in _DATA[: 1 if gallery.clean else None]
        )
        for state in list_states(widget):
            yield "data", "/w/{tool}/states/{state}.json", {"tool": tool, "state": state.key}


def _make_static(response: Response, base: str) -> bytes:
    html = bytes(response.body).decode()
    directives = "; ".join(
        part
        for part in response.headers[_POLICY].split("; ")
        if not part.startswith(_NOT_IN_A_PAGE)
    )
    policy = f'<meta http-equiv="{_POLICY}" content="{directives}">'
    html = html.replace("<head>", f"<head>{policy}", 1)
    return _LINK.sub(rf'\1="{base}', html).encode()
