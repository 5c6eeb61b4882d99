"""The feeds in bundled sidecars work with the sample upstreams file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import anyio
import pytest

from examples.upstream_flights import mcp
from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.support.widgets import source
from tests.system.upstreams.servers import serve_mcp
from widgetd.base.limits import Limits
from widgetd.core.widget.feed import Feed
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.loader import load
from widgetd.server.render.tokens import tokens_of_tool
from widgetd.upstreams.declarations import read_file

ROOT = Path(__file__).parents[3]
WIDGETS = ROOT / "widgets"

ANSWERS: dict[str, tuple[dict[str, Any], Any, dict[str, Any]]] = {
    "Flight Tracker": (
        {"number": "NF 218"},
        {
            "flight": {"number": "NF 218", "state": "landed"},
            "carrier": {"name": "Northfjord Air"},
            "origin": {"iata": "LIS", "city": "Lisbon", "departs": "12:05"},
            "destination": {"iata": "BGO", "city": "Bergen", "arrives": "17:15"},
        },
        {"status": "landed", "departure": {"code": "LIS", "city": "Lisbon", "time": "12:05"}},
    ),
    "Weather Current": (
        {"place": "Cusco"},
        {
            "name": "Cusco",
            "time": "06:00",
            "main": {"temp": -1.4},
            "sky": "clear",
            "measured": {"wind": {"label": "Wind", "text": "3 km/h"}},
        },
        {"temperature": -2, "readings": [{"label": "Wind", "value": "3 km/h"}]},
    ),
    "Product Grid": (
        {"heading": "Mugs"},
        {
            "result": [
                {"sku": "m1", "name": "Mug", "price": 9.5, "shown": "9.50", "currency": "EUR"}
            ]
        },
        {
            "currency": "EUR",
            "total": 1,
            "products": [{"id": "m1", "title": "Mug", "price": 9.5, "priceText": "9.50"}],
        },
    ),
}


def uncomment(name: str) -> str:
    """Return the sidecar with its commented feed switched on."""
    text = (WIDGETS / f"{name}.widget.toml").read_text()
    feed = re.search(r"^# \[feed\]\n(?:# .*\n)+", text, re.MULTILINE)
    assert feed is not None
    return text.replace(feed.group(), re.sub(r"^# ", "", feed.group(), flags=re.MULTILINE))


def load_bundled(name: str, sidecar: str) -> Widget:
    content, path = (WIDGETS / f"{name}.widget").read_text(), f"{name}.widget"
    return load(source(path, content), source(f"{path}.toml", sidecar), limits=Limits())


def feed_of(name: str) -> Feed:
    feed = load_bundled(name, uncomment(name)).feed
    assert feed is not None
    return feed


@pytest.mark.parametrize("name", ANSWERS)
def test_filled_widget_costs_at_most_a_third_of_the_tokens(name: str) -> None:
    filled = load_bundled(name, uncomment(name))
    plain = load_bundled(name, (WIDGETS / f"{name}.widget.toml").read_text())

    assert len(filled.input_schema["properties"]) == 1
    assert tokens_of_tool(filled) <= 0.35 * tokens_of_tool(plain)


@pytest.mark.parametrize("name", ANSWERS)
def test_feed_in_a_bundled_sidecar_fills_its_widget(name: str) -> None:
    request, answer, expected = ANSWERS[name]

    arguments = feed_of(name).fill(request, {"": answer}, {}).arguments

    assert {key: arguments[key] for key in expected} == expected


@pytest.mark.parametrize("name", ANSWERS)
def test_sample_upstreams_file_declares_the_names_used_in_sidecars(name: str) -> None:
    declared = read_file(ROOT / "examples" / "upstreams.toml", {}).declarations

    assert {one.part.upstream for one in feed_of(name).sources} <= declared.keys()


async def test_sample_upstream_fills_the_flight_tracker(tmp_path: Path) -> None:
    (tmp_path / "Flight Tracker.widget").write_text((WIDGETS / "Flight Tracker.widget").read_text())
    (tmp_path / "Flight Tracker.widget.toml").write_text(uncomment("Flight Tracker"))
    (tmp_path / "upstreams").mkdir()
    declared = tmp_path / "upstreams" / "u.toml"
    async with serve_mcp(mcp) as url:
        declared.write_text(f'[flights]\nurl = "{url}"\n')
        async with (
            serving(tmp_path, upstreams=declared) as daemon,
            connect_client(daemon, "modern") as client,
        ):
            with anyio.fail_after(60):
                result = await client.client.call_tool("flight_tracker", {"number": "nf 218"})

    assert not result.is_error, result.content
    assert "Northfjord Air NF 218" in str(result.content)
