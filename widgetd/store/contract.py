"""What a store promises, whichever backend keeps the promise.

Every method can be called from any number of tasks at once. None raises because
a server is away: then this process keeps the promise alone, for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from widgetd.store.values import Accepted, Awaited, StoredRender, Verdict


class Renders(Protocol):
    """Renders by id, for a while.

    Obligations: a render that was put is found until its time to live is over or newer
    renders need its room; the oldest goes first. A render never changes: putting its id
    again has no effect. What is put in one replica is found in all of them.
    """

    async def put(self, render: StoredRender) -> None:
        """Keep `render`; in-process a reference, so its parts must not be changed any more."""

    async def get(self, render_id: str) -> StoredRender | None:
        """The render, or None if there is none of that id, or none any more."""


class Actions(Protocol):
    """What users did in each render, until whoever waits for it has it.

    Obligations: the actions of a render are read in the order in which they were accepted,
    each with a `seq` above the last. Reading removes nothing; giving the `next` of an answer
    as a later `after` does, so a reader that lost an answer reads it again. An `after` that
    was never given out acknowledges nothing that was not read. While the server is away,
    each replica queues alone and counts from another origin; what nobody read until the
    server is back moves there. A reader that follows `next` misses none, and may see one
    twice where the server went away in the middle of an answer.
    """

    async def append(
        self, render_id: str, action: str, payload: object, *, idempotency_key: str
    ) -> Accepted:
        """Queue an action and wake whoever waits for it.

        Args:
            render_id: A render that the caller has just found in the store.
            action: The action's type.
            payload: JSON.
            idempotency_key: The same key for the same render queues once, and has one answer.

        Raises:
            CallError: Too many are unread (W2402, try again), the payload is too large (W2403),
                or this process drains and would be the only one to have the action (W2405).
        """

    async def read(self, render_id: str, *, after: int = 0, timeout_s: float = 20.0) -> Awaited:
        """Acknowledge what came up to `after`; answer what came later, or wait for it.

        Unread actions are answered before anything else: also while draining, and also
        when the render itself is gone. Waiting costs a task and an event.
        """

    def drain(self) -> None:
        """Answer whoever waits in this process, now and from now on, with `draining`.

        What is taken after this is kept on a server that replicas share, or not taken.
        """


class Idempotency(Protocol):
    """Answers by key, so that a call made twice has one effect and one answer.

    Obligations: the first answer under a key stands, in all replicas, until its time to live
    is over or newer answers need its room. Keys are compared whole; that they name the
    principal and the tool too is up to the caller.
    """

    async def remember(self, key: str, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        """Keep `answer` (JSON) under `key` if it is the first, and give the one that stands."""

    async def recall(self, key: str) -> Mapping[str, Any] | None:
        """The answer under `key`, or None if the call was never made, or long ago."""


class Limits(Protocol):
    """How much each principal may ask for.

    Obligations: a principal never gets more than its rate and burst over all replicas, and one
    principal's use takes nothing from another's. Memory is bounded; forgetting a principal
    is in its favour.
    """

    async def take(self, principal: str, *, cost: float = 1.0) -> Verdict:
        """Take `cost` calls from the principal's allowance, or none and say when to try again.

        A cost above the burst counts as the burst, or it could never be paid.
        """

    def slot(self, principal: str) -> AbstractAsyncContextManager[Verdict]:
        """Hold one of the principal's places for as long as the block runs.

        The block runs in any case; if the verdict is not `allowed`, it holds no place.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """What outlives a call, by what it is for.

    Attributes:
        renders: To be shown again, and acted on.
        actions: What users did in them.
        idempotency: Answers already given.
        limits: What each principal may still ask for.
        mode: Says where all this is: in this process by choice (`local`), on a server that
            replicas share (`shared`), or in this process while the server is away (`degraded`).
        skipped: Counts what stood on the server and could not be read.
    """

    renders: Renders
    actions: Actions
    idempotency: Idempotency
    limits: Limits
    mode: Callable[[], Literal["local", "shared", "degraded"]]
    skipped: Callable[[], int] = lambda: 0
