"""The database of conversations: a file of the state folder, or memory where it fails."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from sqlite3 import Connection
from typing import TypeVar

from anyio import CapacityLimiter

from widgetd.base.system import SYSTEM
from widgetd.chat.limits import LIMITS, ChatLimits
from widgetd.server.catalog.state import StateFolder

FILE = "chat.sqlite3"

T = TypeVar("T")

_TABLES = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA foreign_keys = ON;
CREATE TABLE IF NOT EXISTS threads (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, owner TEXT, body TEXT
);
CREATE TABLE IF NOT EXISTS items (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT, body TEXT,
    thread TEXT REFERENCES threads (id) ON DELETE CASCADE, UNIQUE (thread, id)
);
CREATE TABLE IF NOT EXISTS notes (
    thread TEXT REFERENCES threads (id) ON DELETE CASCADE, item TEXT, body TEXT,
    PRIMARY KEY (thread, item)
);
"""

_SIZES = """
ALTER TABLE threads ADD COLUMN changed_s REAL NOT NULL DEFAULT 0;
ALTER TABLE threads ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
DELETE FROM notes WHERE item = 'seen';
UPDATE threads SET changed_s = CAST(strftime('%s', 'now') AS REAL), bytes =
    (SELECT coalesce(sum(length(CAST(body AS BLOB))), 0) FROM items WHERE thread = threads.id)
    + (SELECT coalesce(sum(length(CAST(body AS BLOB))), 0) FROM notes WHERE thread = threads.id);
CREATE INDEX threads_by_owner ON threads (owner, changed_s);
"""
"""Columns of later versions. Triggers keep `bytes`, so that no write has to add up a thread."""

_COUNT_BYTES = """
CREATE TRIGGER IF NOT EXISTS {0}_added AFTER INSERT ON {0} BEGIN
    UPDATE threads SET bytes = bytes + length(CAST(new.body AS BLOB)) WHERE id = new.thread;
END;
CREATE TRIGGER IF NOT EXISTS {0}_changed AFTER UPDATE OF body ON {0} BEGIN
    UPDATE threads SET bytes =
        bytes + length(CAST(new.body AS BLOB)) - length(CAST(old.body AS BLOB))
    WHERE id = new.thread;
END;
CREATE TRIGGER IF NOT EXISTS {0}_removed AFTER DELETE ON {0} BEGIN
    UPDATE threads SET bytes = bytes - length(CAST(old.body AS BLOB)) WHERE id = old.thread;
END;
"""
_FORGET_NOTES = """
CREATE TRIGGER IF NOT EXISTS notes_left AFTER DELETE ON items BEGIN
    DELETE FROM notes WHERE thread = old.thread AND item = old.id;
END;
"""
_TRIGGERS = _COUNT_BYTES.format("items") + _COUNT_BYTES.format("notes") + _FORGET_NOTES

_THREAD_BYTES = 512
"""What a thread counts besides its items, so that empty ones are bounded too."""

_SIZE = """
SELECT bytes, (SELECT count(*) FROM items WHERE thread = ?1) FROM threads WHERE id = ?1
"""
_FORGET_OLD_THREADS = f"""
DELETE FROM threads WHERE seq IN (
    SELECT seq FROM (
        SELECT seq, row_number() OVER newest AS place,
            sum(bytes + {_THREAD_BYTES}) OVER newest AS total
        FROM threads WHERE owner = ?
        WINDOW newest AS (ORDER BY changed_s DESC, seq DESC ROWS UNBOUNDED PRECEDING)
    ) WHERE place > ? OR (total > ? AND place > 1)
)
"""  # noqa: S608 - a constant
_FORGET_OLD_ITEMS = """
DELETE FROM items WHERE seq IN (
    SELECT seq FROM (
        SELECT seq, row_number() OVER newest AS place,
            sum(length(CAST(body AS BLOB))) OVER newest AS total
        FROM items WHERE thread = ?
        WINDOW newest AS (ORDER BY seq DESC ROWS UNBOUNDED PRECEDING)
    ) WHERE place > ? OR (total > ? AND place > 1)
)
"""
_FORGET_OF_LARGEST = f"""
DELETE FROM threads WHERE seq = (
    SELECT seq FROM threads WHERE owner = (
        SELECT owner FROM threads GROUP BY owner
        ORDER BY sum(bytes + {_THREAD_BYTES}) DESC, owner LIMIT 1
    ) ORDER BY changed_s, seq LIMIT 1
) AND (SELECT sum(bytes + {_THREAD_BYTES}) FROM threads) > ?
"""  # noqa: S608 - a constant


