"""Rubbish and entries of other releases in the shared store stop no replica."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import given, settings
from hypothesis import strategies as st
from redis import Redis, ResponseError

from tests.support.daemons import serving
from tests.support.logs import captured_logs
from tests.support.patience import PATIENCE_S
from tests.system.server.store.replicas import Replicas, replicas, stored_render
from tests.system.server.store.server import Server
from tests.system.server.web.asking import ask
from widgetd.server.store.contract import Awaited
from widgetd.server.store.factory import Store
from widgetd.server.store.limits import StoreLimits
from widgetd.server.store.shared import connection

NEVER_S = 600.0
KEYS = 18
"""What a store has on the server that was used for everything."""

BOUNDS = {"rate_per_s": 1000.0, "burst": 10.0, "at_once": 1, "actions": 8}

LAST = "18446744073709551615-18446744073709551615"

TEXTS = st.one_of(
    st.binary(max_size=20),
    st.sampled_from(
        [
            *(b"", b"\xff\xfe", b"null", b"[]", b"{}", b"{", b"3", b'{"id":3}', b"[" * 3000),
            *(b"nan", b"inf", b"-inf", b"-1", b"0", b"1.5", b"1e300", b"-1e300", b"0x10"),
            *(b"999999", b"1000000", b"9007199254740993", b"99999999999999999999"),
        ]
    ),
)
FIELDS = st.sampled_from(
    [
        *(b"action", b"payload", b"at", b"render", b"last", b"delivered", b"calls", b"since"),
        b"origin",
        *(b"#bytes", b"#place", b"r1", b"r2", b"other", b"\xff"),
    ]
)
SCORES = st.floats(allow_nan=False) | st.integers(-2, 1_000_001).map(float)
IDS = st.sampled_from(
    ["*", "1-1", "2-0", "7-3", "999999-0", "1000000-0", "9999999999999-0", LAST]
) | st.integers(1, 2**64 - 1).map(str)
PAIRS = st.dictionaries(FIELDS, TEXTS, min_size=1, max_size=4)

Put = Callable[[Redis, bytes], object]


def each(*puts: Put) -> Put:
    def put(client: Redis, key: bytes) -> None:
        for one in puts:
            one(client, key)

    return put


def add(number: str, fields: dict[Any, Any]) -> Put:
    """Return an entry of a stream."""
    return lambda client, key: client.xadd(key, fields, id=number)


RUBBISH: st.SearchStrategy[Put] = st.one_of(
    TEXTS.map(lambda text: lambda client, key: client.set(key, text)),
    PAIRS.map(lambda pairs: lambda client, key: client.hset(key, mapping=pairs)),
    st.dictionaries(FIELDS, SCORES, min_size=1).map(
        lambda scores: lambda client, key: client.zadd(key, scores)
    ),
    st.lists(st.builds(add, IDS, PAIRS), min_size=1, max_size=4).map(lambda puts: each(*puts)),
    st.builds(add, IDS, PAIRS).map(
        lambda put: each(put, lambda client, key: client.xtrim(key, maxlen=0))
    ),
    TEXTS.map(lambda text: lambda client, key: client.rpush(key, text)),
    TEXTS.map(lambda text: lambda client, key: client.sadd(key, text)),
)
"""Every type that the server has, with the names of ours in it, and what they cannot mean."""

TYPES: dict[str, Put] = {
    "string": lambda client, key: client.set(key, "rubbish"),
    "hash": lambda client, key: client.hset(key, "rubbish", "rubbish"),
    "list": lambda client, key: client.rpush(key, "rubbish"),
    "set": lambda client, key: client.sadd(key, "rubbish"),
    "zset": lambda client, key: client.zadd(key, {"rubbish": 1}),
    "stream": lambda client, key: client.xadd(key, {"rubbish": "rubbish"}),
}
STREAMS: dict[str, Put] = {
    **TYPES,
    "nothing": lambda _client, _key: None,
    "no field": lambda client, key: client.xadd(key, {"rubbish": "rubbish"}),
    "not UTF-8": lambda client, key: client.xadd(key, {"render": b"\xff"}),
    "far ahead": lambda client, key: client.xadd(key, {"render": ""}, id="9999999999999-0"),
    "last": lambda client, key: client.xadd(key, {"render": ""}, id=LAST),
}
"""What becomes of the stream that replicas listen to."""


@pytest.fixture(scope="module", autouse=True)
def patience() -> Iterator[None]:
    """However long a busy machine takes, the server does not count as away."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "LIMITS", StoreLimits(command_s=PATIENCE_S))
        yield


