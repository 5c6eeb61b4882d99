"""A widget that several upstreams fill: asked at once, joined, and each stale by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.upstreams.boards import Airport, board, boards, drawn_text, mark_of
from tests.system.upstreams.servers import serve_mcp, toml
from tests.system.upstreams.test_live_feeds import SEVERAL
from widgetd.base.errors import CallError

SIDECAR = SEVERAL.replace("every_s = 1\n", "").replace("keep_s = 0\n", "")


async def test_several_upstreams_are_asked_at_the_same_time_and_joined(tmp_path: Path) -> None:
    airport = Airport()
    airport.meeting = 2
    async with (
        serve_mcp(airport.mcp) as url,
        boards(tmp_path / "u.toml", toml("airport", url=url), board(SIDECAR)) as on,
    ):
        results = [await on.show() for _ in range(2)]
        widget = on.server.registry.current.widgets["board"]
        assert widget.feed is not None
        assert on.feeds.is_at_hand(widget, widget.feed, {"gate": "B4"})
        assert not on.feeds.is_at_hand(widget, widget.feed, {"gate": "C1"})

    assert [drawn_text(one) for one in results] == ["B4 on time sun"] * 2
    assert airport.asked == {"get_board": 1, "get_weather": 1}
    mark = mark_of(results[0])
    assert [(one["name"], one["tool"]) for one in mark["parts"]] == [
        ("departures", "get_board"),
        ("forecast", "get_weather"),
    ]
    assert mark["upstream"] == "airport"
    assert mark["stale"] is False


async def test_feed_failing_without_an_answer_fails_the_call_or_is_omitted(
    tmp_path: Path,
) -> None:
    airport = Airport()
    airport.fails.add("get_weather")
    lenient = SIDECAR.replace('"get_weather"\n', '"get_weather"\non_failure = "arguments"\n')
    async with (
        serve_mcp(airport.mcp) as url,
        boards(
            tmp_path / "u.toml",
            toml("airport", url=url),
            board(SIDECAR),
            board(lenient, "Lenient"),
        ) as on,
    ):
        with pytest.raises(CallError) as raised:
            await on.show()
        result = await on.show("lenient")

    assert raised.value.code == "W5010"
    assert drawn_text(result) == "B4 on time "
    assert mark_of(result)["stale"] is True
    assert mark_of(result)["parts"][1] == {
        "name": "forecast",
        "upstream": "airport",
        "tool": "get_weather",
        "stale": True,
    }


async def test_last_good_answer_serves_while_its_upstream_fails(tmp_path: Path) -> None:
    airport = Airport()
    kept_apart = SIDECAR.replace('name = "forecast"', 'name = "forecast"\nkeep_s = 0')
    async with (
        serve_mcp(airport.mcp) as url,
        boards(tmp_path / "u.toml", toml("airport", url=url), board(kept_apart)) as on,
    ):
        await on.show()
        airport.fails.add("get_weather")
        result = await on.show()

    assert drawn_text(result) == "B4 on time sun"
    assert "(as of " in result.text
    assert [one["stale"] for one in mark_of(result)["parts"]] == [False, True]
