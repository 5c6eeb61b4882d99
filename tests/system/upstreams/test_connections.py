"""Each kind of upstream is connected, kept connected, and called."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import anyio
import orjson
import pytest

from stress.processes import find_processes
from tests.system.upstreams.servers import (
    FASTMCP,
    FLIGHT,
    SHOP,
    STDIO,
    Flights,
    answering,
    child,
    json_reply,
    large_document,
    raw,
    serve_mcp,
    toml,
    until,
    upstreams_of,
    wait_until_settled,
)
from widgetd.base.errors import CallError
from widgetd.upstreams import breaker
from widgetd.upstreams.limits import UpstreamLimits


async def test_mcp_server_over_http_returns_its_structure(tmp_path: Path) -> None:
    flights = Flights()
    async with (
        serve_mcp(flights.mcp) as url,
        upstreams_of(tmp_path / "u.toml", toml("flights", url=url)) as upstreams,
    ):
        answer = await upstreams["flights"].call("get_flight", {"flight_no": "UA123"})

        assert orjson.loads(answer.content) == {**FLIGHT, "asked": "UA123"}
        assert upstreams["flights"].state == "ready"
        assert upstreams["flights"].protocol == "2026-07-28"
        assert list(upstreams["flights"].tools) == ["get_flight"]


async def test_child_answers_and_ends_with_the_daemon(tmp_path: Path) -> None:
    marked = FASTMCP + "\n# a mark of this test\n"
    async with upstreams_of(
        tmp_path / "u.toml", toml("local", connect_s=90.0, call_s=90.0, **child(marked))
    ) as upstreams:
        with anyio.fail_after(100):
            answer = await upstreams["local"].call("get_flight", {"flight_no": "UA1"})

        assert orjson.loads(answer.content)["asked"] == "UA1"
        assert find_processes(marked)
    assert not find_processes(marked)


async def test_killed_child_is_restarted_and_none_is_left(tmp_path: Path) -> None:
    marked = STDIO + "\n# another mark of this test\n"
    async with upstreams_of(
        tmp_path / "u.toml",
        toml("local", connect_s=90.0, call_s=90.0, idle_probe_s=0.1, **child(marked)),
    ) as upstreams:
        with anyio.fail_after(200):
            await upstreams["local"].call("get_flight", {"flight_no": "UA1"})
            [first] = find_processes(marked)
            os.kill(first, signal.SIGKILL)
            await until(lambda: find_processes(marked) not in ([], [first]))
            await until(lambda: upstreams["local"].state == "ready")
            answer = await upstreams["local"].call("get_flight", {"flight_no": "UA2"})

        assert orjson.loads(answer.content)["asked"] == "UA2"
        assert first not in find_processes("")
    assert not find_processes(marked)


async def test_document_of_eight_megabytes_is_served(tmp_path: Path) -> None:
    (tmp_path / "large.json").write_text(large_document())
    config = toml("large", openapi="large.json", connect_s=60.0)
    async with upstreams_of(tmp_path / "u.toml", config) as upstreams:
        assert await wait_until_settled(upstreams["large"]) == "ready"
        assert len(upstreams["large"].tools) == 400
        assert upstreams["large"].dropped == {}


async def test_arguments_are_validated_before_a_request_is_sent(tmp_path: Path) -> None:
    (tmp_path / "shop.json").write_bytes(orjson.dumps(SHOP))
    config = toml("shop", openapi="shop.json", base="http://127.0.0.1:9")
    async with upstreams_of(tmp_path / "u.toml", config) as upstreams:
        with pytest.raises(CallError) as raised:
            await upstreams["shop"].call("get_product", {"id": "x"})

    assert raised.value.code == "W5005"
    assert str(raised.value) == (
        "the tool 'get_product' of the upstream 'shop' takes other arguments: "
        'id: expected an integer, got "x"'
    )


async def test_endpoint_without_a_document_answers(tmp_path: Path) -> None:
    async with raw(json_reply([1, 2])) as port:
        config = f'[rates]\nbase = "http://127.0.0.1:{port}"\n'
        config += '[rates.endpoints.latest]\nget = "/latest/{base}"\nquery = ["symbols"]\n'
        async with upstreams_of(tmp_path / "u.toml", config) as upstreams:
            answer = await upstreams["rates"].call("latest", {"base": "EUR", "symbols": "USD"})

            assert orjson.loads(answer.content) == {"result": [1, 2]}


async def test_only_read_only_tools_are_callable_unless_the_file_names_more(tmp_path: Path) -> None:
    flights = Flights()
    async with serve_mcp(flights.mcp) as url:
        config = toml("a", url=url) + toml("b", url=url, tools=["*_flight"])
        async with upstreams_of(tmp_path / "u.toml", config) as upstreams:
            booked = await upstreams["b"].call("book_flight", {"flight_no": "UA1"})
            with pytest.raises(CallError) as raised:
                await upstreams["a"].call("book_flight", {"flight_no": "UA1"})

    assert booked.content == b'{"result":"booked UA1"}'
    assert raised.value.code == "W5004"
    assert str(raised.value) == (
        "the upstream 'a' has no tool 'book_flight' that may be called; it has get_flight"
    )


async def test_undeclared_upstream_is_an_error_with_the_nearest_name(tmp_path: Path) -> None:
    async with upstreams_of(tmp_path / "u.toml", toml("flights", url="http://x.invalid")) as them:
        with pytest.raises(CallError) as raised:
            await them["flight"].call("get", {})

    assert raised.value.code == "W5001"
    assert str(raised.value) == "there is no upstream 'flight'; did you mean 'flights'?"


async def test_failing_tool_reveals_nothing_of_its_error(tmp_path: Path) -> None:
    flights = Flights()
    flights.failing = True
    messages = []
    async with (
        serve_mcp(flights.mcp) as url,
        upstreams_of(tmp_path / "u.toml", toml("flights", url=url)) as upstreams,
    ):
        for _ in range(5):
            with pytest.raises(CallError) as raised:
                await upstreams["flights"].call("get_flight", {"flight_no": "UA1"})
            messages.append((raised.value.code, str(raised.value)))

        assert set(messages) == {
            ("W5010", "the tool of the upstream 'flights' says that it failed")
        }
        assert upstreams["flights"].state == "ready"
        assert len(flights.calls) == 5


async def test_returning_upstream_is_reconnected_without_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(breaker, "LIMITS", UpstreamLimits(pauses_s=(0.1,)))
    flights, path = Flights(), tmp_path / "u.toml"
    async with serve_mcp(flights.mcp) as url:
        port = int(url.split(":")[2].split("/")[0])
    async with upstreams_of(path, toml("flights", url=url, idle_probe_s=0.1)) as upstreams:
        upstream = upstreams["flights"]
        await until(lambda: upstream.reason == "refused")
        for _ in range(3):
            async with serve_mcp(Flights().mcp, port=port):
                await until(lambda: upstream.state == "ready")
            await until(lambda: upstream.state == "failed")


async def test_open_breaker_admits_one_call_per_pause(tmp_path: Path) -> None:
    requests = 0
    refuse = answering(500, b"a body that nobody is told")

    async def counted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        requests += 1
        await refuse(reader, writer)

    now = 1000.0
    (tmp_path / "shop.json").write_bytes(orjson.dumps(SHOP))
    async with raw(counted) as port:
        config = toml("shop", openapi="shop.json", base=f"http://127.0.0.1:{port}")
        path = tmp_path / "u.toml"
        async with upstreams_of(path, config, clock=lambda: now) as upstreams:
            messages = []
            for _ in range(20):
                with pytest.raises(CallError) as raised:
                    await upstreams["shop"].call("get_product", {"id": 1})
                messages.append(str(raised.value))
            shop = upstreams["shop"]

            assert shop.calls == 20
            assert set(messages) == {"the upstream 'shop' is not available (http_500)"}
            assert shop.state == "failing"
            assert shop.retry_in_s() == 1.0
            now += 1.0
            for _ in range(5):
                with pytest.raises(CallError):
                    await upstreams["shop"].call("get_product", {"id": 1})
            assert shop.retry_in_s() == 2.0
    assert requests <= 4
