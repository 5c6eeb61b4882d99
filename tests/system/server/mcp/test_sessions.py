"""Older clients' sessions: each principal's, and all of them, have a bound."""

from __future__ import annotations

import gc
import os
import signal
import time
import tracemalloc
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from widgetd.server.access.principal import Principal
from widgetd.server.mcp.clients import Clients
from widgetd.server.mcp.sessions import SessionBounds, Sessions
from widgetd.server.store.contract import Bounds
from widgetd.server.store.rate_limits import LocalRateLimits

ADA, EVE = "ada-ada-ada-ada-ada", "eve-eve-eve-eve-eve"
TOKENS = f"ada {ADA}\neve {EVE}\n"
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "older", "version": "1"},
}


class Wire:
    """Sessions by their ids, over one HTTP client."""

    def __init__(self, url: str, http: httpx2.AsyncClient) -> None:
        self._url = url
        self._http = http

    def headers(self, token: str, session: str = "") -> dict[str, str]:
        fields = {"accept": "application/json, text/event-stream"}
        if token:
            fields["authorization"] = f"Bearer {token}"
        if session:
            fields |= {"mcp-session-id": session, "mcp-protocol-version": "2025-11-25"}
        return fields

    async def hello(self, token: str = "") -> httpx2.Response:
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
        return await self._http.post(self._url, json=message, headers=self.headers(token))

    async def opened(self, token: str = "") -> str:
        answer = await self.hello(token)
        assert answer.status_code == 200
        return str(answer.headers["mcp-session-id"])

    async def ping(self, session: str, token: str = "") -> int:
        message = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        headers = self.headers(token, session)
        return (await self._http.post(self._url, json=message, headers=headers)).status_code

    @asynccontextmanager
    async def standing(self, session: str, token: str = "") -> AsyncIterator[httpx2.Response]:
        """Its standing stream, open."""
        headers = self.headers(token, session)
        async with self._http.stream("GET", self._url, headers=headers) as stream:
            assert stream.status_code == 200
            yield stream


@asynccontextmanager
async def serve_wire(folder: Path, tokens: str = "", **settings: Any) -> AsyncIterator[Wire]:
    if tokens:
        settings["token_file"] = folder / "tokens"
        settings["token_file"].write_text(tokens)
    async with serving(folder, **settings) as url, httpx2.AsyncClient(timeout=PATIENCE_S) as http:
        yield Wire(url, http)


async def test_least_recently_used_session_is_evicted(tmp_path: Path) -> None:
    async with serve_wire(tmp_path, sessions=3) as wire:
        first, second, third = [await wire.opened() for _ in range(3)]
        await wire.ping(first)
        fourth = await wire.opened()
        alive = [await wire.ping(one) for one in (first, second, third, fourth)]

    assert alive == [200, 404, 200, 200]


async def test_session_with_a_standing_stream_is_not_idle(tmp_path: Path) -> None:
    async with serve_wire(tmp_path, sessions=2) as wire:
        listening, idle = await wire.opened(), await wire.opened()
        async with wire.standing(listening):
            newer = await wire.opened()
            alive = [await wire.ping(one) for one in (listening, idle, newer)]

    assert alive == [200, 404, 200]


async def test_newcomer_gets_a_retry_time_if_all_sessions_are_in_use(tmp_path: Path) -> None:
    async with serve_wire(tmp_path, sessions=1) as wire:
        session = await wire.opened()
        async with wire.standing(session):
            refused = await wire.hello()
        freed = await wire.hello()
        while freed.status_code == 503:  # the server sees the end of the stream late
            freed = await wire.hello()

    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert refused.json()["error"]["message"] == (
        "[W2204] as many sessions as may be are in use; end one, or try again later"
    )
    assert freed.status_code == 200


async def test_client_with_many_sessions_displaces_only_its_own(tmp_path: Path) -> None:
    async with serve_wire(tmp_path, TOKENS, sessions=100, sessions_each=3) as wire:
        mine = await wire.opened(ADA)
        last = [await wire.opened(EVE) for _ in range(20)][-1]

        assert await wire.ping(mine, ADA) == 200
        assert await wire.ping(last, EVE) == 200


async def test_sessions_opened_at_once_stay_within_the_limit(tmp_path: Path) -> None:
    async with serve_wire(tmp_path, sessions=5) as wire:
        ids: list[str] = []

        async def open_one() -> None:
            answer = await wire.hello()
            ids.extend(filter(None, [answer.headers.get("mcp-session-id")]))

        for _ in range(4):
            async with anyio.create_task_group() as tasks:
                for _ in range(10):
                    tasks.start_soon(open_one)
        alive = [await wire.ping(one) for one in ids]

    assert len(ids) >= 5
    assert 0 < alive.count(200) <= 5


async def test_shaking_hands_is_paid_for_like_a_call(tmp_path: Path) -> None:
    async with serve_wire(tmp_path, TOKENS, rate=0.001, burst=2) as wire:
        answers = [await wire.hello(ADA) for _ in range(3)]
        other = await wire.hello(EVE)

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[2].headers["retry-after"]) >= 1
    assert answers[2].json()["error"]["message"].startswith("[W2201] too many calls; try again in")
    assert "mcp-session-id" not in answers[2].headers
    assert other.status_code == 200


async def test_stream_of_a_session_with_only_a_handshake_ends_with_its_token(
    tmp_path: Path,
) -> None:
    async with serve_wire(tmp_path, TOKENS) as wire:
        session = await wire.opened(EVE)
        async with wire.standing(session, EVE) as stream:
            (tmp_path / "tokens").write_text(f"ada {ADA}\n")
            os.kill(os.getpid(), signal.SIGHUP)
            with anyio.fail_after(PATIENCE_S):
                async for _ in stream.aiter_bytes():
                    pass


async def test_session_holds_less_than_43_kb(tmp_path: Path) -> None:
    async with serve_wire(tmp_path, sessions=1000) as wire:
        for _ in range(20):
            await wire.opened()
        gc.collect()
        tracemalloc.start()
        try:
            for _ in range(100):
                await wire.opened()
            gc.collect()
            size_bytes, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert size_bytes / 100 < 43_000


class Endpoint:
    """An SDK's endpoint with one session, whose stream lasts until it is ended."""

    def __init__(self) -> None:
        self.session_manager = self
        self._server_instances: Mapping[str, Any] = {"s": self}
        self.ended = anyio.Event()

    def close_standalone_sse_stream(self) -> None:
        self.ended.set()

    async def __call__(self, scope: Any, _receive: Any, send: Any) -> None:
        if scope["method"] == "GET":
            await self.ended.wait()
            return
        headers = [(b"mcp-session-id", b"s")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})


@pytest.mark.parametrize("left_s", [-1.0, 0.05])
async def test_standing_stream_ends_with_the_time_of_its_token(left_s: float) -> None:
    endpoint = Endpoint()
    guest = Principal(name="guest", until=time.time() + left_s)
    limits = LocalRateLimits(bounds=Bounds(), timer=time.monotonic)
    sessions = Sessions(
        endpoint, bounds=SessionBounds(), limits=limits, anonymous=guest, clients=Clients()
    )

    async def send(_message: Any) -> None:
        pass

    headers = [(b"mcp-session-id", b"s")]
    with anyio.fail_after(PATIENCE_S):
        await sessions({"type": "http", "method": "POST", "headers": []}, None, send)  # type: ignore[arg-type]  # nothing is received
        await sessions({"type": "http", "method": "GET", "headers": headers}, None, send)  # type: ignore[arg-type]  # as above

    assert endpoint.ended.is_set()
