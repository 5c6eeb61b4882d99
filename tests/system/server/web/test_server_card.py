"""The card and the catalog by which clients find a server that has a public address."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import httpx2

from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from widgetd.server.web.server_card import CARD_PATH, CARD_SCHEMA, CATALOG_PATH

PUBLIC = "https://widgets.example.com"


async def get(url: str, path: str, method: str = "GET", **headers: str) -> httpx2.Response:
    with anyio.fail_after(PATIENCE_S):
        async with httpx2.AsyncClient(timeout=PATIENCE_S) as client:
            address = url.removesuffix("/mcp") + path
            return await client.request(method, address, headers=headers)


async def test_card_names_the_server_and_its_address_and_no_tool(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("Secret Widget"))
    async with serving(tmp_path, public_url=PUBLIC) as url:
        card = await get(url, CARD_PATH, origin="https://anywhere.example")
        catalog = await get(url, CATALOG_PATH)

    content = card.json()
    assert card.status_code == catalog.status_code == 200
    assert card.headers["content-type"] == "application/mcp-server-card+json"
    assert catalog.headers["content-type"] == "application/ai-catalog+json"
    assert content["$schema"] == CARD_SCHEMA
    assert content["name"] == "com.example.widgets/mcp"
    assert content["remotes"][0]["type"] == "streamable-http"
    assert content["remotes"][0]["url"] == f"{PUBLIC}/mcp"
    assert "2026-07-28" in content["remotes"][0]["supportedProtocolVersions"]
    assert len(content["description"]) <= 100
    assert [one["url"] for one in catalog.json()["entries"]] == [PUBLIC + CARD_PATH]
    assert "secret" not in json.dumps([content, catalog.json()]).lower()


async def test_documents_may_be_read_by_any_page_and_are_cached_by_their_tag(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path, public_url=PUBLIC) as url:
        for path in (CARD_PATH, CATALOG_PATH):
            first = await get(url, path, origin="https://anywhere.example")
            again = await get(url, path, **{"if-none-match": f'"x", {first.headers["etag"]}'})
            response = await get(
                url,
                path,
                "OPTIONS",
                origin="https://anywhere.example",
                **{"access-control-request-method": "GET"},
            )

            assert first.headers["access-control-allow-origin"] == "*"
            assert "max-age" in first.headers["cache-control"]
            assert (again.status_code, again.content) == (304, b"")
            assert (response.status_code, response.headers["access-control-allow-methods"]) == (
                204,
                "GET",
            )


async def test_server_with_tokens_shows_its_card_without_one(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("ada ada-ada-ada-ada-ada-ada widgets:read\n")
    folder = tmp_path / "widgets"
    folder.mkdir()
    async with serving(folder, public_url=PUBLIC, token_file=tokens) as url:
        assert (await get(url, CARD_PATH)).status_code == 200


async def test_server_without_a_public_address_has_no_card(tmp_path: Path) -> None:
    async with serving(tmp_path) as url:
        assert (await get(url, CARD_PATH)).status_code == 404
        assert (await get(url, CATALOG_PATH)).status_code == 404
