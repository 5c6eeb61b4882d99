"""Feeds: a widget is called with a number and filled with another server's answer."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import httpx2
import orjson
import pytest
from fastmcp import FastMCP
from fastmcp.utilities.types import Image
from mcp_types import CallToolResult

from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.sockets import connect, modern_request
from tests.support.widgets import build_widget, widget_file
from tests.system.server.web.asking import ask
from tests.system.upstreams.boards import Airport, board, boards, drawn_text, mark_of
from tests.system.upstreams.servers import (
    STDIO,
    Flights,
    answering,
    child,
    json_reply,
    raw,
    serve_mcp,
    toml,
    until,
    upstreams_of,
)
from tests.system.upstreams.test_live_feeds import SEVERAL
from widgetd.base.errors import CallError
from widgetd.core.widget.widget import Widget
from widgetd.server.render.entry import READ_ONLY
from widgetd.server.store.factory import local_store
from widgetd.upstreams.feeds import UpstreamFeeds
from widgetd.upstreams.limits import LIMITS

SCHEMA = {
    "type": "object",
    "properties": {
        "number": {"type": "string", "minLength": 2, "description": "As UA123."},
        "airline": {"type": "string"},
        "legs": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"from": {"type": "string"}, "to": {"type": "string"}},
                "required": ["from", "to"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["number", "airline", "legs"],
    "additionalProperties": False,
}
TEMPLATE = (
    '{"type":"Card","children":[{"type":"Text","value":'
    '{{ (number ~ " " ~ airline ~ " " ~ legs[0].from) | tojson }}}]}'
)
MAP = """
[feed.map]
airline = "carrier.name"
legs = "segments[].{from: origin.code, to: destination.code}"
"""
FEED = f"""
[feed]
upstream = "flights"
tool = "get_flight"
ask = ["number"]
[feed.arguments]
flight_no = "number"
{MAP}"""
DRAWN = {"type": "Card", "children": [{"type": "Text", "value": "UA123 United SFO"}]}


def write_flight(folder: Path, sidecar: str = FEED, name: str = "Flight") -> Path:
    """Write the widgets `name` and `Plain`, and return their folder."""
    widgets = folder / "widgets"
    widgets.mkdir(exist_ok=True)
    (widgets / f"{name}.widget").write_text(widget_file(name, schema=SCHEMA, template=TEMPLATE))
    (widgets / f"{name}.widget.toml").write_text(sidecar)
    (widgets / "Plain.widget").write_text(widget_file("Plain"))
    return widgets


@asynccontextmanager
async def filled_by(folder: Path, declared: str, **settings: Any) -> AsyncIterator[str]:
    """Yield a daemon with the widget and an upstreams file with this text."""
    (folder / "u.toml").write_text(declared)
    widgets = write_flight(folder)
    async with serving(widgets, upstreams=folder / "u.toml", **settings) as url:
        yield url


def meta_of(result: CallToolResult, key: str) -> Any:
    return (result.meta or {}).get(key)


@pytest.mark.parametrize("kind", ["http", "stdio", "openapi"])
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_each_kind_of_upstream_fills_a_widget(kind: str, era: Any, tmp_path: Path) -> None:
    flights = Flights()
    document = {
        "openapi": "3.1.0",
        "info": {"title": "flights", "version": "1"},
        "paths": {
            "/flights/{flight_no}": {
                "get": {
                    "operationId": "get_flight",
                    "parameters": [
                        {
                            "name": "flight_no",
                            "in": "path",
                            "required": True,
                            "schema": {"type": "string"},
                        }
                    ],
                    "responses": {"200": {"description": "One flight."}},
                }
            }
        },
    }
    (tmp_path / "flights.json").write_text(json.dumps(document))
    answer = await flights.mcp.call_tool("get_flight", {"flight_no": "UA123"})
    async with serve_mcp(flights.mcp) as url, raw(json_reply(answer.structured_content)) as port:
        tables = {
            "http": toml("flights", url=url),
            "stdio": toml("flights", connect_s=60.0, call_s=60.0, **child(STDIO)),
            "openapi": toml("flights", openapi="flights.json", base=f"http://127.0.0.1:{port}"),
        }[kind]
        async with filled_by(tmp_path, tables) as daemon, connect_client(daemon, era) as client:
            [listed] = [t for t in (await client.client.list_tools()).tools if t.name == "flight"]
            with anyio.fail_after(90):
                result = await client.client.call_tool("flight", {"number": "UA123"})

    assert listed.input_schema["properties"] == {"number": SCHEMA["properties"]["number"]}  # type: ignore[index]
    assert listed.input_schema["required"] == ["number"]
    assert listed.annotations is not None
    assert listed.annotations.open_world_hint is True
    assert not READ_ONLY["openWorldHint"]
    assert not result.is_error, result.content
    assert result.structured_content == DRAWN
    mark = meta_of(result, "widgetd/feed")
    assert mark["upstream"] == "flights"
    assert mark["tool"] == "get_flight"
    assert mark["stale"] is False
    assert mark.keys() == {"upstream", "tool", "at", "ageS", "stale", "ms"}


async def test_cached_answer_serves_every_way_of_calling(tmp_path: Path) -> None:
    flights = Flights()
    async with serve_mcp(flights.mcp) as url:
        write_flight(tmp_path, FEED.replace("ask =", "keep_s = 3600\nask ="))
        (tmp_path / "u.toml").write_text(toml("flights", url=url))
        async with (
            serving(tmp_path / "widgets", upstreams=tmp_path / "u.toml") as daemon,
            connect_client(daemon, "modern") as client,
        ):
            for _ in range(3):
                result = await client.client.call_tool("flight", {"number": "UA123"})
                assert result.structured_content == DRAWN
            async with httpx2.AsyncClient(timeout=PATIENCE_S) as http:
                posted = await http.post(
                    daemon.replace("/mcp", "/render/flight"), json={"number": "UA123"}
                )
            numbers = (await ask(daemon, "/metrics")).text

    assert posted.status_code in {200, 201}, posted.text
    assert flights.calls == ["UA123"]
    assert 'widgetd_upstream_up{upstream="flights"} 1.0' in numbers
    assert 'widgetd_upstream_calls_total{outcome="ok",upstream="flights"} 1.0' in numbers
    assert 'widgetd_upstream_answers_total{from="kept",upstream="flights"} 3.0' in numbers


async def test_request_ends_when_its_caller_disconnects(tmp_path: Path) -> None:
    flights = Flights()
    flights.hold = anyio.Event()
    async with serve_mcp(flights.mcp) as url, filled_by(tmp_path, toml("flights", url=url)) as to:
        call = {"name": "flight", "arguments": {"number": "UA123"}}
        asking = b"".join(modern_request(to, "tools/call", call, name="flight"))
        async with await connect(to) as connection:
            await connection.send(asking)
            await until(lambda: len(flights.calls) == 1)
        async with await connect(to) as stays:
            await stays.send(asking)
            await until(lambda: len(flights.calls) == 2)  # else it would wait for the first one
            flights.hold.set()
            with anyio.fail_after(PATIENCE_S):
                assert b"200 OK" in await stays.receive()


async def test_failing_upstream_affects_no_plain_widget(tmp_path: Path) -> None:
    async with raw(answering(500, b"s3cr3t")) as port:
        upstreams = toml("flights", url=f"http://127.0.0.1:{port}/mcp", required=True)
        async with filled_by(tmp_path, upstreams) as url, connect_client(url, "modern") as client:
            failed = await client.client.call_tool("flight", {"number": "UA123"})
            plain = await client.client.call_tool("plain", {"who": "Ada"})
            ready = await ask(url, "/readyz")

    assert failed.is_error
    error = meta_of(failed, "widgetd/error")
    assert error["code"] == "W5002"
    assert error["message"] == "the upstream 'flights' is not available (http_500)"
    assert error["recoverable"] is True
    assert error["retryAfterS"] >= 0
    assert not plain.is_error
    assert "s3cr3t" not in str(failed)
    assert ready.status_code == 503
    assert ready.json()["requiredUpstreams"] == {"ready": 0, "failed": 1}


async def test_status_reports_every_upstream(tmp_path: Path) -> None:
    async with raw(answering(500, b"s3cr3t")) as port:
        upstreams = toml("flights", url=f"http://127.0.0.1:{port}/mcp")
        async with filled_by(tmp_path, upstreams) as url, connect_client(url, "modern") as client:
            await client.client.call_tool("flight", {"number": "UA123"})
            status = (await ask(url, "/status")).json()
            page = await ask(url, "/status", accept="text/html")

    assert status["requiredUpstreams"] == {"ready": 0, "failed": 0}
    assert status["allUpstreams"] == {
        "items": [{"name": "flights", "state": "failed", "reason": "http_500", "required": False}]
    }
    assert "<dd>failed (http_500)</dd>" in page.text
    assert "{&#39;" not in page.text


async def test_asked_arguments_are_validated_with_an_example_of_their_own(tmp_path: Path) -> None:
    upstreams = toml("flights", url="http://127.0.0.1:9/mcp")
    async with filled_by(tmp_path, upstreams) as url, connect_client(url, "modern") as client:
        result = await client.client.call_tool("flight", {})

    assert meta_of(result, "widgetd/error")["code"] == "W2002"
    assert "airline" not in str(result.content)


async def test_filled_widget_without_a_file_names_the_missing_setting(tmp_path: Path) -> None:
    async with serving(write_flight(tmp_path)) as url, connect_client(url, "modern") as client:
        result = await client.client.call_tool("flight", {"number": "UA123"})

    assert meta_of(result, "widgetd/error")["message"] == (
        "there is no upstream 'flights', which fills this widget; start widgetd with --upstreams"
    )


class Asked(NamedTuple):
    flights: Flights
    feeds: UpstreamFeeds
    fill: Callable[..., Any]
    move: Callable[[float], None]


@asynccontextmanager
async def asking(folder: Path, sidecar: str = FEED) -> AsyncIterator[Asked]:
    """Feeds of one upstream, with a clock of their own."""
    now = 1_000_000.0

    def move(seconds: float) -> None:
        nonlocal now
        now += seconds

    flights = Flights()
    widget: Widget = build_widget("Flight", sidecar=sidecar, schema=SCHEMA, template=TEMPLATE)
    async with (
        serve_mcp(flights.mcp) as url,
        upstreams_of(folder / "u.toml", toml("flights", url=url, call_s=5.0)) as upstreams,
    ):
        store = local_store(clock=lambda: now)
        feeds = UpstreamFeeds(upstreams, store.answers, clock=lambda: now)

        async def fill(number: str = "UA123") -> Any:
            assert widget.feed is not None
            return await feeds.fill(
                widget, widget.feed, {"number": number}, strict=False, owner="ada"
            )

        yield Asked(flights, feeds, fill, move)


async def test_hundred_simultaneous_requests_are_one_call(tmp_path: Path) -> None:
    async with asking(tmp_path) as filling:
        answers = []

        async def one() -> None:
            answers.append(await filling.fill())

        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                for _ in range(100):
                    tasks.start_soon(one)

        assert filling.flights.calls == ["UA123"]
        assert len({orjson.dumps(one.checked.arguments) for one in answers}) == 1


async def test_waiting_request_calls_again_after_the_first_is_cancelled(tmp_path: Path) -> None:
    async with asking(tmp_path) as filling:
        filling.flights.hold = anyio.Event()
        first = anyio.CancelScope()
        answers: list[Any] = []

        async def impatient() -> None:
            with first:
                await filling.fill()

        async def patient() -> None:
            answers.append(await filling.fill())

        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(impatient)
                await until(lambda: bool(filling.flights.calls))
                tasks.start_soon(patient)
                [fetch] = filling.feeds._fetches.values()
                await until(lambda: fetch.done.statistics().tasks_waiting == 1)
                first.cancel()
                filling.flights.hold.set()

        assert answers[0].checked.arguments["airline"] == "United"


async def test_answer_is_cached_for_its_window_and_stale_during_failures(tmp_path: Path) -> None:
    async with asking(tmp_path) as filling:
        await filling.fill()
        await filling.fill()
        assert filling.flights.calls == ["UA123"]

        filling.move(60)
        await filling.fill()
        assert len(filling.flights.calls) == 2

        filling.flights.failing = True
        filling.move(60)
        stale = await filling.fill()
        assert orjson.loads(stale.mark)["stale"] is True
        assert orjson.loads(stale.mark)["ageS"] == 60.0
        assert stale.as_of.endswith(" UTC")
        assert stale.checked.arguments["airline"] == "United"

        filling.move(600)
        with pytest.raises(CallError) as raised:
            await filling.fill()
        assert raised.value.code == "W5010"
        assert filling.feeds.counts["flights"] == {"call": 2, "kept": 1, "stale": 1}


async def test_invalid_answer_is_reported_with_its_path_and_no_value(tmp_path: Path) -> None:
    wrong = FEED.replace("carrier.name", "segments")
    async with asking(tmp_path, wrong) as filling:
        with pytest.raises(CallError) as raised:
            await filling.fill()

    assert raised.value.code == "W5007"
    assert raised.value.path == "airline"
    assert str(raised.value).startswith(
        "the answer of the upstream 'flights' does not fit: airline: expected a string, got "
    )
    assert "SFO" not in str(raised.value)


async def test_feed_may_fall_back_to_the_callers_arguments(tmp_path: Path) -> None:
    sidecar = FEED.replace('ask = ["number"]', 'ask = ["number"]\non_failure = "arguments"')
    schema_fits = sidecar.replace("get_flight", "no_such_tool")
    async with asking(tmp_path, schema_fits) as filling:
        with pytest.raises(CallError) as raised:
            await filling.fill()

    assert raised.value.code == "W2002"  # the author's schema demands more than was given


async def test_picture_and_text_of_an_answer_are_drawn(tmp_path: Path) -> None:
    places: FastMCP[Any] = FastMCP("places")
    picture = b"\x89PNG\r\n\x1a\n" + bytes(100_000)

    @places.tool(annotations={"readOnlyHint": True})
    def get_place(number: str) -> list[Any]:
        return [f"Pier {number}", Image(data=picture, format="png")]

    sidecar = """
