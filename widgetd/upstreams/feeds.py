"""Fill widgets from upstreams: one request for all who need the same answer, which is then kept.

An answer is kept in the store, which replicas share. Its key holds the window of time for which
the answer is good, since an entry of the store never changes. In addition, this process holds the
latest answer to each request for the time in which the upstream fails, and the arguments that
widgets make of it, so that a held answer is mapped and validated only once.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import anyio
import orjson

from widgetd.errors import CallError
from widgetd.render.feeds import Filled
from widgetd.schema.json_text import NotJsonError, parse_json
from widgetd.schema.json_values import copy_exact, to_json
from widgetd.schema.validator import ValidArguments
from widgetd.store.contract import Answers, StoredRender
from widgetd.store.factory import local_store
from widgetd.store.owned import OwnedEntries
from widgetd.upstreams.answers import UpstreamAnswer
from widgetd.upstreams.connection import UpstreamObserver, while_running
from widgetd.upstreams.limits import LIMITS, run_sized
from widgetd.upstreams.upstreams import Upstreams
from widgetd.widget.feed import Feed
from widgetd.widget.widget import Widget

TRANSIENT = frozenset({"W5002", "W5003", "W5006", "W5008", "W5010", "W5020"})
"""Codes at which the last good answer is shown for a while."""

Source = Literal["call", "kept", "stale"]


@dataclass(slots=True)
class HeldAnswer:
    """An answer that this process holds.

    Attributes:
        at: Time of the answer, in seconds since the epoch.
        content: JSON.
        ms: Duration of the call.
        arguments: Arguments of widgets as JSON, by widget and by what the caller asked.
    """

    at: float
    content: bytes
    ms: float
    arguments: OrderedDict[str, bytes] = field(default_factory=OrderedDict)

    @property
    def size(self) -> int:
        """Return its size in bytes."""
        return len(self.content) + sum(map(len, self.arguments.values()))


@dataclass(slots=True)
class _Fetch:
    """A request under way, for all who wait for its answer."""

    done: anyio.Event = field(default_factory=anyio.Event)
    answer: HeldAnswer | None = None
    error: CallError | None = None


def fill_once(widget: Widget, feed: Feed, asked: Mapping[str, Any], file: Path) -> ValidArguments:
    """Return the arguments of one call, from upstreams that are connected for it alone.

    Raises:
        ConfigError: The file cannot be used (W5101), or a secret is missing (W5102).
        CallError: The widget cannot be filled.
    """
    upstreams = Upstreams(file, is_logged=False)

    async def fill() -> ValidArguments:
        feeds = UpstreamFeeds(upstreams, local_store().answers)
        async with while_running(upstreams.run):
            return (await feeds.fill(widget, feed, asked, strict=False, owner="")).checked

    return anyio.run(fill)


@dataclass(eq=False)
class UpstreamFeeds:
    """The feeds of a daemon with upstreams.

    Attributes:
        answers: The store's part for answers, which replicas share.
        clock: Seconds since the epoch.
        counts: Number of filled calls, by upstream and source.
        held: The latest answer to each request.
        live: Keeps a render up to date; None where nothing does.
    """

    upstreams: Upstreams
    answers: Answers
    observer: UpstreamObserver | None = None
    clock: Callable[[], float] = time.time
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    held: OwnedEntries[HeldAnswer] = field(
        default_factory=lambda: OwnedEntries(most=LIMITS.held_answers, most_bytes=LIMITS.held_bytes)
    )
    live: Callable[..., AbstractContextManager[None]] | None = None
    _fetches: dict[str, _Fetch] = field(default_factory=dict)

    def following(
        self, render: StoredRender, linger_s: float | None = None
    ) -> AbstractContextManager[None]:
        """Keep a render up to date during the block; see `Feeds`."""
        if self.live is None:
            return nullcontext()
        return self.live(render) if linger_s is None else self.live(render, linger_s)

    async def fill(
        self, widget: Widget, feed: Feed, given: Mapping[str, Any], *, strict: bool, owner: str
    ) -> Filled:
        """Complete the caller's arguments from the widget's feed; see `Feeds`."""
        asked = feed.asked.check(
            dict(given), strict=strict, example=lambda: feed.example(widget.example)
        )
        started_s = time.perf_counter()
        try:
            key = self.request_key(feed, asked.arguments)
            try:
                answer, source = await self._find_or_fetch(feed, key, asked.arguments, owner)
                checked = await self._map(key, answer, widget, feed, asked)
            except CallError as error:
                stale = self._stale_answer(feed, key, error)
                if stale is None:
                    raise
                answer, source = stale, "stale"
                checked = await self._map(key, answer, widget, feed, asked)
        except CallError as error:
            if feed.part.on_failure != "arguments" or not error.code.startswith("W50"):
                raise
            return Filled(checked=widget.check(asked.arguments, strict=strict))
        self._count(feed.part.upstream, source)
        ms = answer.ms if source == "call" else (time.perf_counter() - started_s) * 1000
        at = datetime.fromtimestamp(answer.at, UTC)
        as_of = f"{at:%H:%M} UTC" if source == "stale" else ""
        return Filled(checked=checked, mark=self.mark(feed, answer, source, ms), as_of=as_of)

    def mark(self, feed: Feed, answer: HeldAnswer, source: Source, ms: float) -> bytes:
        """Return `_meta["widgetd/feed"]` as JSON, as `FeedMark` types it."""
        at = datetime.fromtimestamp(answer.at, UTC)
        metadata = {
            "upstream": feed.part.upstream,
            "tool": feed.part.tool,
            "at": at.isoformat(timespec="seconds").replace("+00:00", "Z"),
            "ageS": round(max(self.clock() - answer.at, 0.0), 1),
            "stale": source == "stale",
            "ms": round(ms, 3),
        }
        return to_json(metadata)

    async def refresh(self, feed: Feed, asked: Mapping[str, Any]) -> HeldAnswer:
        """Ask a live feed again, unless another replica did in this window of time.

        Raises:
            CallError: The upstream fails.
        """
        key, every_s = self.request_key(feed, asked), feed.part.every_s
        shared = "" if every_s is None else f"{key}:live:{every_s}:{int(self.clock() // every_s)}"
        stored = await self.answers.get(shared) if shared else None
        answer = None if stored is None else _read_stored(stored)
        source: Source = "kept"
        if answer is None:
            source, answer = "call", await self._request(feed, key, asked, "")
            if shared:
                await self.answers.put(shared, _to_stored(answer), owner="")
        self._count(feed.part.upstream, source)
        self.held.put(key, answer, owner="", size_bytes=answer.size)
        return answer

    async def map_answer(
        self, answer: HeldAnswer, widget: Widget, feed: Feed, asked: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Return the widget's arguments as an answer fills them.

        Raises:
            CallError: The answer does not fit (W5007).
        """
        checked = feed.asked.check(dict(asked))
        key = self.request_key(feed, checked.arguments)
        return (await self._map(key, answer, widget, feed, checked)).arguments

    def is_at_hand(self, widget: Widget, feed: Feed, given: Mapping[str, Any]) -> bool:
        """Return whether the widget's arguments are held, so that filling needs no waiting."""
        if not feed.asked.admits(given):
            return False
        try:
            answer = self.held.get(self.request_key(feed, given))
        except CallError:
            return False
        key = _arguments_key(widget, given)
        return answer is not None and self._is_fresh(feed, answer) and key in answer.arguments

    def request_key(self, feed: Feed, asked: Mapping[str, Any]) -> str:
        """Return a digest of the request that fills a widget; it names no secret.

        Raises:
            CallError: There is no such upstream (W5001), or an expression fails (W5007).
        """
        part = feed.part
        declaration = self.upstreams[part.upstream].declaration
        request = orjson.dumps(feed.request(asked), option=orjson.OPT_SORT_KEYS)
        parts = f"{part.upstream} {declaration.digest} {part.tool} ".encode() + request
        return blake2b(parts, digest_size=16).hexdigest()

    def _is_fresh(self, feed: Feed, answer: HeldAnswer) -> bool:
        return feed.part.keep_s > 0 and _window(feed, answer.at) == _window(feed, self.clock())

    async def _find_or_fetch(
        self, feed: Feed, key: str, asked: Mapping[str, Any], owner: str
    ) -> tuple[HeldAnswer, Source]:
        """Return the answer held here, that of a fetch under way, or that of a new fetch."""
        while True:
            answer = self.held.get(key)
            if answer is not None and self._is_fresh(feed, answer):
                return answer, "kept"
            fetch = self._fetches.get(key)
            if fetch is None:
                return await self._fetch_once(feed, key, asked, owner)
            await fetch.done.wait()
            if fetch.error is not None:
                raise fetch.error
            if fetch.answer is not None:
                return fetch.answer, "kept"
            # The caller that fetched was cancelled, so one of those that waited fetches now.

    async def _fetch_once(
        self, feed: Feed, key: str, asked: Mapping[str, Any], owner: str
    ) -> tuple[HeldAnswer, Source]:
        """Get an answer from the store or the upstream, for all who wait for this key."""
        fetch = self._fetches[key] = _Fetch()
        source: Source = "kept"
        try:
            fetch.answer = await self._load(feed, key)
            if fetch.answer is None:
                source, fetch.answer = "call", await self._request(feed, key, asked, owner)
            self.held.put(key, fetch.answer, owner=owner, size_bytes=fetch.answer.size)
        except CallError as error:
            fetch.error = error
            raise
        finally:
            del self._fetches[key]
            fetch.done.set()
        return fetch.answer, source

    async def _load(self, feed: Feed, key: str) -> HeldAnswer | None:
        if feed.part.keep_s <= 0:
            return None
        stored = await self.answers.get(f"{key}:{_window(feed, self.clock())}")
        return None if stored is None else _read_stored(stored)

    async def _request(
        self, feed: Feed, key: str, asked: Mapping[str, Any], owner: str
    ) -> HeldAnswer:
        part, started_s = feed.part, time.perf_counter()
        called = await self.upstreams[part.upstream].call(part.tool, feed.request(asked))
        content = await run_sized(len(called.content), _json_content, called, part.upstream)
        ms = (time.perf_counter() - started_s) * 1000
        answer = HeldAnswer(at=self.clock(), content=content, ms=ms)
        if part.keep_s > 0:
            window = _window(feed, answer.at)
            await self.answers.put(f"{key}:{window}", _to_stored(answer), owner=owner)
        return answer

    async def _map(
        self, key: str, answer: HeldAnswer, widget: Widget, feed: Feed, asked: ValidArguments
    ) -> ValidArguments:
        """Return the widget's arguments from an answer; a copy, which a template may change."""
        which = _arguments_key(widget, asked.arguments)
        ready = answer.arguments.get(which)
        if ready is not None:
            return ValidArguments(arguments=orjson.loads(ready), coerced=asked.coerced)
        # Mapping stays in the loop: a schema checks one value at a time.
        value = await run_sized(len(answer.content), parse_json, answer.content)
        mapped = feed.fill(asked.arguments, value)
        is_held = self.held.get(key) is answer
        answer.arguments[which] = copy_exact(to_json(mapped.arguments))
        if len(answer.arguments) > LIMITS.held_arguments:
            answer.arguments.popitem(last=False)
        if is_held:
            self.held.resize(key, answer.size)
        return ValidArguments(arguments=mapped.arguments, coerced=(*asked.coerced, *mapped.coerced))

    def _stale_answer(self, feed: Feed, key: str, error: CallError) -> HeldAnswer | None:
        answer = self.held.get(key)
        if answer is None or error.code not in TRANSIENT:
            return None
        return answer if self.clock() - answer.at <= feed.part.stale_s else None

    def _count(self, upstream: str, source: Source) -> None:
        counts = self.counts.setdefault(upstream, {"call": 0, "kept": 0, "stale": 0})
        counts[source] += 1
        if self.observer is not None:
            self.observer.upstream_answered(upstream, source)


def _to_stored(answer: HeldAnswer) -> bytes:
    return b'{"at":%r,"answer":%b}' % (answer.at, answer.content)


def _read_stored(stored: bytes) -> HeldAnswer | None:
    try:
        value = parse_json(stored)
        content = copy_exact(to_json(value["answer"]))
        return HeldAnswer(at=float(value["at"]), content=content, ms=0.0)
    except (NotJsonError, KeyError, TypeError, ValueError):
        return None  # written by a release with another format


def _window(feed: Feed, at: float) -> int:
    return int(at // feed.part.keep_s) if feed.part.keep_s > 0 else 0


def _arguments_key(widget: Widget, asked: Mapping[str, Any]) -> str:
    text = orjson.dumps(asked, option=orjson.OPT_SORT_KEYS, default=dict)
    return f"{widget.key}{blake2b(text, digest_size=12).hexdigest()}"


def _json_content(answer: UpstreamAnswer, upstream: str) -> bytes:
    """Return an answer as JSON; see `UpstreamAnswer.value`."""
    answer.value(upstream)
    return copy_exact(answer.content)
