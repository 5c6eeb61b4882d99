"""Renders and remembered answers, on a shelf: the newest that fit, each for a while.

Which shelf it is, one in this process or one that replicas share, is none of
this module's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

import orjson

from widgetd.store.queue_limits import key_digest
from widgetd.store.values import StoredRender

T = TypeVar("T")


class Shelf(Protocol[T]):
    """Values by key, bounded in number, in bytes and in time; the oldest makes room first."""

    async def put(self, key: str, value: T, *, size_bytes: int) -> T:
        """Keep `value` under `key` unless one stands there, and give the one that stands."""

    async def get(self, key: str) -> T | None:
        """What stands under `key`, if anything does."""


class ShelvedRenders:
    """`Renders` on a shelf."""

    def __init__(self, shelf: Shelf[StoredRender]) -> None:
        self._shelf = shelf

    async def put(self, render: StoredRender) -> None:
        """Keep `render` for its time to live."""
        await self._shelf.put(render.id, render, size_bytes=render.size_bytes)

    async def get(self, render_id: str) -> StoredRender | None:
        """The render of that id, if it is still kept."""
        return await self._shelf.get(render_id)


class ShelvedAnswers:
    """`Idempotency` on a shelf."""

    def __init__(self, shelf: Shelf[Mapping[str, Any]]) -> None:
        self._shelf = shelf

    async def remember(self, key: str, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        """Keep `answer` if it is the first under `key`, and give the one that stands."""
        size_bytes = len(orjson.dumps(answer))
        return await self._shelf.put(key_digest(key), answer, size_bytes=size_bytes)

    async def recall(self, key: str) -> Mapping[str, Any] | None:
        """The answer that stands under `key`."""
        return await self._shelf.get(key_digest(key))