[feed]
upstream = "places"
tool = "get_place"
ask = ["number"]
answer = "blocks"
[feed.map]
name = "blocks[0].text"
src = "blocks[?type=='image'].data_url | [0]"
"""
    properties = {name: {"type": "string"} for name in ("number", "name", "src")}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    template = (
        '{"type":"Card","children":[{"type":"Image","src":{{ src | tojson }},'
        '"alt":{{ name | tojson }}}]}'
    )
    widgets = tmp_path / "widgets"
    widgets.mkdir()
    (widgets / "Place.widget").write_text(widget_file("Place", schema=schema, template=template))
    (widgets / "Place.widget.toml").write_text(sidecar)
    async with serve_mcp(places) as url:
        (tmp_path / "u.toml").write_text(toml("places", url=url))
        async with (
            serving(widgets, upstreams=tmp_path / "u.toml") as daemon,
            connect_client(daemon, "modern") as client,
        ):
            result = await client.client.call_tool("place", {"number": "7"})

    assert result.structured_content is not None, result.content
    [picture_component] = result.structured_content["children"]
    assert picture_component["alt"] == "Pier 7"
    assert picture_component["src"] == f"data:image/png;base64,{base64.b64encode(picture).decode()}"


async def test_held_answers_stay_within_their_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = replace(LIMITS, held_bytes=4_000)
    monkeypatch.setattr("widgetd.upstreams.feeds.LIMITS", limits)
    async with asking(tmp_path) as filling:
        for number in range(60):
            await filling.fill(f"UA{number}")

        size = filling.feeds.held
        assert 0 < len(size) < 60
        assert sum(one.size for one in size.values()) == size.size_bytes <= 4_000


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


async def test_feed_failing_without_an_answer_fails_the_call_or_is_omitted(tmp_path: Path) -> None:
    airport = Airport()
    airport.fails.add("get_weather")
    lenient = SIDECAR.replace('"get_weather"\n', '"get_weather"\non_failure = "arguments"\n')
    async with (
        serve_mcp(airport.mcp) as url,
        boards(
            tmp_path / "u.toml", toml("airport", url=url), board(SIDECAR), board(lenient, "Lenient")
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
