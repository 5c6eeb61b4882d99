"""A connection to a Redis or Valkey server. The only module that knows redis-py.

    away --connected--> up --a command failed--> away      (one log line each)

While the server is away, every command fails at once, so no call waits for a dead server, and a
loop goes on trying. The scripts are documented beside them.

Values on the server may be another release's, or rubbish. Readers skip unreadable values and count
them here. A key of another type than ours is deleted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import compress
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import anyio
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError

from widgetd.base.errors import ConfigError
from widgetd.base.logs import get_logger
from widgetd.base.tasks import while_running
from widgetd.server.store.limits import LIMITS
from widgetd.server.store.waiters import Waiters

NOTIFY = """
local function notify(stream, render, ...)
  local id = redis.pcall('XADD', stream, 'MAXLEN', '~', 1000, '*', 'render', render, ...)
  if type(id) == 'table' and redis.call('TYPE', stream).ok == 'stream' then
    -- Its last number is used up.
    redis.call('UNLINK', stream)
    id = redis.call('XADD', stream, '*', 'render', render, ...)
  elseif type(id) == 'table' then
    return id -- The listeners notice; the change itself is stored.
  end
  redis.call('EXPIRE', stream, 86400)
  return id
end
"""
"""Lua that notifies every replica of a new action or version. A replica a thousand notifications
behind misses some. Its readers see the changes at their next request."""

NUMBER = """
local function number(text, least, most, otherwise)
  local found = tonumber(text or nil)
  if found and found >= least and found <= most then return found end
  return otherwise
end
"""
"""Lua that reads a number between `least` and `most` from any value."""

ANY_RENDER = ""
"""The notification of a newly connected replica. It may have deleted a key in the way of the
stream, so others may have missed notifications until then."""

_MAKE_ROOM = """
-- KEYS: any. ARGV: of which type each is to be.
local made = {}
for place, key in ipairs(KEYS) do
  local kind = redis.call('TYPE', key).ok
  local other = kind ~= 'none' and kind ~= ARGV[place]
  made[place] = other and redis.call('UNLINK', key) or 0
