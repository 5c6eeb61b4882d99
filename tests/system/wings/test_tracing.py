"""Spans go to a collector, if one is named."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from fastmcp import FastMCP
from mcp import Client
from mcp.client.extension import advertise

from tests.support.booking import GIVEN, SCHEMA, SIDECAR, TEMPLATE, mark, press
from tests.support.clients import connect_client
from tests.support.forked_daemons import forked_daemon
from tests.support.widgets import widget_file
from tests.system.daemon.collecting import ENDPOINT, HAS_SDK, collecting
from tests.system.upstreams.servers import serve_mcp, toml
from widgetd.base.errors import ConfigError
from widgetd.base.extras import install_advice
from widgetd.daemon.telemetry import Signal, exporting, is_wanted
from widgetd.server.access.principal import UI_EXTENSION


@pytest.mark.parametrize("signal", ["TRACES", "METRICS"])
def test_telemetry_is_wanted_when_a_collector_is_named(signal: Signal) -> None:
    named = {ENDPOINT: "http://127.0.0.1:4318"}

    assert is_wanted(named, signal)
    assert is_wanted({f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT": "http://127.0.0.1:4318"}, signal)
    assert not is_wanted({**named, "OTEL_SDK_DISABLED": "true"}, signal)
    assert not is_wanted({**named, f"OTEL_{signal}_EXPORTER": "none"}, signal)
    assert not is_wanted({"OTEL_SERVICE_NAME": "widgetd"}, signal)


@pytest.mark.skipif(HAS_SDK, reason="the OpenTelemetry SDK is installed")
def test_telemetry_without_the_sdk_is_refused_in_one_sentence() -> None:
    with pytest.raises(ConfigError) as raised, exporting({ENDPOINT: "http://127.0.0.1:4318"}):
        pass

    assert str(raised.value) == (
        "OTEL_* ask for telemetry, which needs the OpenTelemetry SDK; "
        f"{install_advice('otel')}, or unset them"
    )


@pytest.mark.skipif(not HAS_SDK, reason="needs the OpenTelemetry SDK: widgetd[otel]")
async def test_call_is_a_span_and_a_duration_with_its_method_and_no_argument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    async with collecting() as received:
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        async with forked_daemon(tmp_path) as served:
            async with connect_client(served.url, "modern") as client:
                await client.call("a", who="Ada Lovelace")
            served.process.terminate()
            assert await served.wait_for_end() == 0

    assert b"tools/call" in received
    assert b"mcp.method.name" in received
    assert b"/v1/metrics" in received
    assert b"mcp.server.operation.duration" in received
    assert b"Lovelace" not in received


@pytest.mark.skipif(not HAS_SDK, reason="needs the OpenTelemetry SDK: widgetd[otel]")
async def test_press_is_a_span_and_so_is_its_call_of_the_upstream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    widgets, airline = tmp_path / "widgets", FastMCP[Any]("airline")

    @airline.tool
    async def book_seat(flight: str, seat: str) -> dict[str, Any]:
        return {"seat": {"code": f"{flight[:1]}{seat}"}}

    widgets.mkdir()
    (widgets / "Seats.widget").write_text(widget_file("Seats", schema=SCHEMA, template=TEMPLATE))
    (widgets / "Seats.widget.toml").write_text(SIDECAR)
    async with serve_mcp(airline) as upstream, collecting() as received:
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        rule = "[airline.actions.book_seat]\nconfirm = false\n"
        (tmp_path / "u.toml").write_text(toml("airline", url=upstream) + rule)
        async with forked_daemon(widgets, "--upstreams", str(tmp_path / "u.toml")) as served:
            apps = [advertise(UI_EXTENSION, {"mimeTypes": ["text/html;profile=mcp-app"]})]
            async with Client(served.url, extensions=apps) as client:
                pressed = await press(client, mark(await client.call_tool("seats", GIVEN)))
            served.process.terminate()
            assert await served.wait_for_end() == 0

    assert (pressed.structured_content or {})["status"] == "done", pressed
    assert b"widget_action" in received
    assert b"tools/call book_seat" in received
    assert b"12A" not in received
    assert b"C01X00T47" not in received
