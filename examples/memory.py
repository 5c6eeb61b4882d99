"""Threads in memory, for the ChatKit example: one process, nothing kept, no attachments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from chatkit.store import NotFoundError, Store
from chatkit.types import Attachment, Page, ThreadItem, ThreadMetadata
from typing_extensions import override

_Kept = TypeVar("_Kept", ThreadMetadata, ThreadItem)


class MemoryStore(Store[None]):
    """What a real server would keep in its database."""

    def __init__(self) -> None:
        self._threads: dict[str, ThreadMetadata] = {}
        self._items: dict[str, dict[str, ThreadItem]] = {}

    @override
    async def load_thread(self, thread_id: str, context: None) -> ThreadMetadata:
        return _found(self._threads, thread_id)

    @override
    async def save_thread(self, thread: ThreadMetadata, context: None) -> None:
        self._threads[thread.id] = thread

    @override
    async def load_threads(
        self, limit: int, after: str | None, order: str, context: None
    ) -> Page[ThreadMetadata]:
        return _page(list(self._threads.values()), after, limit, order)

    @override
    async def delete_thread(self, thread_id: str, context: None) -> None:
        self._threads.pop(thread_id, None)
        self._items.pop(thread_id, None)

    @override
    async def load_thread_items(
        self, thread_id: str, after: str | None, limit: int, order: str, context: None
    ) -> Page[ThreadItem]:
        return _page(list(self._items.get(thread_id, {}).values()), after, limit, order)

    @override
    async def load_item(self, thread_id: str, item_id: str, context: None) -> ThreadItem:
        return _found(self._items.get(thread_id, {}), item_id)

    @override
    async def add_thread_item(self, thread_id: str, item: ThreadItem, context: None) -> None:
        self._items.setdefault(thread_id, {})[item.id] = item

    @override
    async def save_item(self, thread_id: str, item: ThreadItem, context: None) -> None:
        await self.add_thread_item(thread_id, item, context)

    @override
    async def delete_thread_item(self, thread_id: str, item_id: str, context: None) -> None:
        self._items.get(thread_id, {}).pop(item_id, None)

    @override
    async def save_attachment(self, attachment: Attachment, context: None) -> None:
        raise NotImplementedError("the example takes no attachments")

    @override
    async def load_attachment(self, attachment_id: str, context: None) -> Attachment:
        raise NotFoundError(attachment_id)

    @override
    async def delete_attachment(self, attachment_id: str, context: None) -> None:
        raise NotFoundError(attachment_id)


def _found(kept: dict[str, _Kept], key: str) -> _Kept:
    if key not in kept:
        raise NotFoundError(key)
    return kept[key]


def _page(kept: Sequence[Any], after: str | None, limit: int, order: str) -> Page[Any]:
    """At most `limit` of what was kept, from behind the id `after`."""
    ordered = list(kept) if order == "asc" else list(reversed(kept))
    ids = [one.id for one in ordered]
    start = ids.index(after) + 1 if after in ids else 0
    shown = ordered[start : start + limit]
    more = start + limit < len(ordered)
    return Page(data=shown, has_more=more, after=shown[-1].id if more else None)
