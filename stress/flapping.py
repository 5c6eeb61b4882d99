"""Fill widgets many thousand times from upstreams that come and go, and measure the caches."""

from __future__ import annotations

import asyncio
import selectors
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import anyio

from stress.processes import Usage, own_usage
from stress.table import Row, info_row, limit_row, zero_row
from tests.field.deploy.balancing import free_port
from tests.support.widgets import build_widget, snapshot_of
from tests.system.upstreams.servers import (
    Flights,
    json_reply,
    raw,
    serve_mcp,
    toml,
    until,
    upstreams_of,
)
from tests.system.upstreams.test_feeds import FEED, SCHEMA, TEMPLATE
from widgetd.server.access.principal import Caller
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp.assembly import build
from widgetd.server.store.contract import Bounds, StoredRender
from widgetd.server.store.factory import local_store
from widgetd.upstreams.feeds import UpstreamFeeds
from widgetd.upstreams.limits import LIMITS

PACE = 20.0
"""So much faster runs the clock of whoever waits for what flaps."""

_WARM_UP = 100
_OVER_MB = 20.0
_GROWTH_MB = 5.0


async def fill_repeatedly(folder: Path, *, fills: int) -> tuple[int, int]:
    """Fill widgets repeatedly, each time with another answer of 6 KB."""
    answer = {"carrier": {"name": "United" * 1_000}, "segments": []}
    widget, store = (
        build_widget("Flight", sidecar=FEED, schema=SCHEMA, template=TEMPLATE),
        local_store(),
    )
    feed, numbers = widget.feed, count()
    assert feed is not None
    endpoint = '[flights.endpoints.get_flight]\nget = "/flights/{flight_no}"\n'
    async with raw(json_reply(answer)) as port:
        config = toml("flights", base=f"http://127.0.0.1:{port}") + endpoint
        async with upstreams_of(folder / "upstreams.toml", config) as upstreams:
            feeds = UpstreamFeeds(upstreams, store.answers)

            async def fill(times: int) -> int:
                for _ in range(times):
                    await feeds.fill(
                        widget, feed, {"number": f"UA{next(numbers)}"}, strict=False, owner=""
                    )
                return own_usage().rss_bytes

            grown = -await fill(_WARM_UP) + await fill(fills)
            return feeds.held.size_bytes, grown


async def measure_filling(folder: Path, *, fills: int) -> list[Row]:
    """Measure the memory after many fills."""
    cached_bytes, grown = await fill_repeatedly(folder, fills=fills)
    most_mb = (LIMITS.held_bytes + Bounds().fed_bytes) / 1e6 + _OVER_MB
    return [
        limit_row(
            f"{fills:,} answers: held ready", cached_bytes / 1e6, LIMITS.held_bytes / 1e6, "MB"
        ),
        limit_row("  memory grown, with those of the store", grown / 1e6, most_mb, "MB"),
    ]


@dataclass(slots=True, kw_only=True)
class FlapResult:
    """The resources of a process in the pauses between two tries to connect.

    Attributes:
        cycles: How often the upstream was there, and was gone.
        tasks: How many tasks, for each look.
        held: What else.
    """

    cycles: int = 0
    tasks: list[int] = field(default_factory=list)
    held: list[Usage] = field(default_factory=list)


def flap(folder: Path, *, hours: float, warm_up: int = 3) -> FlapResult:
    """Start and stop an upstream repeatedly, by a clock of its own that runs faster.

    Args:
        folder: An empty folder.
        hours: How long, by that clock.
        warm_up: After so many times comes the first look; the last comes in the end.
    """
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(_flapped(folder, hours * 3600, warm_up))


