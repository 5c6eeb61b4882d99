"""Origins of images are allowed on a widget's page, and saved unless its files have changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from tests.system.server.web.asking import ask

BESIDE = '# Mine.\ndescription = "Show it."\n\n[[examples]]\narguments = { who = "Ann" }\n'
SERVED: dict[str, Any] = {"gallery": True, "allow_upload": True}


async def post(url: str, path: str, body: dict[str, Any], **headers: str) -> httpx2.Response:
    site = url.removesuffix("/mcp")
    async with httpx2.AsyncClient(base_url=site, timeout=PATIENCE_S) as client:
        return await client.post(path, json=body, headers={"origin": site, **headers})


def folder_of(folder: Path, **files: str) -> Path:
    (folder / "A.widget").write_text(widget_file("A"))
    (folder / "A.widget.toml").write_text(BESIDE)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


async def show(url: str) -> dict[str, Any]:
    return dict((await ask(url, "/w/a.json")).json())


async def test_saved_origins_are_served_and_keep_other_text(tmp_path: Path) -> None:
    async with serving(folder_of(tmp_path), **SERVED) as url:
        before = await show(url)
        body = {"image_origins": ["https://a.example"], "digest": before["digest"]}
        response = await post(url, "/w/a/origins", body)
        after = await show(url)

    assert (response.status_code, response.json()["digest"]) == (200, after["digest"])
    assert (before["origins"], after["origins"]) == ([], ["https://a.example"])
    text = (tmp_path / "A.widget.toml").read_text()
    assert text == 'image_origins = ["https://a.example"]\n' + BESIDE


async def test_save_never_overwrites_a_concurrent_change(tmp_path: Path) -> None:
    async with serving(folder_of(tmp_path), **SERVED) as url:
        before = await show(url)
        (tmp_path / "A.widget.toml").write_text("# Theirs.\n" + BESIDE)
        response = await post(
            url, "/w/a/origins", {"image_origins": [], "digest": before["digest"]}
        )
        none = await post(url, "/w/a/origins", {"image_origins": []})

    assert (response.status_code, response.json()["code"]) == (409, "W3005")
    assert none.status_code == 400
    assert (tmp_path / "A.widget.toml").read_text() == "# Theirs.\n" + BESIDE


@pytest.mark.parametrize("value", [[1], 3, {}, None])
async def test_invalid_value_leaves_the_sidecar_unchanged(tmp_path: Path, value: object) -> None:
    async with serving(folder_of(tmp_path), **SERVED) as url:
        body = {"image_origins": value, "digest": (await show(url))["digest"]}
        response = await post(url, "/w/a/origins", body)

    assert response.status_code == 400
    assert (tmp_path / "A.widget.toml").read_text() == BESIDE


async def test_broken_sidecar_is_left_for_manual_repair(tmp_path: Path) -> None:
    async with serving(folder_of(tmp_path), **SERVED) as url:
        digest = (await show(url))["digest"]
        (tmp_path / "A.widget.toml").write_text("description = ")
        response = await post(url, "/w/a/origins", {"image_origins": [], "digest": digest})

    assert (response.status_code, response.json()["code"]) == (422, "W1111")
    assert (tmp_path / "A.widget.toml").read_text() == "description = "


async def test_only_where_uploads_are_allowed_and_by_our_own_page_is_a_sidecar_edited(
    tmp_path: Path,
) -> None:
    folder_of(tmp_path)
    async with serving(tmp_path, gallery=True) as url:
        closed = await post(url, "/w/a/origins", {"image_origins": [], "digest": "x"})
        assert (await show(url))["origins"] is None
        assert 'id="tab-edit"' not in (await ask(url, "/w/a")).text
    async with serving(tmp_path, **SERVED) as url:
        stranger = await post(url, "/w/a/origins", {}, origin="http://example.com")
        absent = await post(url, "/w/b/origins", {"digest": "x"})

    assert closed.status_code in (404, 405)
    assert stranger.status_code == 403
    assert absent.status_code == 404
    assert (tmp_path / "A.widget.toml").read_text() == BESIDE
