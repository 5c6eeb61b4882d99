"""Threads of conversations, in SQLite: a `Store` of ChatKit.

Each belongs to whoever began it, and nobody else finds it. Beside an item there may be a
note: what the server has to know of it and the protocol has no field for.
"""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection
from typing import Any, TypeVar

import anyio.to_thread
import orjson
from anyio import CapacityLimiter
from chatkit.store import NotFoundError, Store
from chatkit.types import Attachment, Page, ThreadItem, ThreadMetadata, WidgetItem
from pydantic import TypeAdapter
from typing_extensions import override

from widgetd.access.principal import Principal
from widgetd.widget.components import to_chatkit

MOST_THREADS = 500
MOST_ITEMS = 1_000

PRIVATE_WIDGET = {
    "type": "Card",
    "children": [
        {"type": "Text", "value": "This widget showed private values, which are not kept here."}
    ],
}
"""Kept with a conversation in place of a widget whose sidecar calls arguments sensitive."""

_SAVE_THREAD = """
INSERT INTO threads (id, owner, body) VALUES (?, ?, ?)
ON CONFLICT (id) DO UPDATE SET body = excluded.body WHERE owner = excluded.owner
"""
_FORGET_THREADS = """
DELETE FROM threads
WHERE seq <= (SELECT seq FROM threads ORDER BY seq DESC LIMIT 1 OFFSET ?)
"""
_SAVE_ITEM = """
INSERT INTO items (thread, id, body) VALUES (?, ?, ?)
ON CONFLICT (thread, id) DO UPDATE SET body = excluded.body
"""
_FORGET_ITEMS = """
DELETE FROM items
WHERE thread = ?1
AND seq <= (SELECT seq FROM items WHERE thread = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)
"""

_ITEM: TypeAdapter[ThreadItem] = TypeAdapter(ThreadItem)
_Kept = TypeVar("_Kept", ThreadMetadata, ThreadItem)


class MissingError(NotFoundError, LookupError):
    """There is no such thread or item, or it is somebody else's."""


