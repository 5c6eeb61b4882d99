"""Queues of actions in this process, one for each render with actions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial

import orjson

from widgetd.base.errors import CallError
from widgetd.server.store.cache import Renders, key_digest
from widgetd.server.store.contract import (
    UNKNOWN,
    Action,
    Awaited,
    Bounds,
    Clock,
    Origin,
    call_again,
)
from widgetd.server.store.limits import LIMITS
from widgetd.server.store.waiters import Waiters


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """An action in a queue, with the facts for another queue."""

    render_id: str
    key: str
    action: Action


@dataclass(slots=True, kw_only=True)
class _Queue:
    """The actions of a render.

    Attributes:
        last: The `seq` of the newest action, read or not.
        until: Expiry of the queue, unless it is used before.
        owner: The owner whose share it counts against.
        delivered: The highest `seq` returned to a reader. Later actions cannot be acknowledged.
        unread: Unread actions, oldest first.
        keys: The `seq` of each idempotency key, oldest first.
    """

    last: int
    until: float
    owner: str = ""
    delivered: int = 0
    unread: deque[Queued] = field(default_factory=deque)
    keys: OrderedDict[str, int] = field(default_factory=OrderedDict)


@dataclass(eq=False, kw_only=True, repr=False)
class Actions(ABC):
    """The actions of users by render, until a reader acknowledged them.

    Promises: the actions of a render are read in the order of their acceptance, each with a higher
    `seq` than the last. Reading removes nothing. A reader acknowledges actions by passing the
    `next` of a response as `after`, so it can read a lost response again. An `after` without such a
    response acknowledges nothing unread. While the server is away each replica queues alone and
    counts from another origin. Unread actions move to the server when it is back. A reader that
    follows `next` misses no action, and may see an action twice if the server went away during a
    response.

    Attributes:
        waiters: The waiting readers in this process.
        bounds: The limits of each queue.
        clock: Dates actions.
        listeners: Called with each accepted action and the id of its render.
    """

    waiters: Waiters
    bounds: Bounds
    clock: Clock
    listeners: list[Callable[[str, Action], None]] = field(default_factory=list)

    async def append(
        self,
        render_id: str,
        action: str,
        payload: object,
        *,
        idempotency_key: str,
        origin: Origin = UNKNOWN,
        outcome: str = "",
    ) -> int:
        """Queue an action, wake its readers, and return its `seq`.

        Args:
            render_id: A render that the caller has just loaded from the store.
            action: The action's type.
            payload: Its payload, JSON.
            idempotency_key: The same key for the same render queues once, with one response.
            origin: The facts about the render.
            outcome: The outcome of the action. Empty if its reader decides.

        Raises:
            CallError: Too many are unread (W2402, try again), the payload is too large (W2403), or
                this process drains and would be the only one with the action (W2405).
        """
        at = self.clock()
        new = Action(seq=0, action=action, payload=payload, at=at, origin=origin, outcome=outcome)
        seq = await self.queue(render_id, key_digest(idempotency_key), new)
        # Readers in this process need not wait for a notification by the server.
        self.waiters.notify(render_id)
        for listener in self.listeners:
            listener(render_id, replace(new, seq=seq))
        return seq

    async def read(self, render_id: str, *, after: int = 0, timeout_s: float = 20.0) -> Awaited:
        """Acknowledge the actions up to `after`, and return later actions, or wait for them.

        Unread actions take precedence over everything else, also while draining and after the
        render expired. A waiting reader costs a task and an event.
        """
        look = partial(self.look, render_id, after)
        result = await self.waiters.wait(render_id, look, timeout_s=timeout_s)
        return result if isinstance(result, Awaited) else Awaited(status=result, next=after)

    def drain(self) -> None:
        """Answer readers in this process with `draining` from now on.

        Further actions are accepted only if a shared server stores them.
        """
        self.waiters.drain()

    @abstractmethod
    async def queue(self, render_id: str, key: str, new: Action) -> int:
        """Queue an action unless its key has an action. Return the number of the key's action."""

    @abstractmethod
    async def look(self, render_id: str, after: int) -> Awaited | None:
        """Return the actions after `after`, or that there will be none, or None to wait."""


