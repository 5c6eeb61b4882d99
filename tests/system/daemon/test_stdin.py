"""Lines with a duplicate key are refused over stdio, like bodies over HTTP."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.clients import over_stdio
from tests.support.widgets import widget_file
from tests.system.daemon.test_actions import CLIENT, PATIENCE_TO_START_S, say, stdio_process

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


async def test_duplicate_key_is_refused_and_the_next_line_is_read(
    tmp_path: Path,
) -> None:
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
        code = process.wait(PATIENCE_TO_START_S)

    # FastMCP's own line would be no JSON.
    events = [json.loads(line)["event"] for line in log.read_text().splitlines()]
    assert (code, events[-1], events.count("daemon.stopped")) == (0, "daemon.stopped", 1)
    assert set(events) <= {"watchdog.armed", "catalog.swapped", "daemon.started", "daemon.stopped"}
