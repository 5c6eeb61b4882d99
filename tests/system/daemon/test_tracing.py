"""Spans go to a collector, if one is named."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.support.clients import connected
from tests.support.daemons import PATIENCE_S
from tests.support.processes import daemon_process
from tests.support.widgets import widget_file
from tests.system.daemon.collecting import ENDPOINT, HAS_SDK, collecting
from widgetd.daemon.telemetry import is_wanted, tracing
from widgetd.errors import ConfigError
from widgetd.extras import install_advice


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
        f"{install_advice('otel')}, or unset them"
    )


@pytest.mark.skipif(not HAS_SDK, reason="needs the OpenTelemetry SDK: widgetd[otel]")
async def test_a_call_is_a_span_with_its_method_and_no_argument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    async with collecting() as received:
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        async with daemon_process(tmp_path) as served:
            async with connected(served.url, "modern") as client:
                await client.call("a", who="Ada Lovelace")
            served.process.terminate()
            assert await served.ended(within_s=PATIENCE_S) == 0

    assert b"tools/call" in received
    assert b"mcp.method.name" in received
    assert b"Lovelace" not in received
