"""Feeds that are asked again while pages follow, by interval and by announcement."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver import MCPServer
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourceUpdated
from mcp_types import EmptyResult, SubscribeRequestParams, ToolAnnotations

from tests.support.widgets import snapshot_of
from tests.system.upstreams.boards import FEED, Airport, Boards, board, boards, drawn_text, mark_of
from tests.system.upstreams.servers import serve, serve_mcp, toml, until, wait_until_settled
from widgetd.core.widget.widget import Widget
from widgetd.server.store.contract import StoredRender

SUBSCRIBED = FEED.replace("every_s = 1", 'subscribe = "board://{gate}"')

SEVERAL = """
[[feed]]
name = "departures"
upstream = "airport"
tool = "get_board"
ask = ["gate"]
keep_s = 0
every_s = 1
[feed.map]
status = "departures.status"
both = "join(' ', [departures.status, forecast.sky])"
[[feed]]
name = "forecast"
upstream = "airport"
tool = "get_weather"
keep_s = 0
every_s = 1
[feed.map]
weather = "forecast.sky"
"""


@asynccontextmanager
async def airport_boards(
    folder: Path, airport: Airport, *widgets: Widget, **settings: Any
) -> AsyncIterator[Boards]:
    """Serve `airport` as the upstream of `widgets`; `settings` are those of its table."""
    async with serve_mcp(airport.mcp) as url:
        declared = toml("airport", url=url, **settings)
        async with boards(folder / "u.toml", declared, *widgets) as on:
            yield on


class Announcing:
    """An MCP server of either era that announces changes of one resource.

    Attributes:
        status: What the board says.
        subscribed: The resources that were subscribed to, in the legacy era.
    """

    def __init__(self, era: str) -> None:
        self.era = era
        self.status = "on time"
        self.asked = 0
        self.subscribed: dict[str, Any] = {}
        self.bus = InMemorySubscriptionBus()
        self.mcp: MCPServer[Any] = MCPServer("airport", subscriptions=self.bus)

        @self.mcp.tool(annotations=ToolAnnotations(read_only_hint=True))
        async def get_board(gate: str) -> dict[str, Any]:
            self.asked += 1
            return {"gate": gate, "status": self.status}

        async def subscribe(context: Any, params: SubscribeRequestParams) -> EmptyResult:
            self.subscribed[str(params.uri)] = context.session
            return EmptyResult()

        self.mcp._lowlevel_server.add_request_handler(
            "resources/subscribe", SubscribeRequestParams, subscribe
        )

    @property
    def app(self) -> Any:
        """Return the ASGI app."""
        return self.mcp.sse_app() if self.era == "legacy" else self.mcp.streamable_http_app()

    @property
    def path(self) -> str:
        """Return the endpoint's path."""
        return "/sse" if self.era == "legacy" else "/mcp"

    async def announce(self, uri: str) -> None:
        """Announce that a resource changed."""
        if self.era == "legacy":
            for session in self.subscribed.values():
                await session.send_resource_updated(uri)
        else:
            await self.bus.publish(ResourceUpdated(uri=uri))


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_announced_change_of_a_resource_is_the_next_version(era: str, tmp_path: Path) -> None:
    airport = Announcing(era)
    async with (
        serve(airport.app) as url,
        boards(
            tmp_path / "u.toml", toml("airport", url=url + airport.path), board(SUBSCRIBED)
        ) as on,
        anyio.create_task_group() as tasks,
    ):
        assert await wait_until_settled(on.feeds.upstreams["airport"]) == "ready"
        render, found = await on.show(), list[StoredRender]()

        async def page() -> None:
            found.append(await on.follow(render))

        for _ in range(3):
            tasks.start_soon(page)
        await until(lambda: airport.asked == 2)  # once for the call, once when it listens
        airport.status = "delayed"
        await airport.announce("board://another")
        await airport.announce("board://B4")
        await until(lambda: len(found) == 3)

    assert [drawn_text(one) for one in found] == ["B4 delayed "] * 3
    assert airport.asked == 3


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_announcement_arrives_after_a_reload_restarted_the_upstream(
    era: str, tmp_path: Path
) -> None:
    airport, path = Announcing(era), tmp_path / "u.toml"
    async with serve(airport.app) as url:
        address = url + airport.path
        async with boards(path, toml("airport", url=address), board(SUBSCRIBED)) as on:
            render = await on.show()
            with on.live.following(render):
                await until(lambda: airport.asked == 2)
                path.write_text(toml("airport", url=address, call_s=30.0))
                await on.feeds.upstreams.reload()
                await until(lambda: airport.asked == 3)  # it listens again
                airport.status = "delayed"
                await airport.announce("board://B4")
                newer = await on.follow(render)

    assert drawn_text(newer) == "B4 delayed "


async def test_feed_without_followers_is_not_asked(tmp_path: Path) -> None:
    airport = Airport()
    async with airport_boards(tmp_path, airport, board()) as on:
        render = await on.show()
        assert on.live.watches == {}
        with on.live.following(render, linger_s=0.0):
            assert len(on.live.watches) == 1
            await until(lambda: airport.asked["get_board"] == 2)
        await until(lambda: on.live.watches == {})
        assert airport.asked["get_board"] <= 3, "one question may have been under way"


