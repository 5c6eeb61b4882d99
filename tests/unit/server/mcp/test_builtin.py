"""The table of built-in tools: unique names, and rows that agree with their tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
import pytest
from mcp import Client

from tests.support.answers import text
from tests.support.patience import PATIENCE_S
from tests.support.widgets import build_widget, snapshot_of
from widgetd.base.errors import ConfigError, WidgetError
from widgetd.core.widget.naming import slugify
from widgetd.server.access.principal import ADMIN, CALL, READ, Caller, Principal
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp import sdk
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.builtin import CORE_TOOLS, OPERATE_TOOLS
from widgetd.server.mcp.builtin.table import CORE, BuiltinTool, ToolContext
from widgetd.server.mcp.listing import Pages
from widgetd.server.mcp.server import Server, ServerOptions
from widgetd.server.render.result import Result, structured_result
from widgetd.server.store.contract import Bounds
from widgetd.server.store.factory import local_store

CORE_NAMES = {tool.name for tool in CORE_TOOLS}
FOR_PAGES = {"widget_action", "follow_render"}


async def tell(context: ToolContext[None], arguments: Mapping[str, Any]) -> Result:
    return structured_result({"caller": context.caller.principal.name, **arguments})


TELL = BuiltinTool(
    name="tell",
    description="Tell who calls.",
    input_schema={"type": "object", "properties": {}, "additionalProperties": False},
    handler=tell,
    toolset="operate",
)


def serving(row: BuiltinTool, *, bounds: Bounds | None = None, **options: Any) -> Server:
    rows = (*CORE_TOOLS, row)
    store = local_store(bounds) if bounds else local_store()
    return build(
        Registry(snapshot_of(build_widget())), store, ServerOptions(builtin=rows, **options)
    )


async def list_names(server: Server) -> set[str]:
    async with Client(sdk.lowlevel_of(server.mcp)) as client:
        return {tool.name for tool in (await client.list_tools()).tools}


def test_tool_names_are_possible_for_widgets() -> None:
    assert {slugify(name) for name in CORE_NAMES} == CORE_NAMES


@pytest.mark.parametrize("tool", CORE_TOOLS, ids=lambda tool: tool.name)
def test_every_argument_has_one_type_because_some_clients_need_it(tool: BuiltinTool) -> None:
    for name, part in tool.input_schema["properties"].items():
        assert isinstance(part.get("type"), str), name


def test_duplicate_tool_name_ends_the_start_and_names_both_owners() -> None:
    with pytest.raises(ConfigError) as raised:
        serving(replace(TELL, name="show_render", handler=partial(tell)))

    assert raised.value.code == "W0031"
    assert str(raised.value) == (
        "two built-in tools are called 'show_render': in widgetd.server.mcp.builtin.catalog and "
        f"{__name__}; rename one of them"
    )


async def test_disabled_toolset_is_unlisted_and_reserves_its_names() -> None:
    server = serving(TELL)
    async with Client(sdk.lowlevel_of(server.mcp)) as client:
        unknown = await client.call_tool("tell", {})

    assert await list_names(server) == {*CORE_NAMES - FOR_PAGES, "greeting"}
    assert text(unknown).startswith("[W2001] name: there is no widget 'tell'")
    with pytest.raises(WidgetError) as refused:
        server.admit(build_widget("Tell"))
    assert str(refused.value) == (
        "Tell.widget#/name: the tool name 'tell' is one of widgetd's own; "
        "give the widget another name"
    )


def tools_for(server: Server, principal: Principal) -> Pages:
    caller = Caller(snapshot=server.registry.current, principal=principal)
    return server.listings.of(caller.snapshot, server.listed_tools(caller))


def test_list_without_toolsets_is_byte_for_byte_the_same_as_without_their_rows() -> None:
    registry = Registry(snapshot_of(build_widget()))
    servers = [
        build(registry, local_store(), ServerOptions(builtin=rows))
        for rows in (CORE_TOOLS, (*CORE_TOOLS, *OPERATE_TOOLS))
    ]
    lists = [tools_for(server, Principal()).encode() for server in servers]

    assert lists[0] == lists[1]


async def test_toolset_is_listed_and_answers_if_enabled() -> None:
    server = serving(TELL, toolsets=["operate"])
    async with Client(sdk.lowlevel_of(server.mcp)) as client:
        result = await client.call_tool("tell", {})

    assert "tell" in await list_names(server)
    assert result.structured_content == {"caller": ""}


async def test_toolset_is_listed_only_to_callers_with_its_scope() -> None:
    row = replace(TELL, scope=ADMIN)
    some = Principal(name="ada", scopes=frozenset({READ, CALL}))
    server = serving(row, toolsets=["operate"], anonymous=some)
    async with Client(sdk.lowlevel_of(server.mcp)) as client:
        refused = await client.call_tool("tell", {})

    assert "tell" not in await list_names(server)
    assert text(refused).startswith("[W2301] this token has no scope 'admin'")


async def test_two_toolsets_of_one_snapshot_have_a_list_each() -> None:
    server = serving(replace(TELL, scope=ADMIN), toolsets=["operate"])
    some, all_ = Principal(scopes=frozenset({READ})), Principal()

    names = [
        {tool["name"] for tool in tools_for(server, one).page()["tools"]}
        for one in (all_, some, all_)
    ]

    assert names[0] == names[2] == names[1] | {"tell"}
    assert "tell" not in names[1]
    assert tools_for(server, all_) is tools_for(server, all_)


async def test_call_takes_its_cost_from_the_callers_rate() -> None:
    bounds = Bounds(rate_per_s=0.001, burst=9)
    server = serving(replace(TELL, cost=5), bounds=bounds, toolsets=["operate"])
    async with Client(sdk.lowlevel_of(server.mcp), mode="legacy") as client:
        first = await client.call_tool("tell", {})
        second = await client.call_tool("tell", {})
        third = await client.call_tool("search_widgets", {})

    assert first.structured_content == {"caller": ""}
    assert text(second).startswith("[W2201]")
    assert third.structured_content is not None


async def test_waiting_tool_occupies_no_slot() -> None:
    entered = anyio.Event()

    async def wait(_context: ToolContext[None], _arguments: Mapping[str, Any]) -> Result:
        entered.set()
        await anyio.sleep_forever()
        raise AssertionError

    row = replace(TELL, handler=wait, waits=True)
    server = serving(row, bounds=Bounds(at_once=1), toolsets=["operate"])
    async with (
        Client(sdk.lowlevel_of(server.mcp), mode="legacy") as client,
        anyio.create_task_group() as tasks,
    ):
        with anyio.fail_after(PATIENCE_S):
            tasks.start_soon(client.call_tool, "tell", {})
            await entered.wait()
            other = await client.call_tool("greeting", {"who": "Ada"})
        tasks.cancel_scope.cancel()

    assert not other.is_error


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_client_that_asks_receives_the_progress_of_its_call(mode: Any) -> None:
    async def work(context: ToolContext[None], _arguments: Mapping[str, Any]) -> Result:
        await context.caller.report(1, 2, "First")
        await context.caller.report(2, 2, "Second")
        return structured_result({})

    reports = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        reports.append((progress, total, message))

    server = serving(replace(TELL, toolset=CORE, handler=work))
    async with Client(sdk.lowlevel_of(server.mcp), mode=mode) as client:
        silent = await client.call_tool("tell", {})
        await client.call_tool("tell", {}, progress_callback=note)

    assert not silent.is_error
    assert reports == [(1, 2, "First"), (2, 2, "Second")]
