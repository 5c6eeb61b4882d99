"""Every answer 500 has an event."""

from __future__ import annotations

from typing import Any

import httpx2
from starlette.applications import Starlette

from tests.support.logs import captured_logs
from widgetd.web.app import routes
from widgetd.web.page import WebPage


async def test_page_that_fails_answers_500_and_is_logged_with_its_route() -> None:
    async def fail(_shown: None, _request: Any) -> None:
        raise RuntimeError("MARKER")

    pages = [WebPage(path="/a/{name}", view=fail, scopes=None)]
    app = Starlette(routes=routes(pages, None))
    transport = httpx2.ASGITransport(app=app)
    with captured_logs() as log:
        async with httpx2.AsyncClient(transport=transport, base_url="http://a.example") as client:
            answer = await client.get("/a/secret")

    assert answer.status_code == 500
    assert answer.json() == {"error": "this failed here, and is in the log; try again"}
    [event] = log.all
    assert event["event"] == "request.crashed"
    assert (event["level"], event["route"], event["error"]) == (
        "error",
        "/a/{name}",
        "RuntimeError",
    )
