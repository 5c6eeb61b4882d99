"""Queues of actions for all replicas: a stream for each render.

An action's `seq` is the id of its entry. A blocking reader would take a connection. So the script
that adds an entry also notifies a single stream, every replica listens to it, and a reader looks
when its render is named there.

While the server is away, actions queue in this process and count from `LOCAL_ORIGIN`. So one cursor
covers both queues: it acknowledges in the queue of its number and nothing in the other. Unread
actions are handed over when the server is back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite

import orjson

from widgetd.server.store.actions import Actions, LocalActions, encode_payload, queue_full
from widgetd.server.store.contract import UNKNOWN, Action, Awaited, Origin
from widgetd.server.store.limits import LIMITS
from widgetd.server.store.shared.cache import SharedCache
from widgetd.server.store.shared.connection import (
    NOTIFY,
    NUMBER,
    Key,
    StoreConnection,
    UnavailableError,
)

LOCAL_ORIGIN = 1_000_000
"""The first number while the server is away, above every number of a render on the server."""

_SEQ = (
    NUMBER
    + f"local MOST = {LOCAL_ORIGIN - 1}"
    + """
local function whole(text) -- a number that an action can have, or 0
  return math.floor(number(text, 0, MOST, 0))
end
local function seq_of(entry) return whole(entry and string.match(entry[1], '^%d+')) end
"""
)

_APPEND = (
    NOTIFY
    + _SEQ
    + """
-- KEYS: stream, marks, keys, notifications.
-- ARGV: key, action, payload, at, most actions, most keys, ttl in ms, render,
-- origin, outcome.
local standing = whole(redis.call('ZSCORE', KEYS[3], ARGV[1]))
if standing > 0 then return standing end
if redis.call('XLEN', KEYS[1]) >= tonumber(ARGV[5]) then return 0 end
local newest = redis.call('XREVRANGE', KEYS[1], MOST, '-', 'COUNT', 1)[1]
local seq = math.max(whole(redis.call('HGET', KEYS[2], 'last')), seq_of(newest)) + 1
if seq > MOST then seq = seq_of(newest) + 1 end
if seq > MOST then return 0 end
-- Before the stream is touched, for this says whether there is room at all.
redis.call('HSET', KEYS[2], 'last', seq)
local function add(id, fields) return redis.pcall('XADD', KEYS[1], id, unpack(fields)) end
local fields = {'action', ARGV[2], 'payload', ARGV[3], 'at', ARGV[4], 'origin', ARGV[9],
                'outcome', ARGV[10]}
if type(add(seq .. '-0', fields)) == 'table' then
  -- An entry beyond our numbers, after which the server accepts none of them.
  local kept = redis.call('XRANGE', KEYS[1], '-', MOST)
  redis.call('UNLINK', KEYS[1])
  for _, entry in ipairs(kept) do
    if #entry[2] <= 64 then add(entry[1], entry[2]) end
  end
  redis.call('XADD', KEYS[1], seq .. '-0', unpack(fields))
end
redis.call('ZADD', KEYS[3], seq, ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -(ARGV[6] + 1))
for place = 1, 3 do redis.call('PEXPIRE', KEYS[place], ARGV[7]) end
notify(KEYS[4], ARGV[8])
return seq
"""
)

_UNREAD = (
    _SEQ
    + """
