"""A Python client reads what a call came to, whichever profile and client it came through."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, assert_type, cast

import pytest
from fastmcp import Client as FastMCPClient
from mcp import Client
from mcp_types import RequestParamsMeta
from pydantic import ValidationError

import widgetd
from tests.support.widgets import greeting, snapshot_of, widget
from widgetd.catalog.registry import Registry
from widgetd.mcp import sdk
from widgetd.mcp.assembly import build
from widgetd.mcp.server import Server, ServerOptions
from widgetd.render.result import Policy
from widgetd.store.factory import local_store

ADA = {"who": "Ada"}
TREE = greeting("Hello", "Ada")
SIDECAR = 'ui_type = "social-greeting"\nprovider = "social"\nsummary_fields = ["who"]'

is_greeting = widgetd.guard("social-greeting")


@pytest.fixture
def server() -> Server:
    return build(Registry(snapshot_of(widget(sidecar=SIDECAR))), local_store())


@pytest.fixture(params=["legacy", "auto"])
async def client(server: Server, request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    async with Client(sdk.lowlevel_of(server.mcp), mode=request.param) as connected:
        yield connected


async def show(client: Client, profile: str = "chatkit") -> widgetd.Shown:
    meta = cast("RequestParamsMeta", {"widgetd/profile": profile})
    answered = widgetd.response(await client.call_tool("greeting", ADA, meta=meta))
    assert is_greeting(answered)
    assert_type(answered, widgetd.Shown)
    return answered


@pytest.mark.parametrize("profile", ["chatkit", "split"])
async def test_tree_is_found_in_either_profile(client: Client, profile: str) -> None:
    answered = await show(client, profile)

    assert answered.tree == TREE
    assert answered.text == "Greeting: who Ada"
    assert answered.ui.ui_metadata.provider == "social"
    assert answered.render.widget == "greeting"
    assert answered.link is None


async def test_models_data_is_separate_from_the_tree(client: Client) -> None:
    assert (await show(client, "chatkit")).facts is None

    facts = (await show(client, "split")).facts

    assert facts is not None
    assert facts.wire() == {
        "uiType": "social-greeting",
        "summary": "Greeting: who Ada",
        "who": "Ada",
    }


async def test_oversized_tree_is_sent_as_a_link() -> None:
    options = ServerOptions(policy=Policy(inline_max_bytes=10))
    server = build(Registry(snapshot_of(widget(sidecar=SIDECAR))), local_store(), options)
    async with Client(sdk.lowlevel_of(server.mcp)) as client:
        answered = await show(client)

    assert answered.tree is None
    assert answered.link == f"widgetd://renders/{answered.render.id}"
    assert answered.facts is not None
    assert answered.facts.ui_type == "social-greeting"


async def test_failure_has_its_own_type(client: Client) -> None:
    answered = widgetd.response(await client.call_tool("greeting", {"who": 7}))

    assert not is_greeting(answered)
    assert isinstance(answered, widgetd.Failed)
    assert answered.error.code == "W2002"
    assert answered.text.startswith("[W2002] who: ")


async def test_fastmcp_client_reads_the_same(server: Server) -> None:
    async with FastMCPClient(server.mcp) as client:
        answered = widgetd.response(await client.call_tool("greeting", ADA))

    assert isinstance(answered, widgetd.Shown)
    assert answered.tree == TREE


def test_json_of_a_mocked_call_reads_the_same() -> None:
    (call,) = widgetd.mocks(widget(sidecar=SIDECAR), profile="split", seed=3)

    answered = widgetd.response(call["result"])

    assert isinstance(answered, widgetd.Shown)
    assert answered.tree == greeting("Hello", call["arguments"]["who"])


async def test_no_part_of_a_response_can_be_changed(client: Client) -> None:
    answered: Any = await show(client, "split")

    for part in (answered, answered.ui, answered.ui.ui_metadata, answered.render, answered.facts):
        with pytest.raises(ValidationError, match="Instance is frozen"):
            setattr(part, next(iter(type(part).model_fields)), None)


async def test_result_without_a_widget_is_refused(client: Client) -> None:
    found = await client.call_tool("search_widgets", {})

    with pytest.raises(ValueError, match="shows no widget") as caught:
        widgetd.response(found)

    assert str(caught.value) == "the result shows no widget; it is not one of a widget's tool"
