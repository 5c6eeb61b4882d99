"""Fill widgets from upstreams. Equal requests are sent once, and their answer is kept.

The store keeps an answer for all replicas. Its key holds the answer's window of time, since an
entry of the store never changes. In addition, this process holds the latest answer to each request
for a time when the upstream fails. It also holds the widgets' arguments made of it, so a held
answer is mapped and validated only once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import anyio
import orjson

from widgetd.base.errors import CallError
from widgetd.base.system import SYSTEM
from widgetd.base.tasks import while_running
from widgetd.core.schema.json_text import NotJsonError, parse_json
from widgetd.core.schema.json_values import copy_exact, to_json
from widgetd.core.schema.validator import ValidArguments
from widgetd.core.widget.feed import Feed, FeedSource
from widgetd.core.widget.widget import Widget
from widgetd.server.render.feeds import Feeds, Filled
from widgetd.server.store.cache import Cache
from widgetd.server.store.contract import StoredRender
from widgetd.server.store.factory import local_store
from widgetd.server.store.owned import OwnedEntries
from widgetd.upstreams.answers import UpstreamAnswer
from widgetd.upstreams.connection import UpstreamObserver
from widgetd.upstreams.limits import LIMITS, run_sized
from widgetd.upstreams.upstreams import Upstreams

TRANSIENT = frozenset({"W5002", "W5003", "W5006", "W5008", "W5010", "W5016", "W5020"})
"""Codes at which the last good answer is shown for a while."""

Origin = Literal["call", "kept", "stale"]


@dataclass(slots=True, eq=False)
class HeldAnswer:
    """An answer in this process's memory.

    Attributes:
        key: The digest of its request.
        at: Time of the answer, in seconds since the epoch.
        content: JSON.
        ms: Duration of the call.
        number: Tells it from every other answer.
        arguments: Arguments of widgets as JSON, by widget, by request, and by the other
            answers in use.
    """

    key: str
    at: float
    content: bytes
    ms: float
    number: int = field(default_factory=count().__next__)
    arguments: OrderedDict[str, bytes] = field(default_factory=OrderedDict)

    @property
    def size(self) -> int:
        return len(self.content) + sum(map(len, self.arguments.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceAnswer:
    """The answer of a source of a feed.

    Attributes:
        answer: The answer, or None if there is none, and the widget can do without.
        origin: Where it is from.
        ms: Duration of the request.
    """

    answer: HeldAnswer | None
    origin: Origin
    ms: float = 0.0

    def mark(self, source: FeedSource, now: float) -> dict[str, Any]:
        """Return the source's part of `_meta["widgetd/feed"]`, as `FeedPartMark` types it."""
        part, answer = source.part, self.answer
        mark: dict[str, Any] = {"name": part.name} if part.name else {}
        mark |= {"upstream": part.upstream, "tool": part.tool}
        if answer is not None:
            mark["at"] = f"{datetime.fromtimestamp(answer.at, UTC):%Y-%m-%dT%H:%M:%SZ}"
            mark["ageS"] = round(max(now - answer.at, 0.0), 1)
        mark["stale"] = self.origin == "stale"
        return mark if answer is None else mark | {"ms": round(self.ms, 3)}


SourceAnswers = Mapping[str, SourceAnswer]
"""Answers by name of their source."""


def join_marks(marks: Sequence[Mapping[str, Any]]) -> bytes:
    """Return `_meta["widgetd/feed"]` of the marks of all sources, as `FeedMark` types it.

    Returns:
        JSON, or empty if no source has ever answered.
    """
    answered = [mark for mark in marks if "at" in mark]
    if not answered:
        return b""
    if "name" not in marks[0]:
        return to_json(marks[0])
    oldest = {**min(answered, key=lambda mark: str(mark["at"]))}
    del oldest["name"]
    return to_json({**oldest, "stale": any(mark["stale"] for mark in marks), "parts": marks})


@dataclass(slots=True)
class _Fetch:
    """A request under way, shared by all callers in need of its answer."""

    done: anyio.Event = field(default_factory=anyio.Event)
    answer: HeldAnswer | None = None
    error: CallError | None = None


