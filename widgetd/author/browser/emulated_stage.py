"""A stage with a known host as its page: its declarations, delays, replays and refusals.

    keyword -> view.html in its frame -> filter -> AppBridge -> here -> an MCP client -> the server

`emulator.js`, built from `view/emulator/`, has the official bridge and the filter. A profile tells
them what to do. Everything between the view and the store is as for a host's users.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import date
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

import anyio
import orjson

from widgetd.author.browser.chromium import FONTS, driver_errors
from widgetd.author.browser.stage import Served, Stage
from widgetd.base.errors import CallError
from widgetd.base.text_search import compile_pattern
from widgetd.core.widget.actions.tree_actions import Trigger, iterate_triggers
from widgetd.core.widget.states import ShownState
from widgetd.core.widget.widget import Widget
from widgetd.server.mcp.host_client import HostClient
from widgetd.server.render.view import frame_headers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from playwright.async_api import ConsoleMessage, Locator

    from widgetd.server.store.contract import StoredRender

Moment = Literal["handshake", "partial", "input", "result"]
Scene = Literal["dark", "fullscreen", "narrow", "remount"]

_SENTENCE = compile_pattern(r"(?m)^Action: (\S+)$(?:\nPayload: (.+)$)?")
"""The sentence with which a page tells the model of an action."""

_NARROW_PX = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class HostProfile:
    """A host as data. The defaults follow the specification.

    Attributes:
        title: Its name for people.
        config: Its names in `widgetd config`.
        day: Day of the newest of the threads.
        threads: Public threads about what it does.
        does: What it does, in a phrase.
        answer: What widgetd does about it, in a phrase.
        client: The name in its requests.
        app_tools: The setting of a server for its widgets to be shown.
        declares_apps: Whether it declares to draw views.
        abilities: What it can do for a view.
        display_modes: The modes offered to a view.
        tool_info: Whether it names the tool to the view.
        flat_uri: Whether it reads a page's URI under the flat key alone.
        order: What it does until the view has its result, in this order.
        delay_ms: Pause before the result.
        strips: Members of a result withheld from the view.
        strips_answers: Whether it strips the answers to the view's own calls as well.
        wraps: Whether it delivers `{"result": ...}`.
        withholds_linked: Whether it withholds results with a link.
        empties_replays: Whether a remounted view gets a result without content.
        caches_pages: Whether it reads each page's URI only once.
        ignores_image_origins: Whether it loads no images from a page's declared origins.
        refuses: Tools refused to a view.
        refuses_unlisted: Whether it refuses unlisted tools to a view.
        keeps_storage: Whether it gives the view an origin, and so a store.
        hides_until_sized: Whether it hides the frame until the view sends a size.
        width_px: Width of the frame, or 0 for the whole page.
        life: What happens to a view after it is drawn.
    """

    title: str
    config: tuple[str, ...] = ()
    day: date
    threads: tuple[str, ...]
    does: str
    answer: str
    client: str
    app_tools: Literal["auto", "always"] = "auto"
    declares_apps: bool = True
    abilities: tuple[str, ...] = (
        *("serverTools", "serverResources", "message", "updateModelContext", "openLinks"),
        "logging",
    )
    display_modes: tuple[str, ...] = ("inline",)
    tool_info: bool = True
    flat_uri: bool = False
    order: tuple[Moment, ...] = ("handshake", "input", "result")
    delay_ms: int = 0
    strips: tuple[str, ...] = ()
    strips_answers: bool = False
    wraps: bool = False
    withholds_linked: bool = False
    empties_replays: bool = False
    caches_pages: bool = False
    ignores_image_origins: bool = False
    refuses: tuple[str, ...] = ()
    refuses_unlisted: bool = False
    keeps_storage: bool = False
    hides_until_sized: bool = False
    width_px: int = 0
    life: tuple[Scene, ...] = ("remount",)


@dataclass
class EmulatedStage(Stage):
    """A stage with the behaviour of a host.

    Attributes:
        profile: The host.
        client: The host's connection to the server.
        messages: Messages of views to the model, as the user.
        calls: Names of the tools called by views.
        submitted: Types of the actions received from the view by the server or the model.
        pages: The pages read by the host, by URI.
    """

    profile: HostProfile = field(kw_only=True)
    client: HostClient = field(kw_only=True)
    messages: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    submitted: list[str] = field(default_factory=list)
    pages: dict[str, dict[str, Any]] = field(default_factory=dict)
    _page: dict[str, Any] = field(default_factory=dict)
    _drawn: anyio.Event = field(default_factory=anyio.Event)
    _relays: set[anyio.CancelScope] = field(default_factory=set)
    _accepted: set[str] = field(default_factory=set)

    async def show(self, widget: Widget, content: ShownState, **options: Any) -> None:
        await self._mount(widget, content, widget.tool, dict(content.arguments), **options)

    async def show_render(
        self, widget: Widget | None, content: ShownState, render: StoredRender, **options: Any
    ) -> None:
        if widget is None:
            raise CallError("W2001", f"there is no widget '{render.tool}' any more")
        await self._mount(widget, content, "show_render", {"render_id": render.id}, **options)

    async def show_tree(self, root: Mapping[str, Any]) -> None:  # noqa: ARG002 - see below
        raise CallError("W4102", "a host shows results of tools; leave --client out", path="tree")

    async def update(self) -> None:
        """Leave newer versions to the view, as it follows its render through the host."""

    async def remount(self) -> None:
        await self._play("window.stage.remount()")

    async def live(self) -> None:
        """Play the host's life of the view, and submit its form, if it has one.

        Raises:
            CallError: The view is not drawn any more, the page has an error, or the form is not
                submitted exactly once (W4301).
        """
        # The first form handled by the server.
        triggers = iterate_triggers(self.require_display().root)
        submit = next((t for t in triggers if t.submits and t.handler == "server"), None)
        if submit is not None:
            await self._submit(submit)
        for scene in self.profile.life:
            if scene == "dark":
                await self.change_host(theme="dark")
            elif scene == "fullscreen":
                await self.change_host(displayMode="fullscreen")
            elif scene == "narrow":
                await self.page.evaluate("px => window.stage.resize(px)", _NARROW_PX)
            else:
                await self.remount()
            await self._require_drawn(f"after '{scene}'")
        if submit is not None and await self._button(submit).is_enabled():
            await self._submit(submit)
        expected = [] if submit is None else [submit.type]
        if self.submitted != expected:
            raise CallError("W4301", f"actions: expected {expected}, got {self.submitted}")
        await self._play("window.stage.unmount()", draws=False)
        if self.console:
            raise CallError("W4301", f"the console: expected nothing, got {self.console[-1]}")

    async def _mount(
        self,
        widget: Widget,
        content: ShownState,
        name: str,
        arguments: dict[str, Any],
        *,
        state: str = "",
        in_place: bool = False,  # noqa: ARG002 - a host mounts the view of each call
    ) -> None:
        result = await self.client.request("tools/call", {"name": name, "arguments": arguments})
        if result.get("isError"):
            raise CallError("W2002", str(result["content"][0]["text"]))
        tools = await self.client.tools()
        tool = tools[widget.tool]
        self._page = await self._read_page(tool)
        self.messages.clear()
        self.calls.clear()
        self.submitted.clear()
        self._accepted.clear()
        mark = result.get("_meta", {}).get("widgetd/render", {})
        render = await self.server.store.renders.get(str(mark.get("id")))
        if render is None:
            raise CallError("W2007", "the result names no render")
        self._put(widget, content, render, state)
        is_linked = any(block["type"] == "resource_link" for block in result["content"])
        is_withheld = is_linked and self.profile.withholds_linked
        order = [part for part in self.profile.order if part != "result" or not is_withheld]
        message = {
            "src": "/view",
            "title": widget.definition.title,
            "tool": {**tool, "name": name} if name in tools else tool,
            "listed": sorted(tools),
            "arguments": arguments,
            "result": result,
        }
        context = {
            "theme": self.theme,
            "locale": self.locale,
            "styles": {"variables": {"--font-sans": FONTS}},
        }
        await self._play(
            "([profile, shown, context]) => window.stage.show(profile, shown, context)",
            [{**asdict(self.profile), "day": "", "order": order}, message, context],
        )
        await self._require_drawn("at first")
        self.emit("shown", widget=render.tool, renderId=render.id)

    async def _read_page(self, tool: dict[str, Any]) -> dict[str, Any]:
        meta = tool["_meta"]
        uri = meta["ui/resourceUri"] if self.profile.flat_uri else meta["ui"]["resourceUri"]
        if uri not in self.pages or not self.profile.caches_pages:
            answer = await self.client.request("resources/read", {"uri": uri})
            self.pages[uri] = answer["contents"][0]
        return self.pages[uri]

    async def _play(self, script: str, argument: object = None, *, draws: bool = True) -> None:
        for relay in tuple(self._relays):
            relay.cancel()
        self._drawn = anyio.Event()
        with anyio.fail_after(self.limits.draw_s):
            await self.page.evaluate(script, argument)
            if draws:
                await self._drawn.wait()
                await self.settle()

    async def _require_drawn(self, when: str) -> None:
        located = self.frame.locator("[data-component]").first
        try:
            await located.wait_for(timeout=self.limits.draw_s * 1000)
        except driver_errors():
            text = await self.frame.locator("body").inner_text()
            raise CallError("W4301", f"no widget is drawn {when}: {text:.200}") from None

    def _button(self, trigger: Trigger) -> Locator:
        own = self.frame.locator(f'button[data-action="{trigger.type}"]')
        return own.or_(self.frame.locator("form button[type=submit]")).first

    async def _submit(self, trigger: Trigger) -> None:
        for item in trigger.fields:
            box = self.frame.locator(f'[name="{item.name}"]').first
            if item.required and item.kind == "boolean":
                await box.check(force=True)
            elif item.required and await box.count() and not await box.input_value():
                await box.fill("ada@example.com" if "email" in item.name else "12")
        seq = self.seq
        await self._button(trigger).click(timeout=self.limits.draw_s * 1000)
        with anyio.fail_after(self.limits.draw_s):
            await self.frame.get_by_role("status").filter(has_text="was sent").wait_for()
            while not any(
                entry["seq"] > seq and entry["kind"] == "action" for entry in self.events
            ):
                await self.event_within(self.limits.draw_s)

    def _bindings(self) -> Mapping[str, Callable[..., Any]]:
        return {"stageCall": self._relay, "stageSent": self._receive}

    async def _relay(self, _source: object, method: str, params: dict[str, Any]) -> dict[str, Any]:
        with anyio.CancelScope() as scope:
            self._relays.add(scope)
            try:
                answer = await self.client.request(method, params)
            finally:
                self._relays.discard(scope)
        if scope.cancelled_caught:
            return {"content": [], "isError": True}
        if method == "tools/call":
            self.calls.append(params["name"])
            if params["name"].endswith("widget_action"):
                self._note_action(params["arguments"], answer)
        return answer

    def _note_action(self, request: dict[str, Any], answer: dict[str, Any]) -> None:
        if not answer.get("_meta", {}).get("widgetd/error"):
            self._accepted.add(request["action"])
            if not answer.get("structuredContent", {}).get("repeated"):
                self.submitted.append(request["action"])
        self._emit_action(request, answer)

    def _receive(self, _source: object, message: dict[str, Any]) -> None:
        kind = message.pop("kind")
        if kind == "drawn":
            self._drawn.set()
            return
        if kind == "message":
            self.messages.append(message["text"])
            sentence = _SENTENCE.search(message["text"])
            # The page also tells the model of an accepted action.
            if sentence and sentence[1] not in self._accepted:
                self.submitted.append(sentence[1])
                self.emit("action", type=sentence[1], payload=orjson.loads(sentence[2] or "{}"))
        self.emit(kind, **message)

    def _note_error(self, message: ConsoleMessage) -> None:
        if not (self.profile.ignores_image_origins and "image" in message.text):
            super()._note_error(message)

    def _answer_request(self, path: str) -> Served | None:
        if path == "/":
            return (files("widgetd.author.browser") / "emulator.html").read_text(
                encoding="utf-8"
            ), {}
        if path == "/emulator.js":
            script = (files("widgetd.author.browser") / "emulator.js").read_text(encoding="utf-8")
            return script, {"content-type": "text/javascript"}
        if path == "/view":
            csp = self._page.get("_meta", {}).get("ui", {}).get("csp", {})
            ignores = self.profile.ignores_image_origins
            origins = () if ignores else csp.get("resourceDomains", ())
            headers = frame_headers(origins)
            if self.profile.keeps_storage:
                policy = headers["content-security-policy"]
                headers["content-security-policy"] = f"{policy} allow-same-origin"
            return self._page["text"], headers
        return None
