"""Queues of actions in this process, one for each render that had any, and how a queue says no."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import orjson

from widgetd.errors import CallError
from widgetd.store.cache import key_digest
from widgetd.store.contract import Accepted, Action, Awaited, Bounds, Clock, Renders
from widgetd.store.waiters import Waiters

KEYS_PER_ACTION = 16
"""How many idempotency keys are remembered for each place in a queue."""


@dataclass(slots=True, kw_only=True)
class _Queue:
    """One render's actions.

    Attributes:
        last: The `seq` of the newest action, read or not.
        until: When the queue is over, unless it is used before.
        delivered: The highest `seq` that a reader was given; none above can be acknowledged.
        unread: Oldest first.
        keys: The `seq` that each idempotency key got, oldest first.
    """

    last: int
    until: float
    delivered: int = 0
    unread: deque[Action] = field(default_factory=deque)
    keys: OrderedDict[str, int] = field(default_factory=OrderedDict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """An action that leaves this process, with what it needs to be queued elsewhere."""

    render_id: str
    key: str
    action: Action


class LocalActions:
    """`Actions` in this process.

    Args:
        renders: Says whether a render without actions may still have some.
        waiters: Who waits; shared with whoever else wakes them.
        bounds: Of queues, actions and payloads.
        clock: Tells the time.
        origin: Actions count from the number after it.
    """

    def __init__(
        self, renders: Renders, waiters: Waiters, *, bounds: Bounds, clock: Clock, origin: int = 0
    ) -> None:
        self._renders = renders
        self._waiters = waiters
        self._bounds = bounds
        self._clock = clock
        self._origin = origin
        self._queues: dict[str, _Queue] = {}

    async def append(
        self, render_id: str, action: str, payload: object, *, idempotency_key: str
    ) -> Accepted:
        """Queue an action and wake whoever waits for it."""
        encoded_payload(payload, self._bounds)
        key = key_digest(idempotency_key)
        queue = self._live(render_id) or self._open(render_id)
        if key not in queue.keys:
            self._add(queue, key, action, payload)
            self._waiters.notify(render_id)
        return Accepted(seq=queue.keys[key])

    async def read(self, render_id: str, *, after: int = 0, timeout_s: float = 20.0) -> Awaited:
        """Acknowledge what came up to `after`; answer what came later, or wait for it."""

        async def look() -> Awaited | None:
            unread = self.unread(render_id, after)
            if unread:
                return Awaited(status="actions", next=unread[-1].seq, actions=unread)
            if await self._renders.get(render_id) is None:
                return Awaited(status="expired", next=after)
            return None

        return await self._waiters.wait(render_id, look, after=after, timeout_s=timeout_s)

    def unread(self, render_id: str, after: int) -> tuple[Action, ...]:
        """Forget what was delivered up to `after`, and give the rest."""
        queue = self._live(render_id)
        if queue is None:
            return ()
        acknowledged = min(after, queue.delivered)
        while queue.unread and queue.unread[0].seq <= acknowledged:
            queue.unread.popleft()
        if queue.unread:
            queue.delivered = queue.unread[-1].seq
        return tuple(queue.unread)

    def release(self) -> tuple[Released, ...]:
        """Give away what no reader was given, of every render, to be queued elsewhere."""
        now = self._clock()
        return tuple(
            released
            for render_id, queue in self._queues.items()
            if queue.until > now
            for released in _released(render_id, queue)
        )

    def restore(self, released: Sequence[Released]) -> None:
        """Take back what was given away and found no place."""
        until = self._clock() + self._bounds.render_ttl_s
        for one in released:
            fresh = _Queue(last=one.action.seq, until=until)
            queue = self._queues.setdefault(one.render_id, fresh)
            queue.unread = deque(sorted((*queue.unread, one.action), key=lambda a: a.seq))
            queue.keys.setdefault(one.key, one.action.seq)

    def drain(self) -> None:
        """Answer whoever waits with `draining`."""
        self._waiters.drain()

    def _add(self, queue: _Queue, key: str, action: str, payload: object) -> None:
        if self._waiters.draining:
            raise ending()
        if len(queue.unread) >= self._bounds.actions:
            raise queue_full(self._bounds.actions)
        queue.last += 1
        queue.unread.append(
            Action(seq=queue.last, action=action, payload=payload, at=self._clock())
        )
        queue.keys[key] = queue.last
        if len(queue.keys) > KEYS_PER_ACTION * self._bounds.actions:
            queue.keys.popitem(last=False)

    def _live(self, render_id: str) -> _Queue | None:
        """The render's queue if there is one, and its time to live begins anew."""
        queue, now = self._queues.get(render_id), self._clock()
        if queue is None or queue.until <= now:
            return None
        queue.until = now + self._bounds.render_ttl_s
        return queue

    def _open(self, render_id: str) -> _Queue:
        self._queues.pop(render_id, None)
        if len(self._queues) >= self._bounds.queues:
            self._make_room()
        until = self._clock() + self._bounds.render_ttl_s
        queue = self._queues[render_id] = _Queue(last=self._origin, until=until)
        return queue

    def _make_room(self) -> None:
        """Drop the oldest queue that is over or holds nothing unread."""
        now = self._clock()
        for render_id, queue in self._queues.items():
            if queue.until <= now or not queue.unread:
                del self._queues[render_id]
                return
        raise queues_full(len(self._queues))


def _released(render_id: str, queue: _Queue) -> Iterator[Released]:
    keys = {seq: key for key, seq in queue.keys.items()}
    given = [action for action in queue.unread if action.seq <= queue.delivered]
    for action in list(queue.unread)[len(given) :]:
        yield Released(render_id=render_id, key=keys[action.seq], action=action)
    queue.unread = deque(given)


def encoded_payload(payload: object, bounds: Bounds) -> bytes:
    """The payload as JSON.

    Raises:
        CallError: It is too large (W2403).
    """
    encoded = orjson.dumps(payload)
    if len(encoded) > bounds.payload_bytes:
        raise CallError(
            "W2403",
            f"expected at most {bounds.payload_bytes} bytes of JSON, got {len(encoded)}",
            path="payload",
        )
    return encoded


def queue_full(unread: int) -> CallError:
    """There is no room for an action (W2402) until somebody reads."""
    hint = "try again when await_widget_action has read them"
    return CallError(
        "W2402",
        f"{unread} actions of this render are unread; {hint}",
        recoverable=True,
        suggestions=(hint,),
    )


def ending() -> CallError:
    """Whoever would keep an action ends, and nobody else would have it (W2405)."""
    hint = "try again with the same idempotency_key"
    return CallError(
        "W2405",
        f"this process ends, and would take the action with it; {hint}",
        recoverable=True,
        suggestions=(hint,),
    )


def queues_full(queues: int) -> CallError:
    """There is no room for another render's actions (W2402) until somebody reads."""
    hint = "try again when await_widget_action has read some"
    return CallError(
        "W2402",
        f"{queues} renders have unread actions; {hint}",
        recoverable=True,
        suggestions=(hint,),
    )
