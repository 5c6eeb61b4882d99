"""Each front end in its shipped configuration, before two servers that answer their names."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.field.deploy.balancing import FRONT_ENDS, Balancer, FrontEnd

MODERN = {"MCP-Protocol-Version": "2026-07-28"}
LEGACY = {"MCP-Protocol-Version": "2025-06-18", "MCP-Session-Id": "4f1d"}


@pytest.fixture(
    params=[
        pytest.param(
            front_end,
            id=name,
            marks=pytest.mark.skipif(
                front_end.program is None,
                reason=f"needs {name}, Debian's package {front_end.package}",
            ),
        )
        for name, front_end in FRONT_ENDS.items()
    ]
)
def front_end(request: pytest.FixtureRequest) -> FrontEnd:
    chosen: FrontEnd = request.param
    return chosen


class Replica:
    """A server that answers every request with its own name and the Host it was asked for."""

    def __init__(self, name: str) -> None:
        class Answer(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                body = f"{name} {self.headers['Host']}".encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_arguments: object) -> None:
                """Never read."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def replicas() -> Iterator[list[Replica]]:
    with ExitStack() as ends:
        servers = [Replica("one"), Replica("two")]
        for replica in servers:
            ends.callback(replica.close)
        yield servers


@pytest.fixture
def balancer(tmp_path: Path, replicas: list[Replica], front_end: FrontEnd) -> Iterator[Balancer]:
    front = Balancer(tmp_path, [replica.port for replica in replicas], front_end)
    front.starts()
    yield front
    front.close()


@contextmanager
def silent_port() -> Iterator[int]:
    """Yield a port that neither accepts nor refuses connections, like that of a lost machine."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, ExitStack() as stack:
        address = server.getsockname()
        # What fills the queue is never accepted, so whoever comes later is not answered.
        for _ in range(2):
            first = stack.enter_context(socket.socket())
            first.setblocking(False)
            first.connect_ex(address)
        yield address[1]


def first_words(answers: list[str]) -> set[str]:
    return {answer.split()[0] for answer in answers}


def require_resending(front_end: FrontEnd) -> None:
    if not front_end.resends:
        pytest.skip("it sends no body twice, as its configuration says")


def test_session_stays_with_the_replica_that_opened_it(balancer: Balancer) -> None:
    opened = balancer.ask({})

    assert first_words([opened, *(balancer.ask(LEGACY) for _ in range(30))]) == first_words(
        [opened]
    )


def test_requests_without_a_session_go_to_every_replica(balancer: Balancer) -> None:
    assert first_words([balancer.ask(MODERN) for _ in range(60)]) == {"one", "two"}


def test_replicas_see_the_host_of_the_original_request(balancer: Balancer) -> None:
    assert balancer.ask(MODERN).split()[1] == f"127.0.0.1:{balancer.port}"


def test_stopping_replica_loses_no_request(
    balancer: Balancer, replicas: list[Replica], front_end: FrontEnd
) -> None:
    require_resending(front_end)
    assert first_words([balancer.ask(MODERN) for _ in range(60)]) == {"one", "two"}

    replicas.pop(0).close()

    assert first_words([balancer.ask(MODERN) for _ in range(60)]) == {"two"}


def test_vanished_replica_loses_no_request(
    tmp_path: Path, replicas: list[Replica], front_end: FrontEnd
) -> None:
    require_resending(front_end)
    with ExitStack() as stack:
        ports = [stack.enter_context(silent_port()), replicas[1].port]
        balancer = Balancer(tmp_path, ports, front_end)
        stack.callback(balancer.close)
        balancer.starts()

        assert first_words([balancer.ask(MODERN) for _ in range(30)]) == {"two"}


def test_metrics_of_a_replica_are_not_load_balanced(balancer: Balancer) -> None:
    assert balancer.status_of("/metrics") == 404
