"""Failures of requests: each answer 500 has an event."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import httpx2
import pytest
from starlette.applications import Starlette

from tests.support.logs import captured_logs
from tests.support.routes import (
    PATH_VALUES,
    TABLES,
    every_page,
    record_routes,
    request_route,
    token,
)
from tests.support.sockets import connect
from widgetd.base.errors import CallError
from widgetd.server.mcp.server import Server
from widgetd.server.web.app import routes
from widgetd.server.web.page import PageRoute, WebPage

NEEDS_NO_SITE = {
    "/livez",
    "/healthz",
    "/gallery/editor/{name}",
    "/gallery/sheet/{type}.json",
    "/gallery/static/{name}",
    "/see/static/{name}",
    "/gallery/vocabulary.json",
    "/chat",
    "/chat/static/{name}",
}
"""Pages that answer whatever else fails."""


class Broken:
    """An object without a readable attribute."""

    def __getattr__(self, name: str) -> NoReturn:
        raise RuntimeError(f"MARKER {name}")


async def answers_of(page: WebPage[Any], site: Any) -> tuple[int, list[dict[str, Any]]]:
    """Request a page without a guard; return the status and the events."""
    app = Starlette(routes=routes([page], site))
    transport = httpx2.ASGITransport(app=app)
    path = page.path.format_map(PATH_VALUES)
    with captured_logs() as log:
        async with httpx2.AsyncClient(transport=transport, base_url="http://a.example") as client:
            answer = await client.request(
                page.methods[-1], path, json={"who": "Ada="}, headers={"origin": "http://a.example"}
            )
    if answer.status_code == 500:
        assert answer.json() == {"error": "this failed here, and is in the log; try again"}
    return answer.status_code, log.all


async def test_page_answers_the_error_of_a_call_with_its_status_and_code() -> None:
    async def view(_site: Any, _request: Any) -> NoReturn:
        raise CallError("W2202", "too many calls at once", retry_after_s=0.5)

    app = Starlette(routes=routes([WebPage(path="/x", view=view, scopes=None)], None))
    transport = httpx2.ASGITransport(app=app)
    with captured_logs() as log:
        async with httpx2.AsyncClient(transport=transport, base_url="http://a.example") as client:
            answer = await client.get("/x")

    body = {"error": "too many calls at once", "code": "W2202", "retryAfterS": 0.5}
    assert (answer.status_code, answer.json()) == (429, body)
    assert answer.headers["retry-after"] == "1"
    assert log.all == []


@pytest.mark.parametrize("page", TABLES, ids=lambda page: page.path)
async def test_failing_page_answers_500_and_is_logged_with_its_route(page: WebPage[Any]) -> None:
    status, events = await answers_of(page, Broken())

    if page.path in NEEDS_NO_SITE:
        assert (status != 500, events) == (True, [])
        return
    [event] = events
    assert status == 500
    assert event["event"] == "request.crashed"
    assert (event["level"], event["route"]) == ("error", page.path)


@pytest.mark.parametrize("page", TABLES, ids=lambda page: page.path)
async def test_unserializable_page_is_logged_with_its_route(page: WebPage[Any]) -> None:
    async def view(_site: None, _request: Any) -> Any:
        return {"facts": Broken(), "faults": Broken(), "widgets": object()}

    status, [event] = await answers_of(replace(page, view=view), None)

    assert status == 500
    assert (event["event"], event["route"]) == ("request.crashed", page.path)


async def test_every_route_with_a_failure_before_its_page_is_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers: list[Server] = []
    served = record_routes(monkeypatch, servers)
    async with every_page(tmp_path, 1) as client:
        [server] = servers
        with monkeypatch.context() as faults, captured_logs() as log:
            for name in ("registry", "views", "services"):
                faults.setattr(server, name, Broken())
            failed = [
                route.path for route in served if (await request_route(client, route, 0))[0] == 500
            ]

    crashed = [event for event in log.all if event["event"] == "request.crashed"]
    tables = {route.page.path for route in served if isinstance(route, PageRoute)}
    assert tables == {page.path for page in TABLES}
    assert len(failed) > 20
    assert Counter(event["route"] for event in crashed if "route" in event) == Counter(failed)


async def test_client_leaving_in_the_middle_of_a_body_causes_no_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    posts = [page for page in TABLES if "POST" in page.methods]
    async with every_page(tmp_path, 1) as client:
        site = str(client.base_url).rstrip("/")
        head = f"host: {site.removeprefix('http://')}\r\norigin: {site}\r\ncontent-length: 100\r\n"
        head += f"authorization: Bearer {token(0)}\r\ncontent-type: application/json\r\n\r\n"
        with captured_logs() as log:
            for page in posts:
                path = page.path.format(
                    tool="greeting", name="greeting", id="a", thread="t", item="i"
                )
                async with await connect(site) as stream:
                    await stream.send(f'POST {path} HTTP/1.1\r\n{head}{{"who": '.encode())
            while log.names().count("request.answered") < len(posts):
                await log.next()

    statuses = {event["route"]: event["status"] for event in log.all if "status" in event}
    assert statuses.keys() == {page.path for page in posts}
    assert [event for event in log.all if event["level"] == "error"] == []
    assert [one for one in caplog.records if one.levelname == "ERROR"] == []
