"""Forwards every action to a webhook, besides its readers.

    append -> the actions' own queue
           -> outbox -> forward -> deliver

The outbox is bounded and never delays an action: if it is full, the action is not sent to
the webhook, and readers get it all the same.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import anyio
import orjson

from widgetd.logs import get_logger
from widgetd.store.contract import UNKNOWN, Accepted, Actions, Awaited, Clock, Origin, Store
from widgetd.store.delivery.webhook import Client, Webhook
from widgetd.store.limits import LIMITS

_log = get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """An action to send to a webhook."""

    render_id: str
    seq: int
    action: str
    payload: Any
    at: float
    outcome: str = ""

    @property
    def id(self) -> str:
        """Return the id of the message, the same for every attempt."""
        return f"{self.render_id}.{self.seq}"


class Forwarder:
    """A store whose actions are also sent to a webhook.

    Attributes:
        store: The store.
        waiting: Number of actions that are not sent yet.
        failures: Number of actions that were given up.
    """

    def __init__(
        self,
        store: Store,
        hook: Webhook,
        *,
        clock: Clock = time.time,
        most_waiting: int = LIMITS.deliveries,
    ) -> None:
        self._hook = hook
        self._clock = clock
        self._renders = store.renders
        self._most_waiting = most_waiting
        self.waiting = 0
        self.failures = 0
        self._finished = anyio.Event()
        self._outbox, self._deliveries = anyio.create_memory_object_stream[Delivery](math.inf)
        self.store = replace(store, actions=_ForwardedActions(store.actions, self._accept, clock))

    async def forward(self) -> None:
        """Send actions until all that came before `finish` are sent, or until cancelled."""
        try:
            async with Client() as client, anyio.create_task_group() as tasks:
                async for delivery in self._deliveries:
                    tasks.start_soon(self._deliver, client, delivery)
        finally:
            self._finished.set()
            self.close()

    async def finish(self) -> None:
        """Accept no more, and return once everything is sent or given up."""
        self._outbox.close()
        await self._finished.wait()

    def close(self) -> None:
        """Stop sending."""
        self._outbox.close()
        self._deliveries.close()

    def _accept(self, delivery: Delivery) -> None:
        problem = ""
        if self.waiting >= self._most_waiting:
            problem = "too many deliveries are waiting"
        else:
            try:
                self._outbox.send_nowait(delivery)
                self.waiting += 1
            except anyio.ClosedResourceError:
                problem = "this process ends"
        if problem:
            self.failures += 1
            _log.warning("webhook.failed", id=delivery.id, problem=problem)

    async def _deliver(self, client: Client, delivery: Delivery) -> None:
        try:
            render = await self._renders.get(delivery.render_id)
            data = {
                "renderId": delivery.render_id,
                "widget": None if render is None else render.tool,
                "seq": delivery.seq,
                "action": delivery.action,
                "payload": delivery.payload,
                **({"outcome": delivery.outcome} if delivery.outcome else {}),
            }
            timestamp = datetime.fromtimestamp(delivery.at, UTC).isoformat()
            body = orjson.dumps({"type": "widget.action", "timestamp": timestamp, "data": data})
            if not await client.deliver(self._hook, delivery.id, body, clock=self._clock):
                self.failures += 1
        finally:
            self.waiting -= 1


class _ForwardedActions:
    """The `Actions` of another store, each of which is also passed to `accept`."""

    def __init__(self, actions: Actions, accept: Callable[[Delivery], None], clock: Clock) -> None:
        self._actions = actions
        self._accept = accept
        self._clock = clock

    async def append(
        self,
        render_id: str,
        action: str,
        payload: object,
        *,
        idempotency_key: str,
        origin: Origin = UNKNOWN,
        outcome: str = "",
    ) -> Accepted:
        """Queue an action, wake its readers, and have it sent."""
        accepted = await self._actions.append(
            render_id,
            action,
            payload,
            idempotency_key=idempotency_key,
            origin=origin,
            outcome=outcome,
        )
        self._accept(
            Delivery(
                render_id=render_id,
                seq=accepted.seq,
                action=action,
                payload=payload,
                at=self._clock(),
                outcome=outcome,
            )
        )
        return accepted

    async def read(self, render_id: str, *, after: int = 0, timeout_s: float = 20.0) -> Awaited:
        """Read the actions of the store."""
        return await self._actions.read(render_id, after=after, timeout_s=timeout_s)

    def drain(self) -> None:
        """Drain the actions of the store."""
        self._actions.drain()
