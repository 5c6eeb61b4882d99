"""The threads of conversations: a `Store` of ChatKit over SQLite.

A thread is visible to its owner only. An item may have a note beside it: facts for the server
without a field in the protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection
from typing import Any, TypeVar

import orjson
from chatkit.store import NotFoundError, Store
from chatkit.types import (
    Attachment,
    Page,
    ThreadItem,
    ThreadMetadata,
    UserMessageItem,
    WidgetItem,
    WorkflowItem,
)
from pydantic import TypeAdapter
from typing_extensions import override

from widgetd.chat.backend.database import ChatDatabase
from widgetd.chat.limits import LIMITS, MESSAGE_TOO_LONG, ChatLimits
from widgetd.core.widget.components import to_chatkit
from widgetd.server.access.principal import Principal

_SAVE_THREAD = """
INSERT INTO threads (id, owner, body) VALUES (?, ?, ?)
ON CONFLICT (id) DO UPDATE SET body = excluded.body WHERE owner = excluded.owner
"""
_SAVE_ITEM = """
INSERT INTO items (thread, id, body) VALUES (?, ?, ?)
ON CONFLICT (thread, id) DO UPDATE SET body = excluded.body
"""
_SAVE_NOTE = """
INSERT INTO notes (thread, item, body) VALUES (?, ?, ?)
ON CONFLICT (thread, item) DO UPDATE SET body = excluded.body
"""
_LIST_THREADS = """
SELECT body FROM threads WHERE owner = ?1 AND changed_s >= ?2
AND seq {beyond} coalesce((SELECT seq FROM threads WHERE id = ?3 AND owner = ?1), ?4)
ORDER BY seq {order} LIMIT ?5
"""
_LIST_ITEMS = """
SELECT body FROM items WHERE thread = ?1
AND seq {beyond} coalesce((SELECT seq FROM items WHERE id = ?2 AND thread = ?1), ?3)
ORDER BY seq {order} LIMIT ?4
"""
_DIRECTIONS = {
    "asc": ({"beyond": ">", "order": "ASC"}, 0),
    "desc": ({"beyond": "<", "order": "DESC"}, 2**63 - 1),
}
"""By ChatKit's name: how a query continues beyond an item, and where it begins without one."""

_ITEM: TypeAdapter[ThreadItem] = TypeAdapter(ThreadItem)
_Entry = TypeVar("_Entry", ThreadMetadata, ThreadItem)


class MissingError(NotFoundError, LookupError):
    """There is no such thread or item of this owner."""


