"""A store, in this process or on a server: the only module that knows both kinds.

Every method of its parts may be called from any number of tasks at the same time. None raises
because a server is away: then this process keeps the promises alone, for itself.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

from widgetd.base.errors import ConfigError
from widgetd.base.extras import install_advice
from widgetd.base.system import SYSTEM
from widgetd.server.store.actions import Actions, LocalActions
from widgetd.server.store.cache import Cache, Idempotency, Renders, build_local_caches, read_answer
from widgetd.server.store.contract import Bounds, Clock, StoredRender
from widgetd.server.store.rate_limits import LocalRateLimits, RateLimits
from widgetd.server.store.waiters import Waiters

FORMAT = "1"
"""Part of every key, so releases with another format have other keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A store, by purpose.

    Attributes:
        renders: Renders by id.
        actions: The actions of users.
        idempotency: Answers by idempotency key.
        limits: Rate limits and slots.
        answers: Answers of upstreams, as JSON objects. Their keys include the window of time in
            which they are valid.
        mode: Returns where data is: in this process (`local`), on a shared server (`shared`), or in
            this process while the server is away (`degraded`).
        skipped: Returns the number of unreadable values on the server.
        unread: Returns the number of unread actions in this process.
    """

    renders: Renders
    actions: Actions
    idempotency: Idempotency
    limits: RateLimits
    answers: Cache
    mode: Callable[[], Literal["local", "shared", "degraded"]]
    skipped: Callable[[], int] = lambda: 0
    unread: Callable[[], int]


def open_store(
    url: str | None = None,
    *,
    bounds: Bounds | None = None,
    clock: Clock | None = None,
    prefix: str = "widgetd",
) -> AbstractAsyncContextManager[Store]:
    """Return a store that is open for the duration of the block.

    A server that does not answer is no error: the store works without it, logs `store.degraded`
    once, and `store.recovered` when it is there.

    Args:
        url: A Redis or Valkey server (`redis://`, `rediss://`, `valkey://`, `valkeys://`,
            `unix://`). None keeps everything in this process.
        bounds: Limits of each collection.
        clock: Returns the time. By default dates are of the wall clock, and lifetimes in this
            process of the monotonic clock, so setting the clock drops nothing.
        prefix: First part of every key on the server, the same for replicas of a deployment.

    Raises:
        ConfigError: The URL cannot be used, or redis-py is not installed (W0002).
    """
    bounds = bounds or Bounds()
    if url is None:
        return nullcontext(local_store(bounds, clock))
    if find_spec("redis") is None:
        raise ConfigError(
            "W0002",
            "a store on a server needs redis-py, which is not installed",
            install_advice("redis"),
        )
    return _open_shared(url, bounds, clock, prefix)


@asynccontextmanager
async def _open_shared(
    url: str, bounds: Bounds, clock: Clock | None, prefix: str
) -> AsyncIterator[Store]:
    timer, clock = clock or SYSTEM.clock.steady_s, clock or SYSTEM.clock.wall_s
    # Imported late, because redis-py is an optional dependency.
    from widgetd.server.store.shared.actions import LOCAL_ORIGIN, SharedActions  # noqa: PLC0415
    from widgetd.server.store.shared.cache import SharedCache  # noqa: PLC0415
    from widgetd.server.store.shared.connection import StoreConnection  # noqa: PLC0415
    from widgetd.server.store.shared.rate_limits import SharedRateLimits  # noqa: PLC0415

    waiters = Waiters()
    connection = StoreConnection(url, prefix=f"{prefix}:{FORMAT}", waiters=waiters)
    local_renders, local_answers, local_fed = build_local_caches(bounds, timer)
    render_cache = SharedCache(
        connection,
        local_renders,
        name="renders",
        owner_of=lambda kept: StoredRender.read(kept).owner,
        version_of=lambda kept: StoredRender.read(kept).version,
    )
    answer_cache = SharedCache(connection, local_answers, name="answers", owner_of=_check_answer)
    fed_cache = SharedCache(connection, local_fed, name="fed", owner_of=_check_answer)
    renders = Renders(
        render_cache, waiters, publish=connection.publish_version, bounds=bounds, clock=clock
    )
    fallback = LocalActions(
        waiters=waiters,
        bounds=bounds,
        clock=clock,
        renders=renders,
        timer=timer,
        origin=LOCAL_ORIGIN,
    )
    actions = SharedActions(
        waiters=waiters,
        bounds=bounds,
        clock=clock,
        connection=connection,
        fallback=fallback,
        renders=render_cache,
    )
    limits = LocalRateLimits(bounds=bounds, timer=timer)

    async def hand_over() -> None:
        await answer_cache.hand_over()
        for render_id, version in await render_cache.hand_over():
            await connection.publish_version(render_id, version)
        await actions.hand_over()

    async with connection.maintain(hand_over):
        yield Store(
            renders=renders,
            actions=actions,
            idempotency=Idempotency(answer_cache),
            limits=SharedRateLimits(
                bounds=bounds, connection=connection, fallback=limits, clock=clock
            ),
            answers=fed_cache,
            mode=lambda: "shared" if connection.up else "degraded",
            skipped=lambda: connection.skipped_count,
            unread=fallback.count_unread,
        )


def _check_answer(kept: bytes) -> str:
    # Answers share one quota, so their owner is empty.
    read_answer(kept)
    return ""


def local_store(bounds: Bounds | None = None, clock: Clock | None = None) -> Store:
    bounds, timer = bounds or Bounds(), clock or SYSTEM.clock.steady_s
    clock = clock or SYSTEM.clock.wall_s
    render_cache, answer_cache, fed_cache = build_local_caches(bounds, timer)
    waiters = Waiters()
    renders = Renders(render_cache, waiters, bounds=bounds, clock=clock)
    actions = LocalActions(
        waiters=waiters, bounds=bounds, clock=clock, renders=renders, timer=timer
    )
    return Store(
        renders=renders,
        actions=actions,
        unread=actions.count_unread,
        idempotency=Idempotency(answer_cache),
        limits=LocalRateLimits(bounds=bounds, timer=timer),
        answers=fed_cache,
        mode=lambda: "local",
    )
