"""Stores for tests, with a clock that is set by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import orjson

from tests.system.server.store.server import Server
from widgetd.server.store.contract import Bounds, StoredRender
from widgetd.server.store.factory import Store, open_store


@dataclass(slots=True)
class Clock:
    """A clock that only the test moves."""

    now: float = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicas:
    """A store, and how another replica sees it; in-process there is no other.

    Attributes:
        here: The store.
        there: What another replica opened.
        clock: Both go by it.
        server: What they share.
        prefix: Begins their keys on it.
    """

    here: Store
    there: Store
    clock: Clock
    server: Server | None = None
    prefix: str = ""

    def later(self, seconds: float) -> None:
        """Let time pass, here and on the server."""
        self.clock.now += seconds
        if self.server is not None:
            self.server.age(self.prefix, seconds)


@asynccontextmanager
async def replicas(server: Server | None, **bounds: Any) -> AsyncIterator[Replicas]:
    """Yield a fresh store: in this process, or two replicas on `server`."""
    clock, limits = Clock(), Bounds(**bounds)
    if server is None:
        async with open_store(bounds=limits, clock=clock) as here:
            yield Replicas(here=here, there=here, clock=clock)
        return
    prefix = f"test-{uuid4().hex}"
    async with (
        open_store(server.url, bounds=limits, clock=clock, prefix=prefix) as here,
        open_store(server.url, bounds=limits, clock=clock, prefix=prefix) as there,
    ):
        yield Replicas(here=here, there=there, clock=clock, server=server, prefix=prefix)
        # Else a script that the server refused would have been made good in this process.
        assert (here.mode(), there.mode()) == ("shared", "shared")


def stored_render(render_id: str = "r1", *, size_bytes: int = 0, **parts: Any) -> StoredRender:
    """Return a render of a flight; its parts may be given as values.

    Args:
        render_id: Its id.
        size_bytes: What it takes to keep it, made up with text; at least what the rest takes.
        parts: Any other part of it.
    """
    known: dict[str, Any] = {"tree": {"type": "Card"}, "created": 1_700_000_000.0, **parts}
    for name, part in known.items():
        known[name] = orjson.dumps(part) if isinstance(part, dict) else part
    base = StoredRender(id=render_id, tool="flight_tracker", **known)
    return replace(base, text=base.text + "." * (size_bytes - len(base.json())))
