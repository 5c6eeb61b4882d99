"""What can be refused of a chat, looked at before anything runs and any library is imported."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from widgetd.catalog.state import StateFolder
from widgetd.chat import OPENAI_URL
from widgetd.errors import ConfigError

SCRIPTED = "scripted"
"""The model that is no endpoint's."""

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


def require_key(model: str, url: str, *, has_key: bool) -> None:
    """Refuse a model of OpenAI's without a key; other endpoints may need none.

    Raises:
        ConfigError: There is no key (W0012).
    """
    if model != SCRIPTED and url.rstrip("/") == OPENAI_URL and not has_key:
        raise ConfigError(
            "W0012",
            f"the model {model} at {url} needs a key",
            "set WIDGETD_CHAT_KEY, or name another --chat-url (OPENAI_* variables are not read)",
        )


def instructions_in(file: Path | None) -> str:
    """What the model is told before everything; empty for the usual.

    Raises:
        ConfigError: The file cannot be read (W0006).
    """
    try:
        return "" if file is None else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = f"the file {file} cannot be read ({error})"
        raise ConfigError("W0006", problem, "name another", exit_code=3) from None


def database(state: StateFolder | None = None) -> sqlite3.Connection:
    """Open the database of threads; in memory without a state folder, or one that fails."""
    opened = None if state is None else state.database("chat.sqlite3", _TABLES)
    if opened is None:
        opened = sqlite3.connect(":memory:", check_same_thread=False)
        opened.executescript(_TABLES)
    return opened