class Threads(Store[Principal]):
    """The threads of everybody, each for its owner alone; the oldest make room.

    Args:
        database: Where they are kept; it is used by one thread at a time, whichever that is.
    """

    def __init__(self, database: Connection) -> None:
        self._one_at_a_time = CapacityLimiter(1)
        self._database = database

    async def _rows(self, *statements: tuple[str, Sequence[Any]]) -> list[tuple[Any, ...]]:
        """The rows that the last of `statements` finds, once all of them are done, or none."""

        def done() -> list[tuple[Any, ...]]:
            with self._database:
                return [self._database.execute(*one).fetchall() for one in statements][-1]

        return await anyio.to_thread.run_sync(done, limiter=self._one_at_a_time)

    async def _demand(self, thread_id: str, context: Principal) -> str:
        """The thread as it is kept; raises `MissingError` where it is none of theirs."""
        query = "SELECT body FROM threads WHERE id = ? AND owner = ?"
        rows = await self._rows((query, (thread_id, context.name)))
        if not rows:
            raise MissingError(thread_id)
        return str(rows[0][0])

    @override
    async def load_thread(self, thread_id: str, context: Principal) -> ThreadMetadata:
        return ThreadMetadata.model_validate_json(await self._demand(thread_id, context))

    @override
    async def save_thread(self, thread: ThreadMetadata, context: Principal) -> None:
        body = ThreadMetadata(**thread.model_dump()).model_dump_json()
        await self._rows(
            (_SAVE_THREAD, (thread.id, context.name, body)), (_FORGET_THREADS, (MOST_THREADS,))
        )

    @override
    async def load_threads(
        self, limit: int, after: str | None, order: str, context: Principal
    ) -> Page[ThreadMetadata]:
        rows = await self._rows(
            ("SELECT body FROM threads WHERE owner = ? ORDER BY seq", (context.name,))
        )
        threads = [ThreadMetadata.model_validate_json(body) for (body,) in rows]
        return _page(threads, after, limit, order)

    @override
    async def delete_thread(self, thread_id: str, context: Principal) -> None:
        sql = "DELETE FROM threads WHERE id = ? AND owner = ?"
        await self._rows((sql, (thread_id, context.name)))

    @override
    async def load_thread_items(
        self, thread_id: str, after: str | None, limit: int, order: str, context: Principal
    ) -> Page[ThreadItem]:
        await self._demand(thread_id, context)
        rows = await self._rows(
            ("SELECT body FROM items WHERE thread = ? ORDER BY seq", (thread_id,))
        )
        return _page([_item(body) for (body,) in rows], after, limit, order)

    @override
    async def load_item(self, thread_id: str, item_id: str, context: Principal) -> ThreadItem:
        await self._demand(thread_id, context)
        rows = await self._rows(
            ("SELECT body FROM items WHERE thread = ? AND id = ?", (thread_id, item_id))
        )
        if not rows:
            raise MissingError(item_id)
        return _item(rows[0][0])

    @override
    async def add_thread_item(self, thread_id: str, item: ThreadItem, context: Principal) -> None:
        facts = await self.noted(thread_id, item.id, context)
        if isinstance(item, WidgetItem) and facts.get("private"):
            item = item.model_copy(update={"widget": to_chatkit(PRIVATE_WIDGET)})
        body = item.model_dump_json(by_alias=True, exclude_none=True)
        await self._rows(
            (_SAVE_ITEM, (thread_id, item.id, body)), (_FORGET_ITEMS, (thread_id, MOST_ITEMS))
        )

    save_item = add_thread_item

    @override
    async def delete_thread_item(self, thread_id: str, item_id: str, context: Principal) -> None:
        await self._demand(thread_id, context)
        await self._rows(
            ("DELETE FROM notes WHERE thread = ? AND item = ?", (thread_id, item_id)),
            ("DELETE FROM items WHERE thread = ? AND id = ?", (thread_id, item_id)),
        )

    async def note(
        self, thread_id: str, name: str, facts: dict[str, Any], context: Principal
    ) -> None:
        """Remember `facts` of an item, or of the thread under a name that is no item's."""
        await self._demand(thread_id, context)
        values = (thread_id, name, orjson.dumps(facts, default=dict).decode())
        await self._rows(("INSERT OR REPLACE INTO notes VALUES (?, ?, ?)", values))

    async def noted(self, thread_id: str, name: str, context: Principal) -> dict[str, Any]:
        """What was noted; empty where nothing was."""
        await self._demand(thread_id, context)
        query = "SELECT body FROM notes WHERE thread = ? AND item = ?"
        rows = await self._rows((query, (thread_id, name)))
        found: dict[str, Any] = orjson.loads(rows[0][0]) if rows else {}
        return found

    @override
    async def save_attachment(self, attachment: Attachment, context: Principal) -> None:
        raise NotImplementedError("this chat takes no attachments")

    @override
    async def load_attachment(self, attachment_id: str, context: Principal) -> Attachment:
        raise MissingError(attachment_id)

    @override
    async def delete_attachment(self, attachment_id: str, context: Principal) -> None:
        raise MissingError(attachment_id)


def _item(body: str) -> ThreadItem:
    kept = orjson.loads(body)
    if "widget" in kept:
        # Read by itself, it would be made of classes that ChatKit warns of.
        kept["widget"] = to_chatkit(kept["widget"])
    return _ITEM.validate_python(kept)


def _page(kept: list[_Kept], after: str | None, limit: int, order: str) -> Page[_Kept]:
    """At most `limit` of what is kept, from behind the id `after`."""
    ordered = kept if order == "asc" else kept[::-1]
    start = next((at for at, one in enumerate(ordered, 1) if one.id == after), 0)
    shown = ordered[start : start + limit]
    more = start + limit < len(ordered)
    return Page(data=shown, has_more=more, after=shown[-1].id if more else None)
