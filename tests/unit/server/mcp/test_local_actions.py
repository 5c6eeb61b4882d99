"""Local actions: the server draws the next state for a page without a program, and stores none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
from mcp import Client

from tests.support.widgets import build_widget, snapshot_of
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp import sdk
from widgetd.server.mcp.assembly import build
from widgetd.server.store.contract import Bounds, StoredRender
from widgetd.server.store.factory import local_store

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"rows": {"type": "array", "items": {"type": "string"}}, "id": {}},
    "additionalProperties": False,
}
TEMPLATE = (
    '{"type":"Card","children":[{"type":"Button","label":"All",'
    '"onClickAction":{"type":"rows.toggle"}},{"type":"Text","value":{{ id | tojson }}}'
    "{% for row in rows %}{% if loop.first or showAll %}"
    ',{"type":"Button","label":{{ row | tojson }},'
    '"onClickAction":{"type":"row.pick","payload":{"row":{{ row | tojson }}}}}'
    "{% endif %}{% endfor %}]}"
)
SIDECAR = """
ids = ["id"]
[state]
showAll = false
[local."rows.toggle"]
showAll = "not showAll"
"""
ROWS = {"rows": ["one", "two"]}
META: Any = {"widgetd/profile": "split"}


@pytest.fixture
async def rows_client() -> AsyncIterator[Client]:
    rows = build_widget("Rows", schema=SCHEMA, template=TEMPLATE, sidecar=SIDECAR)
    closed = build_widget(
        "Closed", schema=SCHEMA, template=TEMPLATE, sidecar="program = false\n" + SIDECAR
    )
    secret = build_widget(
        "Secret", schema=SCHEMA, template=TEMPLATE, sidecar='sensitive = ["rows"]\n' + SIDECAR
    )
    server = build(Registry(snapshot_of(rows, closed, secret)), local_store(Bounds()))
    async with Client(sdk.lowlevel_of(server.mcp)) as connected:
        yield connected


async def show_rows(rows_client: Client, tool: str = "rows") -> dict[str, Any]:
    result = await rows_client.call_tool(tool, ROWS, meta=META)
    meta = dict(result.meta or {})
    return {"tree": meta["widgetd/widget"], **meta["widgetd/render"]}


async def press_row(rows_client: Client, render: dict[str, Any], action: str, **more: Any) -> Any:
    key = uuid4().hex
    press = {"render_id": render["id"], "action": action, "idempotency_key": key, **more}
    return await rows_client.call_tool("widget_action", press)


async def test_result_has_everything_that_a_page_needs_to_act_locally(rows_client: Client) -> None:
    render = await show_rows(rows_client)

    assert render["local"] == {
        "state": {"showAll": False},
        "actions": ["rows.toggle"],
        "arguments": {**ROWS, "id": render["tree"]["children"][1]["value"]},
        "program": render["local"]["program"],
    }


@pytest.mark.parametrize("tool", ["closed", "secret"])
async def test_page_unable_to_act_locally_gets_no_arguments(rows_client: Client, tool: str) -> None:
    render = await show_rows(rows_client, tool)

    assert render["local"] == {"state": {"showAll": False}, "actions": ["rows.toggle"]}


async def test_server_draws_the_next_state_and_stores_nothing(rows_client: Client) -> None:
    render = await show_rows(rows_client, "closed")
    answer = await press_row(rows_client, render, "rows.toggle")
    again = await press_row(rows_client, render, "rows.toggle", state={"showAll": True})
    awaited = await rows_client.call_tool(
        "await_widget_action", {"render_id": render["id"], "timeout_s": 0}
    )

    children = answer.structured_content["children"]
    assert [child.get("label") for child in children] == ["All", None, "one", "two"]
    assert children[1] == render["tree"]["children"][1]  # the id that the call was given
    assert answer.meta["widgetd/render"]["local"]["state"] == {"showAll": True}
    assert again.structured_content == render["tree"]
    assert (awaited.structured_content or {})["actions"] == []


async def test_action_is_offered_in_the_state_of_the_page_alone(rows_client: Client) -> None:
    render = await show_rows(rows_client)
    pick: dict[str, Any] = {"action": "row.pick", "payload": {"row": "two"}}

    refused = await press_row(rows_client, render, **pick)
    accepted = await press_row(rows_client, render, **pick, state={"showAll": True})
    unknown = await press_row(rows_client, render, "rows.toggle", state={"colour": "red"})

    assert refused.content[0].text.startswith("[W2404]")
    assert (accepted.structured_content or {})["status"] == "accepted"
    assert "the widget's state has no 'colour'; it has showAll" in unknown.content[0].text


def test_store_keeps_state_and_arguments() -> None:
    render = StoredRender(
        id="r_1", tool="rows", tree=b"{}", created=1.0, local=b'{"state":{}}', arguments=b'{"a":1}'
    )
    copy = StoredRender.read(render.json())

    assert (copy.local, copy.arguments) == (render.local, render.arguments)
