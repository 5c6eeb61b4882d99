"""Spans go to a collector, if one is named."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from tests.support.clients import connected
from tests.support.daemons import PATIENCE_S
from tests.support.processes import daemon_process
from tests.support.widgets import widget_file
from widgetd.daemon.telemetry import is_wanted, tracing
from widgetd.errors import ConfigError

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
HAS_SDK = find_spec("opentelemetry.sdk") is not None


def test_traces_are_wanted_when_a_collector_is_named() -> None:
    assert is_wanted({ENDPOINT: "http://127.0.0.1:4318"})
    assert not is_wanted({ENDPOINT: "http://127.0.0.1:4318", "OTEL_SDK_DISABLED": "true"})
    assert not is_wanted({"OTEL_SERVICE_NAME": "widgetd"})


@pytest.mark.skipif(HAS_SDK, reason="the OpenTelemetry SDK is installed")
def test_traces_without_the_sdk_are_refused_in_one_sentence() -> None:
    with pytest.raises(ConfigError) as raised, tracing({ENDPOINT: "http://127.0.0.1:4318"}):
        pass

    assert str(raised.value) == (
        "OTEL_* ask for traces, which need the OpenTelemetry SDK; "
        "install widgetd[otel], or unset them"
    )


@pytest.mark.skipif(not HAS_SDK, reason="needs the OpenTelemetry SDK: widgetd[otel]")
async def test_a_call_is_a_span_with_its_method_and_no_argument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    received = b""

    async def collect(stream: SocketStream) -> None:
        nonlocal received
        async with stream:
            request = b""
            while b"\r\n\r\n" not in request:
                request += await stream.receive()
            length = int(request.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            while len(request.partition(b"\r\n\r\n")[2]) < length:
                request += await stream.receive()
            received += request
            await stream.send(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, collect)
        port = listener.extra(SocketAttribute.local_port)
        monkeypatch.setenv(ENDPOINT, f"http://127.0.0.1:{port}")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        async with daemon_process(tmp_path) as served:
            async with connected(served.url, "modern") as client:
                await client.call("a", who="Ada Lovelace")
            served.process.terminate()
            assert await served.ended(within_s=PATIENCE_S) == 0
        tasks.cancel_scope.cancel()

    assert b"tools/call" in received
    assert b"mcp.method.name" in received
    assert b"Lovelace" not in received
