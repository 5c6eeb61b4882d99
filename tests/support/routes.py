"""Requests to every route that a daemon has."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from widgetd.author.gallery import pages as gallery_pages
from widgetd.chat import pages as chat_pages
from widgetd.server.access.principal import SCOPES
from widgetd.server.mcp.server import Server
from widgetd.server.web import pages, see
from widgetd.server.web.app import app
from widgetd.server.web.page import WebPage

SECURE = Path(__file__).parents[2] / "docs" / "operations" / "secure.md"


def documented_routes(sentence: str) -> set[str]:
    """Return the routes in the paragraph of the page that begins with `sentence`."""
    paragraph = SECURE.read_text(encoding="utf-8").partition(f"\n{sentence}")[2]
    return set(re.findall(r"`(/[^`]*)`", paragraph.partition("\n\n")[0]))


CALL: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {
        "name": "greeting",
        "arguments": {"who": "Ada"},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    },
}
ACTION = {"render_id": "r_none", "action": "a", "payload": {}, "idempotency_key": "k"}
BODIES = {
    "/mcp": CALL,
    "/w/{tool}/action": ACTION,
    "/chatkit": {"type": "threads.list", "params": {}},
}
TABLES: tuple[WebPage[Any], ...] = (
    *pages.PAGES,
    pages.METRICS_PAGE,
    *gallery_pages.PAGES,
    *gallery_pages.EDITING,
    *chat_pages.PAGES,
    *chat_pages.GALLERY_PAGES,
    *see.PAGES,
)
"""All pages of a daemon, besides MCP and the metadata of logins."""

PATH_VALUES = {
    "tool": "greeting",
    "name": "greeting",
    "state": "sample",
    "type": "Text",
    "id": "a",
    "thread": "t",
    "item": "i",
}
"""A value of each variable in the path of a page."""

STREAMS = {"/gallery/live", "/chat/live"}


def record_routes(
    monkeypatch: pytest.MonkeyPatch, servers: list[Server] | None = None
) -> list[Route]:
    """Return a list that will hold the routes of the daemon that a test serves.

    `servers` will hold its server.
    """
    all_routes: list[Route] = []

    def recording_app(server: Server, *arguments: Any, **options: Any) -> Starlette:
        application = app(server, *arguments, **options)
        if servers is not None:
            servers.append(server)
        all_routes.extend(route for route in application.routes if isinstance(route, Route))
        return application

    monkeypatch.setattr("widgetd.daemon.serve.app", recording_app)
    return all_routes


@asynccontextmanager
async def every_page(
    tmp_path: Path, tokens: int, **settings: Any
) -> AsyncIterator[httpx2.AsyncClient]:
    """Serve every page to that many tokens of all scopes; yield a client."""
    folder, file = tmp_path / "widgets", tmp_path / "tokens"
    folder.mkdir()
    (folder / "Greeting.widget").write_text(widget_file())
    scopes = " ".join(sorted(SCOPES))
    file.write_text("".join(f"u{n} {token(n)} {scopes}\n" for n in range(tokens)))
    parts = {
        "gallery": True,
        "chat": True,
        "allow_upload": True,
        "links": "auto",
        "jwt_jwks": "http://127.0.0.1:1/keys",
        "jwt_issuer": "http://issuer.test",
        "jwt_audience": "widgetd",
    }
    with anyio.fail_after(12 * PATIENCE_S):
        async with serving(folder, token_file=file, **parts, **settings) as url:
            site = url.removesuffix("/mcp")
            headers = {"origin": site, "accept": "application/json, text/event-stream"}
            async with httpx2.AsyncClient(
                base_url=site, headers=headers, timeout=6 * PATIENCE_S
            ) as client:
                yield client


def token(number: int) -> str:
    """Return the token of user `number`."""
    return f"token-of-user-number-{number:04}"


async def request_route(
    client: httpx2.AsyncClient, route: Route, number: int, **more: str
) -> tuple[int, str]:
    """Request `route` as user `number`; return the status and the body, empty for a stream."""
    path = route.path.format_map(PATH_VALUES)
    method = "POST" if "POST" in (route.methods or ()) else "GET"
    headers = {"authorization": f"Bearer {token(number)}", **more}
    if route.path == "/mcp":
        headers |= {
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": "greeting",
        }
    body = BODIES.get(route.path, {"who": "Ada"}) if method == "POST" else None
    async with client.stream(method, path, headers=headers, json=body) as answer:
        if route.path in STREAMS:
            return answer.status_code, ""
        return answer.status_code, (await answer.aread()).decode(errors="replace")