end
return made
"""

# A full or read-only server answers questions. Only a write shows whether it is of use.
_CONNECT = NOTIFY + f"return notify(KEYS[1], '{ANY_RENDER}')"

_REPLACED = NOTIFY + "return notify(KEYS[1], ARGV[1], 'version', ARGV[2])"

_SCHEMES = {"valkey": "redis", "valkeys": "rediss"}

_log = get_logger()

Kind = Literal["string", "hash", "zset", "stream"]


class Key(NamedTuple):
    """A key on the server.

    Attributes:
        name: Its full name.
        kind: Its type on the server.
        part: Its part of the store.
    """

    name: str
    kind: Kind
    part: str


class UnavailableError(Exception):
    """The server does not answer. The caller goes on without it."""


class StoreConnection:
    """A connection to the server, for scripts and for notifications of actions and versions.

    Args:
        url: `redis://`, `rediss://`, `valkey://`, `valkeys://` or `unix://`.
        prefix: First part of every key, in braces, so a cluster keeps all on one node.
        waiters: Readers to wake for each notification. All are woken when the server is back,
            because notifications were missed in the meantime.

    Raises:
        ConfigError: The URL cannot be used (W0002).
    """

    def __init__(self, url: str, *, prefix: str, waiters: Waiters) -> None:
        parts = urlsplit(url)
        # For the log, without a password.
        self._server = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        self._prefix = f"{{{prefix}}}"
        self._waiters = waiters
        self._commands = _client(url, timeout_s=LIMITS.command_s)
        self._listener = _client(url, timeout_s=LIMITS.block_s + 10 * LIMITS.command_s)
        self._turns = anyio.CapacityLimiter(LIMITS.commands)
        self._state: Literal["new", "up", "away"] = "new"
        self.notifications = self.key("stream", "bell")
        self._skipped: Counter[str] = Counter()

    @property
    def up(self) -> bool:
        return self._state == "up"

    @property
    def skipped_count(self) -> int:
        return self._skipped.total()

    def key(self, kind: Kind, *parts: str) -> Key:
        return Key(":".join((self._prefix, *parts)), kind, parts[0])

    def skip(self, part: str, count: int = 1) -> None:
        """Count unreadable values. They are logged once for each part of the store."""
        if count and not self._skipped[part]:
            _log.warning("store.skipped", server=self._server, part=part)
        self._skipped[part] += count

    async def run(self, script: str, keys: Sequence[Key], *arguments: str | bytes | float) -> Any:
        """Run a Lua script and return its result.

        Raises:
            UnavailableError: The server does not answer, or is known to be away.
        """
        async with self._turns:
            if not self.up:
                raise UnavailableError
            try:
                return await self._answer(script, keys, arguments)
            except (RedisError, OSError) as error:
                self._set_away(error)
                raise UnavailableError from error

    async def publish_version(self, render_id: str, version: int) -> None:
        """Notify every replica, this one included, of a new version of a render."""
        try:
            await self.run(_REPLACED, [self.notifications], render_id, version)
        except UnavailableError:
            self._waiters.notify_replaced(render_id)

    @asynccontextmanager
    async def maintain(self, on_connect: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
        """Keep the connection open while the block runs. The block starts after the first attempt.

        Args:
            on_connect: Called whenever the server is back, before readers are woken.
        """
        attempted = anyio.Event()
        try:
            async with while_running(partial(self._maintain, on_connect, attempted)):
                await attempted.wait()
                yield
        finally:
            with anyio.CancelScope(shield=True):
                await self._commands.aclose()
                await self._listener.aclose()

    async def _maintain(
        self, on_connect: Callable[[], Awaitable[None]], attempted: anyio.Event
    ) -> None:
        pause_s = LIMITS.first_pause_s
        last_id = await self._connect(on_connect)
        attempted.set()
        while True:
            began = anyio.current_time()
            if last_id is not None:
                await self._listen(last_id)
            await anyio.sleep(pause_s)
            held = anyio.current_time() - began > LIMITS.last_pause_s + pause_s
            pause_s = LIMITS.first_pause_s if held else min(2 * pause_s, LIMITS.last_pause_s)
            last_id = await self._connect(on_connect)

    async def _connect(self, on_connect: Callable[[], Awaitable[None]]) -> bytes | None:
        try:
            last_id: bytes = await self._answer(_CONNECT, [self.notifications], ())
        except (RedisError, OSError) as error:
            self._set_away(error)
            return None
        if self._state == "away":
            _log.info("store.recovered", server=self._server)
        self._state = "up"
        await on_connect()
        self._waiters.notify_all()
        return last_id

    async def _listen(self, last_id: bytes) -> None:
        stream, block_ms = self.notifications.name, int(LIMITS.block_s * 1000)
        try:
            while self.up:
                answer: Any = await self._listener.xread({stream: last_id}, block=block_ms)
                if not answer and await self._begins_anew(last_id):
                    return
                for entry, fields in answer[0][1] if answer else ():
                    last_id = entry
                    self._pass_on(fields)
        except (RedisError, OSError) as error:
            # The next attempt deletes a key of another type in the place of the stream.
            if not str(error).startswith("WRONGTYPE"):
                self._set_away(error)

    def _pass_on(self, fields: Mapping[bytes, bytes]) -> None:
        try:
            render_id = fields[b"render"].decode()
        except (KeyError, UnicodeDecodeError):
            self.skip(self.notifications.part)
            return
        if render_id == ANY_RENDER:
            self._waiters.notify_all()
        elif b"version" in fields:
            self._waiters.notify_replaced(render_id)
        else:
            self._waiters.notify(render_id)

    async def _begins_anew(self, last_id: bytes) -> bool:
        last: Any = await self._listener.xrevrange(self.notifications.name, count=1)
        return not last or _number(last[0][0]) < _number(last_id)

    async def _answer(
        self, script: str, keys: Sequence[Key], arguments: Sequence[str | bytes | float]
    ) -> Any:
        try:
            return await self._send(script, keys, arguments)
        except ResponseError:
            deleted = await self._send(_MAKE_ROOM, keys, [key.kind for key in keys])
            for key in compress(keys, deleted):
                self.skip(key.part)
        # Also if there was nothing to delete: another replica may have deleted it meanwhile.
        return await self._send(script, keys, arguments)

    async def _send(
        self, script: str, keys: Sequence[Key], arguments: Sequence[str | bytes | float]
    ) -> Any:
        command = self._commands.register_script(script)
        # Shielded: a cancelled caller would leave half an answer on the wire.
        with anyio.CancelScope(shield=True):
            return await command(keys=[key.name for key in keys], args=arguments)

    def _set_away(self, error: Exception) -> None:
        if self._state != "away":
            _log.warning("store.degraded", server=self._server, problem=str(error))
        self._state = "away"


def _number(entry: bytes) -> tuple[int, ...]:
    return tuple(map(int, entry.split(b"-")))


def _client(url: str, *, timeout_s: float) -> Redis:
    scheme, separator, rest = url.partition("://")
    try:
        return Redis.from_url(
            _SCHEMES.get(scheme, scheme) + separator + rest,
            protocol=2,
            socket_timeout=timeout_s,
            socket_connect_timeout=LIMITS.command_s,
            retry=Retry(NoBackoff(), 0),
        )
    except ValueError:
        raise ConfigError(
            "W0002",
            "the store's URL cannot be used",
            "one like redis://localhost:6379/0 or unix:///run/valkey.sock can",
        ) from None
