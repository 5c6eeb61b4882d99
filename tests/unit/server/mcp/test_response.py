"""A Python client reads the result of a call in every profile and through every client."""

from __future__ import annotations

from typing import Any, assert_type, cast

import pytest
from fastmcp import Client as FastMCPClient
from mcp import Client
from mcp_types import RequestParamsMeta
from pydantic import ValidationError

import widgetd
from tests.support.widgets import build_widget, greeting, snapshot_of
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp import sdk
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.server import Server, ServerOptions
from widgetd.server.render.result import Policy
from widgetd.server.store.factory import local_store

ADA = {"who": "Ada"}
TREE = greeting("Hello", "Ada")
SIDECAR = 'ui_type = "social-greeting"\nprovider = "social"\nsummary_fields = ["who"]'

is_greeting = widgetd.guard("social-greeting")


pytestmark = pytest.mark.serves(build_widget(sidecar=SIDECAR))


async def show_greeting(client: Client, profile: str = "chatkit") -> widgetd.Shown:
    meta = cast("RequestParamsMeta", {"widgetd/profile": profile})
    response = widgetd.response(await client.call_tool("greeting", ADA, meta=meta))
    assert is_greeting(response)
    assert_type(response, widgetd.Shown)
    return response


@pytest.mark.parametrize("profile", ["chatkit", "split"])
async def test_tree_is_found_in_either_profile(client: Client, profile: str) -> None:
    response = await show_greeting(client, profile)

    assert response.tree == TREE
    assert response.text == "Greeting: who Ada"
    assert response.ui.ui_metadata.provider == "social"
    assert response.render.widget == "greeting"
    assert response.link is None


async def test_models_data_is_separate_from_the_tree(client: Client) -> None:
    assert (await show_greeting(client, "chatkit")).facts is None

    facts = (await show_greeting(client, "split")).facts

    assert facts is not None
    assert facts.wire() == {
        "uiType": "social-greeting",
        "summary": "Greeting: who Ada",
        "who": "Ada",
    }


async def test_oversized_tree_is_sent_as_a_link() -> None:
    options = ServerOptions(policy=Policy(inline_max_bytes=10))
    server = build(Registry(snapshot_of(build_widget(sidecar=SIDECAR))), local_store(), options)
    async with Client(sdk.lowlevel_of(server.mcp)) as client:
        response = await show_greeting(client)

    assert response.tree is None
    assert response.link == f"widgetd://renders/{response.render.id}"
    assert response.facts is not None
    assert response.facts.ui_type == "social-greeting"


async def test_failure_has_its_own_type(client: Client) -> None:
    response = widgetd.response(await client.call_tool("greeting", {"who": True}))

    assert not is_greeting(response)
    assert isinstance(response, widgetd.Failed)
    assert response.error.code == "W2002"
    assert response.text.startswith("[W2002] who: ")


async def test_fastmcp_client_reads_the_same(server: Server) -> None:
    async with FastMCPClient(server.mcp) as client:
        response = widgetd.response(await client.call_tool("greeting", ADA))

    assert isinstance(response, widgetd.Shown)
    assert response.tree == TREE


def test_json_of_a_mocked_call_reads_the_same() -> None:
    (call,) = widgetd.mocks(build_widget(sidecar=SIDECAR), profile="split", seed=3)

    response = widgetd.response(call["result"])

    assert isinstance(response, widgetd.Shown)
    assert response.tree == greeting("Hello", call["arguments"]["who"])


async def test_no_part_of_a_response_can_be_changed(client: Client) -> None:
    response: Any = await show_greeting(client, "split")

    for part in (response, response.ui, response.ui.ui_metadata, response.render, response.facts):
        with pytest.raises(ValidationError, match="Instance is frozen"):
            setattr(part, next(iter(type(part).model_fields)), None)


async def test_result_without_a_widget_is_refused(client: Client) -> None:
    result = await client.call_tool("search_widgets", {})

    with pytest.raises(ValueError, match="shows no widget") as caught:
        widgetd.response(result)

    assert str(caught.value) == "the result shows no widget; it is not one of a widget's tool"
