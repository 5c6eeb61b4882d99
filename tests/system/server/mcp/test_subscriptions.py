"""Subscribers of a resource are notified of its changes, in both protocol eras."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client.subscriptions import ResourcesListChanged, ResourceUpdated, Subscription
from mcp_types import (
    ResourceListChangedNotification,
    ResourceUpdatedNotification,
    TextResourceContents,
)

from tests.support.clients import Era
from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import build_widget, snapshot_of, widget_file
from tests.system.server.mcp.listening import Heard
from widgetd.server.access.principal import LOCAL, Audience
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp import sdk
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.limits import LIMITS as MCP_LIMITS
from widgetd.server.observe.observer import Notice
from widgetd.server.store.factory import local_store

LIST = "the list"
"""Stands for a notice that the list of resources is another one."""

# The SDK warns of what the modern era lacks; the legacy era is what is meant here.
pytestmark = pytest.mark.filterwarnings(
    "ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning"
)

both_eras = pytest.mark.parametrize("era", ["legacy", "modern"])


class Ear(Heard):
    """A client and the resources of its notifications."""

    def __init__(self, client: Client) -> None:
        super().__init__()
        self.client = client

    async def read(self, uri: str) -> str:
        [content] = (await self.client.read_resource(uri)).contents
        assert isinstance(content, TextResourceContents)
        return content.text


@asynccontextmanager
async def listening(url: str, era: Era, *uris: str) -> AsyncIterator[Ear]:
    """Yield a client of `era` that subscribed to `uris`, and to the list of resources."""
    async with AsyncExitStack() as stack:
        ears: list[Ear] = []

        async def heard(message: object) -> None:
            if isinstance(message, ResourceUpdatedNotification):
                ears[0].add(message.params.uri)
            if isinstance(message, ResourceListChangedNotification):
                ears[0].add(LIST)

        if era == "legacy":
            client = Client(url, mode="legacy", message_handler=heard)
        else:
            client = Client(url)
        ear = Ear(client)
        ears.append(ear)
        await stack.enter_async_context(client)
        if era == "legacy":
            for uri in uris:
                await client.subscribe_resource(uri)
        else:
            subscription = await stack.enter_async_context(
                client.listen(resources_list_changed=True, resource_subscriptions=list(uris))
            )
            tasks = await stack.enter_async_context(anyio.create_task_group())
            stack.callback(tasks.cancel_scope.cancel)
            tasks.start_soon(pass_on, subscription, ear.add)
        yield ear


async def pass_on(subscription: Subscription, hear: Callable[[str], None]) -> None:
    async for event in subscription:
        if isinstance(event, ResourceUpdated):
            hear(event.uri)
        if isinstance(event, ResourcesListChanged):
            hear(LIST)


@pytest.fixture
def two_widgets(tmp_path: Path) -> Path:
    for name in ("Greeting", "Other"):
        (tmp_path / f"{name}.widget").write_text(widget_file(name))
    return tmp_path


@both_eras
async def test_subscribers_of_a_widgets_part_are_notified_of_its_save(
    two_widgets: Path, era: Era
) -> None:
    subscribed = ("widget://greeting/template", "widget://other/template")
    async with serving(two_widgets) as url, listening(url, era, *subscribed) as ear:
        assert '"Hello, "' in await ear.read("widget://greeting/template")

        (two_widgets / "Greeting.widget").write_text(widget_file(text="Goodbye"))
        await ear.of("widget://greeting/template")

        assert '"Goodbye, "' in await ear.read("widget://greeting/template")
        assert "widget://other/template" not in ear.all


@both_eras
@pytest.mark.parametrize(
    ("uri", "sidecar", "read"),
    [
        ("widget://greeting", 'description = "Greet somebody."', '"description":"Greet somebody."'),
        ("widgetd://ui-types", 'ui_type = "social-greeting"', '"uiType":"social-greeting"'),
    ],
    ids=["the widget", "the list of response types"],
)
async def test_subscribers_are_notified_of_sidecar_changes(
    two_widgets: Path, era: Era, uri: str, sidecar: str, read: str
) -> None:
    async with serving(two_widgets) as url, listening(url, era, uri) as ear:
        (two_widgets / "Greeting.widget.toml").write_text(sidecar)
        await ear.of(uri)

        assert read in await ear.read(uri)


@both_eras
async def test_page_is_announced_when_its_image_origins_change(two_widgets: Path, era: Era) -> None:
    page = "ui://widgetd/greeting.html"
    image = '{"type":"Card","children":[{"type":"Image","src":"https://img.example.com/a.png"}]}'
    async with serving(two_widgets) as url, listening(url, era, page) as ear:
        (two_widgets / "Greeting.widget").write_text(widget_file(template=image))
        await ear.of(page)

        [content] = (await ear.client.read_resource(page)).contents
        assert content.meta is not None
        assert content.meta["ui"]["csp"]["resourceDomains"] == ["https://img.example.com"]


@both_eras
async def test_added_or_removed_widget_changes_the_list_of_resources(
    two_widgets: Path, era: Era
) -> None:
    async with serving(two_widgets) as url, listening(url, era) as ear:
        (two_widgets / "New.widget").write_text(widget_file("New"))
        await ear.of(LIST)

        names = {resource.name for resource in (await ear.client.list_resources()).resources}
        assert "new_template" in names


async def test_client_subscribes_to_a_limited_number_of_resources() -> None:
    server = build(Registry(snapshot_of(build_widget())), local_store())
    async with Client(sdk.lowlevel_of(server.mcp), mode="legacy") as client:
        for number in range(MCP_LIMITS.subscriptions):
            await client.subscribe_resource(f"widget://greeting_{number}")

        with pytest.raises(MCPError) as caught:
            await client.subscribe_resource("widget://greeting")

    assert str(caught.value) == (
        "[W2203] a client subscribes to at most 1000 resources; unsubscribe from some of them"
    )


async def test_changes_are_computed_only_for_audiences_that_listen() -> None:
    server = build(Registry(snapshot_of(build_widget())), local_store())
    compared: list[Audience] = []

    def notice_for(audience: Audience) -> Notice:
        compared.append(audience)
        return Notice()

    with anyio.fail_after(PATIENCE_S):
        async with (
            Client(sdk.lowlevel_of(server.mcp)) as client,
            anyio.create_task_group() as tasks,
        ):
            async with client.listen(resources_list_changed=True):
                await server.clients.notify(notice_for, tasks)
            while len(server.clients):  # the server learns of the end a moment later
                await anyio.lowlevel.checkpoint()
            await server.clients.notify(notice_for, tasks)

    assert compared == [LOCAL.audience]


async def test_unsubscribed_client_gets_no_notification(two_widgets: Path) -> None:
    template = "widget://greeting/template"
    async with (
        serving(two_widgets) as url,
        listening(url, "legacy", template, "widget://other") as ear,
    ):
        await ear.client.unsubscribe_resource(template)

        (two_widgets / "Greeting.widget").write_text(widget_file(text="Goodbye"))
        (two_widgets / "Other.widget").write_text(widget_file("Other", text="Goodbye"))
        await ear.of("widget://other")

        assert template not in ear.all


@both_eras
async def test_readers_are_notified_of_a_replaced_render(two_widgets: Path, era: Era) -> None:
    async with serving(two_widgets) as url, Client(url) as agent:
        results = [await agent.call_tool("greeting", {"who": who}) for who in ("Ada", "Bob")]
        ids = [str((result.meta or {})["widgetd/render"]["id"]) for result in results]
        uri, other = [f"widgetd://renders/{render_id}" for render_id in ids]
        async with listening(url, era, uri) as ear:
            assert '"Hello, Ada"' in await ear.read(uri)

            for render_id in reversed(ids):
                update = {"render_id": render_id, "arguments": {"who": "Grace"}}
                assert not (await agent.call_tool("update_render", update)).is_error
            await ear.of(uri)

            assert '"Hello, Grace"' in await ear.read(uri)
            assert other not in ear.all
