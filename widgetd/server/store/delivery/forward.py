"""Forwards every action to a webhook, besides its readers.

    append -> the actions' own queue
           -> outbox -> forward -> deliver

The outbox is bounded and never delays an action. If it is full, the webhook misses the action, and
readers get it all the same.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime

import anyio
import orjson

from widgetd.base.logs import get_logger
from widgetd.base.system import SYSTEM
from widgetd.server.store.contract import Action, Clock
from widgetd.server.store.delivery.webhook import Client, Webhook
from widgetd.server.store.factory import Store
from widgetd.server.store.limits import LIMITS

_log = get_logger()


class Forwarder:
    """Sends the actions of a store to a webhook.

    Attributes:
        store: The store.
        waiting: Number of actions to send.
        failures: Number of actions given up.
    """

    def __init__(
        self,
        store: Store,
        hook: Webhook,
        *,
        clock: Clock = SYSTEM.clock.wall_s,
        most_waiting: int = LIMITS.deliveries,
    ) -> None:
        self._hook = hook
        self._clock = clock
        self.store = store
        self._most_waiting = most_waiting
        self.waiting = 0
        self.failures = 0
        self._finished = anyio.Event()
        # The id of a render, and an action in it.
        outbox = anyio.create_memory_object_stream[tuple[str, Action]](math.inf)
        self._outbox, self._deliveries = outbox
        store.actions.listeners.append(self._accept)

    async def forward(self) -> None:
        try:
            async with Client() as client, anyio.create_task_group() as tasks:
                async for render_id, action in self._deliveries:
                    tasks.start_soon(self._deliver, client, render_id, action)
        finally:
            self._finished.set()
            self.close()

    async def finish(self) -> None:
        """Accept no more, and return once everything is sent or given up."""
        self._outbox.close()
        await self._finished.wait()

    def close(self) -> None:
        self._outbox.close()
        self._deliveries.close()

    def _accept(self, render_id: str, action: Action) -> None:
        problem = ""
        if self.waiting >= self._most_waiting:
            problem = "too many deliveries are waiting"
        else:
            try:
                self._outbox.send_nowait((render_id, action))
                self.waiting += 1
            except anyio.ClosedResourceError:
                problem = "this process ends"
        if problem:
            self.failures += 1
            _log.warning("webhook.failed", id=_message_id(render_id, action), problem=problem)

    async def _deliver(self, client: Client, render_id: str, action: Action) -> None:
        try:
            render = await self.store.renders.get(render_id)
            data = {
                "renderId": render_id,
                "widget": None if render is None else render.tool,
                "seq": action.seq,
                "action": action.action,
                "payload": action.payload,
                **({"outcome": action.outcome} if action.outcome else {}),
            }
            timestamp = datetime.fromtimestamp(action.at, UTC).isoformat()
            body = orjson.dumps({"type": "widget.action", "timestamp": timestamp, "data": data})
            message_id = _message_id(render_id, action)
            if not await client.deliver(self._hook, message_id, body, clock=self._clock):
                self.failures += 1
        finally:
            self.waiting -= 1


def _message_id(render_id: str, action: Action) -> str:
    return f"{render_id}.{action.seq}"
