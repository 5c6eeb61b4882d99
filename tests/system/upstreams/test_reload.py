"""The upstreams file is followed: changed upstreams are restarted, and a fault stops none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import anyio
import mcp_types
from fastmcp import Context, FastMCP

import widgetd
from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.support.logs import captured_logs
from tests.support.widgets import greeting, widget_file
from tests.system.upstreams.servers import (
    READ_ONLY,
    Flights,
    serve,
    serve_mcp,
    toml,
    until,
    upstreams_of,
    wait_until_settled,
)
from tests.system.upstreams.test_feeds import DRAWN, write_flight


async def test_only_changed_declarations_are_restarted(tmp_path: Path) -> None:
    path = tmp_path / "u.toml"
    async with serve_mcp(Flights().mcp) as one, serve_mcp(Flights().mcp) as two:
        both = toml("a", url=one) + toml("b", url=two)
        async with upstreams_of(path, both) as upstreams:
            await wait_until_settled(upstreams["a"])
            await wait_until_settled(upstreams["b"])
            first, second = upstreams["a"], upstreams["b"]
            done: list[object] = []

            async def call() -> None:
                while True:
                    done.append(await upstreams["b"].call("get_flight", {"flight_no": "UA1"}))

            with anyio.fail_after(90):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(call)
                    for number in range(200):
                        same = f"# save {number}\n" + toml("b", url=two) + toml("a", url=one)
                        broken = f"[a]\nurl = {number}\n", "[a\n", both[: number % 20 + 1] + "\n["
                        saved = (same, *broken, "")[number % 5]
                        where = path if number % 2 else path.with_suffix(".new")
                        where.write_text(saved)
                        where.rename(path)
                        await upstreams.reload()
                        assert (upstreams.fault is None) == (saved is same), saved
                        if upstreams.fault is not None:
                            assert re.match(r"u\.toml(:\d+: | .*at line \d+)", str(upstreams.fault))
                        await anyio.lowlevel.checkpoint()
                    await until(lambda: len(done) > 1)
                    tasks.cancel_scope.cancel()
            path.unlink()
            await upstreams.reload()
            assert upstreams.fault is not None
            assert str(upstreams.fault).startswith("u.toml cannot be read")
            assert upstreams.describe_states()["fault"] == str(upstreams.fault)
            path.write_text(both)
            await upstreams.reload()

            assert upstreams.fault is None
            assert (upstreams["a"], upstreams["b"]) == (first, second)
            path.write_text(toml("a", url=one, call_s=3.0) + toml("b", url=two))
            await upstreams.reload()
            assert upstreams["b"] is second
            assert upstreams["a"] is not first
            answer = await upstreams["a"].call("get_flight", {"flight_no": "UA1"})
            assert b"United" in answer.content


async def test_save_is_applied_and_a_running_call_ends_on_its_connection(tmp_path: Path) -> None:
    path, flights = tmp_path / "u.toml", Flights()
    async with serve_mcp(flights.mcp) as url, upstreams_of(path, toml("a", url=url)) as upstreams:
        await wait_until_settled(upstreams["a"])
        flights.hold, answers = anyio.Event(), []

        async def call() -> None:
            answers.append(await upstreams["a"].call("get_flight", {"flight_no": "UA1"}))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await until(lambda: bool(flights.calls))
            before = upstreams["a"]
            path.write_text(toml("a", url=url, call_s=9.0))
            await until(lambda: upstreams["a"] is not before)
            flights.hold.set()

        assert b"United" in answers[0].content


async def test_unusable_file_is_logged_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "u.toml"
    async with upstreams_of(path, toml("a", url="http://127.0.0.1:9/mcp")) as upstreams:
        path.write_text('[a]\nurl = "http://127.0.0.1:9/mcp"\nheader = 1\n')
        with captured_logs() as logged:
            await upstreams.reload()
            await upstreams.reload()

    refused = [one for one in logged.all if one["event"] == "upstreams.refused"]
    assert [one["problem"] for one in refused] == [
        "u.toml:3: the key 'a.header' is unknown; did you mean 'headers'?"
    ]


async def test_saving_widgets_sends_no_upstream_request(tmp_path: Path) -> None:
    app, requests = Flights().mcp.http_app(), []

    async def counted(scope: Any, receive: Any, send: Any) -> None:
        requests.append(dict(scope.get("headers", ())).get(b"mcp-method"))
        await app(scope, receive, send)

    async with serve(counted) as url:
        (tmp_path / "u.toml").write_text(toml("flights", url=f"{url}/mcp"))
        widgets = write_flight(tmp_path)
        async with (
            serving(widgets, upstreams=tmp_path / "u.toml") as daemon,
            connect_client(daemon, "modern") as client,
        ):
            await client.call("flight", number="UA1")
            before = list(requests)
            for number in range(500):
                saved = widget_file("Plain", text=f"Save {number}")
                (widgets / "Plain.widget").write_text(saved)
                if number % 100 == 0:
                    (widgets / "Flight.widget").touch()
            await client.answers("plain", {"who": "Ada"}, greeting("Save 499", "Ada"))

    assert before.count(b"tools/call") == 1
    assert requests == before


async def test_modern_server_announces_new_tools(tmp_path: Path) -> None:
    folder = tmp_path / "widgets"
    folder.mkdir()
    (folder / "A.widget").write_text(widget_file("A"))
    async with serving(folder) as url:
        config = toml("it", url=url, tools=["a", "b"])
        async with upstreams_of(tmp_path / "u.toml", config) as upstreams:
            assert await wait_until_settled(upstreams["it"]) == "ready"
            assert set(upstreams["it"].tools) == {"a"}
            (folder / "B.widget").write_text(widget_file("B"))
            await until(lambda: set(upstreams["it"].tools) == {"a", "b"})


async def test_legacy_server_announces_new_tools(tmp_path: Path) -> None:
    mcp = FastMCP("grows")

    @mcp.tool(annotations=READ_ONLY)
    async def grow(context: Context) -> str:
        mcp.tool(lambda: "grown", name="grown", annotations=READ_ONLY)
        await context.send_notification(mcp_types.ToolListChangedNotification())
        return "ok"

    async with serve(mcp.http_app(transport="sse")) as url:
        config = toml("it", url=f"{url}/sse")
        async with upstreams_of(tmp_path / "u.toml", config) as upstreams:
            assert await wait_until_settled(upstreams["it"]) == "ready"
            assert upstreams["it"].protocol < "2026"
            await upstreams["it"].call("grow", {})
            await until(lambda: set(upstreams["it"].tools) == {"grow", "grown"})


async def test_registered_server_fills_widgets(tmp_path: Path) -> None:
    from fastmcp import Client

    async with serve_mcp(Flights().mcp) as url:
        (tmp_path / "u.toml").write_text(toml("flights", url=url))
        mine = FastMCP("mine")
        widgetd.register(mine, write_flight(tmp_path), upstreams=tmp_path / "u.toml")
        async with Client(mine) as client:
            result = await client.call_tool_mcp("flight", {"number": "UA123"})

    assert result.structured_content == DRAWN