-- KEYS: stream, marks, keys, render. ARGV: after, ttl in ms, most actions.
local delivered = whole(redis.call('HGET', KEYS[2], 'delivered'))
local acknowledged = math.min(ARGV[1], delivered)
redis.call('XTRIM', KEYS[1], 'MINID', (acknowledged + 1) .. '-0')
local unread = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', ARGV[3])
local last = seq_of(unread[#unread])
if last > 0 then redis.call('HSET', KEYS[2], 'delivered', last) end
for place = 1, 3 do redis.call('PEXPIRE', KEYS[place], ARGV[2]) end
return {redis.call('EXISTS', KEYS[4]), unread}
"""
)

_STANDING = "return redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', ARGV[1])"

# Unreadable entries would block later entries, and take their room.
_TAKE_OUT = "return redis.call('XDEL', KEYS[1], unpack(ARGV))"


@dataclass(eq=False, kw_only=True, repr=False)
class SharedActions(Actions):
    """`Actions` on the server, and in this process while it is away.

    Attributes:
        fallback: The queues of this process. They count from `LOCAL_ORIGIN` and wake the same
            readers.
        renders: The renders, to tell an idle render from an expired render.
    """

    connection: StoreConnection
    fallback: LocalActions
    renders: SharedCache

    @property
    def _ttl_ms(self) -> int:
        return int(self.bounds.render_ttl_s * 1000)

    async def queue(self, render_id: str, key: str, new: Action) -> int:
        try:
            seq = await self._add(render_id, key, new)
        except UnavailableError:
            return await self.fallback.queue(render_id, key, new)
        if seq == 0:
            raise queue_full(self.bounds.actions)
        return seq

    async def hand_over(self) -> None:
        released = self.fallback.release()
        for place, queued in enumerate(released):
            try:
                seq = await self._add(queued.render_id, queued.key, queued.action)
            except UnavailableError:
                self.fallback.restore(released[place:])
                return
            if seq == 0:
                self.fallback.restore([queued])

    async def _add(self, render_id: str, key: str, new: Action) -> int:
        keys, most, origin = self._keys(render_id), self.bounds.actions, new.origin
        stored = {"owner": origin.owner, "elevated": origin.elevated, "marks": origin.labels}
        append = partial(
            self.connection.run,
            _APPEND,
            (*keys, self.connection.notifications),
            *(key, new.action, encode_payload(new.payload, self.bounds), new.at),
            *(most, LIMITS.keys_per_action * most, self._ttl_ms, render_id),
            orjson.dumps(stored),
            new.outcome,
        )
        seq: int = await append()
        if seq == 0:
            standing = await self.connection.run(_STANDING, keys[:1], most)
            if await self._take_out(keys[0], _read(standing)):
                seq = await append()
        return seq

    async def look(self, render_id: str, after: int) -> Awaited | None:
        left = self.fallback.unread(render_id, after)
        try:
            exists, unread = await self._unread(render_id, after)
        except UnavailableError:
            exists, unread = True, ()
        actions = oldest_of(unread, left)
        if actions:
            return Awaited(status="actions", next=actions[-1].seq, actions=actions)
        if exists or self.renders.holds_locally(render_id):
            return None
        return Awaited(status="expired", next=after)

    async def _unread(self, render_id: str, after: int) -> tuple[bool, tuple[Action, ...]]:
        acknowledged = after if 0 < after < LOCAL_ORIGIN else 0
        keys, most = self._keys(render_id), self.bounds.actions
        while True:
            exists, entries = await self.connection.run(
                _UNREAD,
                (*keys, self.renders.key(render_id)),
                *(acknowledged, self._ttl_ms, most),
            )
            read = _read(entries)
            if not await self._take_out(keys[0], read):
                return bool(exists), tuple(action for _, action in read if action is not None)

    async def _take_out(self, stream: Key, read: Iterable[tuple[bytes, Action | None]]) -> bool:
        unreadable = [number for number, action in read if action is None]
        if unreadable:
            # Only the replica that deletes an entry counts it.
            taken = await self.connection.run(_TAKE_OUT, (stream,), *unreadable)
            self.connection.skip("actions", taken)
        return bool(unreadable)

    def _keys(self, render_id: str) -> tuple[Key, Key, Key]:
        return (
            self.connection.key("stream", "actions", "stream", render_id),
            self.connection.key("hash", "actions", "marks", render_id),
            self.connection.key("zset", "actions", "keys", render_id),
        )


def oldest_of(some: tuple[Action, ...], others: tuple[Action, ...]) -> tuple[Action, ...]:
    if not (some and others):
        return some or others
    # The rest waits for the next response, so the order holds over both queues.
    if some[0].at > others[0].at:
        some, others = others, some
    return tuple(action for action in some if action.at <= others[0].at)


def _read(entries: Iterable[tuple[bytes, Sequence[bytes]]]) -> list[tuple[bytes, Action | None]]:
    return [(number, _action(number, fields)) for number, fields in entries]


def _action(number: bytes, fields: Sequence[bytes]) -> Action | None:
    seq, _, rest = number.partition(b"-")
    values = dict(zip(fields[::2], fields[1::2], strict=True))
    try:
        action = Action(
            seq=int(seq),
            action=values[b"action"].decode(),
            payload=orjson.loads(values[b"payload"]),
            at=float(values[b"at"]),
            origin=_origin(orjson.loads(values.get(b"origin", b"{}"))),
            outcome=values.get(b"outcome", b"").decode(),
        )
    except (KeyError, ValueError):
        return None
    return action if rest == b"0" and action.seq < LOCAL_ORIGIN and isfinite(action.at) else None


def _origin(kept: object) -> Origin:
    """Parse a stored origin. Earlier releases stored none. Anything else is a ValueError."""
    match kept:
        case {"owner": str(owner), "elevated": bool(elevated), "marks": [*labels]} if all(
            isinstance(label, str) for label in labels
        ):
            return Origin(owner=owner, elevated=elevated, labels=tuple(labels))
        case {} if not kept:
            return UNKNOWN
    raise ValueError("expected an origin")
