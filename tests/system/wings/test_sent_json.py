"""Invalid JSON and duplicate keys are refused alike on every way for arguments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.sockets import exchange, modern_request
from tests.support.widgets import widget_file
from widgetd.cli import main

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "number"}, "of": {"type": "object"}, "s": {"type": "string"}},
}
TEMPLATE = '{"type":"Card","children":[{"type":"Text","value":{{ (n | string) | tojson }}}]}'
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "older", "version": "1"},
}

GOOD = {
    "the largest integer": b'{"n": 18446744073709551615}',
    "the least integer": b'{"n": -9223372036854775808}',
    "a key twice, in two objects": b'{"n": 1, "of": {"n": 2}}',
    "a key that stands in a text": b'{"n": 1, "s": "\\"n\\": 2"}',
}
BAD = {
    "one more than 64 bits": b'{"n": 18446744073709551616}',
    "one less than 64 bits": b'{"n": -9223372036854775809}',
    "many digits": b'{"n": ' + b"9" * 400 + b"}",
    "more digits than Python reads": b'{"n": ' + b"9" * 5000 + b"}",
    "a large integer, deeper": b'{"n": 1, "of": {"a": [18446744073709551616]}}',
    "a large integer in a mended text": b'{"n": 1, "of": "{\\"a\\": 18446744073709551616}"}',
    "a float that no double holds": b'{"n": 1e400}',
    "not a number": b'{"n": NaN}',
    "infinity": b'{"n": -Infinity}',
    "half a character": b'{"n": 1, "s": "\\ud800"}',
    "half a character in a key": b'{"n": 1, "of": {"\\ud800": 1}}',
    "a key twice": b'{"n": 1, "n": 2}',
    "a key twice, once escaped": b'{"n": 1, "\\u006e": 2}',
    "a key twice, alike": b'{"n": 1, "n": 1}',
    "a key twice, deeper": b'{"n": 1, "of": {"a": 1, "a": 2}}',
    "a key twice in a mended text": b'{"n": 1, "of": "{\\"a\\": 1, \\"a\\": 2}"}',
    "a nest": b'{"n": 1, "of": {"a": ' + b"[" * 300 + b"]" * 300 + b"}}",
    "a deep nest": b'{"n": 1, "of": {"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
    "bytes that are no UTF-8": b'{"n": 1, "s": "\xff"}',
    "a comma too many": b'{"n": 1,}',
    "an array": b"[1]",
}


def is_refusal(status: int, body: bytes) -> bool:
    answer = json.loads(body)
    assert status in {200, 400}
    return "error" in answer or bool(answer["result"].get("isError"))


async def verdicts(url: str, arguments: bytes) -> dict[str, bool]:
    """Return whether each way to a render refuses these arguments."""
    call: dict[str, Any] = {"name": "x", "arguments": "HERE"}
    head, body = modern_request(url, "tools/call", call, name="x")
    sent = body.replace(b'"HERE"', arguments)
    head = head.replace(f"content-length: {len(body)}".encode(), b"content-length: %d" % len(sent))
    modern = await exchange(url, head, sent)
    async with httpx2.AsyncClient(timeout=PATIENCE_S) as http:
        accept = {"accept": "application/json, text/event-stream"}
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
        greeted = await http.post(url, json=message, headers=accept)
        older = {
            **accept,
            "content-type": "application/json",
            "mcp-session-id": greeted.headers["mcp-session-id"],
            "mcp-protocol-version": "2025-11-25",
        }
        request_body = json.dumps(
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
        )
        content = request_body.encode().replace(b'"HERE"', arguments)
        legacy = await http.post(url, content=content, headers=older)
        base = url.removesuffix("/mcp")
        render = await http.post(f"{base}/render/x", content=arguments)
        page_response = await http.post(
            f"{base}/w/x.json", content=arguments, headers={"origin": base}
        )
    assert {render.status_code, page_response.status_code} <= {200, 201, 400, 422}
    return {
        "modern": is_refusal(*modern),
        "legacy": is_refusal(legacy.status_code, legacy.content),
        "render": render.status_code >= 400,
        "gallery": page_response.status_code == 400 or page_response.json()["error"] is not None,
    }


def at_the_command(folder: Path, arguments: bytes) -> bool:
    file = folder / "arguments.json"
    file.write_bytes(arguments)
    return main(["render", "x", "--dir", str(folder), "--arguments", f"@{file}"]) != 0


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        *(pytest.param(encoded, False, id=name) for name, encoded in GOOD.items()),
        *(pytest.param(encoded, True, id=name) for name, encoded in BAD.items()),
    ],
)
async def test_every_door_has_the_same_verdict_on_the_same_bytes(
    tmp_path: Path, arguments: bytes, wrong: bool
) -> None:
    (tmp_path / "X.widget").write_text(widget_file("X", schema=SCHEMA, template=TEMPLATE))
    async with serving(tmp_path, gallery=True) as url:
        results = await verdicts(url, arguments)
    results["command"] = at_the_command(tmp_path, arguments)

    assert results == dict.fromkeys(results, wrong)


async def test_duplicate_key_is_named(tmp_path: Path) -> None:
    async with serving(tmp_path) as url:
        head, body = modern_request(url, "tools/call", {"name": "x", "arguments": {}}, name="x")
        content = body.replace(b'"arguments": {}', b'"arguments": {"a": {"b": 1, "b": 2}}')
        length, now = (f"content-length: {len(each)}".encode() for each in (body, content))
        status, answer = await exchange(url, head.replace(length, now), content)

    assert status == 400
    assert json.loads(answer)["error"]["message"] == (
        "[W2009] the key /params/arguments/a/b stands twice; keep one of the two"
    )
