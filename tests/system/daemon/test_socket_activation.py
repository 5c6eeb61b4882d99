"""Socket activation: the service manager listens, so an upgrade of widgetd loses no call."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from mcp.shared.exceptions import MCPError

from tests.support.clients import Connection, Era, connect_client
from tests.support.processes import PATIENCE_S, WIDGETD, daemon_environment
from tests.support.widgets import widget_file

RESTARTS = max(1, round(2 * float(os.environ.get("SCALE", "1"))))

_log = logging.getLogger(__name__)

# As systemd does: the socket is descriptor 3 of each daemon, and stays open between two of them.
_MANAGER = """while :; do sh -c 'echo $$ >"$0"; LISTEN_PID=$$ exec "$@"' "$0" "$@"; done"""


class BusyClient:
    """A client that calls all the time, and counts the answers that it got."""

    def __init__(self, url: str, era: Era) -> None:
        self._url, self._era = url, era
        self.answers = 0
        self.sessions = 0
        self.is_ended = False

    async def run(self) -> None:
        """Call until the end; initialise again where a legacy session is gone, and call again."""
        while not self.is_ended:
            self.sessions += 1
            async with connect_client(self._url, self._era) as connection:
                await self._keep_calling(connection)

    async def _keep_calling(self, connection: Connection) -> None:
        """Call until the end, or until the session is gone, which costs one call at most."""
        first = self.answers
        while not self.is_ended:
            try:
                with anyio.fail_after(3 * PATIENCE_S):  # a start on a busy machine included
                    result = await connection.client.call_tool("greeting", {"who": "Ada"})
            except MCPError as error:
                if str(error) == "Session not found" and self.answers > first:
                    return
                raise
            assert not result.is_error, result
            self.answers += 1

    async def wait_for_answers(self) -> None:
        before = self.answers
        while self.answers < before + 3:  # noqa: ASYNC110 - of this process
            await anyio.sleep(0.01)


@pytest.mark.skipif(
    shutil.which("systemd-socket-activate") is None,
    reason="needs systemd-socket-activate, which Debian's package systemd has",
)
@pytest.mark.timeout(60 + 30 * RESTARTS)
async def test_restarts_lose_no_call_and_do_none_twice(tmp_path: Path) -> None:
    folder, audit, pid_file = tmp_path / "widgets", tmp_path / "audit.jsonl", tmp_path / "pid"
    folder.mkdir()
    (folder / "Greeting.widget").write_text(widget_file())
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url, environment = f"http://127.0.0.1:{port}/mcp", daemon_environment()
    passed = [argument for item in environment.items() for argument in ("-E", "=".join(item))]
    activation = ["systemd-socket-activate", *passed, "-l", f"127.0.0.1:{port}"]
    daemon = [*WIDGETD, "serve", str(folder), "--audit", str(audit), "--log-level", "error"]
    clients = [BusyClient(url, era) for era in ("modern", "modern", "legacy")]

    async def wait_for_daemon(last: str) -> str:
        with anyio.fail_after(3 * PATIENCE_S):
            while not pid_file.exists() or pid_file.read_text().strip() in {"", last}:  # noqa: ASYNC110
                await anyio.sleep(0.01)
            for client in clients:
                await client.wait_for_answers()
        return pid_file.read_text().strip()

    manager = await anyio.open_process(
        [*activation, "sh", "-c", _MANAGER, str(pid_file), *daemon],
        env=environment,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        with anyio.fail_after(PATIENCE_S):
            while not _is_open(port):  # noqa: ASYNC110 - of another process
                await anyio.sleep(0.01)
        async with anyio.create_task_group() as tasks:
            for client in clients:
                tasks.start_soon(client.run)
            pid = await wait_for_daemon("")
            for _ in range(RESTARTS):
                os.kill(int(pid), signal.SIGTERM)
                pid = await wait_for_daemon(pid)
            for client in clients:
                client.is_ended = True
        manager.kill()
        os.kill(int(pid), signal.SIGTERM)
        with anyio.fail_after(PATIENCE_S):
            while await anyio.Path("/proc", pid).exists():  # noqa: ASYNC110 - of another process
                await anyio.sleep(0.01)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(manager.pid, signal.SIGKILL)
        await manager.aclose()
    calls = [json.loads(line)["event"] for line in audit.read_text().splitlines()].count("call")
    answers = [client.answers for client in clients]
    _log.info("%d restarts, %d answers, %d calls done", RESTARTS, sum(answers), calls)
    assert calls == sum(answers)
    assert [client.sessions for client in clients] == [1, 1, 1 + RESTARTS]


def _is_open(port: int) -> bool:
    with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False
