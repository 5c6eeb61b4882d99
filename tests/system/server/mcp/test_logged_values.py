"""Logs contain no value that a caller sent, and their readers see no path of the disk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.children import widgetd
from benchmarks.wire import Wire
from tests.support.sockets import modern_request
from tests.support.widgets import widget_file

CALLS = 400
"""About thirty of each kind."""

SECRET = "5ec7e7"
"""Stands in every value, token and header that is sent."""


def random_calls(random: Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Random calls of tools, most of which go wrong in one way or another."""

    def value(depth: int = 0) -> Any:
        secret = f"{SECRET}{random.getrandbits(32):x}"
        if depth > 2:
            return secret
        some = {secret: value(depth + 1)}
        return random.choice([secret, [secret, value(depth + 1)], some, random.random(), None])

    good = json.loads(widget_file(SECRET))
    while True:
        text = f"{SECRET} {random.getrandbits(16)}"
        yield random.choice(
            [
                ("greeting", {"who": text}),
                ("greeting", {"who": value(), text: value()}),
                ("search_widgets", {"query": text}),
                ("get_widget_details", {"names": [text]}),
                ("widget_action", {"render_id": text, "type": text, "payload": {text: value()}}),
                ("try_widget", {"widget": good, "arguments": {"who": value()}}),
                ("try_widget", {"widget": {**good, "template": f"{{{{ {text}"}, "sidecar": text}),
                ("save_widget", {"file": f"{text}/x", "widget": good}),
                ("read_widget", {"names": [text], "parts": ["template"]}),
                ("search_reference", {"query": text, "kinds": [text]}),
                ("get_logs", {"since": text, "after": text, "pattern": f"({text}"}),
                (text.replace(" ", "_"), {"who": value()}),
            ]
        )


def test_no_value_token_or_header_of_any_call_is_logged(tmp_path: Path) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    flags = (
        "--log-level",
        "debug",
        "--toolset",
        "author",
        "--toolset",
        "operate",
        "--allow-upload",
    )
    with widgetd(tmp_path, *flags) as server:
        wire, random = Wire(server.url), Random(17)
        ways = {"authorization": f"Bearer {SECRET}", "x-request-id": SECRET, "cookie": SECRET}
        for _, (tool, arguments) in zip(range(CALLS), random_calls(random), strict=False):
            params = {"name": tool, "arguments": arguments}
            name, sent = random.choice([("", ""), *ways.items()])
            headers = {name: sent} if name else {}
            wire.ask(
                b"".join(
                    modern_request(server.url, "tools/call", params, name=tool, headers=headers)
                )
            )
        params = {"name": "get_logs", "arguments": {"level": "debug", "limit": 1000}}
        result = wire.ask(
            b"".join(modern_request(server.url, "tools/call", params, name="get_logs"))
        ).result["structuredContent"]
        server.child.logged.seek(0)
        logged = server.child.logged.read().decode()

    wire.socket.close()
    assert result["items"]
    assert logged.count("\n") > 1
    assert SECRET not in json.dumps(result)
    assert SECRET not in logged
    assert str(tmp_path) not in json.dumps(result)
