"""Keep the renders that pages follow up to date: ask their feeds again, and redraw what changed.

    follow_render -> following -> one watch per request -> upstream -> next version -> every page

All renders with the same request share one watch, and a watch without followers ends. Replicas
share answers by the window of time: the one that asks first within a window asks for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from random import random
from typing import Any, Literal

import anyio
import anyio.abc
import orjson

from widgetd.catalog.registry import Registry
from widgetd.errors import CallError
from widgetd.logs import get_logger
from widgetd.render.calls import Renderer
from widgetd.schema.json_text import parse_json
from widgetd.store.contract import Renders, StoredRender
from widgetd.upstreams.feeds import HeldAnswer, UpstreamFeeds
from widgetd.upstreams.limits import LIMITS
from widgetd.widget.feed import Feed
from widgetd.widget.summary import remove_paths
from widgetd.widget.widget import Widget

_log = get_logger()


@dataclass(eq=False)
class _Watch:
    """One request that is made again and again, for all renders that it fills.

    Attributes:
        owner: Whose render was followed first.
        renders: Number of followers, by render.
        until: Time up to which it counts as followed without followers, of the loop's clock.
        due: Ends the wait for the next interval.
    """

    tool: str
    asked: bytes
    owner: str = ""
    renders: dict[str, int] = field(default_factory=dict)
    until: float = 0.0
    due: anyio.Event = field(default_factory=anyio.Event)

    def notify(self) -> None:
        """Ask the feed at once."""
        self.due.set()

    @property
    def is_followed(self) -> bool:
        """Return whether a page follows one of the renders, or did a moment ago."""
        return any(self.renders.values()) or anyio.current_time() < self.until


@dataclass(eq=False)
class LiveFeeds:
    """The watches of a daemon.

    Attributes:
        feeds: Asks the upstreams.
        rendering: Draws next versions.
        renders: The renders.
        registry: The widgets.
        watches: By request.
    """

    feeds: UpstreamFeeds
    rendering: Renderer
    renders: Renders
    registry: Registry
    watches: dict[str, _Watch] = field(default_factory=dict)
    _tasks: anyio.abc.TaskGroup | None = None

    async def run(self) -> None:
        """Run the watches, until cancelled."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            await anyio.sleep_forever()

    @contextmanager
    def following(
        self, render: StoredRender, linger_s: float = LIMITS.follow_linger_s
    ) -> Iterator[None]:
        """Keep a render up to date during the block and `linger_s` longer, if its feed is live.

        Above `LIMITS.watches` it stays as it is, until another one is followed no longer.
        """
        found = self._feed_of(render.tool) if render.asked else None
        if found is None or self._tasks is None:
            yield
            return
        key = self.feeds.request_key(found[1], orjson.loads(render.asked))
        watch = self.watches.get(key)
        if watch is None and not self.has_place(render.owner):
            yield
            return
        if watch is None:
            watch = _Watch(tool=render.tool, asked=render.asked, owner=render.owner)
            self.watches[key] = watch
            self._tasks.start_soon(self._keep, key, watch)
        watch.renders[render.id] = watch.renders.get(render.id, 0) + 1
        try:
            yield
        finally:
            watch.renders[render.id] -= 1
            watch.until = max(watch.until, anyio.current_time() + linger_s)

    def has_place(self, owner: str) -> bool:
        """Return whether one more request may be made again and again for `owner`."""
        own = sum(watch.owner == owner for watch in self.watches.values())
        return len(self.watches) < LIMITS.watches and own < LIMITS.watches // 2

    def _feed_of(self, tool: str) -> tuple[Widget, Feed] | None:
        widget = self.registry.current.widgets.get(tool)
        feed = None if widget is None else widget.feed
        if widget is None or feed is None or not feed.part.is_live:
            return None
        return widget, feed

    async def _keep(self, key: str, watch: _Watch) -> None:
        """Ask the feed again at each interval or announcement, while a page follows."""
        found = self._feed_of(watch.tool)
        try:
            async with anyio.create_task_group() as tasks:
                if found is not None and (uri := found[1].resource(orjson.loads(watch.asked))):
                    upstream = self.feeds.upstreams[found[1].part.upstream]
                    tasks.start_soon(upstream.listen_to, uri, watch.notify)
                while watch.is_followed and (found := self._feed_of(watch.tool)) is not None:
                    every_s = found[1].part.every_s or LIMITS.subscribed_s
                    # Not all replicas and boards in the same instant.
                    with anyio.move_on_after(every_s * (0.95 + 0.1 * random())):  # noqa: S311
                        await watch.due.wait()
                    watch.due = anyio.Event()
                    if watch.is_followed:
                        await self._refresh(watch, *found)
                tasks.cancel_scope.cancel()
        except CallError as error:
            _log.warning("feed.refused", widget=watch.tool, code=error.code)
        finally:
            self.watches.pop(key, None)

    async def _refresh(self, watch: _Watch, widget: Widget, feed: Feed) -> None:
        """Ask the feed once, and redraw each render that it changes."""
        asked = orjson.loads(watch.asked)
        answer = None
        with suppress(CallError):
            answer = await self.feeds.refresh(feed, asked)
        for render_id in [*watch.renders]:
            standing = await self.renders.get(render_id)
            if standing is None:
                watch.renders.pop(render_id, None)
                continue
            try:
                await self._redraw(standing, widget, feed, asked, answer)
            except CallError as error:
                _log.warning("feed.refused", widget=widget.tool, code=error.code)

    async def _redraw(
        self,
        standing: StoredRender,
        widget: Widget,
        feed: Feed,
        asked: dict[str, Any],
        answer: HeldAnswer | None,
    ) -> None:
        """Store the next version of a render, if the answer changes what it shows."""
        before: dict[str, Any] = parse_json(standing.arguments or b"{}")
        if answer is None:
            mark = orjson.loads(standing.feed or b"{}")
            if mark and not mark.get("stale"):
                stale = orjson.dumps({**mark, "stale": True})
                await self.renders.replace(
                    standing.id, lambda one: replace(one, feed=stale), after=standing.version
                )
            return
        filled = await self.feeds.map_answer(answer, widget, feed, asked)
        fields = feed.part.map or feed.schema.advertised["properties"]
        kept = {name: value for name, value in before.items() if name not in fields}
        after = {**kept, **filled}
        was_stale = b'"stale":true' in standing.feed
        if after == before and not was_stale:
            return
        drawn = await self.rendering.draw_whole(
            widget, after, self.registry.current.generation, owner=standing.owner
        )
        tell = _changed_facts(widget, feed, before, after)
        mark = self.feeds.mark(feed, answer, "call", 0.0)

        def change(newest: StoredRender) -> StoredRender:
            state: Literal["done", "failed", ""] = "failed" if newest.state == "failed" else ""
            note = newest.note if state else ""
            return replace(
                drawn, follow=True, feed=mark, asked=newest.asked, state=state, note=note, tell=tell
            )

        await self.renders.replace(standing.id, change, after=standing.version)


def _changed_facts(
    widget: Widget, feed: Feed, before: dict[str, Any], after: dict[str, Any]
) -> str:
    """Return a line about the changed facts that the model is told of; empty without any."""
    sensitive = widget.definition.sidecar.sensitive
    old, new = remove_paths(before, sensitive), remove_paths(after, sensitive)
    changed = [
        f"{name}: {orjson.dumps(new.get(name)).decode()}"
        for name in feed.part.tell
        if old.get(name) != new.get(name)
    ]
    if not changed:
        return ""
    return f"{widget.definition.title} changed: {', '.join(changed)}"[: LIMITS.words_chars]