@pytest.fixture(scope="module")
def portal() -> Iterator[BlockingPortal]:
    """A runner of coroutines for synchronous tests."""
    with start_blocking_portal() as portal:
        yield portal


def keys_of(both: Replicas) -> list[bytes]:
    """Return all keys of the store, sorted."""
    assert both.server is not None
    with both.server.client() as client:
        return sorted(client.scan_iter(f"{{{both.prefix}:*"))


def spoil(both: Replicas, key: bytes, put: Put, *, replace: bool) -> None:
    """Write rubbish to a key, in place of its value or beside it, if the server accepts it."""
    assert both.server is not None
    with both.server.client() as client:
        if replace:
            client.delete(key)
        with suppress(ResponseError):
            put(client, key)


async def use_all(both: Replicas) -> None:
    """Write a value to every key."""
    await both.here.renders.put(stored_render("r1"))
    await both.here.actions.append("r1", "tap", 0, idempotency_key="first")
    await both.here.idempotency.remember("k", {"seat": "12A"})
    await both.here.limits.take("ann")


async def everything_works(both: Replicas, number: int) -> None:
    """Use every part of the store in both replicas, and read it back."""
    new, here, there = f"new{number}", both.here, both.there
    await here.renders.put(stored_render(new))
    assert await there.renders.get(new) == stored_render(new)
    assert await there.renders.get("r1") in (stored_render("r1"), None)
    await there.renders.put(stored_render("r1"))
    assert await there.renders.get("r1") == stored_render("r1")

    assert await here.idempotency.remember(new, {"new": number}) == {"new": number}
    assert await there.idempotency.recall(new) == {"new": number}
    standing = await there.idempotency.remember("k", {"seat": "14C"})
    assert await there.idempotency.recall("k") == standing

    accepted = await here.actions.append("r1", "tap", new, idempotency_key=new)
    assert await here.actions.append("r1", "tap", new, idempotency_key=new) == accepted
    answers: list[object] = []
    read = Awaited(status="actions", next=0)
    while read.status == "actions":
        read = await there.actions.read("r1", after=read.next, timeout_s=0.0)
        answers += [action.payload for action in read.actions]
    assert answers.count(new) == 1

    for store in (here, there):
        verdict = await store.limits.take("ann")
        assert math.isfinite(verdict.retry_after_s)
        assert 0 <= verdict.retry_after_s <= 1
    both.clock.now += 1000
    assert (await here.limits.take("ann")).is_allowed
    async with there.limits.slot("ann") as place, here.limits.slot("ann") as second:
        assert [place.is_allowed, second.is_allowed] == [True, False]


async def everything_goes_on(server: Server, place: int, put: Put, *, replace: bool) -> None:
    """Fill a store, damage one of its keys, and use every part twice."""
    with captured_logs() as events:
        async with replicas(server, **BOUNDS) as both:
            await use_all(both)
            async with both.here.limits.slot("ann"):
                keys = keys_of(both)
                assert len(keys) == KEYS
                spoil(both, keys[place], put, replace=replace)
            for number in range(2):
                await everything_works(both, number)

    parts = [event["part"] for event in events.all if event["event"] == "store.skipped"]
    assert len(parts) <= 2 * len(set(parts)), "once for each part, by each replica"
    assert {event["event"] for event in events.all} <= {"store.skipped"}


@settings(max_examples=50)
@given(place=st.integers(0, KEYS - 1), put=RUBBISH, replace=st.booleans())
def test_store_works_with_any_rubbish_at_any_key(
    portal: BlockingPortal, shared_server: Server, place: int, put: Put, *, replace: bool
) -> None:
    portal.call(partial(everything_goes_on, shared_server, place, put, replace=replace))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("place", range(KEYS))