@dataclass(eq=False, kw_only=True, repr=False)
class LocalActions(Actions):
    """`Actions` in this process."""

    renders: Renders
    timer: Clock
    origin: int = 0
    # Least recently used first.
    _queues: OrderedDict[str, _Queue] = field(default_factory=OrderedDict)

    async def queue(self, render_id: str, key: str, new: Action) -> int:
        encode_payload(new.payload, self.bounds)
        queue = self._live(render_id) or self._open(render_id, new.origin.owner)
        if key not in queue.keys:
            numbered = replace(new, seq=queue.last + 1)
            self._add(queue, Queued(render_id=render_id, key=key, action=numbered))
        return queue.keys[key]

    async def look(self, render_id: str, after: int) -> Awaited | None:
        unread = self.unread(render_id, after)
        if unread:
            return Awaited(status="actions", next=unread[-1].seq, actions=unread)
        if await self.renders.get(render_id) is None:
            return Awaited(status="expired", next=after)
        return None

    def unread(self, render_id: str, after: int) -> tuple[Action, ...]:
        """Drop the delivered actions up to `after`, and return the rest."""
        queue = self._live(render_id)
        if queue is None:
            return ()
        acknowledged = min(after, queue.delivered)
        while queue.unread and queue.unread[0].action.seq <= acknowledged:
            queue.unread.popleft()
        if queue.unread:
            queue.delivered = queue.unread[-1].action.seq
        return tuple(queued.action for queued in queue.unread)

    def count_unread(self) -> int:
        return sum(len(queue.unread) for queue in self._queues.values())

    def release(self) -> tuple[Queued, ...]:
        """Remove and return the undelivered actions of every render, for another queue."""
        now = self.timer()
        released: list[Queued] = []
        for queue in self._queues.values():
            if queue.until > now:
                # Delivered actions stay: their reader's cursor refers to this queue.
                kept = deque(
                    queued for queued in queue.unread if queued.action.seq <= queue.delivered
                )
                released += list(queue.unread)[len(kept) :]
                queue.unread = kept
        return tuple(released)

    def restore(self, released: Iterable[Queued]) -> None:
        """Queue released actions again after the other queue had no place for them."""
        until = self.timer() + self.bounds.render_ttl_s
        for queued in released:
            seq = queued.action.seq
            opened = _Queue(last=seq, until=until, owner=queued.action.origin.owner)
            queue = self._queues.setdefault(queued.render_id, opened)
            # If the client sent the action again meanwhile, the key has another number.
            if queue.keys.setdefault(queued.key, seq) == seq:
                queue.unread = deque(sorted((*queue.unread, queued), key=lambda q: q.action.seq))

    def _add(self, queue: _Queue, new: Queued) -> None:
        if self.waiters.draining:
            raise call_again(
                "W2405",
                "this process ends, and would take the action with it",
                "try again with the same idempotency_key",
            )
        if len(queue.unread) >= self.bounds.actions:
            raise queue_full(self.bounds.actions)
        queue.last = new.action.seq
        queue.unread.append(new)
        queue.keys[new.key] = queue.last
        if len(queue.keys) > LIMITS.keys_per_action * self.bounds.actions:
            queue.keys.popitem(last=False)

    def _live(self, render_id: str) -> _Queue | None:
        queue, now = self._queues.get(render_id), self.timer()
        if queue is None or queue.until <= now:
            return None
        queue.until = now + self.bounds.render_ttl_s
        self._queues.move_to_end(render_id)
        return queue

    def _open(self, render_id: str, owner: str) -> _Queue:
        self._queues.pop(render_id, None)
        if len(self._queues) >= self.bounds.queues:
            self._make_room(owner)
        until = self.timer() + self.bounds.render_ttl_s
        queue = self._queues[render_id] = _Queue(last=self.origin, until=until, owner=owner)
        return queue

    def _make_room(self, owner: str) -> None:
        now = self.timer()
        for render_id, queue in self._queues.items():
            if queue.until <= now or not queue.unread:
                del self._queues[render_id]
                return
        # All queues are in use. An owner with less than the largest share takes the oldest queue of
        # the largest owner, so no owner can shut out the others.
        shares = Counter(queue.owner for queue in self._queues.values())
        largest = max(shares, key=lambda name: (shares[name], name))
        if shares[owner] + 1 >= shares[largest]:
            hint = "try again when await_widget_action has read some"
            raise call_again("W2402", f"{len(self._queues)} renders have unread actions", hint)
        oldest = next(at for at, queue in self._queues.items() if queue.owner == largest)
        del self._queues[oldest]


def encode_payload(payload: object, bounds: Bounds) -> bytes:
    """Return the payload as JSON.

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
    hint = "try again when await_widget_action has read them"
    return call_again("W2402", f"{unread} actions of this render are unread", hint)
