"""A daemon without upstreams pays nothing for them; failing ones cost no plain call."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import orjson

from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.support.widgets import widget_file
from tests.system.upstreams.servers import SHOP, raw, silent, slow, toml
from tests.system.upstreams.test_feeds import FEED, write_flight

PROGRAM = """
import sys, anyio
from pathlib import Path
from tests.support.daemons import serving

async def main():
    async with serving(Path(sys.argv[1]), toolset=("upstreams",)):
        print("loaded", *sorted(name for name in sys.modules if is_theirs(name)), "in all")

def is_theirs(name):
    return name.startswith("widgetd.upstreams.") or name == "fastmcp.server.providers.openapi"

anyio.run(main)
"""


async def test_daemon_without_a_file_imports_no_upstream_code(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    with anyio.fail_after(90):
        done = await anyio.run_process(command)

    assert (
        "loaded widgetd.upstreams.toolset widgetd.upstreams.wing in all\n" in done.stdout.decode()
    )


async def test_plain_calls_go_on_while_upstreams_hang(tmp_path: Path) -> None:
    (tmp_path / "shop.json").write_bytes(orjson.dumps(SHOP))
    plain: list[Any] = []
    filled: list[Any] = []
    async with raw(silent) as hanging, raw(slow) as crawling:
        base = f"http://127.0.0.1:{crawling}"
        declared = tmp_path / "u.toml"
        declared.write_text(
            toml("flights", url=f"http://127.0.0.1:{hanging}/mcp", connect_s=0.3, call_s=0.3)
            + toml("shop", openapi="shop.json", base=base, call_s=0.3)
        )
        widgets = write_flight(tmp_path)
        shop = FEED.replace('"flights"', '"shop"').replace("get_flight", "get_product")
        shop = shop.replace('flight_no = "number"', 'id = "`1`"')
        (widgets / "Shop.widget").write_text(
            (widgets / "Flight.widget").read_text().replace('"Flight"', '"Shop"')
        )
        (widgets / "Shop.widget.toml").write_text(shop)
        async with serving(widgets, upstreams=declared) as url:

            async def client(number: int) -> None:
                async with connect_client(url, "modern") as one:
                    for turn in range(3):
                        plain.append(await one.client.call_tool("plain", {"who": "Ada"}))
                        arguments = {"number": f"UA{number}{turn}"}
                        tool = "shop" if number % 2 else "flight"
                        filled.append(await one.client.call_tool(tool, arguments))

            with anyio.fail_after(90):
                async with anyio.create_task_group() as tasks:
                    for number in range(16):
                        tasks.start_soon(client, number)

    assert len(plain) == len(filled) == 48
    assert not any(one.is_error for one in plain)
    errors = [one.meta["widgetd/error"] for one in filled]
    assert {error["code"] for error in errors} <= {"W5002", "W5003"}
    assert all("retryAfterS" in error for error in errors)
