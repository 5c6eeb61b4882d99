"""Starts and ends of a daemon, as its operator sees them."""

from __future__ import annotations

import json
import signal
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
from tests.support.processes import daemon_process
from tests.support.sockets import connect, modern_request, read_response
from tests.support.widgets import greeting, widget_file
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

            with anyio.fail_after(5):
                status, content = await read_response(stream)
        assert await served.wait_for_end(within_s=5) == 0

    assert status == 200
    assert json.loads(content)["result"]["structuredContent"] == greeting("Hello", "Ada")


async def test_too_long_path_is_logged_once_and_other_files_have_events(
    tmp_path: Path,
) -> None:
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
    with anyio.fail_after(20):
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
