"""Socket activation: the service manager listens, and hands its socket to the daemon."""

from __future__ import annotations

import shutil
import socket
import subprocess
from pathlib import Path

import anyio
import pytest

from tests.support.clients import connect_client
from tests.support.processes import PATIENCE_S, WIDGETD, daemon_environment
from tests.support.widgets import widget_file


@pytest.mark.skipif(
    shutil.which("systemd-socket-activate") is None,
    reason="needs systemd-socket-activate, which Debian's package systemd has",
)
async def test_daemon_serves_the_socket_that_systemd_opened(tmp_path: Path) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = ["systemd-socket-activate", "-l", f"127.0.0.1:{port}", *WIDGETD, "serve"]
    environment = daemon_environment()
    passed = [argument for item in environment.items() for argument in ("-E", "=".join(item))]
    with (
        subprocess.Popen(  # noqa: ASYNC220 - it returns at once
            [command[0], *passed, *command[1:], str(tmp_path)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as daemon
    ):
        try:
            with anyio.fail_after(PATIENCE_S):
                while True:
                    try:
                        socket.create_connection(("127.0.0.1", port)).close()
                        break
                    except ConnectionRefusedError:
                        await anyio.sleep(0.01)
            async with connect_client(f"http://127.0.0.1:{port}/mcp", "modern") as client:
                assert not (await client.call("greeting", who="Ada")).is_error
        finally:
            daemon.kill()
