"""Pages are served only to callers whose token has their scope and is valid."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import pytest

from tests.support.daemons import serving
from tests.support.forked_daemons import forked_daemon
from tests.support.patience import PATIENCE_S
from tests.support.routes import (
    PATH_VALUES,
    documented_routes,
    every_page,
    record_routes,
    request_route,
    token,
)
from tests.support.widgets import widget_file
from tests.system.server.web.asking import ask
from widgetd.author.gallery import pages as gallery
from widgetd.server.web import pages

ADA, BOB = "ada-ada-ada-ada-ada", "bob-bob-bob-bob-bob"


@asynccontextmanager
async def following(url: str, token: str) -> AsyncIterator[AsyncIterator[str]]:
    """Yield the lines of a browser's event stream, from the first event on."""
    headers = {"authorization": f"Bearer {token}"}
    address = url.removesuffix("/mcp") + "/gallery/live"
    with anyio.fail_after(PATIENCE_S):
        async with (
            httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S) as http,
            http.stream("GET", address) as answer,
        ):
            lines = answer.aiter_lines()
            assert await anext(lines) == "event: hello"
            yield lines


async def test_every_page_but_the_probes_asks_for_a_token(tmp_path: Path) -> None:
    tokens, widgets = tmp_path / "tokens", tmp_path / "widgets"
    widgets.mkdir()
    (widgets / "A.widget").write_text(widget_file("A"))
    tokens.write_text(f"ada {ADA} gallery\n")
    tables = (*pages.PAGES, pages.METRICS_PAGE, *gallery.PAGES, *gallery.EDITING)
    daemon = serving(widgets, gallery=True, allow_upload=True, token_file=tokens)
    async with daemon as url:
        statuses = {
            page.path: (
                await ask(url, page.path.format_map(PATH_VALUES), method=page.methods[0])
            ).status_code
            for page in tables
        }

    assert {path for path, status in statuses.items() if status != 401} == {
        "/livez",
        "/readyz",
        "/healthz",
    }


async def test_stream_ends_with_the_token_that_a_reload_removes(tmp_path: Path) -> None:
    tokens, widgets = tmp_path / "tokens", tmp_path / "widgets"
    widgets.mkdir()
    tokens.write_text(f"ada {ADA} gallery\nbob {BOB} gallery\n")
    flags = ("--token-file", str(tokens), "--gallery")
    async with (
        forked_daemon(widgets, *flags) as served,
        following(served.url, ADA) as ada,
        following(served.url, BOB) as bob,
    ):
        tokens.write_text(f"bob {BOB} gallery\n")
        served.send(signal.SIGHUP)
        rest = [line async for line in ada]

        (widgets / "A.widget").write_text(widget_file("A"))
        while await anext(bob) != "event: swap":
            pass

    assert not any(line.startswith("event:") for line in rest)


CROSS_SITE = {"sec-fetch-site": "cross-site"}
SISTER = {"sec-fetch-site": "same-site"}
both_sites = pytest.mark.parametrize("site", [CROSS_SITE, SISTER], ids=["cross", "sister"])
IMAGE = {"sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
LINK = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
FRAME = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}


@both_sites
async def test_request_of_another_origin_to_every_route_is_refused_unless_documented(
    site: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    routes, admitted = record_routes(monkeypatch), {}
    async with every_page(tmp_path, 1) as client:
        del client.headers["origin"]  # a picture is requested without
        for name, kind in (("image", IMAGE), ("link", LINK), ("frame", FRAME)):
            admitted[name] = {
                route.path
                for route in routes
                if (await request_route(client, route, 0, **site, **kind))[0] != 403
            }

    assert admitted["image"] == admitted["frame"] == documented_routes("Any site may request")
    assert admitted["link"] - admitted["image"] == documented_routes("Any site may link to")


async def test_every_response_to_one_site_forbids_embedding_elsewhere(tmp_path: Path) -> None:
    async with every_page(tmp_path, 1) as client:
        client.headers["authorization"] = f"Bearer {token(0)}"
        own = [await client.get(path) for path in ("/", "/gallery/static/icon.svg", "/none")]
        probe = await client.get("/livez")

    policy = "cross-origin-resource-policy"
    assert [answer.headers.get(policy) for answer in own] == ["same-origin"] * 3
    assert policy not in probe.headers


@both_sites
@pytest.mark.parametrize(
    ("origin", "status"), [("https://app.example", 200), ("https://evil.example", 403)]
)
async def test_origins_of_the_setting_may_call_from_another_site(
    tmp_path: Path, origin: str, status: int, site: dict[str, str]
) -> None:
    asking = {"access-control-request-method": "POST", "origin": origin}
    async with every_page(tmp_path, 1, cors_origin=("https://app.example",)) as client:
        preflight = await client.options("/mcp", headers={**site, **asking})

    assert preflight.status_code == status


async def test_requests_of_the_same_origin_and_of_programs_pass(tmp_path: Path) -> None:
    async with every_page(tmp_path, 1) as client:
        client.headers["authorization"] = f"Bearer {token(0)}"
        for headers in ({}, {"sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}):
            assert (await client.get("/w/greeting", headers=headers)).status_code == 200


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
