"""Images that no host will load are said once in the log, and not with each call."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.clients import Era, connected
from tests.support.daemons import serving
from tests.support.logs import captured_logs
from tests.support.widgets import widget_file

GIVEN = '{"type":"Card","children":[{"type":"Image","src":{{ who | tojson }}}]}'


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("profile", ["chatkit", "split"])
async def test_a_blocked_origin_is_said_once_for_each_widget(
    tmp_path: Path, era: Era, profile: str
) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A", template=GIVEN))
    (tmp_path / "B.widget").write_text(widget_file("B", template=GIVEN))
    (tmp_path / "B.widget.toml").write_text('image_origins = ["https://i.imgur.com"]')
    settings = {"image_origin": ("https://fine.test",), "profile": profile}
    with captured_logs() as logged:
        async with serving(tmp_path, **settings) as url, connected(url, era) as client:
            for who in ("https://i.imgur.com/a.png", "https://i.imgur.com/b.png"):
                await client.call("a", who=who)
                await client.call("b", who=who)
            other = {"name": "a", "arguments": {"who": "https://x.test/"}}
            await client.client.call_tool("render_widget", other)
            await client.call("a", who="https://fine.test/a.png")
            for n in range(20):
                await client.call("b", who=f"https://{n}.test/a.png")

    said = [one for one in logged.all if one["event"] == "image.blocked"]
    assert said[:2] == [
        {
            "event": "image.blocked",
            "level": "warning",
            "widget": "a",
            "origin": origin,
            "setting": "image_origin",
        }
        for origin in ("https://i.imgur.com", "https://x.test")
    ]
    assert {one["widget"] for one in said[2:]} == {"b"}
    assert len(said[2:]) == 8


async def test_the_sidecars_origins_are_declared_to_hosts(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A", template=GIVEN))
    (tmp_path / "A.widget.toml").write_text('image_origins = ["https://i.imgur.com"]')
    async with serving(tmp_path) as url, connected(url, "modern") as client:
        [page] = (await client.client.read_resource("ui://widgetd/a.html")).contents

    assert (page.meta or {})["ui"]["csp"]["resourceDomains"] == ["https://i.imgur.com"]
