"""Pages that follow a board of a live feed: time until all have a change, and calls upstream."""

from __future__ import annotations

import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import orjson
from anyio.abc import SocketStream
from fastmcp import FastMCP

from tests.support.processes import daemon_process
from tests.support.sockets import connect, modern_request, read_response
from tests.support.widgets import widget_file
from tests.system.upstreams.servers import serve_mcp, toml

FOLLOWERS = 1_000
INTERVALS = 4
EVERY_S = 2

_TEMPLATE = '{"type":"Card","children":[{"type":"Text","value":{{ status | tojson }}}]}'
_SCHEMA = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}
_SIDECAR = f"""
[feed]
upstream = "airport"
tool = "board"
every_s = {EVERY_S}
"""
_WAIT_S = 55


class Board:
    """An upstream whose board differs at each call.

    Attributes:
        answered_s: The time of each call.
    """

    def __init__(self) -> None:
        self.mcp: FastMCP[Any] = FastMCP("airport")
        self.answered_s: list[float] = []

        @self.mcp.tool(annotations={"readOnlyHint": True})
        async def board() -> dict[str, str]:
            self.answered_s.append(time.perf_counter())
            return {"status": f"departure {len(self.answered_s)}"}


async def _call(
    stream: SocketStream, url: str, name: str, arguments: dict[str, Any]
) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    for part in modern_request(url, "tools/call", params, name=name):
        await stream.send(part)
    _, body = await read_response(stream)
    result: dict[str, Any] = orjson.loads(body)["result"]
    return result


async def follow(followers: int, intervals: int) -> tuple[list[float], int]:
    """Follow one board with many clients.

    Returns:
        For each interval the seconds from the upstream's answer until the last client had the
        change; and the number of calls upstream in these intervals.
    """
    board, last_s = Board(), dict[int, float]()
    with TemporaryDirectory() as place:
        widgets = Path(place) / "widgets"
        widgets.mkdir()
        (widgets / "Board.widget").write_text(
            widget_file("Board", schema=_SCHEMA, template=_TEMPLATE)
        )
        (widgets / "Board.widget.toml").write_text(_SIDECAR)
        declared = Path(place) / "u.toml"
        async with serve_mcp(board.mcp) as upstream:
            declared.write_text(toml("airport", url=upstream))
            flags = ("--upstreams", str(declared), "--log-level", "error")
            async with daemon_process(widgets, *flags) as served:
                url = served.url
                async with await connect(url) as stream:
                    result = await _call(stream, url, "board", {})
                render_id = result["_meta"]["widgetd/render"]["id"]
                calls = len(board.answered_s)

                async def page() -> None:
                    version = 1
                    async with await connect(url) as stream:
                        while version <= intervals:
                            query = {"render_id": render_id, "after": version, "timeout_s": _WAIT_S}
                            found = await _call(stream, url, "follow_render", query)
                            version = found["_meta"]["widgetd/render"].get("version", version)
                            last_s[version] = time.perf_counter()

                async with anyio.create_task_group() as tasks:
                    for _ in range(followers):
                        tasks.start_soon(page)
    answered = board.answered_s[calls:]
    late = [
        last_s[version + 2] - at for version, at in enumerate(answered) if version + 2 in last_s
    ]
    return late, len(answered)


def main() -> None:
    """Print the line of the benchmark."""
    late, calls = anyio.run(follow, FOLLOWERS, INTERVALS)
    delays = ", ".join(f"{one:.2f}" for one in late)
    line = {"followers": FOLLOWERS, "intervals": len(late), "upstream calls": calls}
    print(f"{json.dumps(line)}: the last one had each change after {delays} s")


if __name__ == "__main__":
    main()