async def _flapped(folder: Path, seconds: float, warm_up: int) -> FlapResult:
    clock, random, result, port = (
        asyncio.get_running_loop().time,
        Random(0),
        FlapResult(),
        free_port(),
    )
    patient: dict[str, Any] = {"connect_s": 5 * PACE, "idle_probe_s": 20.0}
    config = toml("flights", url=f"http://127.0.0.1:{port}/mcp", **patient)
    async with upstreams_of(folder / "upstreams.toml", config, clock=clock) as upstreams:
        upstream, ends_s = upstreams["flights"], clock() + seconds
        while result.cycles <= warm_up or clock() < ends_s:
            async with serve_mcp(Flights().mcp, port=port, patience_s=30 * PACE):
                await until(lambda: upstream.state == "ready", seconds=30 * PACE)
                await anyio.sleep(random.uniform(0, 30))
            await until(lambda: upstream.retry_in_s() > 0, seconds=30 * PACE)
            result.cycles += 1
            if result.cycles == warm_up:
                _note_usage(result)
            await anyio.sleep(random.uniform(0, 30))
        # What has just ended may need a turn of the loop to be gone.
        with anyio.move_on_after(30 * PACE):
            while upstream.retry_in_s() <= 0 or len(asyncio.all_tasks()) > result.tasks[0]:  # noqa: ASYNC110
                await anyio.sleep(0.1)
        _note_usage(result)
    return result


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        super().__init__(_Selector())

    def time(self) -> float:
        return super().time() * PACE


class _Selector(selectors.DefaultSelector):
    def select(self, timeout: float | None = None) -> Any:
        return super().select(timeout and timeout / PACE)


def _note_usage(result: FlapResult) -> None:
    result.tasks.append(len(asyncio.all_tasks()))
    result.held.append(own_usage())


def measure_flapping(folder: Path, *, hours: float) -> list[Row]:
    """Measure the resources beside an upstream that comes and goes."""
    result = flap(folder, hours=hours)
    before, after = result.held[0], result.held[-1]
    return [
        info_row(
            f"an upstream that flaps for {hours * 60:.0f} minutes", f"{result.cycles:,} times"
        ),
        zero_row("  tasks more than at first", result.tasks[-1] - result.tasks[0]),
        zero_row("  descriptors", after.descriptors - before.descriptors),
        zero_row("  threads", after.threads - before.threads),
        info_row(
            "  memory grown, with the servers that came and went",
            f"{(after.rss_bytes - before.rss_bytes) / 1e6:.1f} MB",
        ),
    ]


async def update_repeatedly(*, updates: int) -> tuple[int, int, int]:
    """Replace a render repeatedly while a client follows it.

    Returns:
        The last version written, the last one read, and the growth of memory in bytes.
    """
    now, document = 1_000_000.0, build_widget()
    store = local_store(clock=lambda: now)
    registry = Registry(snapshot_of(document))
    rendering, caller = build(registry, store).rendering, Caller(snapshot=registry.current)
    first = await rendering.render(document, {"who": "Ada"}, "", owner=caller.principal.name)
    last, version = first, first.version
    async with anyio.create_task_group() as tasks:

        async def follow() -> None:
            nonlocal version
            while True:
                newer = await store.renders.wait_for_newer(first.id, after=version, timeout_s=60)
                version = newer.version if isinstance(newer, StoredRender) else version

        tasks.start_soon(follow)

        async def update(times: int) -> int:
            nonlocal now, last
            for _ in range(times):
                now += 0.06
                last = await rendering.update(first.id, {"who": f"Ada {last.version}"}, caller)
                await anyio.lowlevel.checkpoint()
            await anyio.wait_all_tasks_blocked()
            return own_usage().rss_bytes

        grown = -await update(_WARM_UP) + await update(updates)
        tasks.cancel_scope.cancel()
    render = await store.renders.get(first.id)
    assert render is not None
    assert render.tree == last.tree
    return last.version, version, grown


async def measure_updates(*, updates: int) -> list[Row]:
    """Measure one render that is replaced many times."""
    last, version, grown = await update_repeatedly(updates=updates)
    return [
        zero_row(f"{updates:,} updates of a render: versions not followed", last - version),
        limit_row("  memory grown", max(grown, 0) / 1e6, _GROWTH_MB, "MB"),
    ]
