"""One store, in this process or on a server: the only place that knows there are two kinds."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.util import find_spec

from widgetd.errors import ConfigError
from widgetd.store.cache import ShelvedAnswers, ShelvedRenders
from widgetd.store.contract import Store
from widgetd.store.local.actions import LocalActions
from widgetd.store.local.cache import LocalShelf
from widgetd.store.local.limits import LocalLimits
from widgetd.store.values import Bounds, Clock
from widgetd.store.waiters import Readers


def open_store(
    url: str | None = None,
    *,
    bounds: Bounds | None = None,
    clock: Clock = time.time,
    prefix: str = "widgetd",
) -> AbstractAsyncContextManager[Store]:
    """A store that lives as long as the block.

    A server that does not answer is no error: the store works without it, logs
    `store.degraded` once, and `store.recovered` when it is there.

    Args:
        url: A Redis or Valkey server (`redis://`, `rediss://`, `valkey://`, `valkeys://`,
            `unix://`); None keeps everything in this process.
        bounds: How much is kept, and for how long.
        clock: Tells the time.
        prefix: Begins every key on the server; the same for replicas that belong together.

    Raises:
        ConfigError: The URL cannot be used, or redis-py is not installed (W0002).
    """
    bounds = bounds or Bounds()
    if url is None:
        return _open_local(bounds, clock)
    if find_spec("redis") is None:
        raise ConfigError(
            "W0002",
            "a store on a server needs redis-py, which is not installed",
            "install widgetd[redis]",
        )
    # Late, because whoever needs no server need not have redis-py.
    from widgetd.store.shared.factory import open_shared  # noqa: PLC0415 - see above

    return open_shared(url, bounds=bounds, clock=clock, prefix=prefix)


@asynccontextmanager
async def _open_local(bounds: Bounds, clock: Clock) -> AsyncIterator[Store]:
    yield local_store(bounds, clock)


def local_store(bounds: Bounds | None = None, clock: Clock = time.time) -> Store:
    """A store in this process, which needs no closing.

    Args:
        bounds: How much is kept, and for how long.
        clock: Tells the time.
    """
    bounds = bounds or Bounds()
    renders = ShelvedRenders(
        LocalShelf(
            most=bounds.renders,
            most_bytes=bounds.render_bytes,
            ttl_s=bounds.render_ttl_s,
            clock=clock,
        )
    )
    answers = ShelvedAnswers(
        LocalShelf(
            most=bounds.answers,
            most_bytes=bounds.answer_bytes,
            ttl_s=bounds.answer_ttl_s,
            clock=clock,
        )
    )
    return Store(
        renders=renders,
        actions=LocalActions(renders, Readers(), bounds=bounds, clock=clock),
        idempotency=answers,
        limits=LocalLimits(bounds=bounds, clock=clock),
        mode=lambda: "local",
    )
