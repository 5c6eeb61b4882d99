"""Actions and live feeds against a real upstream, which counts its calls."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from mcp import Client
from mcp.client.extension import advertise

from tests.support.booking import mark
from tests.support.booking import press as push
from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from tests.system.server.store.receiver import receiving
from tests.system.server.web.asking import ask
from tests.system.upstreams.servers import raw, read_request, serve_mcp, toml
from widgetd.server.access.principal import UI_EXTENSION

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "gate": {"type": "string"},
        "status": {"type": "string"},
        "booked": {"type": "string"},
    },
    "required": ["gate", "status"],
}
TEMPLATE = """{"type":"Card","children":[
 {"type":"Text","value":{{ (gate ~ " " ~ status ~ " " ~ (booked or "none")) | tojson }}},
 {"type":"Button","label":"Book","onClickAction":{"type":"seat.book","payload":{"seat":"12A"}}}]}"""
FEED = """
[feed]
upstream = "airport"
tool = "get_board"
ask = ["gate"]
every_s = 1
tell = ["status"]
[feed.map]
status = "status"
"""
ACTION = """
[actions."seat.book"]
upstream = "airport"
tool = "book_seat"
[actions."seat.book".arguments]
seat = "payload.seat"
gate = "gate"
[actions."seat.book".result]
booked = "code"
"""


class Airport:
    """A FastMCP server with a board and seats, which counts.

    Attributes:
        status: What the board says.
        asked: How often it was asked for.
        keys: How often each press arrived.
        fails: Whether booking fails.
    """

    def __init__(self) -> None:
        self.mcp = FastMCP("airport")
        self.status = "on time"
        self.asked = 0
        self.keys: Counter[str] = Counter()
        self.principals: set[str] = set()
        self.fails = False

        @self.mcp.tool(annotations={"readOnlyHint": True})
        def get_board(gate: str) -> dict[str, Any]:
            self.asked += 1
            return {"gate": gate, "status": self.status}

        @self.mcp.tool(title="Book seat")
        def book_seat(seat: str, gate: str, context: Context) -> dict[str, Any]:
            assert context.request_context is not None
            meta: Any = context.request_context.meta or {}
            self.keys[meta["widgetd/idempotencyKey"]] += 1
            self.principals.add(meta["widgetd/principal"])
            if self.fails:
                raise ToolError("no seat")
            return {"code": f"{gate}-{seat}"}


def write_board(folder: Path, sidecar: str) -> Path:
    widgets = folder / "widgets"
    widgets.mkdir()
    (widgets / "Board.widget").write_text(widget_file("Board", schema=SCHEMA, template=TEMPLATE))
    (widgets / "Board.widget.toml").write_text(sidecar)
    return widgets


def hosting(url: str) -> Client:
    apps = [advertise(UI_EXTENSION, {"mimeTypes": ["text/html;profile=mcp-app"]})]
    return Client(url, extensions=apps)


async def test_press_reaches_an_mcp_server_once_with_its_key(tmp_path: Path) -> None:
    airport, widgets = Airport(), write_board(tmp_path, ACTION)
    async with serve_mcp(airport.mcp) as upstream:
        declared = tmp_path / "u.toml"
        declared.write_text(toml("airport", url=upstream, actions=["book_seat"]))
        async with serving(widgets, upstreams=declared) as url, hosting(url) as client:
            result = await client.call_tool("board", {"gate": "B4", "status": "boarding"})
            render = mark(result)
            same = {"action": "seat.book", "payload": {"seat": "12A"}, "idempotency_key": "k1"}
            answer = await push(client, render, **same)
            assert answer.structured_content is not None
            token = answer.structured_content["token"]
            done = [await push(client, render, **same, token=token) for _ in range(2)]

    assert answer.structured_content["text"] == "Book seat?\ngate: B4\nseat: 12A"
    assert [one.structured_content and one.structured_content["status"] for one in done] == [
        *("done", "done")
    ]
    assert done[0].meta is not None
    assert "B4-12A" in json.dumps(done[0].meta["widgetd/widget"])
    assert list(airport.keys.values()) == [1]
    assert airport.principals == {""}


async def test_press_is_audited_counted_and_sent_to_the_webhook_without_secrets(
    tmp_path: Path,
) -> None:
    airport, widgets = Airport(), write_board(tmp_path, ACTION)
    audit = tmp_path / "audit.jsonl"
    async with serve_mcp(airport.mcp) as upstream, receiving() as receiver:
        declared = tmp_path / "u.toml"
        declared.write_text(
            toml("airport", url=upstream) + "[airport.actions.book_seat]\nconfirm = false\n"
        )
        hook = {"webhook": receiver.url, "webhook_secret": "s" * 24, "webhook_private": True}
        async with (
            serving(widgets, upstreams=declared, audit=audit, **hook) as url,
            hosting(url) as client,
        ):
            render = mark(await client.call_tool("board", {"gate": "B4", "status": "boarding"}))
            await push(client, render, payload={"seat": "12A"})
            await receiver.wait_for_requests(1)
            metrics = (await ask(url, "/metrics")).text

    [line] = [
        one for one in map(json.loads, audit.read_text().splitlines()) if one["event"] == "action"
    ]
    assert {name: line[name] for name in ("widget", "action", "upstream", "tool", "outcome")} == {
        "widget": "board",
        "action": "seat.book",
        "upstream": "airport",
        "tool": "book_seat",
        "outcome": "done",
    }
    assert "12A" not in audit.read_text()
    assert "B4" not in audit.read_text()
    assert 'widgetd_action_calls_total{outcome="done",upstream="airport"} 1.0' in metrics
    data = receiver.requests[0].message["data"]
    assert (data["action"], data["outcome"], data["payload"]) == (
        "seat.book",
        "done",
        {"seat": "12A"},
    )


async def test_gallery_rehearses_a_press_and_says_so(tmp_path: Path) -> None:
    airport, widgets = Airport(), write_board(tmp_path, ACTION)
    async with serve_mcp(airport.mcp) as upstream:
        declared = tmp_path / "u.toml"
        declared.write_text(toml("airport", url=upstream, actions=["book_seat"]))
        async with (
            serving(widgets, upstreams=declared, gallery=True) as url,
            httpx2.AsyncClient(base_url=url.removesuffix("/mcp"), timeout=PATIENCE_S) as browser,
        ):
            arguments = {"gate": "B4", "status": "boarding"}
            rendered = (await browser.post("/render/board", json=arguments)).json()
            press = {
                "render_id": rendered["renderId"],
                "action": "seat.book",
                "payload": {"seat": "12A"},
            }
            answers = [
                (
                    await browser.post(
                        "/w/board/action",
                        json={**press, **token},
                        headers={"origin": url.removesuffix("/mcp")},
                    )
                ).json()
                for token in ({}, {"token": "dry"})
            ]

    confirm, done = (one["structuredContent"] for one in answers)
    assert confirm["status"] == "confirm"
    assert done["status"] == "done"
    assert done["note"] == "Dry run: airport.book_seat was not called."
    assert not airport.keys


async def test_tool_reserved_for_actions_is_called_for_nothing_else(tmp_path: Path) -> None:
    feed = FEED.replace("get_board", "book_seat").replace("every_s = 1\n", "")
    airport, widgets = Airport(), write_board(tmp_path, feed)
    async with serve_mcp(airport.mcp) as upstream:
        declared = tmp_path / "u.toml"
        declared.write_text(toml("airport", url=upstream, actions=["book_seat"]))
        async with serving(widgets, upstreams=declared) as url, hosting(url) as client:
            filled = await client.call_tool("board", {"gate": "B4"})

    assert filled.meta is not None
    assert filled.meta["widgetd/error"]["code"] == "W5004"
    assert not airport.keys


@pytest.mark.parametrize(
    ("status", "state"), [(200, "done"), (409, "failed"), (500, "unsure"), (0, "unsure")]
)
async def test_service_gets_the_key_as_header_and_its_status_decides(
    tmp_path: Path, status: int, state: str
) -> None:
    heads: list[bytes] = []

    async def reply(reader: Any, writer: Any) -> None:
        while request := await read_request(reader):
            heads.append(request)
            if not status:
                return  # taken, and not answered
            body = b'{"code":"12A"}'
            head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n"
            writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
            await writer.drain()

    document = {
        "openapi": "3.1.0",
        "info": {"title": "airport", "version": "1"},
        "paths": {
            "/seats": {
                "post": {
                    "operationId": "book_seat",
                    "requestBody": {
                        "content": {
                            "application/json": {
                                "schema": {
                                    "type": "object",
                                    "properties": {
                                        "seat": {"type": "string"},
                                        "gate": {"type": "string"},
                                    },
                                }
                            }
                        }
                    },
                    "responses": {"200": {"description": "Booked."}},
                }
            }
        },
    }
    (tmp_path / "airport.json").write_text(json.dumps(document))
    widgets = write_board(tmp_path, ACTION)
    async with raw(reply) as port:
        declared = tmp_path / "u.toml"
        upstreams = toml("airport", openapi="airport.json", base=f"http://127.0.0.1:{port}")
        declared.write_text(f"{upstreams}[airport.actions.book_seat]\nconfirm = false\n")
        async with serving(widgets, upstreams=declared) as url, hosting(url) as client:
            render = mark(await client.call_tool("board", {"gate": "B4", "status": "boarding"}))
            pressed = await push(client, render, payload={"seat": "12A"})
            again = await push(client, render, payload={"seat": "12A"}, version=1)

    for one in (pressed, again):
        assert one.structured_content is not None
        assert one.structured_content["status"] == state, one.content
    assert len(heads) == 1
    assert b"idempotency-key: " in heads[0].lower()


async def test_refused_connection_did_nothing(tmp_path: Path) -> None:
    async with serve_mcp(Airport().mcp) as service:
        port = httpx2.URL(service).port
    airport, widgets = Airport(), write_board(tmp_path, ACTION)
    declared = tmp_path / "u.toml"
    declared.write_text(
        toml("airport", url=f"http://127.0.0.1:{port}/mcp")
        + "[airport.actions.book_seat]\nconfirm = false\n"
    )
    async with serving(widgets, upstreams=declared) as url, hosting(url) as client:
        render = mark(await client.call_tool("board", {"gate": "B4", "status": "boarding"}))
        pressed = await push(client, render, payload={"seat": "12A"})

    assert pressed.structured_content is not None
    assert pressed.structured_content["status"] == "failed"
    assert pressed.structured_content["note"].startswith("Nothing was done: airport")
    assert not airport.keys


async def test_followed_board_changes_by_itself(tmp_path: Path) -> None:
    airport, widgets = Airport(), write_board(tmp_path, FEED + ACTION)
    async with serve_mcp(airport.mcp) as upstream:
        declared = tmp_path / "u.toml"
        declared.write_text(
            toml("airport", url=upstream) + "[airport.actions.book_seat]\nconfirm = false\n"
        )
        async with serving(widgets, upstreams=declared) as url, hosting(url) as client:
            first = await client.call_tool("board", {"gate": "B4"})
            render = mark(first)
            airport.status = "delayed"
            followed: list[Any] = []

            async def follow() -> None:
                query = {"render_id": render["id"], "after": 1, "timeout_s": PATIENCE_S}
                followed.append(await client.call_tool("follow_render", query))

            asked_before = airport.asked
            with anyio.fail_after(PATIENCE_S):
                async with anyio.create_task_group() as tasks:
                    for _ in range(10):
                        tasks.start_soon(follow)
            asked_for_ten = airport.asked - asked_before
            booked = await push(client, render, payload={"seat": "12A"})
            airport.status = "departed"
            query = {"render_id": render["id"], "after": 3, "timeout_s": PATIENCE_S}
            last = await client.call_tool("follow_render", query)

    assert render["follow"]
    assert [mark(one)["version"] for one in followed] == [2] * 10
    assert mark(followed[0])["tell"] == 'Board changed: status: "delayed"'
    assert "B4 delayed none" in json.dumps(followed[0].meta)
    assert asked_for_ten <= 3
    assert mark(booked)["version"] == 3
    assert "B4 departed B4-12A" in json.dumps(last.meta), "what was booked stays"
