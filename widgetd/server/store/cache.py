"""Renders and answers in a cache: the newest within its limits, each for a limited time.

The cache is in this process, or on a server with a local cache in front of it. Both keep bytes, so
they know their size exactly, and 10,000 renders give the garbage collector nothing to visit.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from typing import Any, Literal, Protocol

import orjson

from widgetd.base.system import SYSTEM, Numbers
from widgetd.server.store.contract import Bounds, Clock, StoredRender, call_again, too_soon
from widgetd.server.store.limits import LIMITS
from widgetd.server.store.owned import OwnedEntries
from widgetd.server.store.waiters import Listener, Waiters


class Cache(Protocol):
    """Values by key, limited in number, bytes and time, in this process or in all replicas.

    Promises: without `replace`, the value of a key never changes, in any replica. It stays until
    its time to live is over or newer values need the space. Then the oldest value of the largest
    owner is dropped first, so an owner with less than an equal share loses none.
    """

    async def put(self, key: str, value: bytes, *, owner: str) -> bytes:
        """Store `value` unless the key has a value. Return the value of the key."""

    async def get(self, key: str) -> bytes | None:
        """Return the value of `key`, or None. Another replica may have replaced it."""

    async def newest(self, key: str) -> bytes | None:
        """Return the newest value of `key` in any replica, or None."""

    async def replace(self, key: str, value: bytes, *, standing: bytes, owner: str) -> bool:
        """Replace `standing` by `value`. Return False if the key has another value."""

    async def agree(self, key: str, value: bytes, *, owner: str) -> bytes:
        """Store `value` as `put` does, and return the value of all replicas.

        Raises:
            CallError: The replicas cannot be asked (W5017).
        """


class LocalCache:
    """A cache in this process.

    Attributes:
        most: Number of values.
        most_bytes: Size of all values. A larger value is not stored at all.
        ttl_s: Time to live of a value.
    """

    def __init__(self, *, most: int, most_bytes: int, ttl_s: float, timer: Clock) -> None:
        self.most = most
        self.most_bytes = most_bytes
        self.ttl_s = ttl_s
        self._entries = OwnedEntries[bytes](
            most=most, most_bytes=most_bytes, ttl_s=ttl_s, clock=timer
        )

    async def put(self, key: str, value: bytes, *, owner: str, ttl_s: float | None = None) -> bytes:
        """Store `value` unless the key has a value. Return the value of the key.

        Args:
            key: The key.
            value: The value.
            owner: The owner whose share it counts against.
            ttl_s: Remaining time of a copy of a value on a server. None for a new value.
        """
        standing = await self.get(key)
        if standing is not None:
            return standing
        if len(value) > self.most_bytes:
            return value
        self._entries.put(key, value, owner=owner, size_bytes=len(value), ttl_s=ttl_s)
        return value

    async def get(self, key: str) -> bytes | None:
        return self._entries.get(key)

    newest = get
    agree = put

    def holds(self, key: str) -> bool:
        return self._entries.get(key) is not None

    async def replace(
        self, key: str, value: bytes, *, standing: bytes, owner: str, ttl_s: float | None = None
    ) -> bool:
        if await self.get(key) != standing:
            return False
        self._entries.drop(key)
        await self.put(key, value, owner=owner, ttl_s=ttl_s)
        return True


Publish = Callable[[str, int], Awaitable[None]]
"""Notifies every replica of a new version, by the render's id and its number."""


