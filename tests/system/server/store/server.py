"""A real Redis or Valkey server for tests: started, stopped, killed and aged at will."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis

BINARY = shutil.which("valkey-server") or shutil.which("redis-server")


@contextmanager
def running_server() -> Iterator[Server]:
    """Run a server during the block."""
    server = Server()
    try:
        server.start()
        yield server
    finally:
        server.close()


class Server:
    """A server on a unix socket, with nothing on disk."""

    def __init__(self) -> None:
        # Under /tmp itself: a socket's path has at most 107 characters.
        self._folder = Path(tempfile.mkdtemp(prefix="widgetd-store-"))
        self._process: subprocess.Popen[str] | None = None
        self.url = f"unix://{self._folder}/socket"

    def start(self) -> None:
        """Start, and return when it answers."""
        if BINARY is None:
            pytest.skip("there is no valkey-server or redis-server here to test against")
        settings = ["--port", "0", "--unixsocket", f"{self._folder}/socket", "--save", ""]
        self._process = subprocess.Popen(
            [BINARY, *settings, "--dir", str(self._folder)], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if "ready to accept connections at" in line.lower():
                return
        pytest.fail("the server ended before it was ready")

    def kill(self) -> None:
        """End it as a power cut would."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.kill()
            self._process.communicate()
            self._process = None

    def freeze(self) -> None:
        """Let it answer nothing, without closing a connection."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it answer again."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """Leave nothing behind."""
        self.kill()
        shutil.rmtree(self._folder)

    def age(self, prefix: str, seconds: float) -> None:
        """Bring every key of `prefix` that much nearer to its end."""
        with self.client() as client:
            for key in client.scan_iter(f"{{{prefix}:*"):
                left_ms = client.pttl(key) - int(seconds * 1000)
                if left_ms > 0:
                    client.pexpire(key, left_ms)
                else:
                    client.delete(key)

    def lives(self, prefix: str) -> dict[str, int]:
        """Return the remaining lifetime of each key of `prefix` in ms; -1 without an end."""
        with self.client() as client:
            keys = client.scan_iter(f"{{{prefix}:*")
            return {key.decode(): client.pttl(key) for key in keys}

    def client(self) -> Redis:
        """Return a client of the server that does not use the store."""
        return Redis.from_url(self.url)