async def test_key_of_another_type_is_replaced(
    shared_server: Server, kind: str, place: int
) -> None:
    await everything_goes_on(shared_server, place, TYPES[kind], replace=True)


@pytest.mark.parametrize("place", range(KEYS))
async def test_replicas_that_meet_it_at_the_same_time_make_room_once(
    shared_server: Server, place: int
) -> None:
    async def use(store: Store, number: int) -> None:
        await store.renders.put(stored_render(f"r{number}"))
        await store.actions.append("r1", "tap", number, idempotency_key=f"{number}")
        await store.actions.read("r1", timeout_s=0.0)
        await store.idempotency.remember("k", {})
        await store.limits.take("ann")
        async with store.limits.slot("ann"):
            pass

    with captured_logs() as events:
        async with replicas(shared_server, **BOUNDS) as both:
            await use_all(both)
            async with both.here.limits.slot("ann"):
                spoil(both, keys_of(both)[place], TYPES["list"], replace=True)
            async with anyio.create_task_group() as tasks:
                for number in range(3):
                    for store in (both.here, both.there):
                        tasks.start_soon(use, store, number)

    assert {event["event"] for event in events.all} <= {"store.skipped"}


STREAM = b":1}:bell"


@asynccontextmanager
async def waiting_for_a_tap(both: Replicas) -> AsyncIterator[bytes]:
    """Wait at one replica for the first action of `r1`; it arrives soon after the block.

    Yields the key of the stream that tells the replicas of actions.
    """
    [stream] = [key for key in keys_of(both) if key.endswith(STREAM)]
    await both.here.renders.put(stored_render("r1"))
    answers: list[Awaited] = []

    async def wait() -> None:
        answers.append(await both.there.actions.read("r1", timeout_s=NEVER_S))

    with anyio.fail_after(PATIENCE_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            yield stream

    assert [action.payload for action in answers[0].actions] == [1]


@pytest.mark.parametrize("kind", [*TYPES, "nothing", "no field", "not UTF-8", "far ahead", "last"])
async def test_waiting_reader_is_woken_by_another_replica_with_any_rubbish_in_the_bell(
    shared_server: Server, kind: str
) -> None:
    async with replicas(shared_server, **BOUNDS) as both, waiting_for_a_tap(both) as stream:
        spoil(both, stream, STREAMS[kind], replace=kind in (*TYPES, "nothing"))
        await both.here.actions.append("r1", "tap", 1, idempotency_key="1")


async def test_wake_without_a_render_lets_every_reader_look_again(shared_server: Server) -> None:
    async with replicas(shared_server, **BOUNDS) as both, waiting_for_a_tap(both) as stream:
        with shared_server.client() as client:
            # As where an action was added while something else stood in the bell's place.
            client.xadd(
                f"{{{both.prefix}:1}}:actions:stream:r1",
                {"action": "tap", "payload": "1", "at": "1"},
                id="1-0",
            )
            client.xadd(stream, {"render": ""})


async def test_skipped_entries_are_counted_logged_once_and_affect_no_other(
    shared_server: Server,
) -> None:
    entries = [
        *({}, {"action": "tap"}, {"action": "tap", "payload": "1"}),
        {"action": b"\xff", "payload": "1", "at": "1"},
        {"action": "tap", "payload": "{", "at": "1"},
        {"action": "tap", "payload": "1", "at": "nan"},
    ]
    with captured_logs() as events:
        async with replicas(shared_server, actions=64) as both:
            await both.here.renders.put(stored_render("r1"))
            with shared_server.client() as client:
                for number, entry in enumerate(entries):
                    await both.here.actions.append("r1", "tap", number, idempotency_key=f"{number}")
                    client.xadd(f"{{{both.prefix}:1}}:actions:stream:r1", entry or {"other": ""})
                    await both.here.actions.read("r1")
            read = await both.here.actions.read("r1")
            again = await both.there.actions.read("r1")

            assert [action.payload for action in read.actions] == list(range(len(entries)))
            assert again == read
            assert both.here.skipped() == len(entries)
            assert both.there.skipped() == 0

    [event] = events.all
    assert event == {
        "event": "store.skipped",
        "level": "warning",
        "server": shared_server.url,
        "part": "actions",
    }


async def test_render_of_a_newer_release_with_unknown_fields_is_found(
    shared_server: Server,
) -> None:
    async with replicas(shared_server) as both:
        await both.here.renders.put(stored_render("r1"))
        with shared_server.client() as client:
            key = f"{{{both.prefix}:1}}:renders:value:r1"
            known = orjson.loads(client.get(key) or b"")
            client.set(key, orjson.dumps(known | {"newer": [1]}), ex=60)

        assert await both.there.renders.get("r1") == stored_render("r1")
        assert both.there.skipped() == 0


AS_BEFORE = {
    "id": "r1",
    "tool": "flight_tracker",
    "tree": {"type": "Card", "children": [{"type": "Button", "onClickAction": {"type": "go"}}]},
    "created": 1_700_000_000.5,
    "size_bytes": 76,
    "secret": False,
    "elevated": True,
    "marks": ["flight_tracker", "travel"],
    "owner": "ann",
    "text": "Pan Am 845: Zürich to Boston",
    "facts": {"uiType": "flight-tracker", "number": None},
    "ui": {"uiType": "flight-tracker"},
    "mark": {
        "id": "r1",
        "widget": "flight_tracker",
        "generation": "0123456789abcdef",
        "digest": "f0",
        "ms": 0.4,
    },
}
"""A render as the releases kept it that did not keep it as bytes."""


async def test_renders_of_an_older_release_and_ours_are_readable_by_each_other(
    shared_server: Server,
) -> None:
    async with replicas(shared_server) as both:
        key = f"{{{both.prefix}:1}}:renders:value:"
        with shared_server.client() as client:
            client.set(f"{key}r1", orjson.dumps(AS_BEFORE), ex=60)
            stored = await both.here.renders.get("r1")

            assert stored is not None
            assert (orjson.loads(stored.tree), stored.has_actions) == (AS_BEFORE["tree"], True)
            assert (stored.text, stored.owner, stored.elevated) == (AS_BEFORE["text"], "ann", True)
            assert stored.labels == ("flight_tracker", "travel")
            assert both.here.skipped() == 0

            client.delete(f"{key}r1")
            await both.there.renders.put(stored)

            assert orjson.loads(client.get(f"{key}r1") or b"") == AS_BEFORE


async def test_render_above_the_depth_limit_is_skipped(shared_server: Server) -> None:
    async with replicas(shared_server) as both:
        tree = b'{"a":' * 300 + b"1" + b"}" * 300
        kept = orjson.dumps(AS_BEFORE | {"tree": orjson.Fragment(tree)})
        with shared_server.client() as client:
            client.set(f"{{{both.prefix}:1}}:renders:value:r1", kept, ex=60)

        assert await both.here.renders.get("r1") is None
        assert both.here.skipped() == 1


@pytest.mark.parametrize("lacking", ["id", "tool", "text", "size_bytes"])
@pytest.mark.parametrize("other", ["missing", None, -1.5, [], {}, True])
async def test_render_with_missing_fields_is_skipped(
    shared_server: Server, lacking: str, other: object
) -> None:
    async with replicas(shared_server) as both:
        await both.here.renders.put(stored_render("r1"))
        with shared_server.client() as client:
            key = f"{{{both.prefix}:1}}:renders:value:r1"
            known = orjson.loads(client.get(key) or b"")
            spoilt = {name: value for name, value in known.items() if name != lacking}
            if other != "missing":
                spoilt[lacking] = other
            client.set(key, orjson.dumps(spoilt), ex=60)

        assert await both.there.renders.get("r1") is None
        assert both.there.skipped() == 1


async def test_daemon_reports_the_number_of_skipped_entries(
    shared_server: Server, tmp_path: Path
) -> None:
    with shared_server.client() as client:
        client.delete("{widgetd:1}:bell")
        client.set("{widgetd:1}:bell", "rubbish")
        async with serving(tmp_path, store=shared_server.url) as url:
            text = (await ask(url, "/metrics")).text
        client.delete("{widgetd:1}:bell")

    assert "widgetd_store_skipped_total 1.0" in text
    assert "widgetd_store_degraded 0.0" in text
