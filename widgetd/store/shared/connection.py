"""One Redis or Valkey server, for as long as it answers. The only module that knows redis-py.

    away --connected--> up --a command failed--> away      (one log line each)

While the server is away, everything asked of it fails at once, so that no call
waits for a server that is known to be gone; one loop alone goes on trying. It
refuses to know what the scripts do: what they mean stands beside them.

What stands on the server may be another release's, or rubbish. Whoever reads it skips
what he cannot read and says so here; a key of a type that is not ours makes room.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import compress
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import anyio
from anyio.abc import TaskStatus
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError

from widgetd.errors import ConfigError
from widgetd.logs import get_logger
from widgetd.store.waiters import Waiters

PATIENCE_S = 0.25
"""How long a command may take before the server counts as away: far above any answer's time,
and above a stall of our own loop."""

FIRST_PAUSE_S, LAST_PAUSE_S = 0.1, 5.0
"""Between attempts to reach the server: doubled each time, short again once the connection held."""

BLOCK_S = 1.0
"""How long one blocking read of the notifications lasts, and so how late a failed command shows."""

AT_ONCE = 16
"""Commands on the wire at the same time; more would only queue in the server."""

NOTIFY = """
local function notify(stream, render, ...)
  local id = redis.pcall('XADD', stream, 'MAXLEN', '~', 1000, '*', 'render', render, ...)
  if type(id) == 'table' and redis.call('TYPE', stream).ok == 'stream' then
    -- Somebody used up its last number.
    redis.call('UNLINK', stream)
    id = redis.call('XADD', stream, '*', 'render', render, ...)
  elseif type(id) == 'table' then
    return id -- Whoever listens finds out; what it was to tell of is done.
  end
  redis.call('EXPIRE', stream, 86400)
  return id
end
"""
"""Lua that a script calls to tell every replica of a new action, or of another version. A replica
that is a thousand notifications behind misses some; its readers see those when they ask next."""

NUMBER = """
local function number(text, least, most, otherwise)
  local found = tonumber(text or nil)
  if found and found >= least and found <= most then return found end
  return otherwise