@dataclass(eq=False, repr=False)
class Renders:
    """Renders by id.

    A version never changes: `replace` stores the next number, so concurrent replacements are
    ordered and no version follows a newer version. While the server is away each replica replaces
    alone. Afterwards the highest number wins.

    Attributes:
        cache: Stores them.
        waiters: The waiting readers in this process.
        publish: Notifies the readers in every replica of a new version. None for this process.
        bounds: Limits the rate of versions.
        clock: Dates versions.
    """

    cache: Cache
    waiters: Waiters = field(default_factory=Waiters)
    publish: Publish | None = None
    bounds: Bounds = field(default_factory=Bounds)
    clock: Clock = SYSTEM.clock.wall_s
    # A thousand pages that follow one board read the same bytes.
    _latest: tuple[bytes, StoredRender] | None = None

    async def put(self, render: StoredRender) -> None:
        await self.cache.put(render.id, render.json(), owner=render.owner)

    async def get(self, render_id: str) -> StoredRender | None:
        """Return the newest version in any replica, or None if the render is gone."""
        stored = await self.cache.newest(render_id)
        if stored is None:
            return None
        if self._latest is None or self._latest[0] is not stored:
            self._latest = stored, StoredRender.read(stored)
        return self._latest[1]

    async def replace(
        self,
        render_id: str,
        change: Callable[[StoredRender], StoredRender],
        *,
        after: int | None = None,
    ) -> StoredRender | None:
        """Store the next version of a render, and begin its time to live again.

        Args:
            render_id: The render.
            change: Makes the next version from the newest. Its id, owner, secrets and number are
                overwritten. Called again if another replica was faster.
            after: The expected newest version. None for any.

        Returns:
            The new version, or None if the render is gone.

        Raises:
            CallError: Another version than `after` is the newest (W2406), or there are too many
                versions a second (W2201).
        """
        while (stored := await self.cache.newest(render_id)) is not None:
            standing = StoredRender.read(stored)
            if after not in (None, standing.version):
                hint = f"look at version {standing.version}, and replace that"
                problem = (
                    f"expected {standing.version}, the newest version of the render, got {after}"
                )
                raise call_again("W2406", problem, hint, path="after")
            version = standing.version + 1
            changed = change(standing)
            newer = replace(
                changed,
                id=render_id,
                owner=standing.owner,
                press=standing.press,
                key=standing.key,
                version=version,
                mapped=_add_mapped(standing, changed, version),
                rate_tokens_until=self._take_rate_token(standing),
                created=self.clock(),
            )
            if await self.cache.replace(
                render_id, newer.json(), standing=stored, owner=standing.owner
            ):
                if self.publish is None:
                    self.waiters.notify_replaced(render_id)
                else:
                    await self.publish(render_id, version)
                return newer
        return None

    async def wait_for_newer(
        self, render_id: str, *, after: int, timeout_s: float
    ) -> StoredRender | Literal["timeout", "draining", "expired"]:
        """Wait for a version with a higher number than `after`. Return it, or why there is none."""

        async def look() -> StoredRender | Literal["expired"] | None:
            newest = await self.get(render_id)
            if newest is None:
                return "expired"
            return newest if newest.version > after else None

        return await self.waiters.wait(render_id, look, timeout_s=timeout_s)

    def listening(self, listener: Listener) -> AbstractContextManager[None]:
        """Call `listener` within the block with the id of each replaced render, in any replica."""
        return self.waiters.listening(listener)

    def _take_rate_token(self, standing: StoredRender) -> float:
        """Return the time up to which the next version uses the rate. A second is a burst."""
        # CallError: the rate is exceeded (W2201).
        now, per_s = self.clock(), self.bounds.versions_per_s
        # A time further ahead was written before the clock was set back: replicas differ by less.
        used = standing.rate_tokens_until
        used = max(used if used < now + LIMITS.clock_step_s else 0.0, now - 1) + 1 / per_s
        if used > now:
            problem = f"a render has at most {per_s:g} new versions a second"
            raise too_soon("W2201", problem, used - now)
        return used


def _add_mapped(
    standing: StoredRender, changed: StoredRender, version: int
) -> tuple[tuple[int, bytes], ...]:
    if not changed.mapped or standing.mapped[-1:] == changed.mapped[-1:]:
        return standing.mapped
    mapped = changed.mapped[-1][1]
    if standing.mapped and mapped == standing.mapped[-1][1]:
        return standing.mapped
    kept = [*standing.mapped, (version, mapped)][-LIMITS.mapped_versions :]
    while len(kept) > 1 and sum(len(arguments) for _, arguments in kept) > LIMITS.mapped_bytes:
        kept.pop(0)
    return tuple(kept)


@dataclass(eq=False, repr=False)
class Idempotency:
    """Answers by key, so a repeated call has a single effect and answer.

    Callers put the principal and the tool into the key.
    """

    cache: Cache
    numbers: Numbers = SYSTEM.numbers

    async def remember(
        self, key: str, answer: Mapping[str, Any], *, owner: str = ""
    ) -> Mapping[str, Any]:
        """Store `answer`, JSON, unless the key has an answer. Return the answer of the key."""
        stored = orjson.dumps(answer, default=dict)
        return read_answer(await self.cache.put(key_digest(key), stored, owner=owner))

    async def recall(self, key: str) -> Mapping[str, Any] | None:
        stored = await self.cache.get(key_digest(key))
        return None if stored is None else read_answer(stored)

    async def agree(
        self, key: str, answer: Mapping[str, Any], *, owner: str = ""
    ) -> Mapping[str, Any]:
        """Store `answer` as `remember` does, and return the answer of all replicas.

        Raises:
            CallError: The server is away (W5017).
        """
        stored = orjson.dumps(answer, default=dict)
        # Without a fallback to this process: two replicas would have two answers.
        return read_answer(await self.cache.agree(key_digest(key), stored, owner=owner))

    async def claim(self, key: str, record: Mapping[str, Any], *, owner: str = "") -> bool:
        """Store `record` under a key without an answer, and return whether this call stored it.

        Only one of all callers in all replicas gets True.

        Raises:
            CallError: The server is away (W5017).
        """
        # Two replicas could not tell two equal values apart.
        unique = {**record, "claim": self.numbers.token_hex(8)}
        return await self.agree(key, unique, owner=owner) == unique


def read_answer(kept: bytes) -> Mapping[str, Any]:
    answer = orjson.loads(kept)
    if not isinstance(answer, dict):
        raise ValueError("expected an object")  # noqa: TRY004 - the value is wrong, not its type
    return answer


def key_digest(idempotency_key: str) -> str:
    return blake2b(idempotency_key.encode(), digest_size=16).hexdigest()


def build_local_caches(bounds: Bounds, timer: Clock) -> tuple[LocalCache, LocalCache, LocalCache]:
    """Return the caches of this process: renders, idempotent answers, answers of upstreams."""
    cache = partial(LocalCache, timer=timer)
    return (
        cache(most=bounds.renders, most_bytes=bounds.render_bytes, ttl_s=bounds.render_ttl_s),
        cache(most=bounds.answers, most_bytes=bounds.answer_bytes, ttl_s=bounds.answer_ttl_s),
        cache(most=bounds.fed, most_bytes=bounds.fed_bytes, ttl_s=bounds.fed_ttl_s),
    )
