"""Replacing a render: permissions, answers and notifications."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import CallToolResult, Implementation, TextResourceContents

from tests.support.booking import mark
from tests.support.form import ARGUMENTS, GIVEN, act, order
from tests.support.patience import PATIENCE_S
from tests.support.widgets import build_widget, greeting, snapshot_of
from widgetd.server.access.principal import CALL, READ, Caller, ClientInfo, Principal
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp import sdk
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.server import Server, ServerOptions
from widgetd.server.render.result import Policy, Result
from widgetd.server.store.contract import Bounds, StoredRender
from widgetd.server.store.factory import Store, local_store

pytestmark = pytest.mark.serves(order(), build_widget(), bounds=Bounds(versions_per_s=3))


@pytest.fixture
async def render_id(client: Client) -> str:
    return str(mark(await client.call_tool("order", ARGUMENTS))["id"])


def error(result: CallToolResult) -> dict[str, Any]:
    assert result.is_error
    assert result.meta is not None
    failure: dict[str, Any] = result.meta["widgetd/error"]
    return failure


async def update(client: Client, render_id: str, **arguments: Any) -> CallToolResult:
    return await client.call_tool("update_render", {"render_id": render_id, **arguments})


async def show(client: Client, render_id: str) -> CallToolResult:
    return await client.call_tool("show_render", {"render_id": render_id})


async def test_update_is_shown_and_read_from_then_on(client: Client) -> None:
    render_id = mark(await client.call_tool("greeting", {"who": "Ada"}))["id"]
    answer = await update(client, render_id, arguments={"who": "Grace"}, note="Welcome back.")
    again = await show(client, render_id)
    [content] = (await client.read_resource(f"widgetd://renders/{render_id}")).contents

    assert answer.structured_content == {
        "renderId": render_id,
        "version": 2,
        "summary": "Greeting: who Grace",
    }
    assert again.structured_content == greeting("Hello", "Grace")
    meta = mark(again)
    assert (meta["id"], meta["version"]) == (render_id, 2)
    assert (meta["state"], meta["note"]) == ("done", "Welcome back.")
    assert isinstance(content, TextResourceContents)
    read = json.loads(content.text)
    assert (read["tree"], read["render"]) == (greeting("Hello", "Grace"), meta)


async def test_note_alone_leaves_the_picture_and_does_not_outlast_its_version(
    client: Client, render_id: str
) -> None:
    before = await show(client, render_id)
    await update(client, render_id, failed=True, note="There is no tea left.")
    failed = await show(client, render_id)
    await update(client, render_id, arguments=ARGUMENTS)
    done = await show(client, render_id)

    assert "version" not in mark(before)
    assert failed.structured_content == before.structured_content
    assert (mark(failed)["state"], mark(failed)["note"]) == ("failed", "There is no tea left.")
    assert mark(done)["state"] == "done"
    assert "note" not in mark(done)


@pytest.mark.parametrize(
    ("arguments", "code", "path"),
    [
        ({}, "W2002", "arguments"),
        ({"failed": True}, "W2002", "note"),
        ({"note": "x" * 201}, "W2002", "note"),
        ({"arguments": {"lines": []}}, "W2002", "order"),
        ({"note": "done", "after": 7}, "W2406", "after"),
        ({"render_id": "r_none", "note": "done"}, "W2007", "render_id"),
    ],
)
async def test_invalid_version_is_refused(
    client: Client, render_id: str, arguments: dict[str, Any], code: str, path: str
) -> None:
    failure = error(await update(client, **{"render_id": render_id, **arguments}))

    assert (failure["code"], failure["path"]) == (code, path)
    assert "version" not in mark(await show(client, render_id))


async def test_updates_above_the_rate_get_a_retry_time(client: Client, render_id: str) -> None:
    for at in range(3):
        assert not (await update(client, render_id, note=f"{at}")).is_error

    failure = error(await update(client, render_id, note="soon"))

    assert failure["code"] == "W2201"
    assert 0 < failure["retryAfterS"] <= 0.334


async def test_action_must_be_in_the_newest_version(client: Client, render_id: str) -> None:
    await update(client, render_id, arguments={"order": "o1", "lines": ["tea"]})

    accepted = await act(client, render_id, GIVEN, key="one")
    refused = await act(
        client, render_id, {"order": "o1", "line": "cake"}, action="line.drop", key="two"
    )
    await update(client, render_id, arguments={"order": "o1"})
    none = await act(
        client, render_id, {"order": "o1", "line": "tea"}, action="line.drop", key="three"
    )

    assert accepted.structured_content == {"status": "accepted", "next": 1}
    assert error(refused)["code"] == "W2404"
    assert error(none)["code"] == "W2401"


async def test_only_its_owner_and_an_administrator_may_replace_a_render() -> None:
    store, registry = local_store(), Registry(snapshot_of(build_widget()))

    def served_to(principal: Principal) -> Any:
        options = ServerOptions(anonymous=principal)
        return sdk.lowlevel_of(build(registry, store, options).mcp)

    scopes = frozenset({READ, CALL})
    async with (
        Client(served_to(Principal(name="ann", scopes=scopes))) as ann,
        Client(served_to(Principal(name="bob", scopes=scopes))) as bob,
        Client(served_to(Principal(name="chief"))) as chief,
    ):
        render_id = mark(await ann.call_tool("greeting", {"who": "Ada"}))["id"]
        refused = await update(bob, render_id, arguments={"who": "Bob"})
        unknown = await update(bob, "r_none", arguments={"who": "Bob"})
        hers = await update(ann, render_id, note="one")
        chiefs = await update(chief, render_id, note="two")
        again = await update(ann, render_id, note="three")

    failure, of_none = error(refused), error(unknown)
    assert failure["code"] == "W2007"
    assert failure["message"] == of_none["message"].replace("r_none", render_id)
    assert not any(one.is_error for one in (hers, chiefs, again))


async def test_following_page_receives_each_newer_version_at_once(
    client: Client, render_id: str, store: Store
) -> None:
    results: list[CallToolResult] = []

    async def follow(**query: Any) -> CallToolResult:
        return await client.call_tool("follow_render", {"render_id": render_id, **query})

    async def wait() -> None:
        results.append(await follow(after=1, timeout_s=60))

    with anyio.fail_after(PATIENCE_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await update(client, render_id, arguments={"order": "o2"})
        late = await follow(after=1, timeout_s=0)
        none = await follow(after=2, timeout_s=0)
        store.actions.drain()
        draining = await follow(after=2, timeout_s=60)

    assert mark(results[0])["version"] == 2
    assert results[0].structured_content == late.structured_content
    assert none.structured_content == {"status": "timeout"}
    assert draining.structured_content == {"status": "draining"}


async def test_following_is_for_pages_and_updating_for_models(client: Client) -> None:
    tools = {tool.name for tool in (await client.list_tools()).tools}

    assert "update_render" in tools
    assert "follow_render" not in tools


@pytest.mark.parametrize("name", ["google-adk", "Visual Studio Code"])
async def test_page_receives_a_tree_that_its_hosts_result_lacks(name: str) -> None:
    options = ServerOptions(policy=Policy(inline_max_bytes=10))
    server = build(Registry(snapshot_of(build_widget())), local_store(Bounds()), options=options)
    info = Implementation(name=name, version="1")
    async with Client(sdk.lowlevel_of(server.mcp), client_info=info) as client:
        called = await client.call_tool("greeting", {"who": "Ada"})
        render_id = mark(called)["id"]
        query = {"render_id": render_id, "after": 0, "timeout_s": 0}
        fetched = await client.call_tool("follow_render", query)

    assert "widgetd/widget" not in (called.meta or {})
    assert fetched.meta is not None
    assert fetched.meta["widgetd/widget"] == greeting("Hello", "Ada")


async def test_pages_following_one_render_share_the_result_of_each_version(
    server: Server, client: Client, render_id: str, store: Store
) -> None:
    first, second = (
        Caller(snapshot=server.registry.current, client=ClientInfo(name=name))
        for name in ("one", "two")
    )

    def follow(caller: Caller, render: StoredRender) -> Result:
        return server.rendering.result(render, caller, is_for_page=True)

    version_1 = await store.renders.get(render_id)
    await update(client, render_id, note="done")
    version_2 = await store.renders.get(render_id)
    assert version_1 is not None
    assert version_2 is not None

    assert follow(first, version_1) is follow(first, version_1)
    assert follow(first, version_1).json() == follow(second, version_1).json()
    assert b'"version":2' in follow(first, version_2).json()
