"""Faults of upstreams have a reason of one word and affect no other call."""

from __future__ import annotations

import asyncio
import sys
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from mcp_types import CallToolResult

from tests.support.clients import Connection, connect_client
from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from tests.system.upstreams.servers import (
    READ_ONLY,
    SHOP,
    STDIO,
    Reply,
    answering,
    child,
    hanging_up,
    raw,
    read_request,
    serve,
    silent,
    slow,
    speaking_plainly,
    toml,
    upstreams_of,
    wait_until_settled,
)
from tests.system.upstreams.test_feeds import FEED, write_flight
from widgetd.base.errors import CallError

SECRET = b"s3cr3t-in-a-body"

Made = Callable[[Path], AbstractAsyncContextManager[str]]
"""Starts what fails, and gives the table that declares it."""


def mcp(reply: Reply, *, scheme: str = "http", **more: Any) -> Made:
    @asynccontextmanager
    async def made(_folder: Path) -> AsyncIterator[str]:
        async with raw(reply) as port:
            url = f"{scheme}://127.0.0.1:{port}/mcp"
            yield toml("it", url=url, **{"connect_s": 20.0, "call_s": 20.0, **more})

    return made


def service(reply: Reply, **more: Any) -> Made:
    @asynccontextmanager
    async def made(folder: Path) -> AsyncIterator[str]:
        (folder / "shop.json").write_bytes(orjson.dumps(SHOP))
        async with raw(reply) as port:
            settings = {"openapi": "shop.json", "base": f"http://127.0.0.1:{port}", **more}
            yield toml("it", **{"call_s": 8.0, **settings})

    return made


def at(**settings: Any) -> Made:
    @asynccontextmanager
    async def made(folder: Path) -> AsyncIterator[str]:
        (folder / "shop.json").write_bytes(orjson.dumps(SHOP))
        yield toml("it", **{"call_s": 60.0, **settings})

    return made


PRIVATE = {"openapi": "shop.json", "private": False, "base": "http://127.0.0.1:9"}
EXITS_LATER = STDIO.replace("return ", "import os; os._exit(3)\n    return ", 1)

