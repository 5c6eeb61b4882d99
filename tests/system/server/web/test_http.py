"""HTTP requests of regular clients, strangers, and clients that never read."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import anyio
import pytest

from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.support.sockets import connect, exchange, modern_request
from tests.support.widgets import widget_file
from tests.system.server.web.asking import ask
from widgetd.base.errors import ConfigError
from widgetd.server.web.http_server import bind, url_of

TOOL = "search_widgets"


def write_files(folder: Path, *names: str) -> None:
    for name in names:
        (folder / f"{name}.widget").write_text(widget_file(name))


async def test_list_request_with_an_id_beyond_64_bits_is_answered(tmp_path: Path) -> None:
    async with serving(tmp_path) as url:
        head, body = modern_request(url, "tools/list")
        longer = body.replace(b'"id": 1', b'"id": %d' % 2**70)
        length, new = (f"content-length: {len(each)}".encode() for each in (body, longer))
        status, answer = await exchange(url, head.replace(length, new), longer)

    assert (status, json.loads(answer)["id"]) == (200, 2**70)


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


async def test_page_may_call_only_from_a_named_origin(tmp_path: Path) -> None:
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


def test_port_in_use_is_named() -> None:
    with bind("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ConfigError) as caught:
            bind("127.0.0.1", port)

    assert str(caught.value) == (
        f"port {port} on 127.0.0.1 is in use; stop what uses it, or choose another with --port"
    )
    assert (caught.value.code, caught.value.exit_code) == ("W0005", 3)


def test_address_of_another_machine_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        bind("300.1.1.1", 0)

    assert str(caught.value) == (
        "300.1.1.1 is not an address of this machine; name one with --host, as 127.0.0.1 or 0.0.0.0"
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_url_is_usable_by_a_client_on_this_machine(host: str) -> None:
    with bind(host, 0) as listener:
        assert url_of(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"