class Threads(Store[Principal]):
    """The threads of all users."""

    def __init__(self, database: ChatDatabase, limits: ChatLimits = LIMITS) -> None:
        self._database = database
        self._limits = limits

    def close(self) -> None:
        self._database.close()

    @override
    async def load_thread(self, thread_id: str, context: Principal) -> ThreadMetadata:
        body = await self._database.run(lambda tables: self._load_owned(tables, thread_id, context))
        return _thread(body)

    @override
    async def save_thread(self, thread: ThreadMetadata, context: Principal) -> None:
        metadata = ThreadMetadata(**thread.model_dump())
        metadata.title = metadata.title and metadata.title[: self._limits.title_chars]
        body = with_zone(metadata).model_dump_json()

        def save(tables: Connection) -> None:
            tables.execute(_SAVE_THREAD, (thread.id, context.name, body))

        await self._database.change(thread.id, context.name, save)

    @override
    async def load_threads(
        self, limit: int, after: str | None, order: str, context: Principal
    ) -> Page[ThreadMetadata]:
        direction, start = _DIRECTIONS[order]
        limit = min(max(limit, 1), self._limits.listed)
        query = _LIST_THREADS.format(**direction)
        values = (context.name, self._database.oldest_s, after, start, limit + 1)
        rows = await self._database.run(lambda tables: tables.execute(query, values).fetchall())
        return _page([_thread(body) for (body,) in rows], limit)

    @override
    async def delete_thread(self, thread_id: str, context: Principal) -> None:
        query, values = "DELETE FROM threads WHERE id = ? AND owner = ?", (thread_id, context.name)
        await self._database.run(lambda tables: tables.execute(query, values).fetchall())

    @override
    async def load_thread_items(
        self, thread_id: str, after: str | None, limit: int, order: str, context: Principal
    ) -> Page[ThreadItem]:
        direction, start = _DIRECTIONS[order]
        limit = min(max(limit, 1), self._limits.listed)
        query = _LIST_ITEMS.format(**direction)
        rows = await self._query(thread_id, context, query, (thread_id, after, start, limit + 1))
        return _page([_item(body) for (body,) in rows], limit)

    @override
    async def load_item(self, thread_id: str, item_id: str, context: Principal) -> ThreadItem:
        query = "SELECT body FROM items WHERE thread = ? AND id = ?"
        for (body,) in await self._query(thread_id, context, query, (thread_id, item_id)):
            return _item(body)
        raise MissingError(item_id)

    @override
    async def add_thread_item(self, thread_id: str, item: ThreadItem, context: Principal) -> None:
        facts = await self.load_note(thread_id, item.id, context)
        body = self._dump(with_zone(item), private=bool(facts.get("private")))
        await self._change(thread_id, context, _SAVE_ITEM, (thread_id, item.id, body))

    save_item = add_thread_item

    @override
    async def delete_thread_item(self, thread_id: str, item_id: str, context: Principal) -> None:
        query = "DELETE FROM items WHERE thread = ? AND id = ?"  # and by a trigger its note
        await self._query(thread_id, context, query, (thread_id, item_id))

    async def save_note(
        self, thread_id: str, item_id: str, facts: dict[str, Any], context: Principal
    ) -> None:
        """Keep `facts` beside an item, without too large arguments."""
        body = orjson.dumps(facts, default=dict)
        if len(body) > self._limits.item_bytes:
            body = orjson.dumps({**facts, "arguments": None}, default=dict)
        await self._change(thread_id, context, _SAVE_NOTE, (thread_id, item_id, body.decode()))

    async def load_note(self, thread_id: str, item_id: str, context: Principal) -> dict[str, Any]:
        """Return the facts beside an item, if any."""
        query = "SELECT body FROM notes WHERE thread = ? AND item = ?"
        rows = await self._query(thread_id, context, query, (thread_id, item_id))
        facts: dict[str, Any] = orjson.loads(rows[0][0]) if rows else {}
        return facts

    @override
    async def save_attachment(self, attachment: Attachment, context: Principal) -> None:
        raise NotImplementedError("this chat takes no attachments")

    @override
    async def load_attachment(self, attachment_id: str, context: Principal) -> Attachment:
        raise MissingError(attachment_id)

    @override
    async def delete_attachment(self, attachment_id: str, context: Principal) -> None:
        raise MissingError(attachment_id)

    async def _query(
        self, thread_id: str, owner: Principal, query: str, values: Sequence[Any]
    ) -> list[Any]:
        def run(tables: Connection) -> list[Any]:
            self._load_owned(tables, thread_id, owner)
            return tables.execute(query, values).fetchall()

        return await self._database.run(run)

    async def _change(
        self, thread_id: str, owner: Principal, query: str, values: Sequence[Any]
    ) -> None:
        def run(tables: Connection) -> None:
            self._load_owned(tables, thread_id, owner)
            tables.execute(query, values)

        await self._database.change(thread_id, owner.name, run)

    def _load_owned(self, tables: Connection, thread_id: str, owner: Principal) -> str:
        query = "SELECT body FROM threads WHERE id = ? AND owner = ? AND changed_s >= ?"
        for (body,) in tables.execute(query, (thread_id, owner.name, self._database.oldest_s)):
            return str(body)
        raise MissingError(thread_id)

    def _dump(self, item: ThreadItem, *, private: bool) -> str:
        """Return an item as JSON within its limit, without what must not be kept."""
        if isinstance(item, WidgetItem) and private:
            item = _with_text(item, "This widget showed private values, which are not kept here.")
        limits = self._limits
        most = limits.message_bytes if isinstance(item, UserMessageItem) else limits.item_bytes
        body = _json(item)
        if len(body.encode()) <= most:
            return body
        match item:
            case WidgetItem():
                return _json(_with_text(item, "This widget is too large to be kept here."))
            case WorkflowItem():
                # The input and the output. The rows still say which tools were called.
                tasks = [task.model_copy(update={"content": ""}) for task in item.workflow.tasks]
                workflow = item.workflow.model_copy(update={"tasks": tasks[: limits.listed]})
                return _json(item.model_copy(update={"workflow": workflow}))
        problem = f"one message of a conversation has at most {most} bytes; send less"
        raise ValueError(f"{MESSAGE_TOO_LONG}: {problem}")


def with_zone(entry: _Entry) -> _Entry:
    """Return a copy whose time has the zone of this machine.

    ChatKit's items have the local time without a zone, taken by a browser elsewhere for its own.
    The item itself stays as it is, because ChatKit subtracts such times from each other.
    """
    time = entry.created_at
    return entry if time.tzinfo else entry.model_copy(update={"created_at": time.astimezone()})


def _with_text(item: WidgetItem, text: str) -> WidgetItem:
    card = {"type": "Card", "children": [{"type": "Text", "value": text}]}
    return item.model_copy(update={"widget": to_chatkit(card)})


def _json(item: ThreadItem) -> str:
    return item.model_dump_json(by_alias=True, exclude_none=True)


def _thread(body: str) -> ThreadMetadata:
    return with_zone(ThreadMetadata.model_validate_json(body))


def _item(body: str) -> ThreadItem:
    stored = orjson.loads(body)
    if "widget" in stored:
        # pydantic alone would build it from deprecated classes of ChatKit, with warnings.
        stored["widget"] = to_chatkit(stored["widget"])
    return with_zone(_ITEM.validate_python(stored))


def _page(entries: list[_Entry], limit: int) -> Page[_Entry]:
    page, more = entries[:limit], len(entries) > limit
    return Page(data=page, has_more=more, after=page[-1].id if more else None)
