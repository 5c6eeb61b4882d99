"""Fill widgets from upstreams: ask once for all who ask the same, and keep what was answered.

An answer is kept in the store, which replicas share, under a key that holds the window of time
that it is good for, since nothing there ever changes. Beside it, in this process, stands the
latest answer to each request, for when its upstream fails, with what each widget makes of it, so
that a kept call maps and validates nothing twice.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
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
from widgetd.store.contract import Answers
from widgetd.store.factory import local_store
from widgetd.upstreams.answers import Answer
from widgetd.upstreams.connection import Observer, while_running
from widgetd.upstreams.limits import run_sized
from widgetd.upstreams.upstreams import Upstreams
from widgetd.widget.feed import Feed
from widgetd.widget.widget import Widget

MOST = 10_000
"""Requests whose latest answer is held."""

MOST_BYTES = 16 * 1024 * 1024
"""Of those answers, and of what widgets make of them."""

MOST_MADE = 8
"""Widgets, and what was asked of each, that one answer is held ready for."""

PASSING = frozenset({"W5002", "W5003", "W5006", "W5008", "W5010", "W5020"})
"""Codes behind which the last good answer is shown for a while."""

Source = Literal["call", "kept", "stale"]


@dataclass(slots=True)
class Kept:
    """An answer that is held.

    Attributes:
        at: When it came, in seconds since the epoch.
        content: JSON.
        ms: How long it took to come.
        made: What widgets make of it: arguments as JSON, by widget and by what was asked.
    """

    at: float
    content: bytes
    ms: float
    made: OrderedDict[str, bytes] = field(default_factory=OrderedDict)

    @property
    def size(self) -> int:
        """In bytes."""
        return len(self.content) + sum(map(len, self.made.values()))


@dataclass(slots=True)
class _Flight:
    """A request that is on its way, for all who wait for it."""

    landed: anyio.Event = field(default_factory=anyio.Event)
    kept: Kept | None = None
    error: CallError | None = None


def filled_once(widget: Widget, feed: Feed, asked: Mapping[str, Any], file: Path) -> ValidArguments:
    """What `widget` is drawn with, by upstreams that are connected for this alone.

    Raises:
        ConfigError: The file cannot be used (W5101), or a secret is missing (W5102).
        CallError: Nothing that fits can be had.
    """
    upstreams = Upstreams(file, is_logged=False)

    async def fill() -> ValidArguments:
        feeds = UpstreamFeeds(upstreams, local_store().answers)
        async with while_running(upstreams.run):
            return (await feeds.fill(widget, feed, asked, strict=False)).checked

    return anyio.run(fill)


@dataclass(eq=False)
class UpstreamFeeds:
    """Fills widgets from `upstreams`.

    Attributes:
        answers: Where answers are kept, for replicas too.
        clock: In seconds since the epoch.
        counts: How often widgets were filled from where, by upstream.
        held_bytes: Of the answers that are held ready, and of what widgets make of them.
    """

    upstreams: Upstreams
    answers: Answers
    observer: Observer | None = None
    clock: Callable[[], float] = time.time
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    held_bytes: int = 0
    _held: OrderedDict[str, Kept] = field(default_factory=OrderedDict)
    _flights: dict[str, _Flight] = field(default_factory=dict)

    async def fill(
        self, widget: Widget, feed: Feed, given: Mapping[str, Any], *, strict: bool
    ) -> Filled:
        """What `widget` is drawn with: see `Feeds`."""
        example = feed.example(widget.example)
        asked = feed.asked.check(dict(given), strict=strict, example=lambda: example)
        started_s = time.perf_counter()
        try:
            key = self._key(feed, asked.arguments)
            try:
                kept, source = await self._answer(feed, key, asked.arguments)
                checked = await self._made(key, kept, widget, feed, asked)
            except CallError as error:
                stale = self._stale(feed, key, error)
                if stale is None:
                    raise
                kept, source = stale, "stale"
                checked = await self._made(key, kept, widget, feed, asked)
        except CallError as error:
            if feed.part.on_failure != "arguments" or not error.code.startswith("W50"):
                raise
            return Filled(checked=widget.check(asked.arguments, strict=strict))
        self._count(feed.part.upstream, source)
        ms = kept.ms if source == "call" else (time.perf_counter() - started_s) * 1000
        at = datetime.fromtimestamp(kept.at, UTC)
        mark = {
            "upstream": feed.part.upstream,
            "tool": feed.part.tool,
            "at": at.isoformat(timespec="seconds").replace("+00:00", "Z"),
            "ageS": round(max(self.clock() - kept.at, 0.0), 1),
            "stale": source == "stale",
            "ms": round(ms, 3),
        }
        as_of = f"{at:%H:%M} UTC" if source == "stale" else ""
        return Filled(checked=checked, mark=to_json(mark), as_of=as_of)

    def is_at_hand(self, widget: Widget, feed: Feed, given: Mapping[str, Any]) -> bool:
        """Whether its answer is held, and what this widget makes of it."""
        if not feed.asked.admits(given):
            return False
        try:
            kept = self._held.get(self._key(feed, given))
        except CallError:
            return False
        return kept is not None and self._is_fresh(feed, kept) and _of(widget, given) in kept.made

    def _key(self, feed: Feed, asked: Mapping[str, Any]) -> str:
        part = feed.part
        declaration = self.upstreams[part.upstream].declaration
        request = orjson.dumps(feed.request(asked), option=orjson.OPT_SORT_KEYS)
        said = f"{part.upstream} {declaration.digest} {part.tool} ".encode() + request
        return blake2b(said, digest_size=16).hexdigest()

    def _is_fresh(self, feed: Feed, kept: Kept) -> bool:
        return feed.part.keep_s > 0 and _window(feed, kept.at) == _window(feed, self.clock())

    async def _answer(self, feed: Feed, key: str, asked: Mapping[str, Any]) -> tuple[Kept, Source]:
        """The answer to a request, from nearby, from the store, or asked for now."""
        while True:
            kept = self._held.get(key)
            if kept is not None and self._is_fresh(feed, kept):
                return kept, "kept"
            flight = self._flights.get(key)
            if flight is None:
                return await self._fly(feed, key, asked)
            await flight.landed.wait()
            if flight.error is not None:
                raise flight.error
            if flight.kept is not None:
                return flight.kept, "kept"
            # Whoever asked was cancelled; one of those who waited asks now.

    async def _fly(self, feed: Feed, key: str, asked: Mapping[str, Any]) -> tuple[Kept, Source]:
        flight = self._flights[key] = _Flight()
        source: Source = "kept"
        try:
            flight.kept = await self._stored(feed, key)
            if flight.kept is None:
                source, flight.kept = "call", await self._asked(feed, key, asked)
            self._hold(key, flight.kept)
        except CallError as error:
            flight.error = error
            raise
        finally:
            del self._flights[key]
            flight.landed.set()
        return flight.kept, source

    async def _stored(self, feed: Feed, key: str) -> Kept | None:
        if feed.part.keep_s <= 0:
            return None
        found = await self.answers.get(f"{key}:{_window(feed, self.clock())}")
        if found is None:
            return None
        try:
            value = parse_json(found)
            return Kept(at=float(value["at"]), content=copy_exact(to_json(value["answer"])), ms=0.0)
        except (NotJsonError, KeyError, TypeError, ValueError):
            return None  # of a release that writes otherwise

    async def _asked(self, feed: Feed, key: str, asked: Mapping[str, Any]) -> Kept:
        part, started_s = feed.part, time.perf_counter()
        answer = await self.upstreams[part.upstream].call(part.tool, feed.request(asked))
        content = await run_sized(len(answer.content), _json_of, answer, part.upstream)
        kept = Kept(
            at=self.clock(),
            content=content,
            ms=(time.perf_counter() - started_s) * 1000,
        )
        if part.keep_s > 0:
            said = b'{"at":%r,"answer":%b}' % (kept.at, kept.content)
            await self.answers.put(f"{key}:{_window(feed, kept.at)}", said, owner="")
        return kept

    async def _made(
        self, key: str, kept: Kept, widget: Widget, feed: Feed, asked: ValidArguments
    ) -> ValidArguments:
        """What this widget makes of an answer; a copy, which a template may do with as it likes."""
        which = _of(widget, asked.arguments)
        ready = kept.made.get(which)
        if ready is not None:
            return ValidArguments(arguments=orjson.loads(ready), coerced=asked.coerced)
        # The rest stays in the loop: a schema checks one value at a time.
        answer = await run_sized(len(kept.content), parse_json, kept.content)
        made = feed.filled(asked.arguments, answer)
        held = self._held.get(key) is kept
        before = kept.size
        kept.made[which] = copy_exact(to_json(made.arguments))
        if len(kept.made) > MOST_MADE:
            kept.made.popitem(last=False)
        if held:
            self.held_bytes += kept.size - before
            self._make_room()
        return ValidArguments(arguments=made.arguments, coerced=(*asked.coerced, *made.coerced))

    def _stale(self, feed: Feed, key: str, error: CallError) -> Kept | None:
        kept = self._held.get(key)
        if kept is None or error.code not in PASSING:
            return None
        return kept if self.clock() - kept.at <= feed.part.stale_s else None

    def _hold(self, key: str, kept: Kept) -> None:
        before = self._held.pop(key, None)
        self.held_bytes += kept.size - (before.size if before else 0)
        self._held[key] = kept
        self._make_room()

    def _make_room(self) -> None:
        while self._held and (len(self._held) > MOST or self.held_bytes > MOST_BYTES):
            _, oldest = self._held.popitem(last=False)
            self.held_bytes -= oldest.size

    def _count(self, upstream: str, source: Source) -> None:
        counts = self.counts.setdefault(upstream, {"call": 0, "kept": 0, "stale": 0})
        counts[source] += 1
        if self.observer is not None:
            self.observer.upstream_answered(upstream, source)


def _window(feed: Feed, at: float) -> int:
    return int(at // feed.part.keep_s) if feed.part.keep_s > 0 else 0


def _of(widget: Widget, asked: Mapping[str, Any]) -> str:
    """Stands for a widget and what was asked of it."""
    said = orjson.dumps(asked, option=orjson.OPT_SORT_KEYS, default=dict)
    return f"{widget.key}{blake2b(said, digest_size=12).hexdigest()}"


def _json_of(answer: Answer, upstream: str) -> bytes:
    """Return an answer as JSON, or raise W5006."""
    answer.value(upstream)
    return copy_exact(answer.content)