async def test_watch_whose_upstream_is_gone_before_it_begins_ends_at_its_next_question(
    tmp_path: Path,
) -> None:
    airport = Airport()
    async with airport_boards(tmp_path, airport, board(SUBSCRIBED)) as on:
        render = await on.show()
        with on.live.following(render):
            [watch] = on.live.watches.values()
            del on.feeds.upstreams.all["airport"]  # as a reload in the same turn of the loop does
            watch.notify()
            await until(lambda: on.live.watches == {})


async def test_two_hundred_followers_are_one_question_in_each_interval(tmp_path: Path) -> None:
    airport = Airport()
    async with airport_boards(tmp_path, airport, board()) as on:
        render, versions = await on.show(), list[int]()

        async def page() -> None:
            version = 1
            while version < 3:
                version = (await on.follow(render, after=version)).version
                versions.append(version)

        calls, moved = airport.asked["get_board"], list[float]()

        def jitter() -> float:
            moved.append(len(moved) % 2)
            return moved[-1]

        on.live.jitter = jitter
        async with anyio.create_task_group() as tasks:
            for _ in range(200):
                tasks.start_soon(page)
            await until(lambda: len(on.live.watches) == 1)
            for status in ("delayed", "departed"):
                airport.status = status
                wanted = {"delayed": 200, "departed": 400}[status]
                await until(lambda wanted=wanted: len(versions) == wanted)  # type: ignore[misc]

    assert sorted(versions) == [2] * 200 + [3] * 200
    assert airport.asked["get_board"] - calls <= 4, "two intervals, and one more of each"
    assert len(moved) >= airport.asked["get_board"] - calls, "each interval has a length of its own"


async def test_widgets_with_the_same_request_are_drawn_as_themselves(tmp_path: Path) -> None:
    airport = Airport()
    other = board(
        FEED.replace('status = "status"', "status = \"join('', [status, '!'])\""), "Other"
    )
    async with airport_boards(tmp_path, airport, board(), other) as on:
        results = [await on.show("board"), await on.show("other")]
        texts: list[str] = []

        async def page(render: StoredRender) -> None:
            texts.append(drawn_text(await on.follow(render)))

        airport.status = "delayed"
        async with anyio.create_task_group() as tasks:
            for render in results:
                tasks.start_soon(page, render)
            await until(lambda: len(on.live.watches) == 1)

    assert sorted(texts) == ["B4 delayed ", "B4 delayed! "]


async def test_failing_upstream_is_asked_no_more_than_its_breaker_allows(tmp_path: Path) -> None:
    airport = Airport()
    async with airport_boards(tmp_path, airport, board(), fail_after=1) as on:
        render = await on.show()
        upstream = on.feeds.upstreams["airport"]
        with on.live.following(render):
            upstream.breaker.record_failure()
            for _ in range(4):
                upstream.breaker.record_failure()
                upstream.breaker._until += 1_000.0
            newer = await on.follow(render)

    assert mark_of(newer)["stale"] is True
    assert drawn_text(newer) == drawn_text(render)
    assert airport.asked["get_board"] == 1


async def test_several_feeds_change_by_themselves_and_a_failing_one_is_marked_stale(
    tmp_path: Path,
) -> None:
    airport = Airport()
    async with airport_boards(tmp_path, airport, board(SEVERAL)) as on:
        first = await on.show()
        assert drawn_text(first) == "B4 on time sun"
        marks = mark_of(first)
        assert [(one["name"], one["stale"]) for one in marks["parts"]] == [
            ("departures", False),
            ("forecast", False),
        ]
        with on.live.following(first):
            assert len(on.live.watches) == 2
            airport.fails.add("get_weather")
            stale = await on.follow(first)
            assert drawn_text(stale) == "B4 on time sun"
            assert mark_of(stale)["stale"] is True
            assert [one["stale"] for one in mark_of(stale)["parts"]] == [False, True]

            airport.status = "delayed"
            delayed = await on.follow(first, after=stale.version)
            assert drawn_text(delayed) == "B4 delayed sun"
            assert [one["stale"] for one in mark_of(delayed)["parts"]] == [False, True]
            assert "tell" not in delayed.metadata(), "the model hears of named arguments alone"

            airport.fails.clear()
            airport.weather = "rain"
            rain = await on.follow(first, after=delayed.version)
            assert drawn_text(rain) == "B4 delayed rain"
            assert mark_of(rain)["stale"] is False


async def test_widget_shown_without_its_upstream_is_filled_on_its_return(tmp_path: Path) -> None:
    airport = Airport()
    airport.fails.add("get_board")
    lenient = board(FEED.replace("keep_s = 0", 'keep_s = 0\non_failure = "arguments"'))
    async with airport_boards(tmp_path, airport, lenient) as on:
        result = await on.show()
        assert (drawn_text(result), mark_of(result)) == ("B4  ", {})
        airport.fails.clear()
        filled = await on.follow(result)

    assert drawn_text(filled) == "B4 on time "
    assert mark_of(filled)["stale"] is False


async def test_watch_ends_when_its_widget_is_saved_with_another_feed(tmp_path: Path) -> None:
    airport = Airport()
    async with airport_boards(tmp_path, airport, board()) as on:
        render = await on.show()
        with on.live.following(render):
            [before] = on.live.watches
            on.server.registry.swap(snapshot_of(board(FEED.replace("every_s = 1", "every_s = 2"))))
            with on.live.following(render):
                assert len(on.live.watches) == 2
                await until(lambda: before not in on.live.watches)
                assert len(on.live.watches) == 1
