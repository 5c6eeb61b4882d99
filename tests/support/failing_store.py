"""Replicas of one store whose server fails at chosen calls, before or after their effect."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any, cast

from widgetd.server.store.cache import Idempotency, Renders, build_local_caches, read_answer
from widgetd.server.store.contract import Bounds, StoredRender
from widgetd.server.store.factory import Store, local_store
from widgetd.server.store.shared import cache as shared
from widgetd.server.store.shared.connection import Key, StoreConnection, UnavailableError
from widgetd.server.store.waiters import Waiters


@dataclass(eq=False)
class FailingServer:
    """A server in this process.

    Attributes:
        calls: Number of calls up to now.
        failures: Numbers of the calls that fail.
        is_late: Whether a call fails after its effect instead of before.
    """

    calls: int = 0
    failures: Collection[int] = ()
    is_late: bool = False
    _values: dict[str, bytes] = field(default_factory=dict)
    _waiters: list[Waiters] = field(default_factory=list)

    def open_replica(self, bounds: Bounds) -> Store:
        """Build the store of a replica."""
        waiters, connection = Waiters(), cast("StoreConnection", self)
        self._waiters.append(waiters)
        local_renders, local_answers, _ = build_local_caches(bounds, time.monotonic)
        renders = shared.SharedCache(
            connection,
            local_renders,
            name="renders",
            owner_of=lambda stored: StoredRender.read(stored).owner,
            version_of=lambda stored: StoredRender.read(stored).version,
        )
        answers = shared.SharedCache(connection, local_answers, name="answers", owner_of=owner_of)
        return replace(
            local_store(bounds),
            renders=Renders(renders, waiters, publish=self._publish, bounds=bounds),
            idempotency=Idempotency(answers),
        )

    async def run(self, script: str, keys: list[Key], *arguments: Any) -> Any:
        """Run one of the scripts of caches, as `StoreConnection.run` does."""
        self.calls += 1
        is_failure = self.calls in self.failures
        if is_failure and not self.is_late:
            raise UnavailableError
        name = keys[0].name
        answer: Any = self._values.get(name)
        if script is shared._PUT:
            if answer is None or answer in arguments[9:]:
                answer = self._values[name] = arguments[1]
        elif answer is not None:
            is_known = arguments[0] and answer.startswith(arguments[0])
            answer = 1 if is_known else [answer, 3_600_000]
        if is_failure:
            raise UnavailableError
        return answer

    def key(self, kind: Any, *parts: str) -> Key:
        """Return the key of a value."""
        return Key(name=":".join(parts), kind=kind, part=parts[0])

    async def _publish(self, render_id: str, _version: int) -> None:
        for waiters in self._waiters:
            waiters.notify_replaced(render_id)


def owner_of(stored: bytes) -> str:
    """Return the owner of an answer, which has none."""
    read_answer(stored)
    return ""
