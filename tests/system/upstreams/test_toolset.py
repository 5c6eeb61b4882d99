"""The toolset `upstreams` shows states and answers, page by page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import jmespath
import pytest
from fastmcp import FastMCP

from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.support.widgets import widget_file
from tests.system.server.web.asking import ask
from tests.system.upstreams.servers import (
    READ_ONLY,
    SHOP,
    STDIO,
    child,
    json_reply,
    raw,
    serve_mcp,
    toml,
)
from tests.system.upstreams.test_feeds import write_flight
from widgetd.cli import main

ROWS = [{"n": n, "text": "é" * (n % 7)} for n in range(900)]
HEAD = '[rates]\nbase = "http://127.0.0.1:{port}"\n[rates.endpoints.all]\nget = "/all"\n'


async def answer(client: Any, tool: str, /, **arguments: Any) -> Any:
    result = await client.client.call_tool(tool, arguments)
    if result.is_error:
        return result.meta["widgetd/error"]
    return result.structured_content


async def test_answer_is_read_whole_in_pages_and_by_an_expression(tmp_path: Path) -> None:
    feed = '[feed]\nupstream = "rates"\ntool = "all"\nask = ["number"]\n'
    feed += '[feed.map]\nairline = "a"\nlegs = "b"\n'
    widgets, declared = write_flight(tmp_path, feed), tmp_path / "u.toml"
    async with raw(json_reply({"rows": ROWS})) as port:
        declared.write_text(HEAD.format(port=port))
        async with (
            serving(widgets, upstreams=declared, toolset=("upstreams",)) as url,
            connect_client(url, "modern") as client,
        ):
            whole = await answer(
                client, "call_upstream", name="rates", tool="all", most_bytes=10**6
            )
            query = {"name": "rates", "tool": "all", "most_bytes": 2000}
            page = await answer(client, "call_upstream", **query)
            pages = [page["page"]]
            while "next" in page:
                page = await answer(client, "call_upstream", after=page["next"], most_bytes=2000)
                pages.append(page["page"])
            first = await answer(client, "call_upstream", **query)
            select = "rows[?n < `2`].{a: n}"
            rest = await answer(
                client, "call_upstream", after=first["next"], select=select, name="rates"
            )
            wrong = await answer(client, "call_upstream", **query, select="a b")
            missing = await answer(client, "call_upstream", after="nobody.1")
            report = await answer(client, "get_upstreams")

    assert whole.keys() == {"kind", "bytes", "page"}
    assert json.loads(whole["page"]) == {"rows": ROWS}
    assert "".join(pages) == whole["page"]
    assert len(pages) > 5
    assert all(len(one.encode()) <= 2003 for one in pages)
    assert json.loads(rest["page"]) == jmespath.search(select, {"rows": ROWS})
    assert (wrong["code"], missing["code"]) == ("W5007", "W5009")
    [item] = report["items"]
    assert (item["name"], item["kind"], item["state"]) == ("rates", "endpoints", "ready")
    assert item["tools"] == ["all"]
    assert item["usedBy"] == ["flight"]
    assert item["calls"] == 4


WORDY = """
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
mcp = FastMCP("wordy")
@mcp.tool(annotations={"readOnlyHint": True})
def get_seat(number: str) -> str:
    'Return the passenger in a seat.'
    raise ToolError("row 41 is in the sea\\u202e")
mcp.run(show_banner=False)
"""


async def test_operator_reads_the_words_and_schemas_of_an_upstream_and_a_widget_does_not(
    tmp_path: Path,
) -> None:
    feed = '[feed]\nupstream = "wordy"\ntool = "get_seat"\nask = ["number"]\n'
    feed += '[feed.map]\nairline = "a"\nlegs = "b"\n'
    widgets, declared = write_flight(tmp_path, feed), tmp_path / "u.toml"
    declared.write_text(toml("wordy", **child(WORDY)))
    async with (
        serving(widgets, upstreams=declared, toolset=("upstreams",)) as url,
        connect_client(url, "modern") as client,
    ):
        query = {"name": "wordy", "tool": "get_seat", "arguments": {"number": "41"}}
        failed = await answer(client, "call_upstream", **query)
        filled = await client.call("flight", number="UA123")
        [item] = (await answer(client, "get_upstreams", names=["wordy"]))["items"]

    assert (failed["code"], failed["message"]) == (
        "W5010",
        "the tool of the upstream 'wordy' says that it failed: row 41 is in the sea",
    )
    assert (filled.meta or {})["widgetd/error"]["code"] == "W5010"
    assert "sea" not in filled.model_dump_json()
    [tool] = item["toolDetails"]
    assert tool["description"] == "Return the passenger in a seat."
    assert tool["readOnly"] is True
    assert tool["inputSchema"]["properties"]["number"]["type"] == "string"


async def test_without_a_file_the_tools_report_no_upstreams(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    async with (
        serving(tmp_path, toolset=("upstreams",)) as url,
        connect_client(url, "modern") as client,
    ):
        assert await answer(client, "get_upstreams") == {"items": []}
        error = await answer(client, "call_upstream", name="x", tool="y")
        listed = await client.tools()

    assert error["code"] == "W5001"
    assert {"get_upstreams", "call_upstream"} <= listed


async def test_upstream_without_a_read_only_tool_says_what_to_write(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    widgets, file = write_flight(tmp_path), tmp_path / "u.toml"
    many = FastMCP("many")
    for number in range(108):
        many.tool(lambda: "booked", name=f"book_{number}")
    changing = SHOP["paths"]["/products"]  # type: ignore[index]
    (tmp_path / "shop.json").write_text(json.dumps({**SHOP, "paths": {"/products": changing}}))
    async with serve_mcp(many) as url:
        file.write_text(
            toml("many", url=url, connect_s=60.0)
            + toml("program", connect_s=60.0, **child(STDIO.replace(repr(READ_ONLY), "{}")))
            + toml("shop", openapi="shop.json", base="http://127.0.0.1:9")
        )
        async with (
            serving(widgets, upstreams=file, toolset=("upstreams", "operate")) as at,
            connect_client(at, "modern") as client,
        ):
            states: list[dict[str, Any]] = [{"state": "connecting"}]
            with anyio.fail_after(60):
                while any(item["state"] == "connecting" for item in states):
                    states = (await answer(client, "get_upstreams"))["items"]
            status = (await ask(at, "/status")).json()["allUpstreams"]["items"]
            page = (await ask(at, "/status", accept="text/html")).text
        file.write_text(file.read_text().partition("[shop]")[0])  # it would be connected to
        code = await anyio.to_thread.run_sync(main, ["upstreams", "--file", str(file)])

    counts = {"many": 108, "program": 1, "shop": 1}
    advice = "108 tools, none says that it only reads. Write tools = [...]"
    for reported in (states, status):
        assert {one["name"]: one["unmarked"] for one in reported} == counts
        assert {one["state"] for one in reported} == {"empty"}
        assert reported[0]["advice"] == advice
    assert page.count("none says that it only reads") == 3
    assert code == 0
    assert f"many     mcp        empty     {advice}\n" in capfd.readouterr().out
