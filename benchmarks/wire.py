"""MCP over plain sockets that stay open, so that a client's own work is not measured.

One thread, no event loop: a request is bytes that were made before the clock starts.
"""

from __future__ import annotations

import json
import select
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tests.support.sockets import modern_request

Era = Literal["legacy", "modern"]

LEGACY = "2025-11-25"
PATIENCE_S = 30
_CHUNK_BYTES = 1 << 20
_STREAM = "text/event-stream"
_TOLD = b"notifications/tools/list_changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One response.

    Attributes:
        status: The HTTP status.
        headers: By lower-case name.
        body: The body.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def result(self) -> dict[str, Any]:
        """The JSON-RPC result."""
        answer = json.loads(self.body)
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result


class Wire:
    """One connection to the server at a URL."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.socket = _connect(url)
        self._received = bytearray()
        # One for all answers: memory that is had anew from the system costs more than the reading.
        self._chunk = memoryview(bytearray(_CHUNK_BYTES))

    def close(self) -> None:
        """End the connection."""
        self.socket.close()

    def ask(self, request: bytes) -> Answer:
        """Send a request, and take the response, which must have a content length."""
        self.send(request)
        return self.take()

    def timed(self, request: bytes) -> float:
        """Send a request and return the seconds to its answer, which must not be an error."""
        self.reopen()
        started_s = time.perf_counter()
        answer = self.ask(request)
        took_s = time.perf_counter() - started_s
        assert answer.status == 200, answer
        return took_s

    def reopen(self) -> None:
        """Reconnect if the server closed the idle connection."""
        if select.select([self.socket], [], [], 0)[0]:
            self.close()
            self.socket = _connect(self._url)

    def send(self, request: bytes) -> None:
        """Send a request."""
        self.socket.sendall(request)

    def take(self) -> Answer:
        """Read the response to the oldest open request."""
        status, headers = self.take_head()
        length = int(headers.get("content-length", 0))
        while len(self._received) < length:
            self._more()
        with memoryview(self._received) as received:
            body = bytes(received[:length])
        del self._received[:length]
        return Answer(status=status, headers=headers, body=body)

    def take_head(self) -> tuple[int, Mapping[str, str]]:
        """Read the status and the headers of a response, and nothing of its body."""
        while (end := self._received.find(b"\r\n\r\n")) < 0:
            self._more()
        first, *lines = self._received[:end].decode("latin-1").split("\r\n")
        del self._received[: end + 4]
        parts = (line.partition(":") for line in lines)
        return int(first.split(" ")[1]), {name.lower(): value.strip() for name, _, value in parts}

    def read_change(self) -> bool:
        """Read what has arrived; return whether it announces a new list of tools."""
        self._more()
        if _TOLD in self._received:
            self._received.clear()
            return True
        return False

    def _more(self) -> None:
        size = self.socket.recv_into(self._chunk)
        assert size, "the server closed the connection"
        self._received += self._chunk[:size]


def _connect(url: str) -> socket.socket:
    host, port = url.removeprefix("http://").partition("/")[0].rsplit(":", 1)
    connection = socket.create_connection((host, int(port)), PATIENCE_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def modern(url: str, method: str, params: Mapping[str, Any] | None = None, name: str = "") -> bytes:
    """Build a modern request, head and body."""
    return b"".join(modern_request(url, method, params, name=name))


def call(url: str, tool: str, arguments: Mapping[str, Any]) -> bytes:
    """Build a modern `tools/call`."""
    return modern(url, "tools/call", {"name": tool, "arguments": dict(arguments)}, name=tool)


class Session:
    """A legacy session after its handshake."""

    _id = ""

    def __init__(self, url: str) -> None:
        self._url = url
        self.wire = Wire(url)
        about = {"name": "bench", "version": "1"}
        hello = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": about}
        greeted = self.wire.ask(self.request("initialize", hello))
        self._id = greeted.headers["mcp-session-id"]
        self.wire.ask(self.request("notifications/initialized"))

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> bytes:
        """Build a request of this session, head and body."""
        content: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        if not method.startswith("notifications/"):
            content["id"] = 1
        body = json.dumps(content).encode()
        return self._head("POST", {"content-length": str(len(body))}) + body

    def stream(self) -> bytes:
        """Build the request for the stream of notifications."""
        return self._head("GET", {})

    def _head(self, verb: str, more: Mapping[str, str]) -> bytes:
        host, _, path = self._url.removeprefix("http://").partition("/")
        headers = {
            "host": host,
            "content-type": "application/json",
            "accept": "application/json, text/event-stream" if verb == "POST" else _STREAM,
            "mcp-protocol-version": LEGACY,
            "mcp-session-id": self._id,
            **more,
        }
        lines = (f"{name}: {value}" for name, value in headers.items() if value)
        return "\r\n".join((f"{verb} /{path} HTTP/1.1", *lines, "", "")).encode()


def listen(url: str, era: Era) -> Wire:
    """Open a connection that receives notifications of changed tool lists."""
    wire = Wire(url)
    if era == "legacy":
        session = Session(url)
        wire.send(session.stream())
        session.wire.close()
    else:
        wanted = {"notifications": {"toolsListChanged": True}}
        wire.send(modern(url, "subscriptions/listen", wanted))
    status, _ = wire.take_head()
    assert status == 200, status
    return wire


def wait_for_all(wires: Sequence[Wire]) -> float:
    """Wait for the notification on each of `wires` and return the time of the last."""
    waiting = {wire.socket: wire for wire in wires}
    while waiting:
        readable, _, _ = select.select(list(waiting), [], [], PATIENCE_S)
        assert readable, f"{len(waiting)} of {len(wires)} clients received no notification"
        for ready in readable:
            if waiting[ready].read_change():
                del waiting[ready]
    return time.monotonic()
