"""One rate limiter covers every route."""

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

from tests.serving import PATIENCE_S, serving, widget_file
from widgetd.access.principal import SCOPES
from widgetd.web.app import app

OPERATIONS = Path(__file__).parents[3] / "docs" / "operations.md"
FREE = set(
    re.findall(
        r"`(/[^`]*)`", OPERATIONS.read_text().partition("These are free:")[2].partition("\n\n")[0]
    )
)
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
STREAMS = {"/gallery/live", "/chat/live"}


@pytest.fixture
def routes(monkeypatch: pytest.MonkeyPatch) -> list[Route]:
    """The routes of the daemon that a test serves."""
    found: list[Route] = []

    def recording_app(*arguments: Any, **options: Any) -> Starlette:
        made = app(*arguments, **options)
        found.extend(route for route in made.routes if isinstance(route, Route))
        return made

    monkeypatch.setattr("widgetd.daemon.serve.app", recording_app)
    return found


@asynccontextmanager
async def limited(
    tmp_path: Path, tokens: int, **settings: Any
) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of a daemon with every page, and that many tokens of all scopes."""
    folder, file = tmp_path / "widgets", tmp_path / "tokens"
    folder.mkdir()
    (folder / "Greeting.widget").write_text(widget_file())
    scopes = " ".join(sorted(SCOPES))
    file.write_text("".join(f"u{n} {token(n)} {scopes}\n" for n in range(tokens)))
    pages = {
        "gallery": True,
        "chat": True,
        "allow_upload": True,
        "jwt_jwks": "http://127.0.0.1:1/keys",
        "jwt_issuer": "http://issuer.test",
        "jwt_audience": "widgetd",
    }
    with anyio.fail_after(6 * PATIENCE_S):
        async with serving(folder, token_file=file, **pages, **settings) as url:
            site = url.removesuffix("/mcp")
            headers = {"origin": site, "accept": "application/json, text/event-stream"}
            async with httpx2.AsyncClient(
                base_url=site, headers=headers, timeout=PATIENCE_S
            ) as client:
                yield client


def token(number: int) -> str:
    return f"token-of-user-number-{number:04}"


async def ask(client: httpx2.AsyncClient, route: Route, number: int) -> tuple[int, str]:
    """The status and the beginning of the body of an answer to `route`."""
    path = route.path.format(
        tool="greeting", name="greeting", state="sample", id="a", thread="t", item="i"
    )
    method = "POST" if "POST" in (route.methods or ()) else "GET"
    headers = {"authorization": f"Bearer {token(number)}"}
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


async def test_second_request_to_every_route_is_limited_or_the_route_is_documented_as_free(
    tmp_path: Path, routes: list[Route]
) -> None:
    free, limited_at_once = set(), set()
    async with limited(tmp_path, 100, rate=0.001, burst=1) as client:
        assert len(routes) < 100
        for number, route in enumerate(routes):
            answers = [await ask(client, route, number) for _ in range(2)]
            limits = [status == 429 or '"W2201"' in text for status, text in answers]
            if limits[0]:
                limited_at_once.add(route.path)
            if not limits[1]:
                free.add(route.path)

    assert free == FREE
    assert limited_at_once == set()


async def test_page_with_many_tiles_costs_as_much_as_any_other(tmp_path: Path) -> None:
    async with limited(tmp_path, 1, rate=0.001, burst=20) as client:
        client.headers["authorization"] = f"Bearer {token(0)}"
        for _ in range(10):
            loads = ["/", "/w/greeting"]
            for each in ("gallery/tile/greeting", "gallery/frame/greeting", "w/greeting/problems"):
                loads += [f"/{each}"] * 5
            for path in loads:
                assert (await client.get(path)).status_code == 200, path

        refused = await client.get("/")

    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0
    assert refused.json()["code"] == "W2201"


async def test_picture_costs_five_calls(tmp_path: Path) -> None:
    async with limited(tmp_path, 1, rate=0.001, burst=11) as client:
        client.headers["authorization"] = f"Bearer {token(0)}"
        picture = "/w/greeting/picture.png?state=none&width=1"
        statuses = [(await client.head(picture)).status_code for _ in range(3)]

        assert statuses[2] == 429
        assert 429 not in statuses[:2]
        assert (await client.get("/")).status_code == 200
