"""Starts and ends of a daemon, as its operator sees them."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest

from stress.endings import open_streams
from stress.probing import wait_until_refused
from tests.support.clients import connect_client, over_stdio
from tests.support.daemons import needs_wings, serving
from tests.support.forked_daemons import forked_daemon, run_forked
from tests.support.logs import captured_logs
from tests.support.patience import PATIENCE_S
from tests.support.processes import WIDGETD, daemon_environment, daemon_process
from tests.support.sockets import connect, modern_request, read_response
from tests.support.widgets import greeting, widget_file
from tests.system.daemon.test_actions import CLIENT, say, stdio_process
from tests.system.server.web.asking import ask
from tests.unit.base.files.deep import LONGEST, deep
from widgetd.cli import main


@needs_wings
async def test_greeting_names_the_url_the_number_of_widgets_and_a_client_command(
    tmp_path: Path,
) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    async with daemon_process(tmp_path) as served:
        assert served.greeting == (
            f"widgetd serves 1 widget from {tmp_path} on {served.url}\n"
            f"Connect a client:  claude mcp add --transport http widgetd {served.url}\n"
        )


async def test_sigterm_ends_64_open_streams_gracefully_and_exits_0_within_2_s(
    tmp_path: Path,
) -> None:
    async with forked_daemon(tmp_path) as served, AsyncExitStack() as stack:
        await open_streams(served.url, 64, stack)

        served.send(signal.SIGTERM)

        assert await served.wait_for_end(within_s=2) == 0


async def test_sigterm_lets_a_call_in_flight_finish(tmp_path: Path) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    async with forked_daemon(tmp_path) as served:
        call = {"name": "greeting", "arguments": {"who": "Ada"}}
        head, body = modern_request(served.url, "tools/call", call, name="greeting")
        async with await connect(served.url) as stream:
            await stream.send(head + body[:10])
            await wait_for_answer(served.url)  # so the daemon has read what came before

            served.send(signal.SIGTERM)
            await wait_until_refused(served.url)
            await stream.send(body[10:])

            with anyio.fail_after(PATIENCE_S):
                status, content = await read_response(stream)
        assert await served.wait_for_end() == 0

    assert status == 200
    assert json.loads(content)["result"]["structuredContent"] == greeting("Hello", "Ada")


async def test_too_long_path_is_logged_once_and_other_files_have_events(tmp_path: Path) -> None:
    with deep(tmp_path, LONGEST + 300), captured_logs() as events:
        async with serving(tmp_path) as url, connect_client(url, "modern") as client:
            (tmp_path / "Greeting.widget").write_text(widget_file())
            await client.lists("greeting")
            ready = (await ask(url, "/readyz")).json()

    assert ready["watch"] == "native"
    watch_events = [event for event in events.all if event["event"].startswith("watch.")]
    assert [(event["event"], event["error"]) for event in watch_events] == [
        ("watch.skipped", "File name too long")
    ]
    assert events.names().count("widget.refused") == 1
    refused = next(event for event in events.all if event["event"] == "widget.refused")
    assert {"line", "column"} <= refused.keys()


async def wait_for_answer(url: str) -> None:
    async with connect_client(url, "modern") as client:
        await client.tools()


async def test_sighup_scans_at_once(tmp_path: Path) -> None:
    async with (
        forked_daemon(tmp_path, "--poll", "3600") as served,
        connect_client(served.url, "modern") as client,
    ):
        (tmp_path / "Greeting.widget").write_text(widget_file())
        served.send(signal.SIGHUP)

        await client.lists("greeting")

        tree = greeting("Hello", "Ada")
        assert (await client.call("greeting", who="Ada")).structured_content == tree


async def test_stdio_transport_ends_with_stdin(tmp_path: Path) -> None:
    command = over_stdio(tmp_path)
    with anyio.fail_after(PATIENCE_S):
        ended = await anyio.run_process([command.command, *command.args], input=b"")

    assert ended.returncode == 0
    assert ended.stdout == b""


@needs_wings
@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (
            ["serve", "nowhere"],
            3,
            "widgetd: there is no folder nowhere; make it, or name another [W0003]\n",
        ),
        (
            ["serve", "file"],
            3,
            "widgetd: file is a file; name the folder that it lies in [W0004]\n",
        ),
        (
            ["serve", "--prot", "1"],
            2,
            "widgetd: `widgetd serve` has no option --prot; did you mean '--port'? [W0001]\n",
        ),
        (
            ["serve", "--port", "99999"],
            2,
            "widgetd: --port cannot be 99999; write 65535 or less [W0002]\n",
        ),
        (
            ["render", "flight_traker"],
            1,
            "widgetd: there is no widget 'flight_traker'; did you mean 'flight_tracker'?\n",
        ),
    ],
)
def test_error_at_start_is_one_sentence_and_an_exit_code(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    arguments: list[str],
    code: int,
    sentence: str,
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)

    assert main(arguments) == code
    assert capsys.readouterr().err == sentence


async def test_failed_start_ends_with_its_sentence_and_code(tmp_path: Path) -> None:
    arguments = ("serve", str(tmp_path), "--host", "300.1.1.1", "--token", "auto")

    assert await run_forked(*arguments, log=tmp_path / "log") == 2
    assert (tmp_path / "log").read_text() == (
        "widgetd: 300.1.1.1 is not an address of this machine; "
        "name one with --host, as 127.0.0.1 or 0.0.0.0 [W0002]\n"
    )


CALL = '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greeting",%s}}'
TWICE = {
    "in the arguments": (CALL % '"arguments":{"who":"a","who":"b"}', "/params/arguments/who"),
    "escaped": (CALL % '"arguments":{"who":"a","\\u0077ho":"b"}', "/params/arguments/who"),
    "beside them": (CALL % '"arguments":{},"arguments":{}', "/params/arguments"),
    "the method": ('{"jsonrpc":"2.0","id":2,"method":"ping","method":"ping"}', "/method"),
}
# Whoever waits for no answer gets none, and what is no JSON is the SDK's.
UNANSWERED = {
    "a notification": b'{"jsonrpc":"2.0","method":"notifications/x","params":{"a":1,"a":2}}',
    "several messages": b'[{"a":1,"a":2}]',
    "an end too soon": b'{"id":1,"o":{"a":1,"a":2},',
    "a nest": b'{"id":1,"o":{"a":1,"a":2},"n":' + b"[" * 50_000,
    "digits": b'{"id":1,"o":{"a":1,"a":2},"n":' + b"9" * 5_000 + b"}",
    "half a character": b'{"id":1,"o":{"a":1,"a":"\xff"},"n":1}',
    "nothing": b"",
}


async def test_duplicate_key_is_refused_and_the_next_line_is_read(tmp_path: Path) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}
    async with stdio_process(tmp_path) as (process, lines):
        assert process.stdin is not None
        await say(process, "initialize", hello, number=1)
        await lines.receive()
        await say(process, "notifications/initialized", {})
        for line, key in TWICE.values():
            await process.stdin.send(line.encode() + b"\n")
            answer = json.loads(await lines.receive())
            assert answer["id"] == 2
            assert (
                answer["error"]["data"]
                == f"[W2009] the key {key} stands twice; keep one of the two"
            )
        for message in UNANSWERED.values():
            await process.stdin.send(message + b"\n")
        await say(process, "ping", {}, number=3)
        while "id" not in (answer := json.loads(await lines.receive())):
            pass

    assert answer == {"jsonrpc": "2.0", "id": 3, "result": {}}


@pytest.mark.parametrize("closed", ["output", "output and input"])
def test_host_that_goes_away_ends_the_daemon_with_one_event(tmp_path: Path, closed: str) -> None:
    command = over_stdio(tmp_path)
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}
    messages = [{"id": 1, "method": "initialize", "params": hello}, {"id": 2, "method": "ping"}]
    first, second = (
        json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages
    )
    log = tmp_path / "log"
    with (
        log.open("wb") as stderr,
        subprocess.Popen(
            [command.command, *command.args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(first)
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write(second)
        process.stdin.flush()
        if "input" in closed:
            process.stdin.close()
        code = process.wait(PATIENCE_S)

    # FastMCP's own line would be no JSON.
    events = [json.loads(line)["event"] for line in log.read_text().splitlines()]
    assert (code, events[-1], events.count("daemon.stopped")) == (0, "daemon.stopped", 1)
    assert set(events) <= {"watchdog.armed", "catalog.swapped", "daemon.started", "daemon.stopped"}


@pytest.mark.skipif(
    shutil.which("systemd-socket-activate") is None,
    reason="needs systemd-socket-activate, which Debian's package systemd has",
)
async def test_daemon_serves_the_socket_that_systemd_opened(tmp_path: Path) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = ["systemd-socket-activate", "-l", f"127.0.0.1:{port}", *WIDGETD, "serve"]
    environment = daemon_environment()
    passed = [argument for item in environment.items() for argument in ("-E", "=".join(item))]
    with (
        subprocess.Popen(  # noqa: ASYNC220 - it returns at once
            [command[0], *passed, *command[1:], str(tmp_path)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as daemon
    ):
        try:
            with anyio.fail_after(PATIENCE_S):
                while True:
                    try:
                        socket.create_connection(("127.0.0.1", port)).close()
                        break
                    except ConnectionRefusedError:
                        await anyio.sleep(0.01)
            async with connect_client(f"http://127.0.0.1:{port}/mcp", "modern") as client:
                assert not (await client.call("greeting", who="Ada")).is_error
        finally:
            daemon.kill()
