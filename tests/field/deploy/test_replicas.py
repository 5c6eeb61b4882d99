"""Two replicas behind the shipped nginx configuration and a real Redis or Valkey act as one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ToolListChangedNotification

from tests.field.deploy.balancing import NGINX, Balancer
from tests.field.deploy.replicas import Fleet, Replica
from tests.support.clients import Connection, connect_client
from tests.support.form import ARGUMENTS, order_file
from tests.support.patience import PATIENCE_S
from tests.support.widgets import greeting, widget_file
from tests.system.server.store.server import BINARY, Server

CLIENTS_AT_ONCE = 2
CALLS = 12
PAUSE_S = 0.03

pytestmark = [
    pytest.mark.skipif(NGINX.program is None, reason="needs nginx, Debian's package nginx-light"),
    pytest.mark.skipif(
        BINARY is None, reason="needs valkey-server or redis-server, Debian's packages"
    ),
]


@pytest.fixture(scope="module")
async def fleet(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Fleet]:
    folder = tmp_path_factory.mktemp("fleet")
    widgets = folder / "widgets"
    widgets.mkdir()
    (widgets / "Greeting.widget").write_text(widget_file())
    (widgets / "Order.widget").write_text(order_file())
    async with AsyncExitStack() as stack:
        server = Server()
        stack.callback(server.close)
        server.start()
        one, two = (Replica(widgets, server.url, folder / f"{number}.log") for number in (1, 2))
        balancer = Balancer(folder, [one.port, two.port])
        stack.callback(balancer.close)
        balancer.starts()
        for replica in (one, two):
            stack.push_async_callback(replica.aclose)
            await replica.start()
        yield Fleet(widgets=widgets, one=one, two=two, balancer=balancer, server=server)


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """A legacy client, and an event for its notification of a changed list."""

    client: Client
    notification: anyio.Event


@asynccontextmanager
async def visiting(url: str, address: str) -> AsyncIterator[Visitor]:
    """Yield a legacy client at an address of its own."""
    notified = anyio.Event()

    async def heard(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            notified.set()

    transport = httpx2.AsyncHTTPTransport(local_address=address)
    async with httpx2.AsyncClient(transport=transport, timeout=PATIENCE_S) as http:
        over = streamable_http_client(url, http_client=http)
        async with Client(over, mode="legacy", message_handler=heard) as client:
            yield Visitor(client=client, notification=notified)


async def visitors_of_both(fleet: Fleet, stack: AsyncExitStack) -> list[Visitor]:
    """So many legacy clients that each replica has some."""
    visitors: list[Visitor] = []
    while not all(await fleet.numbers("widgetd_sessions")):
        address = f"127.0.0.{len(visitors) + 2}"
        visitor = visiting(fleet.balancer.url, address)
        visitors.append(await stack.enter_async_context(visitor))
    return visitors


def greets(result: Any) -> bool:
    return bool(result.structured_content == greeting("Hello", "Ada"))


async def calls_of_each(fleet: Fleet) -> tuple[float, ...]:
    return await fleet.numbers("widgetd_calls_total", outcome="ok", widget="greeting")


async def test_session_keeps_its_replica_and_is_notified_of_changes_there(fleet: Fleet) -> None:
    before = await calls_of_each(fleet)
    with anyio.fail_after(PATIENCE_S):
        async with AsyncExitStack() as stack:
            visitors = await visitors_of_both(fleet, stack)
            sessions = await fleet.numbers("widgetd_sessions")
            for visitor in visitors:
                for _ in range(CALLS):
                    assert greets(await visitor.client.call_tool("greeting", {"who": "Ada"}))

            (fleet.widgets / "New.widget").write_text(widget_file("New"))
            for visitor in visitors:
                await visitor.notification.wait()
                tools = (await visitor.client.list_tools()).tools
                assert "new" in {tool.name for tool in tools}
    after = await calls_of_each(fleet)

    assert sum(sessions) == len(visitors)
    assert [b - a for a, b in zip(before, after, strict=True)] == [CALLS * n for n in sessions]


async def order(model: Connection) -> str:
    """Return the id of a new render."""
    result = await model.call("order", **ARGUMENTS)
    return str((result.meta or {})["widgetd/render"]["id"])


async def test_render_of_one_replica_is_shown_by_the_other(fleet: Fleet) -> None:
    async with (
        connect_client(fleet.one.url, "modern") as here,
        connect_client(fleet.two.url, "modern") as there,
    ):
        rendered = await here.call("order", **ARGUMENTS)
        render_id = (rendered.meta or {})["widgetd/render"]["id"]
        result = await there.call("show_render", render_id=render_id)

    assert result.structured_content == rendered.structured_content


class Load:
    """Calls that go on and on, each of which must be answered.

    Args:
        url: Where they go.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._stopped = False
        self.answered = 0

    async def run(self) -> None:
        """Call until stopped."""
        async with Client(self._url) as client:
            while not self._stopped:
                result = await client.call_tool("greeting", {"who": "Ada"})
                assert greets(result)
                self.answered += 1
                await anyio.sleep(PAUSE_S)  # plays a caller who leaves the machine to others, too

    async def goes_on(self) -> None:
        """Return once some more calls were answered."""
        enough = self.answered + CALLS
        while self.answered < enough:  # noqa: ASYNC110 - whoever calls tells nobody
            await anyio.sleep(0.01)

    def stop(self) -> None:
        """Let each caller end with the call it makes."""
        self._stopped = True


async def test_rolling_restart_under_load_loses_no_call(fleet: Fleet) -> None:
    load = Load(fleet.balancer.url)
    with anyio.fail_after(2 * PATIENCE_S):
        async with anyio.create_task_group() as tasks:
            for _ in range(CLIENTS_AT_ONCE):
                tasks.start_soon(load.run)
            for replica in fleet.both:
                await load.goes_on()
                assert await replica.end() == 0
                await load.goes_on()
                await replica.start()
            while not all(await calls_of_each(fleet)):
                await load.goes_on()
            load.stop()


async def test_loss_of_the_shared_server_costs_sharing_and_no_call(fleet: Fleet) -> None:
    losses = [replica.logged("store.degraded") for replica in fleet.both]
    recoveries = [replica.logged("store.recovered") for replica in fleet.both]
    with anyio.fail_after(2 * PATIENCE_S):
        async with connect_client(fleet.balancer.url, "modern") as client:
            fleet.server.kill()
            for _ in range(4 * CALLS):
                assert greets(await client.call("greeting", who="Ada"))
            for replica, times in zip(fleet.both, losses, strict=True):
                await replica.logs("store.degraded", times=times + 1)
            assert await fleet.numbers("widgetd_store_degraded") == (1, 1)

            fleet.server.start()
            for replica, times in zip(fleet.both, recoveries, strict=True):
                await replica.logs("store.recovered", times=times + 1)
            assert await fleet.numbers("widgetd_store_degraded") == (0, 0)

    await test_render_of_one_replica_is_shown_by_the_other(fleet)
    assert [r.logged("store.degraded") - n for r, n in zip(fleet.both, losses, strict=True)] == [
        1,
        1,
    ]
