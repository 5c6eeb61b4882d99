"""The log as a process writes it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import httpx2
import pytest

from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.support.examples import SCALE
from tests.support.forked_daemons import forked_daemon
from tests.support.logs import captured_logs
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from tests.system.server.web.asking import ask

UNREAD_REQUESTS = round(2_500 * SCALE)
"""Their lines are longer than a pipe and the queue together."""

_CRASH = """
from widgetd.daemon import telemetry
from widgetd.base.logs import get_logger

telemetry.configure("debug", readable=READABLE)

def render(arguments):
    raise LookupError("no such thing")

try:
    render({"pin": "4711-of-" + "ada"})
except LookupError:
    get_logger().exception("call.crashed")
"""


@pytest.mark.parametrize("readable", [True, False])
def test_traceback_names_places_and_no_values(*, readable: bool) -> None:
    script = _CRASH.replace("READABLE", str(readable))
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )

    assert "call.crashed" in ended.stderr
    assert "LookupError" in ended.stderr
    assert "no such thing" in ended.stderr
    assert "4711-of-ada" not in ended.stderr


async def test_swap_event_names_changed_widgets_and_omits_zero_counts(tmp_path: Path) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    (tmp_path / "Other.widget").write_text(widget_file("Other"))
    async with serving(tmp_path):
        with captured_logs() as events, anyio.fail_after(PATIENCE_S):
            (tmp_path / "Greeting.widget").write_text(widget_file(text="Good day"))
            await events.wait_for("catalog.swapped")
    [swapped] = [event for event in events.all if event["event"] == "catalog.swapped"]

    assert swapped["tools"] == ["greeting"]
    assert swapped["changed"] == 1
    assert 0 not in swapped.values()


async def test_requests_are_logged_if_enabled_without_client_paths(tmp_path: Path) -> None:
    widgets, log = tmp_path / "widgets", tmp_path / "log"
    widgets.mkdir()
    async with forked_daemon(widgets, "--access-log", log=log) as served:
        await ask(served.url, "/livez")
        await ask(served.url, "/sk_12345")
        served.send(signal.SIGTERM)
        assert await served.wait_for_end() == 0  # by then all is logged
    lines = [json.loads(line) for line in log.read_text().splitlines()]

    requests = [line for line in lines if line["event"] == "request.answered"]
    assert all([*line][:3] == ["event", "level", "timestamp"] for line in lines)
    assert [(one["route"], one["method"], one["status"], one["level"]) for one in requests] == [
        ("/livez", "GET", 200, "info"),
        ("other", "GET", 404, "info"),
    ]
    assert "sk_12345" not in json.dumps(lines)


async def test_unread_log_delays_no_request_and_counts_its_lost_lines(tmp_path: Path) -> None:
    widgets, log = tmp_path / "widgets", tmp_path / "log"
    widgets.mkdir()
    os.mkfifo(log)
    reader = os.open(log, os.O_RDONLY | os.O_NONBLOCK)
    try:
        async with forked_daemon(widgets, "--access-log", log=log) as served:
            async with httpx2.AsyncClient(
                base_url=served.url.removesuffix("/mcp"), timeout=PATIENCE_S
            ) as client:
                with anyio.fail_after(10 * PATIENCE_S):
                    for _ in range(UNREAD_REQUESTS):
                        assert (await client.get("/livez")).status_code == 200
                lost = await lost_lines(client)
                assert 0 < lost < UNREAD_REQUESTS

                text = ""
                with anyio.fail_after(PATIENCE_S):
                    while "log.lost" not in text:
                        await anyio.wait_readable(reader)
                        text += os.read(reader, 1024 * 1024).decode()
                told = [json.loads(line) for line in text.splitlines() if "log.lost" in line]
                assert told[0]["level"] == "warning"
                assert told[0]["lines"] >= lost

                for _ in range(UNREAD_REQUESTS):
                    await client.get("/livez")
            served.send(signal.SIGTERM)
            assert await served.wait_for_end() == 0
    finally:
        os.close(reader)


async def lost_lines(client: httpx2.AsyncClient) -> int:
    text = (await client.get("/metrics")).text
    [lost] = re.findall(r"^widgetd_log_lost_total (\S+)$", text, re.MULTILINE)
    return int(float(lost))


_TOLD = """
import logging
from widgetd.daemon import telemetry
from widgetd.base.logs import get_logger

telemetry.configure("info", readable=True)
said = {"problem": "it has none", "advice": "write it"}
logging.getLogger("httpx2").info("HTTP Request: POST http://127.0.0.1/mcp")
get_logger().warning("widget.refused", at="/name", **said)
"""


def test_text_log_omits_events_of_libraries() -> None:
    command = [sys.executable, "-c", _TOLD]
    ended = subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE_S)

    line = re.sub(r" +", " ", ended.stderr)
    assert line.count("\n") == 1
    assert line.endswith(
        "[warning] widget.refused problem='it has none' advice='write it' at=/name\n"
    )


def test_swap_is_one_line_of_80_columns_for_a_person() -> None:
    script = """
from widgetd.daemon import telemetry
from widgetd.base.logs import get_logger

telemetry.configure("info", readable=True)
swap = {"widgets": 27, "changed": 1, "tools": ["~flight_tracker"], "duration_ms": 12.345}
get_logger().info("catalog.swapped", **swap, generation="3f2a9c1b7d5e4f60")
"""
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )

    [line] = ended.stderr.splitlines()
    assert len(line) <= 80
    assert line[8:] == (" [info] catalog.swapped changed=1 tools=~flight_tracker duration_ms=12")


async def test_lines_of_one_call_share_its_request_id_and_name_its_widget(tmp_path: Path) -> None:
    image = '{"type":"Image","src":{{ (who ~ ".test/") | tojson }}}'
    images = f"{image},{image.replace('.test', '.invalid')}"
    template = f'{{"type":"Card","children":[{images}]}}'
    (tmp_path / "A.widget").write_text(widget_file("A", template=template))
    log = tmp_path / "log"
    async with (
        forked_daemon(tmp_path, log=log) as served,
        connect_client(served.url, "modern") as client,
    ):
        for who in ("https://a", "https://b"):
            await client.call("a", who=who)
        served.send(signal.SIGTERM)
        assert await served.wait_for_end() == 0

    lines = [json.loads(line) for line in log.read_text().splitlines()]
    blocked = [line for line in lines if line["event"] == "image.blocked"]
    by_call = {line["request"]: line["widget"] for line in blocked}
    assert len(blocked) == 4
    assert [*by_call.values()] == ["a", "a"]
    assert not any("request" in line for line in lines if line not in blocked)
