"""One rate limiter covers every route."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.routes import documented_routes, every_page, record_routes, request_route, token


async def test_second_request_to_every_route_is_limited_or_the_route_is_documented_as_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    routes = record_routes(monkeypatch)
    free, limited_at_once = set(), set()
    async with every_page(tmp_path, 100, rate=0.001, burst=1) as client:
        assert len(routes) < 100
        for number, route in enumerate(routes):
            answers = [await request_route(client, route, number) for _ in range(2)]
            limits = [status == 429 or '"W2201"' in text for status, text in answers]
            if limits[0]:
                limited_at_once.add(route.path)
            if not limits[1]:
                free.add(route.path)

    assert free == documented_routes("These are free:")
    # A picture is charged beside its request, so a burst of 1 allows none.
    pictures = ("picture.png", "accessibility.json", "sheet.png")
    assert limited_at_once == {f"/w/{{tool}}/{name}" for name in pictures}


async def test_page_with_many_tiles_costs_as_much_as_any_other(tmp_path: Path) -> None:
    async with every_page(tmp_path, 1, rate=0.001, burst=20) as client:
        client.headers["authorization"] = f"Bearer {token(0)}"
        for _ in range(10):
            loads = ["/", "/w/greeting"]
            for each in ("gallery/tile/greeting", "gallery/frame/greeting", "w/greeting/problems"):
                loads += [f"/{each}"] * 5
            for path in loads:
                assert (await client.get(path)).status_code == 200, path

        refused = await client.get("/")

    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0
    assert refused.json()["code"] == "W2201"


async def test_picture_costs_five_calls(tmp_path: Path) -> None:
    async with every_page(tmp_path, 1, rate=0.001, burst=12) as client:
        client.headers["authorization"] = f"Bearer {token(0)}"
        picture = "/w/greeting/picture.png?state=none&width=1"
        statuses = [(await client.head(picture)).status_code for _ in range(3)]

        assert statuses[2] == 429
        assert 429 not in statuses[:2]
        # The refused picture cost its request alone.
        assert (await client.get("/")).status_code == 200
