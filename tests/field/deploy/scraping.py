"""Metrics of a daemon after a change, a call and a filled widget."""

from __future__ import annotations

from pathlib import Path

from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.support.widgets import widget_file
from tests.system.server.web.asking import ask
from tests.system.upstreams.servers import json_reply, raw


async def scrape(folder: Path) -> str:
    """Return the text of `/metrics`.

    Args:
        folder: An empty one, to work in.
    """
    declared, widgets = folder / "upstreams.toml", folder / "widgets"
    widgets.mkdir()
    async with raw(json_reply({})) as port:
        base = f"http://127.0.0.1:{port}"
        declared.write_text(f'[it]\nbase = "{base}"\n[it.endpoints.get]\nget = "/"\n')
        return await _read_metrics(widgets, declared)


async def _read_metrics(folder: Path, upstreams: Path) -> str:
    async with serving(folder, upstreams=upstreams) as url, connect_client(url, "modern") as client:
        feed = '[feed]\nupstream = "it"\ntool = "get"\nask = ["who"]\n'
        (folder / "A.widget.toml").write_text(feed)
        (folder / "A.widget").write_text(widget_file("A"))
        await client.lists("a")
        await client.call("a", who="Ada")
        return (await ask(url, "/metrics")).text