end
"""
"""Lua that reads a number of ours, between `least` and `most`, from whatever stands there."""

ANY_RENDER = ""
"""What a replica notifies of that has just connected: it may have made room for the stream, where
others could not be told of anything until then."""

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

# A server that is full or read-only answers questions; only a write shows that it is of use.
_CONNECT = NOTIFY + f"return notify(KEYS[1], '{ANY_RENDER}')"

_REPLACED = NOTIFY + "return notify(KEYS[1], ARGV[1], 'version', ARGV[2])"

_SCHEMES = {"valkey": "redis", "valkeys": "rediss"}

_log = get_logger()

Kind = Literal["string", "hash", "zset", "stream"]


class Key(NamedTuple):
    """Where the server keeps something.

    Attributes:
        name: As the server has it.
        kind: Of which of the server's types.
        part: What of the store it belongs to.
    """

    name: str
    kind: Kind
    part: str


class UnavailableError(Exception):
    """The server does not answer; whoever asked goes on alone."""


class Connection:
    """The way to the server: scripts go out, notifications of new actions come in.

    Args:
        url: `redis://`, `rediss://`, `valkey://`, `valkeys://` or `unix://`.
        prefix: Begins every key, in braces, so that a cluster keeps all of them together.
        waiters: Are told of each render that has a new action in any replica, and all to look
            again when the server is back, because nobody here was notified in the meantime.

    Raises:
        ConfigError: The URL cannot be used (W0002).
    """

    def __init__(self, url: str, *, prefix: str, waiters: Waiters) -> None:
        parts = urlsplit(url)
        # As it may stand in a log: without a password.
        self._server = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        self._prefix = f"{{{prefix}}}"
        self._waiters = waiters
        self._commands = _client(url, timeout_s=PATIENCE_S)
        self._listener = _client(url, timeout_s=BLOCK_S + 10 * PATIENCE_S)
        self._turns = anyio.CapacityLimiter(AT_ONCE)
        self._state: Literal["new", "up", "away"] = "new"
        self.notifications = self.key("stream", "bell")
        self._skipped: Counter[str] = Counter()

    @property
    def up(self) -> bool:
        """Whether the server answered when it was last asked."""
        return self._state == "up"

    @property
    def skipped(self) -> int:
        """How much stood on the server that nobody here could read."""
        return self._skipped.total()

    def key(self, kind: Kind, *parts: str) -> Key:
        """The key under which the server keeps something; the first part says what of the store."""
        return Key(":".join((self._prefix, *parts)), kind, parts[0])

    def skip(self, part: str, count: int = 1) -> None:
        """Say that something stood there that nobody here can read: logged once for each part."""
        if count and not self._skipped[part]:
            _log.warning("store.skipped", server=self._server, part=part)
        self._skipped[part] += count

    async def run(self, script: str, keys: Sequence[Key], *arguments: str | bytes | float) -> Any:
        """What the server answers to a Lua script.

        Raises:
            UnavailableError: It does not answer, or is known not to.
        """
        async with self._turns:
            if not self.up:
                raise UnavailableError
            try:
                return await self._answer(script, keys, arguments)
            except (RedisError, OSError) as error:
                self._disconnected(error)
                raise UnavailableError from error

    async def tell_replaced(self, render_id: str, version: int) -> None:
        """Tell every replica, this one too, that the render has a version that it had not."""
        try:
            await self.run(_REPLACED, [self.notifications], render_id, version)
        except UnavailableError:
            self._waiters.replaced(render_id)

    @asynccontextmanager
    async def maintained(self, on_connect: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
        """Keep the connection while the block runs, which begins after the first attempt.

        Args:
            on_connect: Called whenever the server is there again, before readers look again.
        """
        failure: Exception | None = None
        try:
            async with anyio.create_task_group() as tasks:
                await tasks.start(self._maintain, on_connect)
                try:
                    yield
                except Exception as error:  # noqa: BLE001 - raised below, as it came
                    failure = error
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await self._commands.aclose()
                await self._listener.aclose()
        if failure is not None:
            raise failure

    async def _maintain(
        self, on_connect: Callable[[], Awaitable[None]], *, task_status: TaskStatus[None]
    ) -> None:
        pause_s = FIRST_PAUSE_S
        last_id = await self._connect(on_connect)
        task_status.started()
        while True:
            began = anyio.current_time()
            if last_id is not None:
                await self._listen(last_id)
            await anyio.sleep(pause_s)
            held = anyio.current_time() - began > LAST_PAUSE_S + pause_s
            pause_s = FIRST_PAUSE_S if held else min(2 * pause_s, LAST_PAUSE_S)
            last_id = await self._connect(on_connect)

    async def _connect(self, on_connect: Callable[[], Awaitable[None]]) -> bytes | None:
        """The last notification's id if the server can be used."""
        try:
            last_id: bytes = await self._answer(_CONNECT, [self.notifications], ())
        except (RedisError, OSError) as error:
            self._disconnected(error)
            return None
        if self._state == "away":
            _log.info("store.recovered", server=self._server)
        self._state = "up"
        await on_connect()
        self._waiters.notify_all()
        return last_id

    async def _listen(self, last_id: bytes) -> None:
        """Pass on every notification after the one with that id, until something fails."""
        stream, block_ms = self.notifications.name, int(BLOCK_S * 1000)
        try:
            while self.up:
                answer: Any = await self._listener.xread({stream: last_id}, block=block_ms)
                if not answer and await self._begins_anew(last_id):
                    return
                for entry, fields in answer[0][1] if answer else ():
                    last_id = entry
                    self._pass_on(fields)
        except (RedisError, OSError) as error:
            # Where something else stands in the stream's place, the next attempt makes room.
            if not str(error).startswith("WRONGTYPE"):
                self._disconnected(error)

    def _pass_on(self, fields: Mapping[bytes, bytes]) -> None:
        try:
            render_id = fields[b"render"].decode()
        except (KeyError, UnicodeDecodeError):
            self.skip(self.notifications.part)
            return
        if render_id == ANY_RENDER:
            self._waiters.notify_all()
        elif b"version" in fields:
            self._waiters.replaced(render_id)
        else:
            self._waiters.notify(render_id)

    async def _begins_anew(self, last_id: bytes) -> bool:
        """Whether the stream counts from lower, so that nothing would come after `last_id`."""
        last: Any = await self._listener.xrevrange(self.notifications.name, count=1)
        return not last or _number(last[0][0]) < _number(last_id)

    async def _answer(
        self, script: str, keys: Sequence[Key], arguments: Sequence[str | bytes | float]
    ) -> Any:
        try:
            return await self._send(script, keys, arguments)
        except ResponseError:
            made = await self._send(_MAKE_ROOM, keys, [key.kind for key in keys])
            for key in compress(keys, made):
                self.skip(key.part)
        # Even where there was no need: another replica may have made room meanwhile.
        return await self._send(script, keys, arguments)

    async def _send(
        self, script: str, keys: Sequence[Key], arguments: Sequence[str | bytes | float]
    ) -> Any:
        command = self._commands.register_script(script)
        # Shielded: whoever gives up in the middle would leave half an answer on the wire.
        with anyio.CancelScope(shield=True):
            return await command(keys=[key.name for key in keys], args=arguments)

    def _disconnected(self, error: Exception) -> None:
        if self._state != "away":
            _log.warning("store.degraded", server=self._server, problem=str(error))
        self._state = "away"


def _number(entry: bytes) -> tuple[int, ...]:
    """The id of a stream's entry, to be compared."""
    return tuple(map(int, entry.split(b"-")))


def _client(url: str, *, timeout_s: float) -> Redis:
    scheme, separator, rest = url.partition("://")
    try:
        return Redis.from_url(
            _SCHEMES.get(scheme, scheme) + separator + rest,
            protocol=2,
            socket_timeout=timeout_s,
            socket_connect_timeout=PATIENCE_S,
            retry=Retry(NoBackoff(), 0),
        )
    except ValueError:
        raise ConfigError(
            "W0002",
            "the store's URL cannot be used",
            "one like redis://localhost:6379/0 or unix:///run/valkey.sock can",
        ) from None
