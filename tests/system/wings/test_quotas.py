"""Quotas of stores: one principal's entries displace none of another's."""

from __future__ import annotations

import ast
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

import widgetd
from tests.support.patience import PATIENCE_S
from tests.system.chat.test_chat_limits import ADA, BOB, Conversations
from widgetd.author.browser.camera import Places
from widgetd.author.browser.limits import BrowserLimits
from widgetd.base.errors import CallError
from widgetd.server.store.cache import build_local_caches
from widgetd.server.store.contract import Bounds, Origin
from widgetd.server.store.factory import local_store
from widgetd.server.store.owned import OwnedEntries
from widgetd.upstreams.answers import PagedAnswer, PagedAnswers, UpstreamAnswer
from widgetd.upstreams.limits import LIMITS
from widgetd.upstreams.live import LiveFeeds, _Watch

MOST = 8
BOUNDS = Bounds(renders=MOST, answers=MOST, fed=MOST, queues=MOST)
FLOOD = 4 * MOST


async def fill_cache(which: int) -> bool:
    cache = build_local_caches(BOUNDS, lambda: 0.0)[which]
    await cache.put("bob's", b"b", owner="bob")
    for number in range(FLOOD):
        await cache.put(f"a{number}", b"a", owner="ada")
    return await cache.get("bob's") == b"b" and await cache.get("a0") is None


async def fill_actions() -> bool:
    actions, codes = local_store(BOUNDS).actions, set()
    await actions.append("bob's", "go", {}, idempotency_key="k", origin=Origin(owner="bob"))
    for number in range(FLOOD):
        origin = Origin(owner="ada")
        try:
            await actions.append(f"a{number}", "go", {}, idempotency_key="k", origin=origin)
        except CallError as error:
            codes.add(error.code)
    read = await actions.read("bob's", timeout_s=0)
    return read.status == "actions" and codes == {"W2402"}


async def fill_conversations() -> bool:
    conversations = Conversations(user_bytes=20_000, total_bytes=30_000)
    await conversations.begin("bob's", BOB)
    for number in range(FLOOD):
        await conversations.begin(f"a{number}", ADA)
        await conversations.add(f"a{number}", ADA, "a" * 3_000)
    return (
        await conversations.names(BOB) == ["bob's"] and len(await conversations.names(ADA)) < FLOOD
    )


async def fill_owned() -> bool:
    by_number = OwnedEntries[str](most=MOST, most_bytes=1_000_000)
    by_size = OwnedEntries[str](most=1_000_000, most_bytes=MOST)
    for entries in (by_number, by_size):
        entries.put("bob's", "b", owner="bob", size_bytes=1)
        for number in range(FLOOD):
            entries.put(f"a{number}", "a", owner="ada", size_bytes=1)
            entries.put("bob's", "again", owner="ada", size_bytes=1)
        assert len(entries) == entries.size_bytes == MOST
    return all(one.get("bob's", "bob") == "again" for one in (by_number, by_size))


async def fill_paged() -> bool:
    answers = PagedAnswers(lambda: 0.0)
    small = PagedAnswer.build(UpstreamAnswer(kind="binary", content=b"b"))
    large = PagedAnswer.build(UpstreamAnswer(kind="binary", content=bytes(LIMITS.answer_bytes)))
    name = answers.add(small, "bob")
    names = [answers.add(large, "ada") for _ in range(FLOOD)]
    with pytest.raises(CallError):
        answers.get(names[0], "ada")
    return answers.get(name, "bob") is small


async def fill_places() -> bool:
    """Fill the places of pictures; bob's is drawn while as many of ada's wait as there are."""
    places, takers, done = (Places(BrowserLimits(pictures_at_once=2)), list[str](), anyio.Event())

    async def draw(owner: str) -> None:
        async with places.hold(owner):
            takers.append(owner)
            await done.wait()

    with anyio.fail_after(PATIENCE_S):
        async with anyio.create_task_group() as tasks:
            for owner in ["ada"] * FLOOD + ["bob"]:
                tasks.start_soon(draw, owner)
            await anyio.wait_all_tasks_blocked()
            at_once = sorted(takers)
            done.set()
    return at_once == ["ada", "bob"] and takers.count("ada") == FLOOD and not places._shares


async def fill_watches() -> bool:
    nothing: Any = None
    live = LiveFeeds(feeds=nothing, rendering=nothing, renders=nothing, registry=nothing)
    while live.has_place("ada"):
        number = len(live.watches)
        live.watches[f"a{number}"] = _Watch(source=nothing, arguments={}, owner="ada")
    return len(live.watches) == LIMITS.watches // 2 and live.has_place("bob")


STORES: dict[str, Callable[[], Awaitable[bool]]] = {
    "renders": partial(fill_cache, 0),
    "idempotent answers": partial(fill_cache, 1),
    "answers of upstreams in the store": partial(fill_cache, 2),
    "actions": fill_actions,
    "conversations": fill_conversations,
    "places of pictures": fill_places,
    "answers of upstreams that feeds hold": fill_owned,
    "answers of upstreams read by page": fill_paged,
    "requests of live feeds": fill_watches,
}

