"""The upstreams file is followed: what changed is begun anew, and a fault stops nothing."""

from __future__ import annotations

from pathlib import Path

import anyio
import structlog

from tests.system.upstreams.servers import Flights, mcp_served, settled, toml, until, upstreams_of


async def test_only_what_is_declared_otherwise_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "u.toml"
    async with mcp_served(Flights().mcp) as one, mcp_served(Flights().mcp) as two:
        both = toml("a", url=one) + toml("b", url=two)
        async with upstreams_of(path, both) as upstreams:
            await settled(upstreams["a"])
            await settled(upstreams["b"])
            first, second = upstreams["a"], upstreams["b"]
            assert upstreams.restarts == 2
            for number in range(200):
                same = f"# save {number}\n" + toml("b", url=two) + toml("a", url=one)
                broken = f"[a]\nurl = {number}\n", "[a\n", both[: number % 20 + 1] + "\n[", ""
                saved = (same, *broken)[number % 4]
                path.write_text(saved)
                upstreams.reload()
            path.unlink()
            upstreams.reload()
            assert upstreams.fault is not None
            assert str(upstreams.fault).startswith("u.toml cannot be read")
            path.write_text(both)
            upstreams.reload()

            assert upstreams.fault is None
            assert upstreams.restarts == 2
            assert upstreams["a"] is first
            path.write_text(toml("a", url=one, call_s=3.0) + toml("b", url=two))
            upstreams.reload()
            assert upstreams.restarts == 3
            assert upstreams["b"] is second
            assert upstreams["a"] is not first
            answer = await upstreams.call("a", "get_flight", {"flight_no": "UA1"})
            assert b"United" in answer.content


async def test_a_save_is_seen_and_a_running_call_ends_on_its_connection(tmp_path: Path) -> None:
    path, flights = tmp_path / "u.toml", Flights()
    async with (
        mcp_served(flights.mcp) as url,
        upstreams_of(path, toml("a", url=url)) as upstreams,
    ):
        await settled(upstreams["a"])
        flights.hold, found = anyio.Event(), []

        async def call() -> None:
            found.append(await upstreams.call("a", "get_flight", {"flight_no": "UA1"}))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await until(lambda: bool(flights.calls))
            before = upstreams["a"]
            path.write_text(toml("a", url=url, call_s=9.0))
            await until(lambda: upstreams["a"] is not before)
            flights.hold.set()

        assert b"United" in found[0].content


async def test_a_file_that_cannot_be_used_says_its_line(tmp_path: Path) -> None:
    path = tmp_path / "u.toml"
    async with upstreams_of(path, toml("a", url="http://127.0.0.1:9/mcp")) as upstreams:
        path.write_text('[a]\nurl = "http://127.0.0.1:9/mcp"\nheader = 1\n')
        with structlog.testing.capture_logs() as told:
            upstreams.reload()
            upstreams.reload()

    refused = [one for one in told if one["event"] == "upstreams.refused"]
    assert [one["problem"] for one in refused] == [
        "u.toml:3: the key 'a.header' is unknown; did you mean 'headers'?"
    ]
