"""A stage: a page with a widget as in a host, for agents and tests to act in.

    keyword -> view.html in its frame -> host.js -> here -> the server's own `widget_action`

The frame is as in MCP Apps hosts, under the same policy and sandbox. The page around it plays the
host. Nothing is fetched: each request is answered here, and an allowed image is a grey pixel.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.resources import files
from math import inf
from typing import TYPE_CHECKING, Any, Self

import anyio
import orjson

from widgetd.author.browser.baselines import Baselines
from widgetd.author.browser.chromium import (
    FONTS,
    NOW,
    Theme,
    close_quietly,
    driver_errors,
    new_context,
)
from widgetd.author.browser.limits import LIMITS, BrowserLimits, Charge, no_charge
from widgetd.author.browser.targets import NOWHERE, Target, locate, locators
from widgetd.base.errors import CallError
from widgetd.core.schema.json_values import to_json
from widgetd.core.widget.components import tree
from widgetd.core.widget.components.lucide import find_icons
from widgetd.core.widget.page_program import program_or_empty
from widgetd.core.widget.states import SAMPLE, ShownState, find_state, show_state
from widgetd.core.widget.widget import Render, Widget
from widgetd.server.access.principal import Caller
from widgetd.server.render.action_callers import DryRun
from widgetd.server.render.result import Policy, text_block, tool_result, unknown_widget
from widgetd.server.render.view import frame_headers, page_of, view_html

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

    from widgetd.server.catalog.snapshot import Snapshot
    from widgetd.server.mcp.server import Server
    from widgetd.server.store.contract import StoredRender

_ORIGIN = "http://stage.invalid"
"""Origin of the page, which leads nowhere outside of the browser."""

HEIGHT_PX = 800
"""Height of the viewport, in CSS pixels."""

_GREY_PIXEL = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGM4AQAAywDKzODlIQAAAABJRU5ErkJggg=="
)
"""The image in place of every image from elsewhere."""

_REPORT_READY = """
if (window.top !== window) new MutationObserver(() => {
  if (document.documentElement.dataset.ready) parent.postMessage("drawn", "*");
}).observe(document, { subtree: true, attributeFilter: ["data-ready"] });
"""
"""Reports to the page whenever the view in its frame is ready, so that the page need not poll."""

_SETTLE = """() => {
  // A transition that ends may start those of elements that inherit from it, level by level.
  for (let depth = 0; depth < 100; depth++) {
    const moving = document.getAnimations()
      .filter(one => one.effect?.getComputedTiming().endTime !== Infinity);
    if (!moving.length) return;
    for (const one of moving) one.finish();
  }
}"""

Served = tuple[str, Mapping[str, str]]
"""The content of a page or script, and its headers."""

_HTML = {"content-type": "text/html; charset=utf-8"}
_POLICY = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'unsafe-inline'"


@dataclass(slots=True, kw_only=True)
class Display:
    """The content of a stage.

    Attributes:
        widget: None for a tree without a widget.
        content: Arguments of the widget.
        root: The widget root, as JSON.
        render_id: Id of the render, for its actions, or empty for a tree.
        state: Gallery state of the arguments, or empty if they came from elsewhere.
        version: Version of the render.
    """

    widget: Widget | None
    content: ShownState
    root: dict[str, Any]
    render_id: str = ""
    state: str = ""
    version: int = 1


def find_widget(snapshot: Snapshot, name: str) -> Widget:
    """Return the widget of `snapshot` with the tool `name`.

    Raises:
        CallError: There is none (W2001).
    """
    if name not in snapshot.widgets:
        raise unknown_widget(name, snapshot.widgets, "widget")
    return snapshot.widgets[name]


def load_state(widget: Widget, state: str) -> ShownState:
    """Return the arguments of `widget` in a state of the gallery, by default its sample.

    Raises:
        CallError: It has no such state (W4402).
    """
    return show_state(widget, find_state(widget, state or SAMPLE).key)


@dataclass
class Stage:
    """A page, the widget on it, and the events there.

    Attributes:
        context: Holds the page, and closes with it.
        server: Serves the widgets and takes their actions.
        caller: Shows the widgets of its snapshot.
        subject: Tool of the widget for steps without a name.
        baselines: Baselines of the test, or None outside of tests.
        matched: The candidate chosen from the last list of targets.
        unexpected_pictures: Files about the last picture's difference from its baseline.
        deadline: End of the running step, by the clock of the event loop.
        display: The content; None before anything is shown.
        consumed: Numbers of the events that a step expected already.
        secret: Something with sensitive fields was shown, so that no trace may be stored.
        dry_run: Answers actions in place of upstreams: no session and no test calls one.
        charge: Charges the caller for a picture, or raises W2201.
    """

    context: BrowserContext
    server: Server
    caller: Caller
    page: Page = field(init=False)
    theme: Theme = "light"
    locale: str = "en-US"
    subject: str = ""
    baselines: Baselines | None = None
    matched: str = ""
    unexpected_pictures: Mapping[str, bytes] = field(default_factory=dict)
    deadline: float = inf
    display: Display | None = None
    events: list[dict[str, Any]] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    crashed: bool = False
    consumed: set[int] = field(default_factory=set)
    seq: int = 0
    traced: bool = False
    secret: bool = False
    on_event: Callable[[], None] = field(default=lambda: None)
    dry_run: DryRun = field(default_factory=DryRun)
    limits: BrowserLimits = LIMITS
    charge: Charge = no_charge
    _emitted: anyio.Event = field(default_factory=anyio.Event)
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
        **own: Any,
    ) -> Self:
        """Open an empty stage in a context of its own.

        `own` are attributes of a kind of stage.

        Raises:
            CallError: The browser opens no context in time (W4203).
        """
        try:
            with anyio.fail_after(limits.draw_s):
                context = await new_context(browser, height=HEIGHT_PX, locale=locale, framed=True)
                options = {"caller": caller, "locale": locale, "limits": limits, **own}
                stage = cls(context=context, server=server, **options)
                await stage._prepare()
                return stage
        except TimeoutError:
            problem = f"the browser opened no page within {limits.draw_s:g} s; try again"
            raise CallError("W4203", problem, recoverable=True) from None

    async def _prepare(self) -> None:
        context = self.context
        try:
            # All this takes no time in a context without a page.
            await context.clock.set_fixed_time(NOW)
            await context.add_init_script(_REPORT_READY)
            await context.route("**/*", self._fulfil)
            for name, function in self._bindings().items():
                await context.expose_binding(name, function)
            self.page = await context.new_page()
            self.page.on("console", self._note_error)
            self.page.on("crash", self._note_crash)
            self.page.on("pageerror", lambda error: self._append_line(str(error)))
            await self.page.goto(f"{_ORIGIN}/")
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        await close_quietly(self.context.close())

    @property
    def left_s(self) -> float:
        return min(max(self.deadline - anyio.current_time(), 0.001), self.limits.draw_s)

    @property
    def left_ms(self) -> float:
        return self.left_s * 1000

    async def locators(self, target: Target) -> tuple[Locator, ...]:
        return await locators(target, self.page, self.frame)

    async def find(self, target: Target) -> Locator:
        self.require_display()
        located, candidate = await locate(target, self.page, self.frame, self.left_s)
        if len(target.texts) > 1:
            self.matched = candidate
        return located

    async def screen(self) -> str:
        return await self.page.aria_snapshot(mode="ai")

    async def charge_picture(self) -> None:
        await self.charge(self.caller.principal.name, self.limits.picture_cost)

    async def page_picture(self) -> bytes:
        await self.charge_picture()
        return await self.page.screenshot(full_page=True)

    async def picture(self, target: Target = NOWHERE) -> bytes:
        await self.charge_picture()
        located = await self.find(target) if target else self.page.locator("iframe")
        timeout = self.left_ms
        return await located.screenshot(animations="disabled", caret="hide", timeout=timeout)

    async def value_of(self, located: Locator) -> str:
        value: str = await located.evaluate(
            """element => {
              if (element.type === "checkbox") return String(element.checked);
              if (element.value !== undefined && element.localName !== "button")
                return element.value;
              const around = element.closest(".field") ?? element;
              const input = around.querySelector("input[type=radio]:checked, input[type=hidden]");
              return input?.value ?? "";
            }"""
        )
        return value

    def require_baselines(self) -> Baselines:
        """Return the baselines of the running test.

        Raises:
            CallError: No test is running (W4302).
        """
        if self.baselines is None:
            problem = "there is nothing to compare with here; a test file has pictures beside it"
            raise CallError("W4302", problem)
        return self.baselines

    @property
    def frame(self) -> FrameLocator:
        return self.page.frame_locator("iframe")

    @property
    def inner_frame(self) -> Frame:
        self.require_display()
        return self.page.main_frame.child_frames[0]

    def require_display(self) -> Display:
        """Return the content of the stage.

        Raises:
            CallError: It is empty (W4201).
        """
        if self.display is None:
            raise CallError("W4201", "no widget is shown; start with Show Widget")
        return self.display

    async def show(
        self, widget: Widget, content: ShownState, *, state: str = "", in_place: bool = False
    ) -> None:
        """Render `widget` and show it, in place, so fields keep their input.

        Raises:
            CallError: The arguments do not fit, or the template fails on them.
        """
        rendering, owner = self.server.rendering, self.caller.principal.name
        generation = self.caller.snapshot.generation
        render = rendering.compute_now(
            widget, content.arguments, generation, owner=owner, drawing=content.render
        )
        await self.server.store.renders.put(render)
        await self.show_render(widget, content, render, state=state, in_place=in_place)

    async def follow(self, snapshot: Snapshot) -> None:
        """Redraw the widget as `snapshot` has it. Fields keep what was typed.

        Raises:
            CallError: It is not served any more (W2001), or its arguments do not fit.
        """
        display = self.require_display()
        if display.widget is None or not (display.state or display.content.arguments):
            return  # a tree or a stored render has no arguments to render again
        self.caller = replace(self.caller, snapshot=snapshot)
        widget = find_widget(snapshot, display.widget.tool)
        content = load_state(widget, display.state) if display.state else display.content
        await self.show(widget, content, state=display.state, in_place=True)

    async def show_render(
        self,
        widget: Widget | None,
        content: ShownState,
        render: StoredRender,
        *,
        state: str = "",
        in_place: bool = False,
    ) -> None:
        self._put(widget, content, render, state)
        policy = Policy(inline_max_bytes=len(render.tree))
        palette = self.caller.snapshot.theme.json or b"{}"
        result = tool_result(render, "chatkit", policy=policy, palette=palette)
        await self._draw(result.values(), in_place=in_place)
        self.emit("shown", widget=render.tool, renderId=render.id)

    def _put(
        self, widget: Widget | None, content: ShownState, render: StoredRender, state: str
    ) -> None:
        # A password is hidden on the screen, so it stays out of records as well.
        self.secret = self.secret or render.secret or b'"password"' in render.tree
        self.display = Display(
            widget=widget,
            content=content,
            root=orjson.loads(render.tree),
            render_id=render.id,
            state=state,
            version=render.version,
        )
        self.subject = render.tool

    async def update(self) -> None:
        """Redraw the widget if its render was replaced. Fields keep what was typed.

        It may be called during a step, because the step may wait for this.
        """
        display = self.display
        if display is None or not display.render_id:
            return
        render = await self.server.store.renders.get(display.render_id)
        if render is None or self.display is not display or render.version <= display.version:
            return
        if self.caller.principal.audience.could_see(render):
            await self.show_render(
                display.widget, display.content, render, state=display.state, in_place=True
            )

    async def show_tree(self, root: Mapping[str, Any]) -> None:
        """Show a tree without a widget.

        Raises:
            WidgetError: It is no tree of components.
        """
        root_tree = tree(to_json(root))
        self.display = Display(widget=None, content=ShownState(arguments={}), root=root_tree)
        result: dict[str, Any] = {"content": [text_block("")], "structuredContent": root_tree}
        icons = find_icons(root_tree)
        await self._draw({**result, "_meta": {"widgetd/icons": icons}} if icons else result)
        self.emit("shown", widget="", renderId="")

    async def change_host(self, **context: str) -> None:
        await self.page.evaluate("context => window.stage.change(context)", context)

    async def _draw(self, result: Mapping[str, Any], *, in_place: bool = False) -> None:
        widget = self.require_display().widget
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
                [None if in_place else options, result],
            )
        await self.settle()

    async def find_differing(self, calls: Sequence[Render]) -> list[int]:
        widget = self.require_display().widget
        ids = widget.definition.sidecar.ids if widget else ()
        sent = []
        for render in calls:
            chosen_ids = {name: render.arguments[name] for name in ids if name in render.arguments}
            result = {"content": [], "structuredContent": render.tree}
            sent.append([{**(render.valid or {}), **chosen_ids}, result])
        places: list[int] = await self.page.evaluate("calls => window.stage.compare(calls)", sent)
        return places

    async def settle(self) -> None:
        """Finish all animations, because a page without a screen may never paint their end."""
        await self.inner_frame.evaluate(_SETTLE)

    def emit(self, kind: str, **facts: Any) -> None:
        self.seq += 1
        self.events.append({"seq": self.seq, "kind": kind, **facts})
        self._event_sizes.append(len(to_json(facts)))
        while len(self.events) > 1 and (
            len(self.events) > self.limits.events
            or sum(self._event_sizes) > self.limits.event_bytes
        ):
            del self.events[0], self._event_sizes[0]
        emitted, self._emitted = self._emitted, anyio.Event()
        emitted.set()
        self.on_event()

    async def event_within(self, timeout_s: float) -> bool:
        with anyio.move_on_after(timeout_s) as scope:
            await self._emitted.wait()
        return not scope.cancelled_caught

    async def _fulfil(self, route: Route) -> None:
        served = self._answer_request(route.request.url.removeprefix(_ORIGIN))
        # A waiting step notices a browser's death.
        with suppress(*driver_errors()):
            if served is not None:
                body, headers = served
                await route.fulfill(body=body, headers={**_HTML, **headers})
            elif route.request.resource_type == "image":
                await route.fulfill(body=_GREY_PIXEL, content_type="image/png")
            else:
                await route.abort()

    def _answer_request(self, path: str) -> Served | None:
        widget = self.display.widget if self.display else None
        if path == "/":
            page = (files("widgetd.author.browser") / "stage.html").read_text(encoding="utf-8")
            return page, {"content-security-policy": _POLICY}
        if path == "/host.js":
            script = (files("widgetd.view") / "host.js").read_text(encoding="utf-8")
            return script, {"content-type": "text/javascript"}
        if path.startswith("/gallery/frame/"):
            own = widget.definition.image_origins if widget else ()
            page = page_of(
                view_html(),
                program_or_empty(widget) if widget else b"",
                self.caller.snapshot.theme,
            )
            return page, frame_headers((*own, *self.server.resources.image_origins))
        return None

    def _bindings(self) -> Mapping[str, Callable[..., Any]]:
        return {"stageAct": self._act, "stageSent": self._receive}

    async def _act(self, _source: object, arguments: dict[str, Any]) -> dict[str, Any]:
        # It imports FastMCP, which commands without a server do not need.
        from widgetd.server.mcp.http_calls import take_action  # noqa: PLC0415

        answer = await take_action(self.server, arguments, self.caller, dry_run=self.dry_run)
        widget, action = self.require_display().widget, arguments.get("action", "")
        if widget and action in widget.definition.sidecar.local:
            return answer  # no caller gets it
        self._emit_action(arguments, answer)
        return answer

    def _emit_action(self, arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        error = answer.get("_meta", {}).get("widgetd/error")
        refusal = {"code": error["code"]} if error else {}
        payload = arguments.get("payload", {})
        self.emit("action", type=arguments.get("action", ""), payload=payload, **refusal)

    def _receive(self, _source: object, message: dict[str, Any]) -> None:
        self.emit(message.pop("kind"), **message)

    def _note_crash(self, _page: object) -> None:
        self.crashed = True

    def _note_error(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._append_line(message.text)

    def _append_line(self, text: str) -> None:
        self.console.append(text[: self.limits.console_chars])
        del self.console[: -self.limits.events]
