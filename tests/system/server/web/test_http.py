"""HTTP requests of regular clients, strangers, and clients that never read."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.support.sockets import connect, exchange, modern_request
from tests.support.widgets import greeting, widget_file
from tests.system.server.web.asking import ask
from widgetd.server.mcp.builtin import CORE_TOOLS

TOOL = "search_widgets"


def write_files(folder: Path, *names: str) -> None:
    for name in names:
        (folder / f"{name}.widget").write_text(widget_file(name))


async def test_prepared_list_equals_the_sdks_answer(tmp_path: Path) -> None:
    write_files(tmp_path, "A", "B", "C")
    async with serving(tmp_path) as url:
        ready = await exchange(url, *modern_request(url, "tools/list"))
        head, body = modern_request(url, "tools/list")
        # In two parts it is not regular any more, and goes the long way.
        length = f"content-length: {len(body)}".encode()
        chunked = head.replace(length, b"transfer-encoding: chunked")
        parts = [b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:9], body[9:])]
        response = await exchange(url, chunked, *parts, b"0\r\n\r\n")

    assert ready[0] == response[0] == 200
    assert json.loads(ready[1]) == json.loads(response[1])
    assert len(json.loads(ready[1])["result"]["tools"]) == 3 + sum(
        not tool.app_only for tool in CORE_TOOLS
    )


async def test_list_request_with_an_id_beyond_64_bits_is_answered(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as url:
        head, body = modern_request(url, "tools/list")
        longer = body.replace(b'"id": 1', b'"id": %d' % 2**70)
        length, new = (f"content-length: {len(each)}".encode() for each in (body, longer))
        status, answer = await exchange(url, head.replace(length, new), longer)

    assert (status, json.loads(answer)["id"]) == (200, 2**70)


@pytest.mark.parametrize(
    ("headers", "params", "status", "code"),
    [
        ({"mcp-method": "tools/call"}, {}, 400, -32020),
        ({"mcp-method": ""}, {}, 400, -32020),
        ({}, {"cursor": 5}, 400, -32602),
        ({"mcp-protocol-version": "2031-01-01"}, {}, 400, -32020),
    ],
)
async def test_irregular_list_request_gets_the_sdks_own_error(
    tmp_path: Path, headers: dict[str, str], params: dict[str, Any], status: int, code: int
) -> None:
    async with serving(tmp_path) as url:
        got = await exchange(url, *modern_request(url, "tools/list", params, headers=headers))

    assert (got[0], json.loads(got[1])["error"]["code"]) == (status, code)


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"host": "evil.example"}, 421), ({"origin": "https://evil.example"}, 403)],
)
@pytest.mark.parametrize("method", ["tools/list", "tools/call"])
async def test_page_of_another_site_gets_nothing(
    tmp_path: Path, method: str, headers: dict[str, str], status: int
) -> None:
    async with serving(tmp_path) as url:
        got = await exchange(
            url, *modern_request(url, method, {"name": "x"}, name="x", headers=headers)
        )

    assert got[0] == status


async def test_allowed_host_is_answered(tmp_path: Path) -> None:
    async with serving(tmp_path, allowed_host=("widgets.example",)) as url:
        request = modern_request(url, "tools/list", headers={"host": "widgets.example"})
        status, _ = await exchange(url, *request)

    assert status == 200


async def test_page_may_call_only_from_a_named_origin(
    tmp_path: Path,
) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("ada a-token-of-ada-0123456789\n")
    preflight = {
        "access_control_request_method": "POST",
        "access_control_request_headers": "mcp-name",
    }
    known, stranger = "https://app.example", "https://evil.example"
    async with serving(tmp_path, cors_origin=known, token_file=tokens) as url:
        asks = partial(ask, url, "/mcp", method="OPTIONS", **preflight)
        allowed, refused = await asks(origin=known), await asks(origin=stranger)

    assert allowed.status_code == 200
    assert allowed.headers["access-control-allow-origin"] == known
    assert "mcp-name" in allowed.headers["access-control-allow-headers"]
    assert refused.status_code == 403
    assert "access-control-allow-origin" not in refused.headers


async def test_oversized_message_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as url:
        arguments = {"query": "x" * (4 * 1024 * 1024)}
        call = {"name": TOOL, "arguments": arguments}
        status, _ = await exchange(url, *modern_request(url, "tools/call", call, name=TOOL))

    assert status == 413


async def test_probes_report_the_served_generation(tmp_path: Path) -> None:
    write_files(tmp_path, "A")
    (tmp_path / "Broken.widget").write_text("{")
    async with serving(tmp_path) as url:
        base = url.removesuffix("/mcp")
        host = base.removeprefix("http://")
        status, body = await exchange(url, f"GET /readyz HTTP/1.1\r\nhost: {host}\r\n\r\n".encode())
        alive, _ = await exchange(url, f"GET /livez HTTP/1.1\r\nhost: {host}\r\n\r\n".encode())

    ready = json.loads(body)
    assert (status, alive) == (200, 200)
    assert (ready["ready"], ready["widgets"], ready["stale"], ready["refused"]) == (True, 1, 0, 1)


async def test_client_that_never_reads_delays_no_other(tmp_path: Path) -> None:
    listen = {"notifications": {"toolsListChanged": True}}
    async with (
        serving(tmp_path) as url,
        connect_client(url, "legacy") as other,
        await connect(url) as stuck,
    ):
        await stuck.send(b"".join(modern_request(url, "subscriptions/listen", listen)))
        for number in range(30):
            notifications = other.notifications
            write_files(tmp_path, f"W{number}")
            await other.wait_for_more_than(notifications)
            assert not (await other.call(f"w{number}", who="Ada")).is_error


async def test_vanished_client_is_forgotten(tmp_path: Path) -> None:
    async with serving(tmp_path) as url:
        async with connect_client(url, "legacy") as client:
            await client.tools()
        async with connect_client(url, "legacy") as other:
            write_files(tmp_path, "A")
            await other.lists("a")

            assert (await other.call("a", who="Ada")).structured_content == greeting("Hello", "Ada")


async def test_clients_of_both_eras_hear_of_one_change_once(tmp_path: Path) -> None:
    async with (
        serving(tmp_path) as url,
        connect_client(url, "legacy") as legacy,
        connect_client(url, "modern") as modern,
    ):
        write_files(tmp_path, "A")
        for client in (legacy, modern):
            await client.lists("a")
        write_files(tmp_path, "B")
        for client in (legacy, modern):
            await client.lists("b")
        with anyio.move_on_after(0.3):
            await legacy.wait_for_more_than(2)

        assert (legacy.notifications, modern.notifications) == (2, 2)
