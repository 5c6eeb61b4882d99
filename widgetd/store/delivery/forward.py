"""Tell a webhook of every action, beside whoever waits for it.

    append -> the actions' own queue
           -> outbox -> forward -> deliver

The outbox is bounded and never in anybody's way: an action that finds it full is
not told to the webhook, and waits for its reader all the same.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import anyio
import orjson
import structlog
from anyio.streams.memory import MemoryObjectSendStream

from widgetd.store.contract import Actions, Renders, Store
from widgetd.store.delivery.webhook import Post, Webhook, client, deliver
from widgetd.store.values import Accepted, Awaited, Clock

MOST_WAITING = 1000
AT_ONCE = 16

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """An action that a webhook is to be told of."""

    render_id: str
    seq: int
    action: str
    payload: Any
    at: float

    @property
    def id(self) -> str:
        """The same whenever this action is told of."""
        return f"{self.render_id}.{self.seq}"


class Forwarding:
    """A store whose actions are also told to a webhook.

    Args:
        store: Keeps the actions.
        hook: Who is told.
        clock: Tells the time.
        most_waiting: How many actions may wait to be told.
    """

    def __init__(
        self,
        store: Store,
        hook: Webhook,
        *,
        clock: Clock = time.time,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self._hook = hook
        self._clock = clock
        self._renders = store.renders
        self._told = anyio.Event()
        outbox, self._deeds = anyio.create_memory_object_stream[Deed](most_waiting)
        self._outbox = outbox
        self.store = replace(store, actions=_ToldActions(store.actions, outbox, clock))

    async def forward(self) -> None:
        """Run until all is told that came before `finish`, or until cancelled."""
        free = anyio.Semaphore(AT_ONCE)
        try:
            async with client() as post, anyio.create_task_group() as tasks:
                async for deed in self._deeds:
                    await free.acquire()
                    tasks.start_soon(self._tell, post, deed, free)
        finally:
            self._told.set()
            self.close()

    async def finish(self) -> None:
        """Take no more, and return once the webhook was told of everything or given up."""
        self._outbox.close()
        await self._told.wait()

    def close(self) -> None:
        """Tell the webhook of nothing more."""
        self._outbox.close()
        self._deeds.close()

    async def _tell(self, post: Post, deed: Deed, free: anyio.Semaphore) -> None:
        try:
            body = await _body(deed, self._renders)
            await deliver(post, self._hook, deed.id, body, clock=self._clock)
        finally:
            free.release()


class _ToldActions:
    """`Actions` of another store, each of which is put into an outbox."""

    def __init__(self, kept: Actions, outbox: MemoryObjectSendStream[Deed], clock: Clock) -> None:
        self._kept = kept
        self._outbox = outbox
        self._clock = clock

    async def append(
        self, render_id: str, action: str, payload: object, *, idempotency_key: str
    ) -> Accepted:
        """Queue an action, wake whoever waits for it, and have the webhook told."""
        accepted = await self._kept.append(
            render_id, action, payload, idempotency_key=idempotency_key
        )
        deed = Deed(
            render_id=render_id,
            seq=accepted.seq,
            action=action,
            payload=payload,
            at=self._clock(),
        )
        try:
            self._outbox.send_nowait(deed)
        except anyio.WouldBlock:
            _log.warning("webhook.failed", id=deed.id, problem="too many deliveries are waiting")
        except anyio.ClosedResourceError:
            _log.warning("webhook.failed", id=deed.id, problem="this process ends")
        return accepted

    async def read(self, render_id: str, *, after: int = 0, timeout_s: float = 20.0) -> Awaited:
        """As the store that keeps them."""
        return await self._kept.read(render_id, after=after, timeout_s=timeout_s)

    def drain(self) -> None:
        """As the store that keeps them."""
        self._kept.drain()


async def _body(deed: Deed, renders: Renders) -> bytes:
    """`{"type": "widget.action", "timestamp", "data": {"renderId", "widget", "seq", ...}}`."""
    render = await renders.get(deed.render_id)
    return orjson.dumps(
        {
            "type": "widget.action",
            "timestamp": datetime.fromtimestamp(deed.at, UTC).isoformat(),
            "data": {
                "renderId": deed.render_id,
                "widget": None if render is None else render.tool,
                "seq": deed.seq,
                "action": deed.action,
                "payload": deed.payload,
            },
        }
    )
