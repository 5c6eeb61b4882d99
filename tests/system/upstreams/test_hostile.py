"""Hostile upstreams are bounded while they are connected, called and offered to the chat."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest

from tests.support.clients import connect_client
from tests.support.forked_daemons import forked_daemon
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from tests.system.upstreams.hostile import HIDDEN, MISBEHAVIORS, Misbehavior, Way, hostile
from tests.system.upstreams.servers import (
    SHOP,
    Flights,
    raw,
    serve_mcp,
    toml,
    until,
    upstreams_of,
    wait_until_settled,
)
from widgetd.base.errors import CallError
from widgetd.chat.backend.tools import UpstreamTools
from widgetd.upstreams.connection import Upstream
from widgetd.upstreams.limits import LIMITS


async def ask_first(_upstream: str, tool: str, _arguments: object) -> dict[str, Any]:
    raise AssertionError(f"{tool} changes nothing")


ROWS = [(name, way) for name, each in MISBEHAVIORS.items() for way in each.ways]


@pytest.mark.parametrize(("name", "way"), ROWS)
async def test_hostile_upstream_stays_within_its_bounds(
    name: str, way: Way, tmp_path: Path
) -> None:
    misbehavior = MISBEHAVIORS[name]
    async with (
        hostile_table("it", name, way) as table,
        upstreams_of(tmp_path / "u.toml", table) as upstreams,
    ):
        upstream = upstreams["it"]
        with anyio.fail_after(PATIENCE_S):
            state = await wait_until_settled(upstream)
        assert (state != "failed") == misbehavior.listed
        if misbehavior.listed:
            await check_list(upstream, misbehavior)
            with anyio.fail_after(PATIENCE_S):
                await check_call(upstream, misbehavior.code_of(way), way)


@asynccontextmanager
async def hostile_table(key: str, name: str, way: Way) -> AsyncIterator[str]:
    """Run a server that misbehaves over HTTP; yield a table that declares it, or a program."""
    is_unanswered = MISBEHAVIORS[name].code_of(way) == "W5003"
    waits = {"connect_s": 50.0, "call_s": 0.5 if is_unanswered else 50.0}
    if way == "program":
        words = ["-m", "tests.system.upstreams.hostile", name]
        yield toml(key, command=sys.executable, args=words, **waits)
        return
    async with raw(hostile(MISBEHAVIORS[name], way)) as port:
        path = "sse" if way == "sse" else "mcp"
        yield toml(key, url=f"http://127.0.0.1:{port}/{path}", **waits)


async def check_list(upstream: Upstream, misbehavior: Misbehavior) -> None:
    assert len(upstream.tools) == misbehavior.calls
    assert upstream.dropped == (misbehavior.dropped or {})
    assert sum(len(one.schema_json) for one in upstream.tools.values()) <= LIMITS.schemas_bytes
    offered = await UpstreamTools(upstream, ask_first).list_tools()
    assert len(offered) == misbehavior.calls
    for one in offered:
        assert re.fullmatch(r"[A-Za-z0-9_./-]{1,128}", one.name)
        assert len(one.description) <= LIMITS.description_chars
        assert one.output_schema is None
        assert not set(HIDDEN) & set(one.description + str(one.input_schema))


async def check_call(upstream: Upstream, code: str, way: Way) -> None:
    if not upstream.tools:
        return
    first = next(iter(upstream.tools))
    for call in (upstream.call, UpstreamTools(upstream, ask_first).call_tool):
        if not code:
            await call(first, {"q": "aaaa"})
            continue
        with pytest.raises(CallError) as raised:
            await call(first, {"q": "aaaa"})
        assert raised.value.code == code
        assert len(str(raised.value)) < 500
        if code == "W5008" and way in {"sse", "program"}:
            # Its one stream was cut, and is opened again.
            await until(lambda: upstream.state == "failed")
            await upstream.ensure_attempt()


async def test_daemon_survives_all_hostile_upstreams_at_once(tmp_path: Path) -> None:
    widgets, tables = tmp_path / "w", []
    widgets.mkdir()
    (widgets / "Greeting.widget").write_text(widget_file())
    async with AsyncExitStack() as stack:
        for number, (name, each) in enumerate(MISBEHAVIORS.items()):
            table = hostile_table(f"u{number}", name, each.ways[number % len(each.ways)])
            tables.append(await stack.enter_async_context(table))
        (tmp_path / "u.toml").write_text("".join(tables))
        flags = ("--upstreams", str(tmp_path / "u.toml"), "--toolset", "upstreams")
        daemon = await stack.enter_async_context(forked_daemon(widgets, *flags))
        client = await stack.enter_async_context(connect_client(daemon.url, "modern"))
        items: list[dict[str, Any]] = []
        with anyio.fail_after(PATIENCE_S):
            while not items or any(one["state"] == "connecting" for one in items):
                listed = await client.client.call_tool("get_upstreams", {})
                items = (listed.structured_content or {})["items"]
        for one in items:
            for tool in one["tools"][:1]:
                call = {"name": one["name"], "tool": tool, "arguments": {"q": "aaaa"}}
                with anyio.fail_after(PATIENCE_S):
                    await client.client.call_tool("call_upstream", call)
        greeted = await client.call("greeting", who="Ada")

        assert not greeted.is_error
        assert daemon.process.returncode is None
        assert most_memory(daemon.process.pid) < 640 * 2**20
        dropped = [one.get("dropped", {}) for one in items]
        assert dropped == [one.dropped or {} for one in MISBEHAVIORS.values()]


def most_memory(pid: int) -> int:
    """Return the largest resident size of a process so far, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) * 1024


async def test_chat_offers_the_tools_that_the_operator_allows(tmp_path: Path) -> None:
    """Those that change something ask first, by a card: see tests/system/chat/test_consent.py."""
    (tmp_path / "shop.json").write_bytes(orjson.dumps(SHOP))
    async with serve_mcp(Flights().mcp) as url:
        config = toml("flights", url=url, tools=["*"])
        config += toml("shop", openapi="shop.json", base="http://127.0.0.1:9", tools=["*"])
        async with upstreams_of(tmp_path / "u.toml", config) as upstreams:
            offered = {}
            for upstream in upstreams.all.values():
                await wait_until_settled(upstream)
                tools = await UpstreamTools(upstream, ask_first).list_tools()
                offered[upstream.name] = {one.name for one in tools}

            assert set(upstreams["flights"].tools) == {"get_flight", "book_flight"}
            assert set(upstreams["shop"].tools) == {"get_product", "make_product"}
            assert offered == {
                "flights": {"get_flight", "book_flight"},
                "shop": {"get_product", "make_product"},
            }


def test_table_has_at_least_twenty_rows() -> None:
    assert len(MISBEHAVIORS) >= 20
