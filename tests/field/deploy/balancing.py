"""A front end, with the configuration that is shipped, before replicas on this machine."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

from tests.support.patience import PATIENCE_S

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
PROGRAMS = "/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontEnd:
    """A program that spreads requests, and how to run it with its shipped configuration.

    Attributes:
        program: Its path; None where it is not installed.
        package: Debian's package of it.
        file: The configuration in `deploy/`.
        listen: Where the configuration says which port to listen on.
        arguments: What it is started with, before the path of the configuration.
        more: What comes after that.
        resends: Whether it sends a body again, to the other replica, where one does not answer.
    """

    program: str | None
    package: str
    file: str
    listen: tuple[str, str]
    arguments: tuple[str, ...]
    more: tuple[str, ...]
    resends: bool


FRONT_ENDS = {
    "nginx": FrontEnd(
        program=shutil.which("nginx", path=PROGRAMS),
        package="nginx-light",
        file="nginx.conf",
        listen=("listen 8788", "listen 127.0.0.1:{port}"),
        arguments=("-c",),
        more=("-g", "daemon off; master_process off;"),
        resends=True,
    ),
    "caddy": FrontEnd(
        program=shutil.which("caddy", path=PROGRAMS),
        package="caddy",
        file="Caddyfile",
        listen=(":8788 {", "http://127.0.0.1:{port} {{"),
        arguments=("run", "--config"),
        more=("--adapter", "caddyfile"),
        resends=False,
    ),
}
NGINX = FRONT_ENDS["nginx"]


def free_port() -> int:
    """Return a port without a listener."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


class Balancer:
    """A front end on a port of its own.

    Args:
        folder: Where it may write.
        ports: Of the replicas, on this machine.
        front_end: What spreads the requests.
    """

    def __init__(self, folder: Path, ports: Sequence[int], front_end: FrontEnd = NGINX) -> None:
        self.port = free_port()
        shipped, here = front_end.listen
        text = (DEPLOY / front_end.file).read_text()
        text = text.replace(shipped, here.format(port=self.port))
        for number, port in enumerate(ports, start=1):
            text = text.replace(f"widgetd-{number}:8787", f"127.0.0.1:{port}")
        configuration = folder / front_end.file
        configuration.write_text(text.replace("/tmp/", f"{folder}/"))
        self._log = folder / f"{front_end.file}.log"
        assert front_end.program is not None
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [front_end.program, *front_end.arguments, configuration, *front_end.more],
                stderr=log,
                env={**os.environ, "HOME": str(folder)},
            )

    @property
    def url(self) -> str:
        """Return the URL of MCP."""
        return f"http://127.0.0.1:{self.port}/mcp"

    def ask(self, headers: dict[str, str]) -> str:
        """Return the answer to a POST with these headers."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)) as connection:
            connection.request("POST", "/mcp", b"{}", headers)
            return connection.getresponse().read().decode()

    def status_of(self, path: str) -> int:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)) as connection:
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
        self._process.wait(timeout=PATIENCE_S)
