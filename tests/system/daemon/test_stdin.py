"""Lines with a duplicate key are refused over stdio, like bodies over HTTP."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.widgets import widget_file
from tests.system.daemon.test_actions import CLIENT, say, stdio_process

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
