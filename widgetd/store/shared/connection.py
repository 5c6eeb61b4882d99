"""One Redis or Valkey server, for as long as it answers. The only module that knows redis-py.

    away --greeted--> up --a command failed--> away      (one log line each)

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
import structlog
from anyio.abc import TaskStatus
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError

from widgetd.errors import ConfigError
from widgetd.store.waiters import Readers

PATIENCE_S = 0.25
"""How long a command may take before the server counts as away: far above any answer's time,
and above a stall of our own loop."""

FIRST_PAUSE_S, LAST_PAUSE_S = 0.1, 5.0
"""Between attempts to reach the server: doubled each time, short again once the link held."""

BLOCK_S = 1.0
"""How long one blocking read of the bell lasts, and so how late the loop sees a failed command."""

AT_ONCE = 16
"""Commands on the wire at the same time; more would only queue in the server."""

RING = """
local function ring(bell, render)
  local rung = redis.pcall('XADD', bell, 'MAXLEN', '~', 1000, '*', 'render', render)
  if type(rung) == 'table' and redis.call('TYPE', bell).ok == 'stream' then
    -- Somebody used up its last number.
    redis.call('UNLINK', bell)
    rung = redis.call('XADD', bell, '*', 'render', render)
  elseif type(rung) == 'table' then
    return rung -- Whoever listens finds out; what was to be rung for is done.
  end
  redis.call('EXPIRE', bell, 86400)
  return rung
end
"""
"""Lua that a script calls to tell every replica of a new action. A replica that is a thousand
rings behind misses some; its readers see those actions when they ask the next time."""

NUMBER = """
local function number(said, least, most, otherwise)
  local found = tonumber(said or nil)
  if found and found >= least and found <= most then return found end
  return otherwise
end
"""
"""Lua that reads a number of ours, between `least` and `most`, from whatever stands there."""

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
_GREET = RING + "return ring(KEYS[1], '')"

_SCHEMES = {"valkey": "redis", "valkeys": "rediss"}

_log = structlog.get_logger()


Found = Callable[[], Awaitable[None]]
"""What is to be done whenever the server is there again."""


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


class AwayError(Exception):
    """The server does not answer; whoever asked goes on alone."""


class Link:
    """The way to the server: scripts go out, rings of the bell come in.

    Args:
        url: `redis://`, `rediss://`, `valkey://`, `valkeys://` or `unix://`.
        prefix: Begins every key, in braces, so that a cluster keeps all of them together.
        readers: Are told of each render that has a new action in any replica, and all to look
            again when the server is back, because it rang for nobody here in the meantime.

    Raises:
        ConfigError: The URL cannot be used (W0002).
    """

    def __init__(self, url: str, *, prefix: str, readers: Readers) -> None:
        self._server = _without_secrets(url)
        self._prefix = f"{{{prefix}}}"
        self._readers = readers
        self._commands = _client(url, timeout_s=PATIENCE_S)
        self._listener = _client(url, timeout_s=BLOCK_S + 10 * PATIENCE_S)
        self._turns = anyio.CapacityLimiter(AT_ONCE)
        self._state: Literal["new", "up", "away"] = "new"
        self._bell = self.key("stream", "bell")
        self._skipped: Counter[str] = Counter()

    @property
    def up(self) -> bool:
        """Whether the server answered when it was last asked."""
        return self._state == "up"

    @property
    def bell(self) -> Key:
        """What a script rings."""
        return self._bell

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
            AwayError: It does not answer, or is known not to.
        """
        async with self._turns:
            if not self.up:
                raise AwayError
            try:
                return await self._answer(script, keys, arguments)
            except (RedisError, OSError) as error:
                self._lose(error)
                raise AwayError from error

    @asynccontextmanager
    async def kept(self, found: Found) -> AsyncIterator[None]:
        """Keep the link while the block runs, which begins after the first attempt.

        Args:
            found: Called whenever the server is there again, before readers look again.
        """
        failure: Exception | None = None
        try:
            async with anyio.create_task_group() as tasks:
                await tasks.start(self._keep, found)
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

    async def _keep(self, found: Found, *, task_status: TaskStatus[None]) -> None:
        pause_s = FIRST_PAUSE_S
        heard = await self._greet(found)
        task_status.started()
        while True:
            began = anyio.current_time()
            if heard is not None:
                await self._listen(heard)
            await anyio.sleep(pause_s)
            held = anyio.current_time() - began > LAST_PAUSE_S + pause_s
            pause_s = FIRST_PAUSE_S if held else min(2 * pause_s, LAST_PAUSE_S)
            heard = await self._greet(found)

    async def _greet(self, found: Found) -> bytes | None:
        """The last ring of the bell if the server can be used."""
        try:
            heard: bytes = await self._answer(_GREET, [self._bell], ())
        except (RedisError, OSError) as error:
            self._lose(error)
            return None
        if self._state == "away":
            _log.info("store.recovered", server=self._server)
        self._state = "up"
        await found()
        self._readers.ring_all()
        return heard

    async def _listen(self, heard: bytes) -> None:
        """Pass on every ring after the one that was heard, until something fails."""
        bell = self._bell.name
        try:
            while self.up:
                answer: Any = await self._listener.xread({bell: heard}, block=int(BLOCK_S * 1000))
                if not answer and await self._begins_anew(heard):
                    return
                for _, rings in answer:
                    for rung, fields in rings:
                        heard = rung
                        self._ring(fields)
        except (RedisError, OSError) as error:
            # Where something else stands in the bell's place, the next greeting makes room.
            if not str(error).startswith("WRONGTYPE"):
                self._lose(error)

    async def _begins_anew(self, heard: bytes) -> bool:
        """Whether the bell counts from lower than what was heard, and so would never be heard."""
        last: Any = await self._listener.xrevrange(self._bell.name, count=1)
        return not last or _number(last[0][0]) < _number(heard)

    def _ring(self, fields: Mapping[bytes, bytes]) -> None:
        try:
            self._readers.ring(fields[b"render"].decode())
        except (KeyError, UnicodeDecodeError):
            self.skip(self._bell.part)

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

    def _lose(self, error: Exception) -> None:
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


def _without_secrets(url: str) -> str:
    """The server's address as it may stand in a log."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
