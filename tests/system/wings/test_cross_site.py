"""Pages of other sites get nothing, except by links to pages that start no work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.routes import documented_routes, every_page, record_routes, request_route, token

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
