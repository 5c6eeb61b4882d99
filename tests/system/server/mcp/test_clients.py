"""Subscribers are notified of changes that they may see while their token is valid."""

from __future__ import annotations

import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from fastmcp.server.auth.providers.jwt import RSAKeyPair

from tests.support.clients import Era
from tests.support.daemons import serving
from tests.support.forked_daemons import forked_daemon
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from tests.system.daemon.test_access_policy import issuing
from tests.system.server.mcp.listening import TOOLS, hearing
from tests.system.server.mcp.test_access import ADA, CHIEF, KIOSK, serve_guarded

ERAS: list[Era] = ["legacy", "modern"]
OPEN, HIDDEN = "widget://a/template", "widget://secret/template"


@asynccontextmanager
async def standing_stream(url: str, token: str) -> AsyncIterator[httpx2.Response]:
    """Yield the standing stream of a legacy client."""
    headers = {
        "authorization": f"Bearer {token}",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2025-06-18",
    }
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S) as http:
        answer = await http.post(url, json=hello)
        session = {"mcp-session-id": answer.headers["mcp-session-id"]}
        message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await http.post(url, json=message, headers=session)
        async with http.stream("GET", url, headers=session) as lines:
            yield lines


@pytest.mark.parametrize("era", ERAS)
async def test_no_client_is_notified_of_a_hidden_widget(tmp_path: Path, era: Era) -> None:
    async with (
        serve_guarded(tmp_path) as url,
        hearing(url, ADA, era, [OPEN, HIDDEN]) as ada,
        hearing(url, CHIEF, era, [OPEN, HIDDEN]) as chief,
    ):
        widgets = tmp_path / "widgets"
        (widgets / "Secret.widget").write_text(widget_file("Secret", text="Other"))
        await chief.of(HIDDEN)
        (widgets / "Secret.widget").unlink()
        (widgets / "Secret.widget.toml").unlink()
        await chief.of(TOOLS)
        (widgets / "A.widget").write_text(widget_file("A", text="Other"))
        await ada.of(OPEN)
        await ada.of(TOOLS)

    # Another text of A is another program, so another page, which its entry names.
    assert sorted(ada.all) == sorted([OPEN, TOOLS])


@pytest.mark.parametrize("era", ERAS)
async def test_widget_that_becomes_elevated_leaves_the_lists_of_others(
    tmp_path: Path, era: Era
) -> None:
    async with serve_guarded(tmp_path) as url, hearing(url, ADA, era) as ada:
        (tmp_path / "widgets" / "A.widget.toml").write_text('permission = "elevated"\n')
        await ada.of(TOOLS)


async def test_streams_end_with_the_token_that_a_reload_removes(tmp_path: Path) -> None:
    tokens, widgets = tmp_path / "tokens", tmp_path / "widgets"
    widgets.mkdir()
    tokens.write_text(f"ada {ADA}\nada {KIOSK}\n")
    async with (
        forked_daemon(widgets, "--token-file", str(tokens)) as served,
        hearing(served.url, ADA, "modern") as ada,
        hearing(served.url, KIOSK, "modern") as kiosk,
        hearing(served.url, KIOSK, "legacy") as old,
        standing_stream(served.url, ADA) as lines,
    ):
        tokens.write_text(f"ada {KIOSK}\n")
        served.send(signal.SIGHUP)
        await ada.over()
        assert [line async for line in lines.aiter_lines() if line.startswith("data")] == []

        (widgets / "A.widget").write_text(widget_file("A"))
        await kiosk.of(TOOLS)
        await old.of(TOOLS)

    assert ada.all == []


async def test_stream_ends_with_the_expiry_of_its_jwt(tmp_path: Path) -> None:
    pair, issuer = RSAKeyPair.generate(), "https://issuer.example"
    async with (
        issuing(pair) as keys,
        serving(
            tmp_path, jwt_jwks=keys, jwt_issuer=issuer, jwt_audience="widgetd", gallery=False
        ) as url,
    ):
        ends = int(time.time()) + 2
        token = pair.create_token(
            issuer=issuer,
            audience="widgetd",
            kid="1",
            scopes=["widgets:read"],
            additional_claims={"exp": ends},
        )
        async with hearing(url, token, "modern") as notifications:
            await notifications.over()
