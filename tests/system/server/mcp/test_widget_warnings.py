"""Warnings about widgets, each once in the log: images that no host loads, differing pages."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tests.support.clients import Era, connect_client
from tests.support.daemons import serving
from tests.support.logs import captured_logs
from tests.support.widgets import widget_file

GIVEN = '{"type":"Card","children":[{"type":"Image","src":{{ who | tojson }}}]}'


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("profile", ["chatkit", "split"])
async def test_blocked_origin_is_logged_once_for_each_widget(
    tmp_path: Path, era: Era, profile: str
) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A", template=GIVEN))
    (tmp_path / "B.widget").write_text(widget_file("B", template=GIVEN))
    (tmp_path / "B.widget.toml").write_text('image_origins = ["https://i.imgur.com"]')
    settings = {"image_origin": ("https://fine.test",), "profile": profile}
    with captured_logs() as logged:
        async with serving(tmp_path, **settings) as url, connect_client(url, era) as client:
            for who in ("https://i.imgur.com/a.png", "https://i.imgur.com/b.png"):
                await client.call("a", who=who)
                await client.call("b", who=who)
            other = {"name": "a", "arguments": {"who": "https://x.test/"}}
            await client.client.call_tool("render_widget", other)
            await client.call("a", who="https://fine.test/a.png")
            for n in range(20):
                await client.call("b", who=f"https://{n}.test/a.png")

    blocked = [one for one in logged.all if one["event"] == "image.blocked"]
    assert blocked[:2] == [
        {
            "event": "image.blocked",
            "level": "warning",
            "widget": "a",
            "origin": origin,
            "setting": "image_origin",
        }
        for origin in ("https://i.imgur.com", "https://x.test")
    ]
    assert {one["widget"] for one in blocked[2:]} == {"b"}
    assert len(blocked[2:]) == 8


async def test_origins_of_the_sidecar_are_declared_to_hosts(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A", template=GIVEN))
    (tmp_path / "A.widget.toml").write_text('image_origins = ["https://i.imgur.com"]')
    async with serving(tmp_path) as url, connect_client(url, "modern") as client:
        [page] = (await client.client.read_resource("ui://widgetd/a.html")).contents

    assert (page.meta or {})["ui"]["csp"]["resourceDomains"] == ["https://i.imgur.com"]


async def test_page_with_a_different_tree_is_counted_and_logged_once(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    with captured_logs() as logged:
        async with serving(tmp_path) as url, connect_client(url, "modern") as client:
            for _ in range(2):
                result = await client.call("a", who="a secret")
                query = {
                    "render_id": (result.meta or {})["widgetd/render"]["id"],
                    "timeout_s": 0,
                    "differed": True,
                }
                await client.client.call_tool("follow_render", query)
            async with httpx.AsyncClient() as http:
                metrics = (await http.get(url.replace("/mcp", "/metrics"))).text

    assert 'widgetd_page_differences_total{widget="a"} 2.0' in metrics
    lines = [one for one in logged.all if one["event"] == "page.differed"]
    assert lines == [{"event": "page.differed", "level": "warning", "widget": "a"}]