class ChatDatabase:
    """The tables of conversations, used by a single worker thread at a time.

    A failing file (a full disk, another owner) is copied to memory and left: the chat
    goes on, and its further content is forgotten with the process.

    Args:
        state: Keeps the file. None keeps everything in memory.
        limits: How much is kept, and for how long.
        clock: Seconds since the epoch: conversations outlive the process.
    """

    def __init__(
        self,
        state: StateFolder | None = None,
        limits: ChatLimits = LIMITS,
        clock: Callable[[], float] = SYSTEM.clock.wall_s,
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._one_at_a_time = CapacityLimiter(1)
        opened = None if state is None else state.database(FILE, _prepare)
        self._state = None if opened is None else state
        self._connection = opened or _in_memory()

    async def run(self, work: Callable[[Connection], T]) -> T:
        return await SYSTEM.threads.run_blocking(self._run, work, limiter=self._one_at_a_time)

    async def change(self, thread: str, owner: str, work: Callable[[Connection], None]) -> None:
        def change_and_fit(connection: Connection) -> None:
            work(connection)
            query = "UPDATE threads SET changed_s = ? WHERE id = ?"
            connection.execute(query, (self._clock(), thread))
            self._make_room(connection, thread, owner)

        await self.run(change_and_fit)

    @property
    def oldest_s(self) -> float:
        """The time of the last change of the youngest expired thread."""
        return self._clock() - self._limits.thread_ttl_s

    def close(self) -> None:
        self._connection.close()

    def _run(self, work: Callable[[Connection], T]) -> T:
        try:
            with self._connection:
                return work(self._connection)
        except sqlite3.IntegrityError:
            raise
        except sqlite3.DatabaseError as error:
            if self._state is None:
                raise
            self._leave_file(self._state, error)
        with self._connection:
            return work(self._connection)

    def _leave_file(self, state: StateFolder, error: sqlite3.Error) -> None:
        state.fail(FILE, str(error))
        self._state, file, memory = (
            None,
            self._connection,
            sqlite3.connect(":memory:", check_same_thread=False),
        )
        try:
            file.backup(memory)
            _prepare(memory)
        except sqlite3.Error:
            memory.close()
            memory = _in_memory()
        self._connection = memory
        with suppress(sqlite3.Error):
            file.close()

    def _make_room(self, connection: Connection, thread: str, owner: str) -> None:
        limits = self._limits
        connection.execute("DELETE FROM threads WHERE changed_s < ?", (self.oldest_s,))
        for size_bytes, count in connection.execute(_SIZE, (thread,)).fetchall():
            if size_bytes > limits.thread_bytes or count > limits.items_each:
                bounds = (thread, limits.items_each, limits.thread_bytes)
                connection.execute(_FORGET_OLD_ITEMS, bounds)
        bounds = (owner, limits.threads_each, limits.user_bytes)
        connection.execute(_FORGET_OLD_THREADS, bounds)
        while connection.execute(_FORGET_OF_LARGEST, (limits.total_bytes,)).rowcount > 0:
            pass


def _in_memory() -> Connection:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    _prepare(connection)
    return connection


def _prepare(connection: Connection) -> None:
    connection.executescript(_TABLES)
    columns = {row[1] for row in connection.execute("PRAGMA table_info(threads)")}
    if "changed_s" not in columns:
        connection.executescript(f"BEGIN; {_SIZES} COMMIT;")
    connection.executescript(_TRIGGERS)