FAULTS: dict[str, tuple[Made, str]] = {
    "refused": (at(url="http://127.0.0.1:9/mcp"), "W5002 refused"),
    "dns": (at(url="http://nobody.invalid/mcp"), "W5002 dns"),
    "tls": (mcp(speaking_plainly, scheme="https"), "W5002 tls"),
    "401": (mcp(answering(401, SECRET)), "W5002 auth"),
    "403": (mcp(answering(403, SECRET)), "W5002 auth"),
    "404": (mcp(answering(404, SECRET, "text/plain")), "W5002 http_404"),
    "500": (mcp(answering(500, SECRET)), "W5002 http_500"),
    "307": (mcp(answering(307, more="location: /mcp/\r\n")), "W5002 redirect"),
    "html": (mcp(answering(200, b"<html>", "text/html")), "W5002 not_mcp"),
    "silent": (mcp(silent, connect_s=0.3), "W5002 timeout"),
    "slow body": (mcp(slow, connect_s=0.3), "W5002 timeout"),
    "half an answer": (mcp(answering(200, b'{"jsonrpc"', length=900)), "W5002 protocol"),
    "wrong json": (mcp(answering(200, b"{{{")), "W5002 protocol"),
    "50 mb": (mcp(answering(200, b'"' + b"x" * 50_000_000)), "W5002 protocol"),
    "missing": (at(command="no-such-program-at-all"), "W5002 spawn"),
    "exits at once": (at(**child("raise SystemExit(1)")), "W5002 exited"),
    "exits later": (at(connect_s=60.0, **child(EXITS_LATER)), "W5002 exited"),
    "garbage": (at(connect_s=60.0, **child("print('hello'); print('world')")), "W5002 exited"),
    "closes in tls": (mcp(hanging_up, scheme="https"), "W5002 tls"),
    # A service is spoken to only when it is called.
    "service refused": (at(openapi="shop.json", base="http://127.0.0.1:9"), "W5002 refused"),
    "service 401": (service(answering(401, SECRET)), "W5002 auth"),
    "service 404": (service(answering(404, SECRET)), "W5010"),
    "service 500": (service(answering(500, SECRET)), "W5002 http_500"),
    "service 307": (service(answering(307, more="location: /x\r\n")), "W5002 redirect"),
    "service silent": (service(silent, connect_s=0.3, call_s=0.3), "W5003"),
    "service slow": (service(slow, call_s=0.3), "W5003"),
    "service half": (service(answering(200, b'{"a"', length=900)), "W5002 protocol"),
    "service 50 mb": (service(answering(200, b'"' + b"x" * 50_000_000)), "W5008"),
    "service private": (at(**PRIVATE), "W5002 config"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_each_fault_has_a_reason_of_one_word(fault: str, tmp_path: Path) -> None:
    make, expected = FAULTS[fault]
    tool, arguments = ("get_product", {"id": 1})
    if fault == "exits later":
        tool, arguments = "get_flight", {"flight_no": "UA1"}  # type: ignore[dict-item]
    async with make(tmp_path) as config, upstreams_of(tmp_path / "u.toml", config) as upstreams:
        with anyio.fail_after(90):
            await wait_until_settled(upstreams["it"])
            with pytest.raises(CallError) as raised:
                await upstreams["it"].call(tool, arguments)

    code, _, reason = expected.partition(" ")
    error = raised.value
    assert error.code == code
    assert (f"({reason})" in error.message) or not reason
    assert SECRET.decode() not in error.message
    if code in {"W5002", "W5003"}:
        assert error.recoverable
        assert error.retry_after_s is not None


async def test_invalid_json_answer_has_no_value(tmp_path: Path) -> None:
    async with (
        service(answering(200, b"<html>", "text/html"))(tmp_path) as config,
        upstreams_of(tmp_path / "u.toml", config) as upstreams,
    ):
        answer = await upstreams["it"].call("get_product", {"id": 1})

    assert answer.kind == "text"
    with pytest.raises(CallError) as raised:
        answer.value("it")
    assert str(raised.value) == "the answer of the upstream 'it' is not JSON"
    assert raised.value.code == "W5006"


async def test_hanging_tool_times_out(tmp_path: Path) -> None:
    async with (
        service(silent, call_s=0.5)(tmp_path) as config,
        upstreams_of(tmp_path / "u.toml", config) as upstreams,
    ):
        await wait_until_settled(upstreams["it"])
        with anyio.fail_after(PATIENCE_S), pytest.raises(CallError) as raised:
            await upstreams["it"].call("get_product", {"id": 1})

    assert str(raised.value) == "the upstream 'it' did not answer within 0.5 s"


def busy_once(requests: list[bytes], retry_after: str) -> Reply:
    """Answer the first request with 503, and every other with an object."""

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while request := await read_request(reader):
            requests.append(request.split(b" ")[0])
            status = "503 X" if len(requests) == 1 else "200 OK"
            head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{retry_after}"
            writer.write(f"{head}content-length: 8\r\n\r\n".encode() + b'{"a": 1}')
            await writer.drain()

    return reply


@pytest.mark.parametrize(
    ("tool", "arguments", "retry_after", "expected"),
    [
        ("get_product", {"id": 1}, "", [b"GET", b"GET"]),
        ("get_product", {"id": 1}, "retry-after: 0\r\n", [b"GET", b"GET"]),
        ("get_product", {"id": 1}, "retry-after: Mon, 23 Nov 2020 07:00:00 GMT\r\n", [b"GET"] * 2),
        ("get_product", {"id": 1}, "retry-after: 3600\r\n", [b"GET"]),
        ("make_product", {}, "", [b"POST"]),
    ],
)
async def test_busy_upstream_is_asked_once_more_within_the_time_limit_if_read_only(
    tool: str, arguments: dict[str, Any], retry_after: str, expected: list[bytes], tmp_path: Path
) -> None:
    requests: list[bytes] = []
    async with (
        service(busy_once(requests, retry_after), tools=["*"])(tmp_path) as config,
        upstreams_of(tmp_path / "u.toml", config) as upstreams,
    ):
        await wait_until_settled(upstreams["it"])
        with anyio.fail_after(PATIENCE_S):
            if len(expected) == 2:
                answer = await upstreams["it"].call(tool, arguments)
                assert answer.value("it") == {"a": 1}
            else:
                with pytest.raises(CallError) as raised:
                    await upstreams["it"].call(tool, arguments)
                assert raised.value.message.endswith("(http_503)")

    assert requests == expected


WORDS = "no such flight: BAD is not a number"
PROBLEMS: list[tuple[bytes, str]] = [
    (orjson.dumps({"detail": WORDS, "request": {"authorization": SECRET.decode()}}), WORDS),
    (orjson.dumps({"error": {"message": WORDS, "param": "id"}}), WORDS),
    (orjson.dumps({"errors": [{"msg": WORDS, "input": SECRET.decode()}]}), WORDS),
    (orjson.dumps({"title": "BAD", "detail": f"{WORDS}, REQUEST"}), f"BAD: {WORDS}"),
    (b"<html>" + SECRET, ""),
    (b"{" * 100_000, ""),
]
"""Bodies of refusals, with the words that an operator reads."""


@pytest.mark.parametrize("kind", ["openapi", "endpoints"])
async def test_refusal_of_a_service_has_its_words_and_does_not_count(
    kind: str, tmp_path: Path
) -> None:
    served: list[tuple[int, bytes]] = []

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while request := await read_request(reader):
            status, body = served[-1]
            body = body.replace(b"REQUEST", request.replace(b"\r\n", b" "))
            head = f"HTTP/1.1 {status} X\r\ncontent-type: application/problem+json\r\n"
            writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
            await writer.drain()

    async with service(reply, headers={"X-Key": SECRET.decode()})(tmp_path) as table:
        endpoint = '[it.endpoints.get_product]\nget = "/products/{id}"\n'
        without = table.replace('openapi = "shop.json"\n', "") + endpoint
        declared, product = (table, 1) if kind == "openapi" else (without, "1")
        declared = declared.replace("http://", "http://user:p4ssw0rd-in-an-address@")
        header = b64encode(b"user:p4ssw0rd-in-an-address").decode()
        async with upstreams_of(tmp_path / "u.toml", declared) as upstreams:
            await wait_until_settled(upstreams["it"])
            with anyio.fail_after(60):
                for status in range(400, 500):
                    if status in {401, 403, 408, 429}:
                        continue
                    body, words = PROBLEMS[status % len(PROBLEMS)]
                    served.append((status, body))
                    with pytest.raises(CallError) as raised:
                        await upstreams["it"].call("get_product", {"id": product})
                    error = raised.value
                    assert (error.code, error.recoverable) == ("W5010", False)
                    assert WORDS not in error.message
                    assert error.for_operators().message.startswith(
                        f"the service of the upstream 'it' refused the request: HTTP {status}"
                    )
                    assert words in error.words
                    assert SECRET.decode() not in error.words
                    assert header not in error.words
            assert not upstreams["it"].breaker.is_open
            assert upstreams["it"].state == "ready"


async def test_each_of_two_calls_at_once_reports_its_own_failure(tmp_path: Path) -> None:
    """An honest refusal is one, though another request of the same upstream fails meanwhile."""
    arrived, has_failed = anyio.Event(), anyio.Event()
    server: FastMCP[Any] = FastMCP("it")

    @server.tool(annotations=READ_ONLY)
    async def refuse() -> str:
        arrived.set()
        await has_failed.wait()
        raise ToolError("no")

    @server.tool(annotations=READ_ONLY)
    def fail() -> str:
        raise AssertionError

    answer_mcp = server.http_app()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await answer_mcp(scope, receive, send)
            return
        messages = [await receive()]
        if b'"name":"fail"' in messages[0].get("body", b""):
            await send({"type": "http.response.start", "status": 500, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return

        async def read() -> Any:
            return messages.pop() if messages else await receive()

        await answer_mcp(scope, read, send)

    codes: dict[str, str] = {}
    async with (
        serve(app) as url,
        upstreams_of(tmp_path / "u.toml", toml("it", url=f"{url}/mcp")) as upstreams,
    ):
        with anyio.fail_after(60):
            assert await wait_until_settled(upstreams["it"]) == "ready"

            async def call(tool: str) -> None:
                with pytest.raises(CallError) as raised:
                    await upstreams["it"].call(tool, {})
                codes[tool] = raised.value.code

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call, "refuse")
                await arrived.wait()
                await call("fail")
                has_failed.set()

    assert codes == {"refuse": "W5010", "fail": "W5002"}


CLIENTS = 6


async def test_faults_affect_no_plain_widget_and_delay_no_filled_one(tmp_path: Path) -> None:
    faults = {name: fault for name, fault in FAULTS.items() if not name.startswith("service")}
    widgets, tables = write_flight(tmp_path), []
    (widgets / "Flight.widget").unlink()
    (widgets / "Flight.widget.toml").unlink()
    async with AsyncExitStack() as stack:
        for number, (make, _) in enumerate(faults.values()):
            table = await stack.enter_async_context(make(tmp_path))
            tables.append(table.replace("[it]", f"[u{number}]"))
            write_flight(tmp_path, FEED.replace('"flights"', f'"u{number}"'), name=f"F{number}")
        (tmp_path / "u.toml").write_text("".join(tables))
        url = await stack.enter_async_context(serving(widgets, upstreams=tmp_path / "u.toml"))
        clients = [
            await stack.enter_async_context(connect_client(url, "modern" if one % 2 else "legacy"))
            for one in range(CLIENTS)
        ]
        plain: list[CallToolResult] = []
        filled: dict[int, list[Any]] = {number: [] for number in range(len(faults))}

        async def call(client: Connection, first: int) -> None:
            for turn in range(len(faults)):
                plain.append(await client.call("plain", who="Ada"))
                number = (first + turn) % len(faults)
                result = await client.call(f"f{number}", number="UA123")
                filled[number].append((result.meta or {}).get("widgetd/error"))

        with anyio.fail_after(90):
            async with anyio.create_task_group() as tasks:
                for first, client in enumerate(clients):
                    tasks.start_soon(call, client, first)

    assert len(plain) == CLIENTS * len(faults)
    assert not any(result.is_error for result in plain)
    for number, (_, expected) in enumerate(faults.values()):
        code, _, reason = expected.partition(" ")
        assert {error["code"] for error in filled[number]} <= {code, "W5003"}
        assert all(error["recoverable"] for error in filled[number])
        assert all(error["retryAfterS"] >= 0 for error in filled[number])
        assert any(f"({reason})" in error["message"] for error in filled[number])


PROGRAM = """
import sys, anyio
from pathlib import Path
from tests.support.daemons import serving

async def main():
    async with serving(Path(sys.argv[1]), toolset=("upstreams",)):
        print("loaded", *sorted(name for name in sys.modules if is_theirs(name)), "in all")

def is_theirs(name):
    return name.startswith("widgetd.upstreams.") or name == "fastmcp.server.providers.openapi"

anyio.run(main)
"""


async def test_daemon_without_a_file_imports_no_upstream_code(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    with anyio.fail_after(90):
        done = await anyio.run_process(command)

    assert (
        "loaded widgetd.upstreams.toolset widgetd.upstreams.wing in all\n" in done.stdout.decode()
    )
