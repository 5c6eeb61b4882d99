"""The path of a call: arguments -> validate -> compute -> store -> result.

Every request for a widget ends here: its own tool, `render_widget`, `show_render` and a backend's
POST. The transport is unknown here. The caller is an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import anyio
import orjson

from widgetd.base.errors import CallError, WidgetError
from widgetd.base.system import SYSTEM, System
from widgetd.base.tasks import while_running
from widgetd.core.schema.json_values import size, to_json
from widgetd.core.schema.validator import ValidArguments
from widgetd.core.widget.actions import has_actions
from widgetd.core.widget.page_program import program_digest, program_or_empty
from widgetd.core.widget.sidecar import parse_precedence
from widgetd.core.widget.summary import remove_paths
from widgetd.core.widget.widget import CompiledCache, Render, Widget
from widgetd.server.access.links import Links
from widgetd.server.access.principal import ADMIN, Caller, is_elevated
from widgetd.server.catalog.crash_journal import CrashJournal
from widgetd.server.catalog.registry import Registry
from widgetd.server.observe.observer import Observer
from widgetd.server.render.feeds import Feeds, Filled
from widgetd.server.render.hosts import draws_views
from widgetd.server.render.inline_images import InlineImages
from widgetd.server.render.limits import LIMITS
from widgetd.server.render.markdown import to_markdown
from widgetd.server.render.result import (
    Policy,
    Result,
    profile_for,
    tool_result,
    ui,
    unknown_widget,
)
from widgetd.server.store.contract import StoredRender
from widgetd.server.store.factory import Store

T = TypeVar("T")

CLIENT_VERSION_KEY = "widgetd/clientVersion"
"""Key of a call's `_meta`: the version of the drawing client."""

RENDER_PREFIX = "r_"
"""Beginning of every id of a render."""


