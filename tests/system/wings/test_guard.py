"""Pages are served only to callers whose token has their scope and is valid."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2

from tests.support.daemons import serving
from tests.support.forked_daemons import forked_daemon
from tests.support.routes import PATH_VALUES
from tests.support.widgets import widget_file
from tests.system.server.web.asking import ask
from widgetd.author.gallery import pages as gallery
from widgetd.server.web import pages

PATIENCE_S = 30
ADA, BOB = "ada-ada-ada-ada-ada", "bob-bob-bob-bob-bob"


@asynccontextmanager
async def following(url: str, token: str) -> AsyncIterator[AsyncIterator[str]]:
    """Yield the lines of a browser's event stream, from the first event on."""
    headers = {"authorization": f"Bearer {token}"}
    address = url.removesuffix("/mcp") + "/gallery/live"
    with anyio.fail_after(PATIENCE_S):
        async with (
            httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S) as http,
            http.stream("GET", address) as answer,
        ):
            lines = answer.aiter_lines()
            assert await anext(lines) == "event: hello"
            yield lines


async def test_every_page_but_the_probes_asks_for_a_token(tmp_path: Path) -> None:
    tokens, widgets = tmp_path / "tokens", tmp_path / "widgets"
    widgets.mkdir()
    (widgets / "A.widget").write_text(widget_file("A"))
    tokens.write_text(f"ada {ADA} gallery\n")
    tables = (*pages.PAGES, pages.METRICS_PAGE, *gallery.PAGES, *gallery.EDITING)
    daemon = serving(widgets, gallery=True, allow_upload=True, token_file=tokens)
    async with daemon as url:
        statuses = {
            page.path: (
                await ask(url, page.path.format_map(PATH_VALUES), method=page.methods[0])
            ).status_code
            for page in tables
        }

    assert {path for path, status in statuses.items() if status != 401} == {
        "/livez",
        "/readyz",
        "/healthz",
    }


async def test_stream_ends_with_the_token_that_a_reload_removes(tmp_path: Path) -> None:
    tokens, widgets = tmp_path / "tokens", tmp_path / "widgets"
    widgets.mkdir()
    tokens.write_text(f"ada {ADA} gallery\nbob {BOB} gallery\n")
    flags = ("--token-file", str(tokens), "--gallery")
    async with (
        forked_daemon(widgets, *flags) as served,
        following(served.url, ADA) as ada,
        following(served.url, BOB) as bob,
    ):
        tokens.write_text(f"bob {BOB} gallery\n")
        served.send(signal.SIGHUP)
        rest = [line async for line in ada]

        (widgets / "A.widget").write_text(widget_file("A"))
        while await anext(bob) != "event: swap":
            pass

    assert not any(line.startswith("event:") for line in rest)
