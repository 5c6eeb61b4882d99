"""The page on which one widget is shown as a host shows it, for somebody to act in.

    keyword -> view.html in its frame -> host.js -> here -> the server's own `widget_action`

The frame is the one that MCP Apps hosts get, under the same policy and sandbox; the page around
it plays the host. Nothing is fetched: each address is answered here, and an image that the widget
may load is a grey one.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.resources import files
from math import inf
from typing import TYPE_CHECKING, Any

import anyio

from widgetd.access.principal import Caller
from widgetd.browser.baselines import Baselines
from widgetd.browser.chromium import FONTS, NOW, Theme, new_context
from widgetd.browser.limits import LIMITS, BrowserLimits
from widgetd.browser.targets import NOWHERE, Target, found, locators
from widgetd.errors import CallError
from widgetd.render.result import Policy, text_block, tool_result, unknown_widget
from widgetd.render.view import frame_headers, view_html
from widgetd.schema.json_values import to_json
from widgetd.widget.components import tree
from widgetd.widget.components.lucide import icons_in
from widgetd.widget.states import SAMPLE, Shown, shown, state_of
from widgetd.widget.widget import Widget

if TYPE_CHECKING:
    from playwright.async_api import (
        Browser,
        BrowserContext,
        ConsoleMessage,
        Frame,
        FrameLocator,
        Locator,
        Page,
        Route,
    )

    from widgetd.catalog.snapshot import Snapshot
    from widgetd.mcp.server import Server
    from widgetd.store.contract import StoredRender

ORIGIN = "http://stage.invalid"
"""Where the page says that it is."""

HEIGHT = 800
"""Of the room around the frame, in CSS pixels."""

GREY = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGM4AQAAywDKzODlIQAAAABJRU5ErkJggg=="
)
"""What every image from elsewhere is."""

_TELL_DRAWN = """
if (window.top !== window) new MutationObserver(() => {
  if (document.documentElement.dataset.ready) parent.postMessage("drawn", "*");
}).observe(document, { subtree: true, attributeFilter: ["data-ready"] });
"""
"""Tells the page of each time that the view in its frame is ready, so that nobody has to ask."""

_SETTLE = """() => {
  // What ends lets what inherits from it begin, as deep as the tree is.
  for (let depth = 0; depth < 100; depth++) {
    const moving = document.getAnimations()
      .filter(one => one.effect?.getComputedTiming().endTime !== Infinity);
    if (!moving.length) return;
    for (const one of moving) one.finish();
  }
}"""

_HTML = {"content-type": "text/html; charset=utf-8"}
_POLICY = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'unsafe-inline'"


@dataclass(slots=True, kw_only=True)
class Scene:
    """What is shown.

    Attributes:
        widget: Whose it is; None of a tree that no widget made.
        given: What the widget was called with.
        root: The widget root, as JSON.
        render_id: By which what is done in it is known; empty where nothing can be.
        state: Of the gallery, which it was called with; empty where it was called otherwise.
        version: Of the render.
    """

    widget: Widget | None
    given: Shown
    root: dict[str, Any]
    render_id: str = ""
    state: str = ""
    version: int = 1


def widget_of(snapshot: Snapshot, name: str) -> Widget:
    """The widget of `snapshot` whose tool is called `name`.

    Raises:
        CallError: There is none (W2001).
    """
    if name not in snapshot.widgets:
        raise unknown_widget(name, snapshot.widgets, "widget")
    return snapshot.widgets[name]


def shown_in(widget: Widget, state: str) -> Shown:
    """What is to be seen of `widget` in one of the gallery's states; without one, its sample.

    Raises:
        CallError: It has no such state (W4402).
    """
    return shown(widget, state_of(widget, state or SAMPLE).key)


@dataclass
class Stage:
    """One page, what is shown on it, and what has happened there.

    Attributes:
        context: Holds the page, and is closed with it.
        server: Whose widgets are shown; actions go to it.
        caller: Who shows them, and the snapshot that they are taken from.
        page: The host.
        subject: The widget that is meant where none is named.
        baselines: What a test compares with; None outside of tests.
        seen: The last picture that was not as expected.
        deadline: When the step that runs gives up, by the loop's clock.
        scene: What is shown; None before anything is.
        events: What has happened, oldest first.
        console: What the page complained of.
        crashed: Whether the page ended by itself.
        consumed: The numbers of the events that were expected already.
        seq: The number of the last event.
        secret: Whether anything was shown whose values are told to nobody.
        told: Called at each event.
        limits: What it may take.
    """

    context: BrowserContext
    server: Server
    caller: Caller
    page: Page = field(init=False)
    theme: Theme = "light"
    locale: str = "en-US"
    subject: str = ""
    baselines: Baselines | None = None
    seen: bytes = b""
    deadline: float = inf
    scene: Scene | None = None
    events: list[dict[str, Any]] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    crashed: bool = False
    consumed: set[int] = field(default_factory=set)
    seq: int = 0
    traced: bool = False
    secret: bool = False
    told: Callable[[], None] = field(default=lambda: None)
    limits: BrowserLimits = LIMITS
    _happened: anyio.Event = field(default_factory=anyio.Event)
    _event_sizes: list[int] = field(default_factory=list)

    @classmethod
    async def open(
        cls,
        browser: Browser,
        server: Server,
        caller: Caller,
        *,
        locale: str = "en-US",
        limits: BrowserLimits = LIMITS,
    ) -> Stage:
        """Open an empty stage in a context of its own, which is closed with it.

        Raises:
            CallError: The browser opens none in time (W4203).
        """
        try:
            with anyio.fail_after(limits.draw_s):
                context = await new_context(browser, height=HEIGHT, locale=locale, framed=True)
                stage = cls(
                    context=context, server=server, caller=caller, locale=locale, limits=limits
                )
                await stage._prepare()
                return stage
        except TimeoutError:
            problem = f"the browser opened no page within {limits.draw_s:g} s; try again"
            raise CallError("W4203", problem, recoverable=True) from None

    async def _prepare(self) -> None:
        context = self.context
        try:
            # All this takes no time in a context that has no page yet.
            await context.clock.set_fixed_time(NOW)
            await context.add_init_script(_TELL_DRAWN)
            await context.route("**/*", self._answer)
            await context.expose_binding("stageAct", self._act)
            await context.expose_binding("stageSent", self._sent)
            self.page = await context.new_page()
            self.page.on("console", self._heard)
            self.page.on("crash", self._crashed)
            self.page.on("pageerror", lambda error: self._log(str(error)))
            await self.page.goto(f"{ORIGIN}/")
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Close the page and what it holds; a browser that ended has nothing to close."""
        with suppress(Exception), anyio.move_on_after(self.limits.close_s, shield=True):
            await self.context.close()

    @property
    def left_s(self) -> float:
        """How long the step that runs may still wait."""
        return min(max(self.deadline - anyio.current_time(), 0.001), self.limits.draw_s)

    @property
    def left_ms(self) -> float:
        """The same, as Playwright counts."""
        return self.left_s * 1000

    async def locators(self, target: Target) -> tuple[Locator, ...]:
        """Return where each rung of `target` leads."""
        return await locators(target, self.page, self.frame)

    async def find(self, target: Target) -> Locator:
        """The one element that `target` leads to: see `found`."""
        _ = self.shown
        return await found(target, self.page, self.frame, self.left_s)

    async def screen(self) -> str:
        """What is on the page, with the ref of each element."""
        return await self.page.aria_snapshot(mode="ai")

    async def page_picture(self) -> bytes:
        """Return a picture of the whole page, as a PNG."""
        return await self.page.screenshot(full_page=True)

    async def picture(self, target: Target = NOWHERE) -> bytes:
        """What the widget, or a part of it, looks like, as a PNG."""
        located = await self.find(target) if target else self.page.locator("iframe")
        timeout = self.left_ms
        return await located.screenshot(animations="disabled", caret="hide", timeout=timeout)

    async def value_of(self, located: Locator) -> str:
        """What is filled in or chosen in a field; of a box, whether it is ticked."""
        value: str = await located.evaluate(
            """element => {
              if (element.type === "checkbox") return String(element.checked);
              if (element.value !== undefined && element.localName !== "button")
                return element.value;
              const around = element.closest(".field") ?? element;
              const held = around.querySelector("input[type=radio]:checked, input[type=hidden]");
              return held?.value ?? "";
            }"""
        )
        return value

    def demand_baselines(self) -> Baselines:
        """Return what the running test compares with.

        Raises:
            CallError: No test is running (W4302).
        """
        if self.baselines is None:
            problem = "there is nothing to compare with here; a test file has pictures beside it"
            raise CallError("W4302", problem)
        return self.baselines

    @property
    def frame(self) -> FrameLocator:
        """Where the widget is."""
        return self.page.frame_locator("iframe")

    @property
    def inner(self) -> Frame:
        """The frame itself, to run scripts in."""
        _ = self.shown
        return self.page.main_frame.child_frames[0]

    @property
    def shown(self) -> Scene:
        """What is shown.

        Raises:
            CallError: Nothing is (W4201).
        """
        if self.scene is None:
            raise CallError("W4201", "no widget is shown; start with Show Widget")
        return self.scene

    async def show(
        self, widget: Widget, given: Shown, *, state: str = "", inside: bool = False
    ) -> None:
        """Render `widget` and show it; `inside` what is shown, so that what was typed stays.

        What it is called with, or what was made already, is that of a `state` of the gallery, if
        one is named.

        Raises:
            CallError: The arguments do not fit, or the template fails on them.
        """
        rendering, owner = self.server.rendering, self.caller.principal.name
        generation = self.caller.snapshot.generation
        render = rendering.make(widget, given.arguments, generation, owner=owner, made=given.render)
        await self.server.store.renders.put(render)
        await self.show_render(widget, given, render, state=state, inside=inside)

    async def follow(self, snapshot: Snapshot) -> None:
        """Redraw what is shown as `snapshot` has it; what was typed stays.

        Raises:
            CallError: It is served no more (W2001), or what it was called with does not fit.
        """
        scene = self.shown
        if scene.widget is None or not (scene.state or scene.given.arguments):
            return  # a tree, or somebody's render: there is nothing to make anew
        self.caller = replace(self.caller, snapshot=snapshot)
        widget = widget_of(snapshot, scene.widget.tool)
        given = shown_in(widget, scene.state) if scene.state else scene.given
        await self.show(widget, given, state=scene.state, inside=True)

    async def show_render(
        self,
        widget: Widget | None,
        given: Shown,
        render: StoredRender,
        *,
        state: str = "",
        inside: bool = False,
    ) -> None:
        """Show a render that is kept."""
        # A field whose input is hidden from people is hidden from records, too.
        self.secret = self.secret or render.secret or b'"password"' in render.tree
        policy = Policy(inline_max_bytes=len(render.tree))
        result = tool_result(render, "chatkit", policy=policy, protocol="").values()
        root = result["structuredContent"]
        self.scene = Scene(
            widget=widget,
            given=given,
            root=root,
            render_id=render.id,
            state=state,
            version=render.version,
        )
        self.subject = render.tool
        await self._draw(result, inside=inside)
        self.happen("shown", widget=render.tool, renderId=render.id)

    async def update(self) -> None:
        """Redraw what is shown if somebody replaced its render; what was typed stays.

        It may be called while a step is done, which may wait for this.
        """
        scene = self.scene
        if scene is None or not scene.render_id:
            return
        render = await self.server.store.renders.get(scene.render_id)
        if render is None or self.scene is not scene or render.version <= scene.version:
            return
        if self.caller.principal.audience.could_see(
            elevated=render.elevated, marks=set(render.marks)
        ):
            await self.show_render(
                scene.widget, scene.given, render, state=scene.state, inside=True
            )

    async def show_tree(self, root: Mapping[str, Any]) -> None:
        """Show a tree that no widget made.

        Raises:
            WidgetError: It is none.
        """
        made = tree(to_json(root))
        self.scene = Scene(widget=None, given=Shown(arguments={}), root=made)
        result: dict[str, Any] = {"content": [text_block("")], "structuredContent": made}
        icons = icons_in(made)
        await self._draw({**result, "_meta": {"widgetd/icons": icons}} if icons else result)
        self.happen("shown", widget="", renderId="")

    async def change(self, **context: str) -> None:
        """Tell the view what the host looks like now."""
        await self.page.evaluate("context => window.stage.change(context)", context)

    async def _draw(self, result: Mapping[str, Any], *, inside: bool = False) -> None:
        widget = self.shown.widget
        options = {
            "tool": widget.tool if widget else "tree",
            "title": widget.definition.title if widget else "Tree",
            "theme": self.theme,
            "locale": self.locale,
            "fonts": FONTS,
        }
        with anyio.fail_after(self.limits.draw_s):
            await self.page.evaluate(
                "([options, result]) => window.stage.show(options, result)",
                [None if inside else options, result],
            )
        await self.settle()

    async def settle(self) -> None:
        """Bring to its end what still moves: a page without a screen may never be told to paint."""
        await self.inner.evaluate(_SETTLE)

    def happen(self, kind: str, **facts: Any) -> None:
        """Note an event, and wake whoever waits for one."""
        self.seq += 1
        self.events.append({"seq": self.seq, "kind": kind, **facts})
        self._event_sizes.append(len(to_json(facts)))
        while len(self.events) > 1 and (
            len(self.events) > self.limits.events
            or sum(self._event_sizes) > self.limits.event_bytes
        ):
            del self.events[0], self._event_sizes[0]
        happened, self._happened = self._happened, anyio.Event()
        happened.set()
        self.told()

    async def event_within(self, timeout_s: float) -> bool:
        """Wait for the next event, and say whether there was one."""
        with anyio.move_on_after(timeout_s) as scope:
            await self._happened.wait()
        return not scope.cancelled_caught

    async def _answer(self, route: Route) -> None:
        url, widget = route.request.url, self.scene.widget if self.scene else None
        if url == f"{ORIGIN}/":
            page = (files("widgetd.browser") / "stage.html").read_text(encoding="utf-8")
            await route.fulfill(body=page, headers={**_HTML, "content-security-policy": _POLICY})
        elif url == f"{ORIGIN}/host.js":
            script = (files("widgetd.view") / "host.js").read_text(encoding="utf-8")
            await route.fulfill(body=script, content_type="text/javascript")
        elif url.startswith(f"{ORIGIN}/gallery/frame/"):
            own = widget.definition.image_origins if widget else ()
            headers = frame_headers((*own, *self.server.resources.image_origins))
            await route.fulfill(body=view_html(), headers={**_HTML, **headers})
        elif route.request.resource_type == "image":
            await route.fulfill(body=GREY, content_type="image/png")
        else:
            await route.abort()

    async def _act(self, _source: object, arguments: dict[str, Any]) -> dict[str, Any]:
        """Take an action as every host does; whoever waits for one in this render hears of it."""
        # With FastMCP behind it, which commands that serve nobody do without.
        from widgetd.mcp.http_calls import take_action  # noqa: PLC0415

        answer = await take_action(self.server, arguments, self.caller)
        refused = answer.get("_meta", {}).get("widgetd/error", {})
        said = {"code": refused["code"]} if refused else {}
        payload = arguments.get("payload", {})
        self.happen("action", type=arguments.get("action", ""), payload=payload, **said)
        return answer

    def _sent(self, _source: object, what: dict[str, Any]) -> None:
        self.happen(what.pop("kind"), **what)

    def _crashed(self, _page: object) -> None:
        self.crashed = True

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._log(message.text)

    def _log(self, text: str) -> None:
        self.console.append(text[: self.limits.console_chars])
        del self.console[: -self.limits.events]
