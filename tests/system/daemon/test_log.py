"""What stands in the log, as a process writes it."""

from __future__ import annotations

import subprocess
import sys

import pytest

_CRASH = """
import structlog
from widgetd.daemon import telemetry

telemetry.configure("debug", readable=READABLE)

def render(arguments):
    raise LookupError("no such thing")

try:
    render({"pin": "4711-of-" + "ada"})
except LookupError:
    structlog.get_logger().exception("call.crashed")
"""


@pytest.mark.parametrize("readable", [True, False])
def test_a_traceback_tells_where_and_no_value(*, readable: bool) -> None:
    script = _CRASH.replace("READABLE", str(readable))
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )

    assert "call.crashed" in ended.stderr
    assert "LookupError" in ended.stderr
    assert "no such thing" in ended.stderr
    assert "4711-of-ada" not in ended.stderr
