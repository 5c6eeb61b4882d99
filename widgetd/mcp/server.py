"""The server: what answers calls and lists of one registry, and the roots that lead to it.

    caller, name, arguments -> built-in tool or widget -> result

It knows nothing of files, ports, signals or of how messages arrive; `assembly` connects it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

from fastmcp import FastMCP

from widgetd.access.principal import LOCAL, Caller, Principal, SnapshotViews
from widgetd.catalog.draws import Draws
from widgetd.catalog.registry import Registry
from widgetd.catalog.snapshot import Snapshot
from widgetd.errors import CallError
from widgetd.mcp.builtin import CORE_TOOLS
from widgetd.mcp.builtin.table import BuiltinResource, BuiltinTool, BuiltinTools, ToolContext
from widgetd.mcp.clients import Clients
from widgetd.mcp.listing import LIST_TOKENS, Expose, Pages, ResourceListings, ToolListings
from widgetd.mcp.resources import Resources
from widgetd.mcp.roots import Root
from widgetd.mcp.sessions import SessionBounds, Sessions
from widgetd.observe.observer import Observer
from widgetd.render.calls import Rendering
from widgetd.render.entry import said_of, tool_entry
from widgetd.render.result import Policy, Result, error_result, unknown_widget
from widgetd.search.search import Search
from widgetd.store.contract import Store
from widgetd.widget.widget import Widget


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """How widgets are served, whatever they are.

    Attributes:
        policy: How results are shaped.
        expose: Whether every widget is listed, or the pinned ones.
        list_tokens: What listed widgets may cost a model, before `auto` lists the pinned ones.
        formats: Whether listed schemas say each `format`, which is enforced in any case.
        page_size: How many tools stand on one page of a list; 0 for all.
        resources: What can be read besides.
        observers: Are told of each call.
        otherwise: Who calls where no token says it.
        sessions: How many legacy sessions may be open over HTTP.
        draws: What is being drawn.
        builtin: The rows of the table of built-in tools, of all toolsets.
        reserved: What else no widget may be called.
        toolsets: Those that are switched on besides `core`.
        unlisted: Tools that would only say why they cannot be used here.
        readable: What the toolsets have to read, of all of them.
        services: What their rows need, by type.
        traced: Whether somebody wants a span of each request.
    """

    policy: Policy = field(default_factory=Policy)
    expose: Expose = "auto"
    list_tokens: int = LIST_TOKENS
    formats: bool = True
    page_size: int = 0
    resources: Resources = field(default_factory=Resources)
    observers: Sequence[Observer] = ()
    otherwise: Principal = LOCAL
    sessions: SessionBounds = field(default_factory=SessionBounds)
    draws: Draws | None = None
    builtin: Sequence[BuiltinTool] = CORE_TOOLS
    reserved: frozenset[str] = frozenset()
    toolsets: Sequence[str] = ()
    unlisted: Sequence[str] = ()
    readable: Sequence[BuiltinResource] = ()
    services: Mapping[type, object] = field(default_factory=lambda: MappingProxyType({}))
    traced: bool = False


class Server:
    """What a FastMCP server serves of a registry, and who listens to it.

    Attributes:
        mcp: Ready to be run on any transport.
        standalone: Whether nothing else is served, so that lists are ours to answer.
        otherwise: Who calls where no token says it.
        traced: Whether somebody wants a span of each request.
        admit: Widget to its entry in a list of tools; raises `WidgetError` where it has none.
        said_of: Widget to what a list says of its tool, as the SDK's own tools hold it.
        roots: The servers through which clients reach all this, `mcp` first.
        sessions: Whose legacy sessions are open over HTTP; None where it is not served.

    Raises:
        ConfigError: Two built-in tools have the same name.
    """

    def __init__(
        self,
        mcp: FastMCP,
        registry: Registry,
        store: Store,
        options: ServerOptions,
        *,
        standalone: bool,
    ) -> None:
        self.mcp = mcp
        self.registry = registry
        self.store = store
        self.standalone = standalone
        self.resources = resources = options.resources
        self.observers = options.observers
        self.otherwise = options.otherwise
        self.traced = options.traced
        self.rendering = Rendering(
            registry, options.policy, store, observers=options.observers, draws=options.draws
        )
        self.builtin = builtin = BuiltinTools(options.builtin, options.toolsets, options.unlisted)
        self._readable = tuple(one for one in options.readable if one.toolset in options.toolsets)
        self.services: dict[type, object] = {BuiltinTools: builtin, **options.services}
        self.search = Search()
        self.views = SnapshotViews()
        self.admit: Callable[[Widget], bytes] = partial(
            tool_entry,
            has_view=resources.has_view,
            formats=options.formats,
            reserved=builtin.reserved | options.reserved,
        )
        self.said_of: Callable[[Widget], dict[str, Any]] = partial(
            said_of, has_view=resources.has_view, formats=options.formats
        )
        self.listings = ToolListings(
            self.admit,
            builtin,
            expose=options.expose,
            list_tokens=options.list_tokens,
            page_size=options.page_size,
        )
        self.resource_listings = ResourceListings(resources, self.listings.shown, options.page_size)
        self.roots: list[Root] = []
        self.session_bounds = options.sessions
        self.sessions: Sessions | None = None

    @property
    def clients(self) -> Clients:
        """Who listens to `mcp`."""
        return self.roots[0].clients

    async def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> Result:
        """Answer a call of a widget or a built-in tool; errors are results too."""
        if caller.refusal is not None:
            return error_result(caller.refusal)
        if name in self.builtin:
            return await self.builtin.call(name, arguments, self.context(caller))
        widget = caller.snapshot.widgets.get(name)
        try:
            if widget is None:
                raise unknown_widget(name, caller.snapshot.widgets)
            return await self.rendering.call(widget, arguments, caller)
        except CallError as error:
            return error_result(error)

    def context(self, caller: Caller) -> ToolContext:
        """What a handler of a built-in tool may use."""
        return ToolContext(
            caller=caller,
            rendering=self.rendering,
            store=self.store,
            search=self.search,
            schema=lambda widget: self.said_of(widget)["inputSchema"],
            services=self.services,
        )

    def readable_by(self, principal: Principal) -> tuple[BuiltinResource, ...]:
        """What the toolsets have to read for `principal`."""
        return tuple(one for one in self._readable if one.scope in principal.scopes)

    def provide(self, *services: object) -> None:
        """Hand in what the rows of some toolsets need and can be made only now."""
        self.services.update({type(service): service for service in services})

    def end_streams(self, gone: Collection[Principal] | None = None) -> None:
        """End the streams on which clients hear of changes; those of `gone`, or all."""
        if gone is None:
            self.clients.close()
        else:
            self.clients.end(gone)
        if self.sessions is not None:
            self.sessions.end_streams(gone)

    def tools_for(self, principal: Principal, snapshot: Snapshot, *, apps: bool = True) -> Pages:
        """The list of tools that `principal` is given of their view of a snapshot.

        Without `apps`, their client shows no MCP Apps views, whose pages have tools of their own.
        """
        return self.listings.of(snapshot, self.builtin.listed_for(principal.scopes, apps=apps))