def fill_once(
    widget: Widget, feed: Feed, arguments: Mapping[str, Any], file: Path
) -> ValidArguments:
    """Return the arguments of one call, over connections for it alone.

    Raises:
        ConfigError: The file cannot be used (W5101), or a secret is missing (W5102).
        CallError: The widget cannot be filled.
    """
    upstreams = Upstreams(file, is_logged=False)

    async def fill() -> ValidArguments:
        feeds = UpstreamFeeds(upstreams, local_store().answers)
        async with while_running(upstreams.run):
            return (await feeds.fill(widget, feed, arguments, strict=False, owner="")).checked

    return anyio.run(fill)


@dataclass(eq=False)
class UpstreamFeeds(Feeds):
    """The feeds of a daemon with upstreams.

    Attributes:
        answers: The store's part for answers, shared by replicas.
        clock: Seconds since the epoch.
        counts: Number of filled calls, by upstream and origin.
        held: The latest answer to each request.
        live: Keeps a render up to date, or None where nothing does.
    """

    upstreams: Upstreams
    answers: Cache
    observer: UpstreamObserver | None = None
    clock: Callable[[], float] = SYSTEM.clock.wall_s
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    held: OwnedEntries[HeldAnswer] = field(
        default_factory=lambda: OwnedEntries(most=LIMITS.held_answers, most_bytes=LIMITS.held_bytes)
    )
    live: Callable[..., AbstractContextManager[None]] | None = None
    _fetches: dict[str, _Fetch] = field(default_factory=dict)

    def following(
        self, render: StoredRender, linger_s: float | None = None
    ) -> AbstractContextManager[None]:
        if self.live is None:
            return nullcontext()
        return self.live(render) if linger_s is None else self.live(render, linger_s)

    async def fill(
        self, widget: Widget, feed: Feed, arguments: Mapping[str, Any], *, strict: bool, owner: str
    ) -> Filled:
        """Complete the caller's arguments from the widget's feed. See `Feeds`."""
        request = feed.request_schema.check(
            dict(arguments), strict=strict, example=lambda: feed.example(widget.example)
        )
        try:
            answers = await self._ask_all(feed, request.arguments, owner)
            if all(reply.answer is None for reply in answers.values()):
                return Filled(checked=widget.check(request.arguments, strict=strict))
            checked = await self.map_answers(widget, feed, request, answers)
        except CallError as error:
            if not (feed.can_fail and error.code.startswith("W50")):
                raise
            return Filled(checked=widget.check(request.arguments, strict=strict))
        for source in feed.sources:
            if (reply := answers[source.part.name]).answer is not None:
                self._count(source.part.upstream, reply.origin)
        stale = [r.answer.at for r in answers.values() if r.answer and r.origin == "stale"]
        as_of = f"{datetime.fromtimestamp(min(stale), UTC):%H:%M} UTC" if stale else ""
        now = self.clock()
        mark = join_marks([answers[source.part.name].mark(source, now) for source in feed.sources])
        return Filled(checked=checked, mark=mark, as_of=as_of)

    async def _ask_all(
        self, feed: Feed, arguments: Mapping[str, Any], owner: str
    ) -> dict[str, SourceAnswer]:
        if len(feed.sources) == 1:
            return {feed.sources[0].part.name: await self.ask(feed.sources[0], arguments, owner)}
        answers, errors = dict[str, SourceAnswer](), list[CallError]()

        async def ask(source: FeedSource) -> None:
            try:
                answers[source.part.name] = await self.ask(source, arguments, owner)
            except CallError as error:
                errors.append(error)
                tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            for source in feed.sources:
                tasks.start_soon(ask, source)
        if errors:
            raise errors[0]
        return {source.part.name: answers[source.part.name] for source in feed.sources}

    async def ask(
        self, source: FeedSource, arguments: Mapping[str, Any], owner: str
    ) -> SourceAnswer:
        """Return the answer of a source: held, new, or else the last good answer.

        Raises:
            CallError: There is none, and the widget cannot do without.
        """
        started_s, key, answer = SYSTEM.clock.steady_s(), "", None
        origin: Origin = "stale"
        try:
            key = self.request_key(source, arguments)
            answer, origin = await self._find_or_fetch(source, key, arguments, owner)
        except CallError as error:
            answer = self._stale_answer(source, key, error)
            can_fail = source.part.on_failure == "arguments" and error.code.startswith("W50")
            if answer is None and not can_fail:
                raise
        ms = (SYSTEM.clock.steady_s() - started_s) * 1000
        return SourceAnswer(answer=answer, origin=origin, ms=ms)

    async def refresh(self, source: FeedSource, arguments: Mapping[str, Any]) -> SourceAnswer:
        """Ask a live source again, unless another replica did in this window of time.

        Raises:
            CallError: The upstream fails.
        """
        key, every_s = self.request_key(source, arguments), source.part.every_s
        shared = "" if every_s is None else f"{key}:live:{every_s}:{int(self.clock() // every_s)}"
        stored = await self.answers.get(shared) if shared else None
        answer = None if stored is None else _read_stored(key, stored)
        origin: Origin = "kept"
        if answer is None:
            origin, answer = "call", await self._request(source, key, arguments, "")
            if shared:
                await self.answers.put(shared, _to_stored(answer), owner="")
        self._count(source.part.upstream, origin)
        self.held.put(key, answer, owner="", size_bytes=answer.size)
        return SourceAnswer(answer=answer, origin=origin, ms=answer.ms)

    async def recall(self, source: FeedSource, arguments: Mapping[str, Any]) -> SourceAnswer:
        """Return the last answer of a source, whatever its age. Ask it if none is held."""
        try:
            if (held := self.held.get(self.request_key(source, arguments))) is not None:
                return SourceAnswer(answer=held, origin="kept")
            return await self.ask(source, arguments, "")
        except CallError:
            return SourceAnswer(answer=None, origin="stale")

    async def map_answers(
        self,
        widget: Widget,
        feed: Feed,
        request: ValidArguments,
        answers: SourceAnswers,
        before: Mapping[str, Any] = MappingProxyType({}),
    ) -> ValidArguments:
        """Return the widget's arguments from answers, as a copy for the template.

        Args:
            widget: The widget.
            feed: Its feed.
            request: The caller's arguments.
            answers: The answers, at least one.
            before: The widget's arguments so far. They stay where an answer is absent.

        Raises:
            CallError: The answers do not fit (W5007).
        """
        held = {name: reply.answer for name, reply in answers.items() if reply.answer is not None}
        first = next(iter(held.values()))
        which = _arguments_key(widget, request.arguments, held)
        ready = first.arguments.get(which)
        if ready is not None:
            return ValidArguments(arguments=orjson.loads(ready), coerced=request.coerced)
        # Mapping stays in the loop: a schema checks one value at a time.
        values = {
            name: await run_sized(len(answer.content), parse_json, answer.content)
            for name, answer in held.items()
        }
        mapped = feed.fill(request.arguments, values, before)
        if len(held) == len(feed.sources):
            first.arguments[which] = copy_exact(to_json(mapped.arguments))
            if len(first.arguments) > LIMITS.held_arguments:
                first.arguments.popitem(last=False)
            if self.held.get(first.key) is first:
                self.held.touch(first.key, first.size)
        return ValidArguments(
            arguments=mapped.arguments, coerced=(*request.coerced, *mapped.coerced)
        )

    def is_at_hand(self, widget: Widget, feed: Feed, arguments: Mapping[str, Any]) -> bool:
        if not feed.request_schema.admits(arguments):
            return False
        held = {}
        for source in feed.sources:
            try:
                answer = self.held.get(self.request_key(source, arguments))
            except CallError:
                return False
            if answer is None or not _is_fresh(source, answer, self.clock()):
                return False
            held[source.part.name] = answer
        return _arguments_key(widget, arguments, held) in next(iter(held.values())).arguments

    def request_key(self, source: FeedSource, arguments: Mapping[str, Any]) -> str:
        """Return a digest of a source's request. It names no secret.

        Raises:
            CallError: There is no such upstream (W5001), or an expression fails (W5007).
        """
        part = source.part
        declaration = self.upstreams[part.upstream].declaration
        request = orjson.dumps(source.request(arguments), option=orjson.OPT_SORT_KEYS)
        shape = "" if part.answer == "value" else f"{part.answer} "
        parts = f"{part.upstream} {declaration.digest} {part.tool} {shape}".encode() + request
        return blake2b(parts, digest_size=16).hexdigest()

    async def _find_or_fetch(
        self, source: FeedSource, key: str, arguments: Mapping[str, Any], owner: str
    ) -> tuple[HeldAnswer, Origin]:
        while True:
            answer = self.held.get(key)
            if answer is not None and _is_fresh(source, answer, self.clock()):
                return answer, "kept"
            fetch = self._fetches.get(key)
            if fetch is None:
                return await self._fetch_once(source, key, arguments, owner)
            await fetch.done.wait()
            if fetch.error is not None:
                raise fetch.error
            if fetch.answer is not None:
                return fetch.answer, "kept"
            # The fetching caller was cancelled, so the next waiting caller fetches now.

    async def _fetch_once(
        self, source: FeedSource, key: str, arguments: Mapping[str, Any], owner: str
    ) -> tuple[HeldAnswer, Origin]:
        fetch = self._fetches[key] = _Fetch()
        origin: Origin = "kept"
        try:
            if source.part.keep_s > 0:
                stored = await self.answers.get(f"{key}:{_window(source, self.clock())}")
                fetch.answer = None if stored is None else _read_stored(key, stored)
            if fetch.answer is None:
                origin, fetch.answer = "call", await self._request(source, key, arguments, owner)
            self.held.put(key, fetch.answer, owner=owner, size_bytes=fetch.answer.size)
        except CallError as error:
            fetch.error = error
            raise
        finally:
            del self._fetches[key]
            fetch.done.set()
        return fetch.answer, origin

    async def _request(
        self, source: FeedSource, key: str, arguments: Mapping[str, Any], owner: str
    ) -> HeldAnswer:
        part, started_s = source.part, SYSTEM.clock.steady_s()
        called = await self.upstreams[part.upstream].call(
            part.tool, source.request(arguments), has_blocks=part.answer == "blocks"
        )
        content = await run_sized(len(called.content), _json_content, called, part.upstream)
        ms = (SYSTEM.clock.steady_s() - started_s) * 1000
        answer = HeldAnswer(key=key, at=self.clock(), content=content, ms=ms)
        if part.keep_s > 0:
            window = _window(source, answer.at)
            await self.answers.put(f"{key}:{window}", _to_stored(answer), owner=owner)
        return answer

    def _stale_answer(self, source: FeedSource, key: str, error: CallError) -> HeldAnswer | None:
        answer = self.held.get(key) if key else None
        if answer is None or error.code not in TRANSIENT:
            return None
        return answer if self.clock() - answer.at <= source.part.stale_s else None

    def _count(self, upstream: str, origin: Origin) -> None:
        counts = self.counts.setdefault(upstream, {"call": 0, "kept": 0, "stale": 0})
        counts[origin] += 1
        if self.observer is not None:
            self.observer.upstream_answered(upstream, origin)


def _to_stored(answer: HeldAnswer) -> bytes:
    return b'{"at":%r,"answer":%b}' % (answer.at, answer.content)


def _read_stored(key: str, stored: bytes) -> HeldAnswer | None:
    try:
        value = parse_json(stored)
        content = copy_exact(to_json(value["answer"]))
        return HeldAnswer(key=key, at=float(value["at"]), content=content, ms=0.0)
    except (NotJsonError, KeyError, TypeError, ValueError):
        return None  # written by a release with another format


def _is_fresh(source: FeedSource, answer: HeldAnswer, now: float) -> bool:
    return source.part.keep_s > 0 and _window(source, answer.at) == _window(source, now)


def _window(source: FeedSource, at: float) -> int:
    return int(at // source.part.keep_s)


def _arguments_key(
    widget: Widget, arguments: Mapping[str, Any], held: Mapping[str, HeldAnswer]
) -> str:
    text = orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS, default=dict)
    others = [answer.number for answer in held.values()][1:]
    return f"{widget.key}{blake2b(text, digest_size=12).hexdigest()}{others or ''}"


def _json_content(answer: UpstreamAnswer, upstream: str) -> bytes:
    answer.value(upstream)  # or it is not JSON
    return copy_exact(answer.content)
