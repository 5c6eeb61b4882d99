"""Two daemons behind nginx with a server between them, as `compose.yaml` has it."""

from __future__ import annotations

import json
import signal
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import anyio
from prometheus_client.parser import text_string_to_metric_families

from tests.field.deploy.balancing import Balancer, free_port
from tests.support.processes import Served, daemon_process
from tests.system.server.store.server import Server
from tests.system.server.web.asking import ask


class Replica:
    """One daemon, whose port and log stay the same when it is restarted.

    Args:
        widgets: What it serves.
        store: The URL of what it shares with the others.
        log: Where its log goes.
    """

    def __init__(self, widgets: Path, store: str, log: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self._widgets = widgets
        self._store = store
        self._log = log
        self._held = AsyncExitStack()
        self._served: Served | None = None

    async def start(self) -> None:
        """Start, and return once the port accepts connections."""
        process = daemon_process(
            self._widgets, "--store", self._store, port=self.port, log=self._log
        )
        self._served = await self._held.enter_async_context(process)

    async def end(self) -> int:
        """End as a service manager would have it, and answer the exit code."""
        assert self._served is not None
        self._served.send(signal.SIGTERM)
        code = await self._served.wait_for_end()
        await self._held.aclose()
        return code

    async def aclose(self) -> None:
        """Leave nothing that runs."""
        await self._held.aclose()

    async def readiness(self) -> dict[str, object]:
        """Return the answer of `/readyz`."""
        report: dict[str, object] = (await ask(self.url, "/readyz")).json()
        return report

    async def number(self, name: str, **labels: str) -> float:
        """Return the sum of all samples of a metric that have these labels."""
        families = text_string_to_metric_families((await ask(self.url, "/metrics")).text)
        return sum(
            sample.value
            for family in families
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )

    def logged(self, event: str) -> int:
        """Count the times that an event was logged, over all restarts."""
        lines = self._log.read_text().splitlines()
        return sum(json.loads(line)["event"] == event for line in lines)

    async def logs(self, event: str, *, times: int) -> None:
        """Return once an event was logged so many times."""
        while self.logged(event) < times:  # noqa: ASYNC110 - a file tells nobody that it grew
            await anyio.sleep(0.01)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Everything that runs.

    Attributes:
        widgets: The folder that both serve.
        one: A replica.
        two: Another one.
        balancer: In front of both.
        server: Between them.
    """

    widgets: Path
    one: Replica
    two: Replica
    balancer: Balancer
    server: Server

    @property
    def both(self) -> tuple[Replica, Replica]:
        """Both replicas."""
        return self.one, self.two

    async def numbers(self, name: str, **labels: str) -> tuple[float, ...]:
        """Return each replica's value of a metric."""
        return tuple([await replica.number(name, **labels) for replica in self.both])
