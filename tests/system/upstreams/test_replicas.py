"""Replicas that share a store call an upstream once for all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from tests.support.booking import Airline, airport, code_of, host, press, shown
from tests.support.logs import captured_logs
from tests.support.widgets import build_widget
from tests.system.server.store.replicas import Replicas, replicas
from tests.system.server.store.server import Server, running_server
from tests.system.upstreams.boards import Airport, board, boards, drawn_text
from tests.system.upstreams.servers import Flights, serve_mcp, toml, until, upstreams_of
from tests.system.upstreams.test_feeds import FEED, SCHEMA, TEMPLATE
from widgetd.core.widget.widget import Widget
from widgetd.server.store.factory import open_store
from widgetd.upstreams.feeds import UpstreamFeeds
from widgetd.upstreams.upstreams import Upstreams


@asynccontextmanager
async def two(flights: Flights, folder: Path) -> AsyncIterator[tuple[Upstreams, Upstreams]]:
    async with serve_mcp(flights.mcp) as url:
        upstreams = toml("flights", url=url)
        async with (
            upstreams_of(folder / "a.toml", upstreams) as one,
            upstreams_of(folder / "b.toml", upstreams) as other,
        ):
            yield one, other


def flight() -> Widget:
    return build_widget("Flight", sidecar=FEED, schema=SCHEMA, template=TEMPLATE)


def feeds_of(
    upstreams: tuple[Upstreams, Upstreams], both: Replicas
) -> tuple[UpstreamFeeds, UpstreamFeeds]:
    """Yield two replicas with upstreams of their own and a common store."""
    one, other = upstreams
    return (
        UpstreamFeeds(one, both.here.answers, clock=both.clock),
        UpstreamFeeds(other, both.there.answers, clock=both.clock),
    )


async def test_replica_reuses_the_answer_of_another(server: Server, tmp_path: Path) -> None:
    flights, widget = Flights(), flight()
    assert widget.feed is not None
    async with two(flights, tmp_path) as (one, other), replicas(server) as both:
        here, there = feeds_of((one, other), both)
        with anyio.fail_after(60):
            first = await here.fill(
                widget, widget.feed, {"number": "UA1"}, strict=False, owner="ada"
            )
            second = await there.fill(
                widget, widget.feed, {"number": "UA1"}, strict=False, owner="ada"
            )
            assert flights.calls == ["UA1"]
            assert first.checked.arguments == second.checked.arguments

            both.later(60)
            await there.fill(widget, widget.feed, {"number": "UA1"}, strict=False, owner="ada")
            await here.fill(widget, widget.feed, {"number": "UA1"}, strict=False, owner="ada")
            assert flights.calls == ["UA1", "UA1"]


async def test_simultaneous_replicas_call_once_each(server: Server, tmp_path: Path) -> None:
    flights, widget = Flights(), flight()
    feed = widget.feed
    assert feed is not None
    flights.hold = anyio.Event()
    async with two(flights, tmp_path) as (one, other), replicas(server) as both:
        all_feeds = feeds_of((one, other), both)
        answers: list[Any] = []

        async def fill(feeds: UpstreamFeeds) -> None:
            filled = await feeds.fill(widget, feed, {"number": "UA1"}, strict=False, owner="ada")
            answers.append(filled.checked.arguments)

        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                for feeds in all_feeds * 8:
                    tasks.start_soon(fill, feeds)
                await until(lambda: len(flights.calls) == 2)
                flights.hold.set()

    assert flights.calls == ["UA1", "UA1"]
    assert answers == [answers[0]] * 16


async def test_replicas_survive_the_loss_of_their_store(server: Server, tmp_path: Path) -> None:
    flights, widget = Flights(), flight()
    feed = widget.feed
    assert feed is not None
    with captured_logs() as events:
        async with two(flights, tmp_path) as (one, other), replicas(server) as both:
            here, there = feeds_of((one, other), both)

            async def both_fill() -> list[Any]:
                with anyio.fail_after(60):
                    return [
                        (
                            await feeds.fill(
                                widget, feed, {"number": "UA1"}, strict=False, owner="ada"
                            )
                        ).checked
                        for feeds in (here, there)
                    ]

            before = await both_fill()
            server.kill()
            result = await both_fill()  # each has it still
            both.clock.now += 60
            alone = await both_fill()
            server.start()
            with anyio.fail_after(60):
                while events.names().count("store.recovered") < 2:
                    await events.next()
            both.clock.now += 60
            after = await both_fill()

    assert before == result == alone == after
    assert flights.calls == ["UA1"] * 4  # once for both, each for itself, once for both
    assert events.names().count("store.degraded") == 2  # one of each replica


async def test_replicas_ask_a_live_feed_at_most_once_each_in_an_interval(
    server: Server, tmp_path: Path
) -> None:
    airport = Airport()
    async with (
        serve_mcp(airport.mcp) as url,
        replicas(server, versions_per_s=1e6) as both,
        boards(
            tmp_path / "a.toml",
            toml("airport", url=url),
            board(),
            store=both.here,
            clock=both.clock,
        ) as here,
        boards(
            tmp_path / "b.toml",
            toml("airport", url=url),
            board(),
            store=both.there,
            clock=both.clock,
        ) as there,
    ):
        render = await here.show()
        calls = airport.asked["get_board"]
        with here.live.following(render), there.live.following(render):
            for number, status in enumerate(("delayed", "boarding", "departed"), 1):
                airport.status = status
                both.clock.now += 1.0
                for page in (here, there):
                    newer = await page.follow(render, after=number)
                    assert drawn_text(newer) == f"B4 {status} "
                    assert newer.version == number + 1
                # The clock stands still, so each later question is answered by the store.
                await until(lambda: here.feeds.counts["airport"]["kept"] > 0)

    assert 3 <= airport.asked["get_board"] - calls <= 6


async def test_press_is_refused_while_replicas_cannot_agree_on_it() -> None:
    airline = Airline()
    with running_server() as shared, captured_logs():
        async with open_store(shared.url) as store, host(airport(airline, store)) as client:
            render = await shown(client)
            shared.kill()
            refused = await press(client, render)

    assert code_of(refused) == "W5017"
    assert not airline.calls
