"""Actions over real connections: waiting, hanging up, a daemon that ends."""

from __future__ import annotations

import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import ObjectReceiveStream, ObjectSendStream, Process
from anyio.streams.text import TextReceiveStream
from mcp_types import CallToolResult

from tests.support.clients import Connection, connect_client, over_stdio
from tests.support.daemons import serving
from tests.support.forked_daemons import forked_daemon
from tests.support.form import ARGUMENTS, GIVEN, order_file
from tests.support.patience import PATIENCE_S
from tests.system.server.mcp.test_access import ADA, CHIEF, call, code_of, serve_guarded
from tests.system.server.store.receiver import receiving
from widgetd.daemon.serve import serve
from widgetd.settings import Settings

WAITING = "await_widget_action"
CLIENT = {"name": "test", "version": "1"}


@asynccontextmanager
async def stdio_process(
    order_folder: Path,
) -> AsyncIterator[tuple[Process, ObjectReceiveStream[str]]]:
    """Yield a daemon over stdio and the lines that it answers, with a deadline."""
    command = over_stdio(order_folder)
    with anyio.fail_after(PATIENCE_S):
        async with await anyio.open_process([command.command, *command.args]) as process:
            send, lines = anyio.create_memory_object_stream[str](16)
            async with lines, anyio.create_task_group() as tasks:
                tasks.start_soon(_split, process, send)
                yield process, lines
                tasks.cancel_scope.cancel()


async def _split(process: Process, send: ObjectSendStream[str]) -> None:
    assert process.stdout is not None
    async with send:
        rest = ""
        async for text in TextReceiveStream(process.stdout):
            *lines, rest = (rest + text).split("\n")
            for line in lines:
                await send.send(line)


async def say(
    process: Process, method: str, params: dict[str, Any], *, number: int | None = None
) -> None:
    """Send one message."""
    assert process.stdin is not None
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        message["id"] = number
    await process.stdin.send(json.dumps(message).encode() + b"\n")


@pytest.fixture
def order_folder(tmp_path: Path) -> Path:
    (tmp_path / "Order.widget").write_text(order_file())
    return tmp_path


async def show_order(model: Connection) -> str:
    """Return the id of a new render from the text that a model reads."""
    result = await model.call("order", **ARGUMENTS)
    text: str = result.content[-1].text  # type: ignore[union-attr]  # all of ours are texts
    return text.rpartition("Render: ")[2]


async def act(page: Connection, render_id: str, key: str = "k1") -> CallToolResult:
    return await page.call(
        "widget_action",
        render_id=render_id,
        action="order.send",
        payload=GIVEN,
        idempotency_key=key,
    )


async def waits(model: Connection, render_id: str, **arguments: Any) -> dict[str, Any]:
    result = await model.call("await_widget_action", render_id=render_id, **arguments)
    content: dict[str, Any] = result.structured_content or {}
    return content


async def wait_until_received(connection: Connection) -> None:
    """Wait for an answer, after which the daemon has read everything that was sent before."""
    for _ in range(3):
        await connection.tools()


async def test_ending_daemon_answers_waiting_readers_at_once(order_folder: Path) -> None:
    stop, started = anyio.Event(), anyio.Event()
    urls: list[str] = []
    answers: list[dict[str, Any]] = []

    def tell(url: str, _widgets: int) -> None:
        urls.append(url)
        started.set()

    settings = Settings(dir=order_folder, port=0, links="never")
    with anyio.fail_after(PATIENCE_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(serve, settings, order_folder, started=tell, stop=stop))
            await started.wait()
            async with connect_client(urls[0], "modern") as model:
                render_id = await show_order(model)

                async def wait() -> None:
                    answers.append(await waits(model, render_id, timeout_s=60))

                async with anyio.create_task_group() as waiting:
                    waiting.start_soon(wait)
                    await wait_until_received(model)
                    stop.set()

    assert answers == [{"actions": [], "next": 0, "status": "draining"}]


async def test_ending_daemon_over_stdio_answers_waiting_readers_at_once(order_folder: Path) -> None:
    async with stdio_process(order_folder) as (process, lines):
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}
        await say(process, "initialize", hello, number=1)
        await lines.receive()
        await say(process, "notifications/initialized", {})
        await say(process, "tools/call", {"name": "order", "arguments": ARGUMENTS}, number=2)
        render_id = json.loads(await lines.receive())["result"]["_meta"]["widgetd/render"]["id"]
        waiting = {"render_id": render_id, "timeout_s": 60}
        await say(process, "tools/call", {"name": WAITING, "arguments": waiting}, number=3)
        await say(process, "ping", {}, number=4)
        await lines.receive()
        process.terminate()
        answer = json.loads(await lines.receive())

        assert answer["result"]["structuredContent"]["status"] == "draining"
        assert await process.wait() == 0


async def test_ending_daemon_sends_queued_actions_to_the_webhook(order_folder: Path) -> None:
    async with receiving("503 Not now", "204 Ok") as receiver:
        secret = "s" * 24
        hook = {"webhook": receiver.url, "webhook_secret": secret, "webhook_private": True}
        async with serving(order_folder, **hook) as url, connect_client(url, "modern") as page:
            await act(page, await show_order(page))
            await receiver.wait_for_requests(1)

        assert len(receiver.requests) == 2
    assert receiver.requests[0].message == receiver.requests[1].message
    assert receiver.requests[0].message["data"]["payload"] == GIVEN
    assert all(request.is_signed_with(secret.encode()) for request in receiver.requests)


async def test_user_input_is_in_no_log_and_no_audit(
    order_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    beside, pin = tmp_path_factory.mktemp("beside"), "pin-4711-of-ada"
    audit, log = beside / "audit.jsonl", beside / "log"
    flags = ("--audit", str(audit), "--log-level", "debug")
    async with (
        forked_daemon(order_folder, *flags, log=log) as served,
        connect_client(served.url, "modern") as page,
    ):
        render_id = await show_order(page)
        taking = {"render_id": render_id, "action": "order.send", "idempotency_key": "k"}
        typed = {"order": "o1", "buyer": {"email": "ada@example.com", "pin": pin}}
        receipt = await page.call("widget_action", **taking, payload=typed)
        await page.call("widget_action", **taking, payload={"pin": pin})
        await page.call("widget_action", **taking | {"action": pin, "idempotency_key": pin})
        served.send(signal.SIGTERM)
        assert await served.wait_for_end() == 0

    audit_text, log_text = audit.read_text(), log.read_text()
    assert receipt.structured_content == {"status": "accepted", "next": 1}
    assert audit_text.count('"widget_action"') == 3
    assert "daemon.stopped" in log_text
    assert pin not in audit_text + log_text


async def test_actions_need_access_to_their_widget(tmp_path: Path) -> None:
    async with serve_guarded(tmp_path) as url:
        rendered = await call(url, CHIEF, "secret", who="Ada")
        render_id = rendered["_meta"]["widgetd/render"]["id"]
        query = {"render_id": render_id, "timeout_s": 0}
        acting = {"render_id": render_id, "action": "x", "idempotency_key": "k"}
        chief = await call(url, CHIEF, "await_widget_action", **query)
        ada = await call(url, ADA, "await_widget_action", **query)
        refused = await call(url, ADA, "widget_action", **acting)

    assert chief["structuredContent"]["status"] == "timeout"
    assert ada["structuredContent"] == {"actions": [], "next": 0, "status": "expired"}
    assert code_of(refused) == "W2007"