class Renderer:
    """Renders widgets, stores renders and builds results.

    Attributes:
        journal: The journal of renders in progress.
        feeds: Fills widgets with a feed.
        links: Writes addresses for clients without views. None for none.

    Args:
        registry: The snapshot being served, to hide renders of widgets that became invisible.
        policy: The operator's settings for results.
        store: Stores renders.
        observers: Receive each render.
        journal: The journal of renders in progress.
        images: The inline images of results. None for none.
        system: Its clock, threads and random numbers.
        clock: Returns the time in seconds since the epoch. None for that of `system`.
        new_id: Returns a new render id. None for unguessable ids.
    """

    def __init__(
        self,
        registry: Registry,
        policy: Policy,
        store: Store,
        *,
        observers: Sequence[Observer] = (),
        journal: CrashJournal | None = None,
        images: InlineImages | None = None,
        system: System = SYSTEM,
        clock: Callable[[], float] | None = None,
        new_id: Callable[[], str] | None = None,
    ) -> None:
        self.journal = journal or CrashJournal()
        self.feeds = Feeds()
        self.links: Links | None = None
        self.system = system
        self._registry = registry
        self._policy = policy
        self._store = store
        self._observers = observers
        self._images = images or InlineImages()
        self._build_result = partial(tool_result, policy=policy)
        self._page_results = lru_cache(maxsize=LIMITS.page_results)(
            partial(tool_result, policy=policy, is_for_page=True)
        )
        self._clock = clock or system.clock.wall_s
        self._new_id = new_id or (lambda: f"{RENDER_PREFIX}{system.numbers.token_urlsafe(12)}")
        self._compiled = CompiledCache()
        # One at a time: worker threads share the interpreter with the event loop.
        self._thread_limit = anyio.CapacityLimiter(1)
        self._constants: WeakKeyDictionary[Widget, tuple[bytes, tuple[str, ...]]]
        self._constants = WeakKeyDictionary()

    async def call(self, widget: Widget, arguments: Mapping[str, Any], caller: Caller) -> Result:
        """Render `widget` for `caller`, store the render and return its result.

        Raises:
            CallError: The client is too old, the arguments do not fit, or the template fails.
        """
        self._profile(widget, caller)  # before rendering: a refused call costs nothing
        owner, generation = caller.principal.name, caller.snapshot.generation
        render = await self.store(await self.compute(widget, arguments, generation, owner=owner))
        if draws_views(caller.client):
            await self._images.fetch(render.tree)
        return self.result(render, caller)

    def result(
        self,
        render: StoredRender,
        caller: Caller,
        *,
        is_for_page: bool = False,
        profile: Literal["chatkit", "split"] | None = None,
    ) -> Result:
        """Return the tool result of `render` for `caller`, see `tool_result`.

        Without a profile, the call decides.

        Raises:
            CallError: The client is too old.
        """
        if profile is None:
            profile = self._profile(caller.snapshot.widgets.get(render.tool), caller)
        # More readers know the id than may press.
        if render.press and render.owner != caller.principal.name:
            render = replace(render, press="")
        # A thousand pages follow the same render and get the same result of each version.
        build = self._page_results if is_for_page else self._build_result
        page_tree = self._images.inline(render.tree)
        client, draws, address = caller.client, draws_views(caller.client), ""
        if self.links is not None and not is_for_page and not draws:
            address = self.links.address(render, caller.principal)
        # An open page must learn of a removed theme. A new page has the theme inside.
        palette = self._registry.current.theme.json or (b"{}" if is_for_page else b"")
        return build(
            render,
            profile,
            client=client,
            prefix=caller.prefix,
            page_tree=page_tree,
            palette=palette,
            address=address,
            is_text_alone=not is_for_page and profile == caller.profile == "split" and not draws,
        )

    def _profile(self, widget: Widget | None, caller: Caller) -> Literal["chatkit", "split"]:
        if widget is not None:
            check_client(widget, caller)
        return profile_for(self._policy, widget, caller)

    async def load(self, render_id: str, caller: Caller) -> StoredRender:
        """Return a stored render of a widget visible to `caller`.

        Raises:
            CallError: It does not exist, expired, or is hidden (W2007).
        """
        render = await self._store.renders.get(render_id)
        if render is None or self._is_hidden(render, caller):
            raise no_render(render_id)
        return render

    async def wait_for_newer(
        self, render_id: str, caller: Caller, *, after: int, timeout_s: float
    ) -> StoredRender | Literal["timeout", "draining", "expired"]:
        """Wait for a version of a render after `after`. Return it, or why there is none.

        If the widgets get another theme, the present version is returned again.

        Raises:
            CallError: The render does not exist, expired, or is hidden (W2007).
        """
        render = await self.load(render_id, caller)
        with self.feeds.following(render), anyio.CancelScope() as waiting:

            async def watch_theme() -> None:
                await self._registry.wait_for_theme(caller.snapshot.theme)
                waiting.cancel()

            async with while_running(watch_theme):
                newer = await self._store.renders.wait_for_newer(
                    render_id, after=after, timeout_s=timeout_s
                )
        if waiting.cancelled_caught:
            newer = await self.load(render_id, caller)
        if isinstance(newer, StoredRender) and self._is_hidden(newer, caller):
            return "expired"
        return newer

    async def update(
        self,
        render_id: str,
        arguments: Mapping[str, Any] | None,
        caller: Caller,
        *,
        tool: str = "",
        after: int | None = None,
        failed: bool = False,
        note: str = "",
    ) -> StoredRender:
        """Replace a render by its next version. Only its owner and admins may.

        Args:
            render_id: The render to replace.
            arguments: The widget's new arguments. None keeps the tree.
            caller: The replacing client.
            tool: The expected widget of the render. Empty for any.
            after: The expected newest version. None for any.
            failed: Whether the user's action could not be done.
            note: A sentence for the user, shown beneath the widget.

        Raises:
            CallError: The caller has no such render (W2007), the arguments do not fit, another
                version is the newest (W2406), or updates come too fast (W2201).
        """
        stored = await self.load(render_id, caller)
        principal = caller.principal
        may_replace = stored.owner == principal.name or ADMIN in principal.scopes
        if not may_replace or tool not in ("", stored.tool):
            raise no_render(render_id)
        computed = None
        if arguments is not None:
            widget = caller.snapshot.widgets.get(stored.tool)
            if widget is None:
                raise unknown_widget(stored.tool, caller.snapshot.widgets)
            check_client(widget, caller)
            computed = await self.compute(
                widget, arguments, caller.snapshot.generation, owner=stored.owner
            )

        def change(newest: StoredRender) -> StoredRender:
            state: Literal["done", "failed"] = "failed" if failed else "done"
            return replace(computed or newest, follow=True, state=state, note=note)

        replaced = await self._store.renders.replace(render_id, change, after=after)
        if replaced is None:
            raise no_render(render_id)
        return replaced

    async def compute_state(
        self,
        render: StoredRender,
        widget: Widget,
        state: Mapping[str, Any],
        action: str = "",
        payload: Mapping[str, Any] = MappingProxyType({}),
    ) -> StoredRender:
        """Draw a stored render in the local state of a page, after a local action if there is one.

        Nothing is stored: the page keeps its state and sends it along.

        Raises:
            CallError: The widget has no such state (W2002), it is too large (W2403), or an
                expression or the template fails.
        """
        arguments = orjson.loads(render.arguments or b"{}")
        complete = widget.local.complete(state)

        def draw() -> StoredRender:
            with self.journal.rendering(widget.key, self.journal.digest(arguments)):
                now = complete
                if action:
                    values = widget.fill(arguments, state=now)
                    now = widget.local.act(action, values, now, payload)
                # They were valid when the render was made.
                drawing = widget.draw(ValidArguments(arguments=arguments), state=now)
            return replace(
                render,
                tree=drawing.json,
                has_actions=has_actions(drawing.tree, drawing.json),
                local=_local_mark(widget, arguments, now),
            )

        return await self._run(arguments, draw)

    async def hides_actions(self, render_id: str, caller: Caller) -> bool:
        """Return whether actions are queued for a render hidden from `caller`."""
        render = await self._store.renders.get(render_id)
        if render is not None:
            return self._is_hidden(render, caller)
        # Actions outlive their render. After its end their own origin decides.
        waiting = await self._store.actions.read(render_id, timeout_s=0)
        audience = caller.principal.audience
        return not all(audience.could_see(action.origin) for action in waiting.actions)

    async def hides_render(self, render_id: str, caller: Caller) -> bool:
        render = await self._store.renders.get(render_id)
        return render is not None and self._is_hidden(render, caller)

    def _is_hidden(self, render: StoredRender, caller: Caller) -> bool:
        tool = render.tool
        if not tool:  # a card, whose question is for the owner of a call
            return render.owner != caller.principal.name
        # The widget must have been visible at the time of the render, and today's must be as well.
        saw = caller.principal.audience.could_see(render)
        served = tool in self._registry.current.widgets
        return not saw or (served and tool not in caller.snapshot.widgets)

    async def store(self, render: StoredRender, *, follow: bool = False) -> StoredRender:
        """Store a render in the quota of its owner, and return it.

        With `follow`, pages wait for newer versions even without actions.
        """
        if follow and not render.has_actions:
            render = replace(render, follow=True)
        await self._store.renders.put(render)
        return render

    async def compute(
        self,
        widget: Widget,
        arguments: Mapping[str, Any],
        generation: str,
        *,
        owner: str,
        is_filled: bool = False,
    ) -> StoredRender:
        """Render `widget` for the principal `owner` without storing the render.

        With `is_filled`, the arguments are complete and no feed is asked.

        Raises:
            CallError: The arguments do not fit, the feed fails, or the template fails.
        """
        request, filled = b"", None
        if is_filled:
            filled = Filled(checked=widget.check(arguments))
        elif widget.definition.sidecar.feeds and (feed := widget.feed) is not None:
            strict = self._policy.strict
            request = to_json(arguments) if feed.is_live else b""
            filled = await self.feeds.fill(widget, feed, arguments, strict=strict, owner=owner)
        if filled is not None:
            arguments = filled.checked.arguments
        self._compiled.touch(widget)
        evaluate = partial(self._evaluate, widget, arguments, filled, self.system.clock.steady_s())
        computed = await self._run(arguments, evaluate)
        render = self._complete(widget, computed, generation, owner)
        if filled is not None and (filled.mark or request):
            text = f"{render.text} (as of {filled.as_of})" if filled.as_of else render.text
            is_followed = render.follow or bool(request)
            render = replace(
                render, feed=filled.mark, text=text, request=request, follow=is_followed
            )
        return render

    async def _run(self, arguments: Mapping[str, Any], draw: Callable[[], T]) -> T:
        if size(arguments, LIMITS.threaded_values) > LIMITS.threaded_values:
            return await self.system.threads.run_blocking(draw, limiter=self._thread_limit)
        return draw()

    def compute_now(
        self,
        widget: Widget,
        arguments: Mapping[str, Any],
        generation: str,
        *,
        owner: str = "",
        drawing: Render | None = None,
    ) -> StoredRender:
        """Render `widget` without storing the render, or complete the `drawing` of a call.

        Raises:
            CallError: The arguments do not fit, the template fails, or they ended widgetd before
                (W1014).
        """
        self._compiled.touch(widget)
        computed = self._evaluate(widget, arguments, None, self.system.clock.steady_s(), drawing)
        return self._complete(widget, computed, generation, owner)

    def _evaluate(
        self,
        widget: Widget,
        arguments: Mapping[str, Any],
        filled: Filled | None,
        started_s: float,
        drawing: Render | None = None,
    ) -> _Computed:
        with self.journal.rendering(widget.key, self.journal.digest(arguments)):
            identity = self._new_id() if widget.definition.sidecar.ids else ""
            if filled is not None:
                drawing = widget.draw(filled.checked, identity=identity)
            elif drawing is None:
                drawing = widget.call(arguments, strict=self._policy.strict, identity=identity)
            duration_ms = int((self.system.clock.steady_s() - started_s) * 1e6) / 1000
            text = widget.summary.text(drawing.arguments)
            body = ""
            if (widget.definition.sidecar.text or self._policy.text) == "markdown":
                tree = _draw_public(widget, drawing)
                most = self._policy.text_tokens
                body = "" if tree is None else to_markdown(tree, most_tokens=most)
            facts = widget.summary.facts(drawing.arguments, text)
        data = to_json({"uiType": widget.definition.ui_type} | facts)
        return _Computed(drawing, duration_ms, text, body, data)

    def _complete(
        self, widget: Widget, computed: _Computed, generation: str, owner: str
    ) -> StoredRender:
        drawing, definition, sidecar = (
            computed.drawing,
            widget.definition,
            widget.definition.sidecar,
        )
        for observer in self._observers:
            observer.on_render(widget, drawing.steps)
        # Cached: equal for every render of the widget, and as slow to make as its tree.
        if (constants := self._constants.get(widget)) is None:
            constants = to_json(ui(widget).wire()), (widget.tool, *definition.tags)
            self._constants[widget] = constants
        encoded_ui, labels = constants
        actions = sidecar.actions
        acts = any(note.is_bound for note in actions.values())
        is_interactive = has_actions(drawing.tree, drawing.json)
        local = encoded = mapped = b""
        has_items = any(check.items for note in actions.values() for check in note.checks)
        if acts or has_items or sidecar.state or any(part.is_live for part in sidecar.feeds):
            valid = drawing.arguments if drawing.valid is None else drawing.valid
            ids = drawing.arguments.keys() & set(sidecar.ids)
            valid = {**valid, **{name: drawing.arguments[name] for name in ids}}
            encoded = to_json(valid)
            bound = widget.bound_actions.values()
            mapped = to_json(
                {name: valid[name] for name in valid if any(action.reads(name) for action in bound)}
            )
            if sidecar.state:
                local = _local_mark(widget, valid, sidecar.state)
        return StoredRender(
            id=self._new_id(),
            tool=widget.tool,
            tree=drawing.json,
            created=self._clock(),
            generation=generation,
            digest=widget.key,
            duration_ms=computed.duration_ms,
            coerced=drawing.coerced,
            source=widget.source,
            follow=is_interactive,
            repeatable=tuple(name for name, note in actions.items() if note.repeat),
            text=computed.text,
            body=computed.body,
            data=computed.data,
            ui=encoded_ui,
            local=local,
            arguments=encoded,
            mapped=((1, mapped),) if acts else (),
            has_actions=is_interactive,
            secret=bool(sidecar.sensitive),
            elevated=is_elevated(widget),
            labels=labels,
            owner=owner,
            press=self.system.numbers.token_urlsafe(12) if acts else "",
            key=self.system.numbers.token_urlsafe(12),
        )