ROOMS = (
    "server/access",
    "author/browser",
    "chat",
    "author/gallery",
    "author/guide",
    "server/mcp",
    "server/observe",
    "server/render",
    "server/store",
    "upstreams",
    "server/web",
)
"""The rooms that hold what callers leave behind."""

MAPPINGS = {"dict", "OrderedDict", "defaultdict", "LocalCache", "OwnedEntries"}

BY_ANOTHER_TEST = {
    "BrowserSessions._open": (
        "tests/field/author/browser/test_sessions.py::test_one_owner_cannot_take_all"
    ),
    "Sessions._owners": "tests/system/server/mcp/test_sessions.py::",
}

IN_A_STORE = {
    "Camera._cache",
    "LiveFeeds.watches",
    "LocalActions._queues",
    "OwnedEntries._index",
    "Places._shares",
    "OwnedEntries._shares",
    "PagedAnswers._answers",
    "BrowserSessions._traces",
    "UpstreamFeeds.held",
    "_Queue.keys",
    "_OwnerEntries.entries",
}
"""What the rows of `STORES` fill."""

NO_ENTRIES_OF_PRINCIPALS = {
    "BrowserSessions._unread": "one entry for each session",
    "TestFiles._tests": "as many files as `searched_tests`, whose content no caller writes",
    "BuiltinTools._listed": "one for each set of toolsets",
    "Clients._legacy": "one for each session of the SDK",
    "Clients._open": "one for each open stream",
    "Clients._sessions": "one for each session of the SDK",
    "Clients._streams": "one for each open stream",
    "ConnectionSlots._for_probes": "one for each connection, of a number of its own",
    "DryRun._renders": "one page or session",
    "EmulatedStage._page": "one page of a test run",
    "EmulatedStage.pages": "one page of a test run",
    "Examples._examples": "made from the catalog",
    "Examples._users": "made from the catalog",
    "FastPath._clients": "made again from the next request",
    "FastPath._hosts": "made again from the next request",
    "FastPath._waiting": "one for each running request",
    "GenerationCache._made": "made again from the catalog",
    "Guard._running": "one for each running request",
    "HeldAnswer.arguments": "a part of a held answer, counted in its size",
    "HostClient._tools": "one connection of a test run",
    "InlineImages._cached": "fetched again from the operator's origins",
    "LegacyClient._due": "one for each subscription of one client",
    "LegacyClient._sent": "one for each subscription of one client",
    "LocalRateLimits._buckets": "a principal that is forgotten has rested",
    "MessageIds.unfinished": "one turn",
    "Operations.sections": "made by the daemon",
    "Pages._encoded": "made again from the catalog",
    "PerAudience._kept": "made again from the catalog",
    "RecordingTransport.watched": "one for each press under way",
    "ReplacedRenders._ids": "one for each replaced render until it is told",
    "Server.services": "made by the daemon",
    "SharedCache._unsent": "keys of the local cache, which shares its room",
    "ToolCallHooks._results": "one turn",
    "ToolCallHooks._started_s": "one turn",
    "ToolListing.dropped": "one upstream",
    "ToolListing.tools": "one upstream",
    "Upstream._fates": "one for each press under way",
    "ResourceListeners._by_uri": "one for each request of a live feed",
    "ToolSchemas._compiled": "compiled again from the upstream's list",
    "UpstreamFeeds._fetches": "one for each running request",
    "UpstreamFeeds.counts": "one for each upstream",
    "Upstreams._scopes": "one for each upstream",
    "Upstreams.all": "one for each upstream",
    "_Watch.renders": "followed renders, which are bounded in the store",
    "Waiters._waiting": "one for each waiting reader",
}


@pytest.mark.parametrize("store", STORES)
async def test_flood_by_one_principal_leaves_the_entries_of_another(store: str) -> None:
    assert await STORES[store]()


def test_every_mapping_of_the_serving_rooms_has_a_row() -> None:
    rows = BY_ANOTHER_TEST.keys() | IN_A_STORE | NO_ENTRIES_OF_PRINCIPALS.keys()

    assert set(_mappings()) == rows
    for reference in BY_ANOTHER_TEST.values():
        file, _, name = reference.partition("::")
        assert f"def {name}" in Path(file).read_text(encoding="utf-8")


def _mappings() -> Iterator[str]:
    """Yield `Class.attribute` for each attribute that begins as a mapping."""
    package = Path(widgetd.__file__).parent
    files = (file for room in ROOMS for file in (package / room).rglob("*.py"))
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield from (f"{node.name}.{attribute}" for attribute in _attributes(node))


def _attributes(made: ast.ClassDef) -> Iterator[str]:
    for node in ast.walk(made):
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            kind = ast.unparse(node.annotation).partition("[")[0]
            if kind not in MAPPINGS:
                continue
            if isinstance(node.target, ast.Attribute):
                yield node.target.attr
            elif node in made.body:
                yield ast.unparse(node.target)
