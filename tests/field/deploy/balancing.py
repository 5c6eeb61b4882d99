"""nginx, with the configuration that is shipped, in front of replicas on this machine."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Sequence
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

CONFIGURATION = Path(__file__).resolve().parents[3] / "deploy" / "nginx.conf"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


class Balancer:
    """nginx on a port of its own.

    Args:
        folder: Where it may write.
        ports: Of the replicas, on this machine.
    """

    def __init__(self, folder: Path, ports: Sequence[int]) -> None:
        self.port = free_port()
        text = CONFIGURATION.read_text().replace("listen 8788", f"listen 127.0.0.1:{self.port}")
        for number, port in enumerate(ports, start=1):
            text = text.replace(f"widgetd-{number}:8787", f"127.0.0.1:{port}")
        configuration = folder / "nginx.conf"
        configuration.write_text(text.replace("/tmp/", f"{folder}/"))
        self._log = folder / "nginx.log"
        assert NGINX is not None
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [NGINX, "-c", configuration, "-g", "daemon off; master_process off;"], stderr=log
            )

    @property
    def url(self) -> str:
        """Where MCP is served."""
        return f"http://127.0.0.1:{self.port}/mcp"

    def ask(self, headers: dict[str, str]) -> str:
        """What a POST with these headers is answered."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=10)) as connection:
            connection.request("POST", "/mcp", b"{}", headers)
            return connection.getresponse().read().decode()

    def status_of(self, path: str) -> int:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=10)) as connection:
            connection.request("GET", path)
            return connection.getresponse().status

    def starts(self) -> None:
        """Return when it takes connections."""
        while self._process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
        raise AssertionError(self._log.read_text())

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=10)