class _Computed(NamedTuple):
    """The results of a drawing, from whichever thread."""

    drawing: Render
    duration_ms: float
    text: str
    body: str
    data: bytes


def _local_mark(widget: Widget, arguments: Mapping[str, Any], state: Mapping[str, Any]) -> bytes:
    sidecar = widget.definition.sidecar
    mark: dict[str, Any] = {"state": state, "actions": [*sidecar.local]}
    program = program_digest(program_or_empty(widget))
    if program and not sidecar.sensitive:
        mark |= {"program": program, "arguments": arguments}
    return to_json(mark)


def _draw_public(widget: Widget, drawing: Render) -> Mapping[str, Any] | None:
    sensitive = widget.definition.sidecar.sensitive
    if not sensitive:
        return drawing.tree
    try:
        return widget.tree(remove_paths(drawing.arguments, sensitive))
    except (CallError, WidgetError):
        return None


def check_client(widget: Widget, caller: Caller) -> None:
    """Require a client version with support for `widget`. A client without a version passes.

    Raises:
        CallError: The client is too old (W2010), or its version is invalid (W2006).
    """
    needed = widget.definition.sidecar.min_client_version
    version = caller.meta.get(CLIENT_VERSION_KEY)
    if needed is None or version is None:
        return
    at = f"_meta.{CLIENT_VERSION_KEY}"
    least = parse_precedence(needed)
    actual = parse_precedence(version) if isinstance(version, str) else None
    if actual is None:
        problem = f'expected a version, as in "{needed}", got {version!r:.60}'
        raise CallError("W2006", problem, path=at)
    if least is not None and actual < least:
        raise CallError(
            "W2010",
            f"{widget.tool} needs a client of version {needed} or later, got {version}",
            path=at,
            suggestions=(f"update the client to {needed} or later",),
        )


def no_render(render_id: str) -> CallError:
    problem = f"there is no render '{render_id:.60}', or not any more; render the widget again"
    return CallError("W2007", problem, path="render_id")
