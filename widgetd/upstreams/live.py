"""Keep followed renders up to date: ask their feeds again, and redraw what changed.

    follow_render -> following -> one watch per request -> upstream -> next version -> every page

All renders with the same request share one watch, and a watch without followers ends. Replicas
share answers by the window of time: the first to ask within a window asks for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import anyio
import anyio.abc
import orjson

from widgetd.base.errors import CallError
from widgetd.base.logs import get_logger
from widgetd.base.system import SYSTEM
from widgetd.base.tasks import while_running
from widgetd.core.schema.json_text import parse_json
from widgetd.core.schema.validator import ValidArguments
from widgetd.core.widget.feed import Feed, FeedSource
from widgetd.core.widget.summary import remove_paths
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.registry import Registry
from widgetd.server.render.calls import Renderer
from widgetd.server.store.cache import Renders
from widgetd.server.store.contract import StoredRender
from widgetd.upstreams.feeds import SourceAnswer, UpstreamFeeds, join_marks
from widgetd.upstreams.limits import LIMITS

_log = get_logger()


@dataclass(slots=True)
class _FollowedRender:
    """The pages following a render.

    Attributes:
        count: Their number.
        until: Time up to which it counts as followed without any, of the loop's clock.
    """

    count: int = 0
    until: float = 0.0


@dataclass(eq=False)
class _Watch:
    """A repeated request, for all renders filled by it.

    Attributes:
        source: The request's settings, of the widget followed first.
        arguments: What the caller asked.
        owner: The owner of the first followed render.
        renders: The followers, by render.
        due: Ends the wait for the next interval.
    """

    source: FeedSource
    arguments: Mapping[str, Any]
    owner: str = ""
    renders: dict[str, _FollowedRender] = field(default_factory=dict)
    due: anyio.Event = field(default_factory=anyio.Event)

    def notify(self) -> None:
        self.due.set()

    def list_followed(self) -> list[str]:
        """Return the renders followed now or a moment ago, and forget all others."""
        now = anyio.current_time()
        self.renders = {name: f for name, f in self.renders.items() if f.count or now < f.until}
        return [*self.renders]


@dataclass(frozen=True, slots=True, kw_only=True)
class _LiveFeed:
    """The feed of a followed render.

    Attributes:
        widget: Its widget, as it is served now.
        feed: The widget's feed.
        request: What the caller asked.
        keys: The live sources, by the digest of their requests.
    """

    widget: Widget
    feed: Feed
    request: ValidArguments
    keys: Mapping[str, FeedSource]


@dataclass(eq=False)
class LiveFeeds:
    """The watches of a daemon.

    Attributes:
        feeds: Asks the upstreams.
        rendering: Draws next versions.
        renders: The renders.
        registry: The widgets.
        watches: By request and interval.
        jitter: Returns a number from 0 to 1. It moves the next request by up to 5 %, so replicas
            and boards do not all ask in the same instant.
    """

    feeds: UpstreamFeeds
    rendering: Renderer
    renders: Renders
    registry: Registry
    watches: dict[str, _Watch] = field(default_factory=dict)
    jitter: Callable[[], float] = SYSTEM.numbers.fraction
    _tasks: anyio.abc.TaskGroup | None = None

    async def run(self) -> None:
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            await anyio.sleep_forever()

    @contextmanager
    def following(
        self, render: StoredRender, linger_s: float = LIMITS.follow_linger_s
    ) -> Iterator[None]:
        """Keep a render up to date during the block and `linger_s` longer, if its feed is live.

        Above `LIMITS.watches` it stays as it is, until another is followed no longer.
        """
        followers = []
        if self._tasks is not None and (live := self._feed_of(render)) is not None:
            for key, source in live.keys.items():
                if key not in self.watches and self.has_place(render.owner):
                    arguments = live.request.arguments
                    watch = _Watch(source=source, arguments=arguments, owner=render.owner)
                    self.watches[key] = watch
                    self._tasks.start_soon(self._keep, key, watch)
                if key in self.watches:
                    follower = self.watches[key].renders.setdefault(render.id, _FollowedRender())
                    follower.count += 1
                    followers.append(follower)
        try:
            yield
        finally:
            for follower in followers:
                follower.count -= 1
                follower.until = max(follower.until, anyio.current_time() + linger_s)

    def has_place(self, owner: str) -> bool:
        own = sum(watch.owner == owner for watch in self.watches.values())
        return len(self.watches) < LIMITS.watches and own < LIMITS.watches // 2

    def _feed_of(self, render: StoredRender) -> _LiveFeed | None:
        widget = self.registry.current.widgets.get(render.tool) if render.request else None
        feed = None if widget is None else widget.feed
        if widget is None or feed is None:
            return None
        try:
            request = feed.request_schema.check(orjson.loads(render.request))
            keys = {
                f"{self.feeds.request_key(source, request.arguments)} {source.part.every_s}": source
                for source in feed.sources
                if source.part.is_live
            }
        except CallError:  # the widget was saved since, and asks for something else
            return None
        return _LiveFeed(widget=widget, feed=feed, request=request, keys=keys)

    async def _keep(self, key: str, watch: _Watch) -> None:
        """Ask the feed again at each interval or announcement, while a page follows."""
        part = watch.source.part
        every_s = part.every_s or LIMITS.subscribed_s
        listening: AbstractAsyncContextManager[None] = nullcontext()
        if uri := watch.source.resource(watch.arguments):
            listen_to = self.feeds.upstreams.listen_to
            listening = while_running(partial(listen_to, part.upstream, uri, watch.notify))
        try:
            async with listening:
                while watch.list_followed():
                    with anyio.move_on_after(every_s * (0.95 + 0.1 * self.jitter())):
                        await watch.due.wait()
                    watch.due = anyio.Event()
                    if followed := watch.list_followed():
                        await self._refresh(key, watch, followed)
                # At once: a page coming while the listening ends needs a new task.
                del self.watches[key]
        finally:
            if self.watches.get(key) is watch:
                del self.watches[key]

    async def _refresh(self, key: str, watch: _Watch, followed: Sequence[str]) -> None:
        answer = SourceAnswer(answer=None, origin="stale")
        with suppress(CallError):
            answer = await self.feeds.refresh(watch.source, watch.arguments)
        for render_id in followed:
            standing = await self.renders.get(render_id)
            live = None if standing is None else self._feed_of(standing)
            if standing is None or live is None or key not in live.keys:
                watch.renders.pop(render_id, None)
                continue
            try:
                await self._redraw(standing, live, live.keys[key], answer)
            except CallError as error:
                if error.code != "W2406":  # another replica drew it, or a press did
                    _log.warning("feed.refused", widget=standing.tool, code=error.code)

    async def _redraw(
        self, standing: StoredRender, live: _LiveFeed, source: FeedSource, answer: SourceAnswer
    ) -> None:
        name, is_stale = source.part.name, answer.answer is None
        mark, was_stale = self._update_mark(standing, live.feed, source, answer)
        if is_stale:
            if mark and not was_stale:
                await self.renders.replace(
                    standing.id, lambda render: replace(render, feed=mark), after=standing.version
                )
            return
        answers = {
            source.part.name: answer
            if source.part.name == name
            else await self.feeds.recall(source, live.request.arguments)
            for source in live.feed.sources
        }
        before: dict[str, Any] = parse_json(standing.arguments or b"{}")
        filled = await self.feeds.map_answers(live.widget, live.feed, live.request, answers, before)
        fields = live.feed.fields or live.feed.schema.advertised["properties"]
        kept = {name: value for name, value in before.items() if name not in fields}
        after = {**kept, **filled.arguments}
        if after == before and not was_stale:
            return
        drawn = await self.rendering.compute(
            live.widget,
            after,
            self.registry.current.generation,
            owner=standing.owner,
            is_filled=True,
        )
        tell = _changed_facts(live.widget, live.feed, before, after)

        def change(newest: StoredRender) -> StoredRender:
            state: Literal["done", "failed", ""] = "failed" if newest.state == "failed" else ""
            note = newest.note if state else ""
            newer = replace(drawn, follow=True, feed=mark, request=newest.request, tell=tell)
            return replace(newer, state=state, note=note)

        await self.renders.replace(standing.id, change, after=standing.version)

    def _update_mark(
        self, standing: StoredRender, feed: Feed, source: FeedSource, answer: SourceAnswer
    ) -> tuple[bytes, bool]:
        earlier = orjson.loads(standing.feed or b"{}")
        parts = {part.get("name", ""): part for part in earlier.get("parts", [earlier])}
        name, now = source.part.name, self.feeds.clock()
        before = parts.get(name, {})
        parts[name] = answer.mark(source, now)
        if answer.answer is None:
            parts[name] = before | parts[name]
        unknown = SourceAnswer(answer=None, origin="stale")
        marks = [parts.get(s.part.name) or unknown.mark(s, now) for s in feed.sources]
        return join_marks(marks), before.get("stale") is True


def _changed_facts(
    widget: Widget, feed: Feed, before: dict[str, Any], after: dict[str, Any]
) -> str:
    sensitive = widget.definition.sidecar.sensitive
    old, new = remove_paths(before, sensitive), remove_paths(after, sensitive)
    changed = [
        f"{name}: {orjson.dumps(new.get(name)).decode()}"
        for source in feed.sources
        for name in source.part.tell
        if old.get(name) != new.get(name)
    ]
    if not changed:
        return ""
    return f"{widget.definition.title} changed: {', '.join(changed)}"[: LIMITS.words_chars]
