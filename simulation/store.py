"""A shared store. Its network fails before the effect of a call, or after it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, cast

import anyio

from simulation.world import Process, World
from widgetd.base.system import System
from widgetd.server.store.cache import Idempotency, Renders, build_local_caches
from widgetd.server.store.contract import Bounds, StoredRender
from widgetd.server.store.factory import Store, local_store
from widgetd.server.store.shared import cache as shared
from widgetd.server.store.shared.connection import Key, Kind, StoreConnection, UnavailableError
from widgetd.server.store.waiters import Waiters

DELAYS_S = (0, 0.0003, 0.002)
RETURN_S = 0.5  # a lost connection is open again after so long


@dataclass(eq=False)
class StoreServer:
    """A server, with times in which it cannot be reached.

    Attributes:
        failed: Failed calls, by script and by whether the effect came first.
        seen: The same points of all calls.
    """

    world: World
    random: Random
    values: dict[str, bytes] = field(default_factory=dict)
    replicas: list[Waiters] = field(default_factory=list)
    away: list[tuple[float, float]] = field(default_factory=list)
    failed: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    seen: set[tuple[str, str, str]] = field(default_factory=set)

    def fail_soon(self, random: Random) -> None:
        """Be away for a few short times from now on."""
        at_s = self.world.clock.now_s
        for _ in range(random.randint(1, 6)):
            at_s += random.choice((0.001, 0.003, 0.01, 0.1))
            until_s = at_s + random.choice((0.001, 0.003, 0.01, 0.3))
            self.away.append((at_s, until_s))
            at_s = until_s

    async def pass_on(self, point: tuple[str, str, str]) -> None:
        """Delay a message, or lose it while the server is away."""
        await anyio.sleep(self.random.choice(DELAYS_S))
        self.seen.add(point)
        now_s = self.world.clock.now_s
        if any(start <= now_s < end for start, end in self.away):
            self.failed[point] += 1
            self.world.counts["store faults"] += 1
            raise UnavailableError


class Connection:
    """A connection for `SharedCache`: two scripts, run on a dictionary.

    `tests/system/server/store` tests the scripts themselves on a real server.
    """

    up = True

    def __init__(self, server: StoreServer, process: Process) -> None:
        self._server = server
        self._process = process
        self.caches: list[shared.SharedCache] = []

    async def run(self, script: str, keys: list[Key], *arguments: Any) -> Any:
        """Run a script, and lose the way there or the way back. Then connect again."""
        try:
            return await self._run(script, keys, *arguments)
        except UnavailableError:
            loop = self._server.world.loop
            loop.call_later(RETURN_S, lambda: loop.create_task(self._return()))
            raise

    async def _return(self) -> None:
        if self._process.is_alive:
            for cache in self.caches:
                await cache.hand_over()
            for waiters in self._server.replicas:
                waiters.notify_all()

    async def _run(self, script: str, keys: list[Key], *arguments: Any) -> Any:
        server, name = self._server, keys[0].name
        server.world.counts["store calls"] += 1
        kind = "put" if script is shared._PUT else "newest"
        await server.pass_on((kind, "store", "before"))
        if kind == "put":
            value, replaced = arguments[1], arguments[9:]
            answer: Any = server.values.get(name)
            if answer is None or answer in replaced:
                answer = server.values[name] = value
        else:
            standing, head = server.values.get(name), arguments[0]
            is_same = head and standing and standing.startswith(head)
            answer = 1 if is_same else None if standing is None else [standing, 3_600_000]
        await server.pass_on((kind, "store", "after"))
        return answer

    def key(self, kind: Kind, *parts: str) -> Key:
        """Return a key."""
        return Key(name=":".join(parts), kind=kind, part=parts[0])

    def skip(self, part: str) -> None:
        """Refuse: no value is foreign."""
        raise AssertionError(part)

    async def publish(self, render_id: str, _version: int) -> None:
        """Notify every replica."""
        for waiters in self._server.replicas:
            waiters.notify_replaced(render_id)


def open_replica(server: StoreServer, system: System, process: Process) -> Store:
    """Return the store of a replica."""
    bounds, waiters, clock = Bounds(versions_per_s=1e6), Waiters(), system.clock.wall_s
    connection = Connection(server, process)
    server.replicas.append(waiters)
    real = cast("StoreConnection", connection)
    renders, answers, _ = build_local_caches(bounds, system.clock.steady_s)
    remote = shared.SharedCache(
        real,
        renders,
        name="renders",
        owner_of=lambda kept: StoredRender.read(kept).owner,
        version_of=lambda kept: StoredRender.read(kept).version,
    )
    agreed = shared.SharedCache(real, answers, name="answers", owner_of=lambda _: "")
    connection.caches += agreed, remote
    return replace(
        local_store(bounds, clock),
        renders=Renders(remote, waiters, publish=connection.publish, bounds=bounds, clock=clock),
        idempotency=Idempotency(agreed, system.numbers),
    )
