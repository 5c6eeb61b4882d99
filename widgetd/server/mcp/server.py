"""The server: answers to calls and lists of a registry, and the roots in front of it.

    caller, name, arguments -> built-in tool or widget -> result

It knows nothing of files, ports, signals or the transport of messages. `assembly` connects it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

from fastmcp import FastMCP

from widgetd.base.errors import CallError
from widgetd.base.system import SYSTEM, System
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import LOCAL, Caller, Principal, SnapshotViews
from widgetd.server.catalog.crash_journal import CrashJournal
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp.builtin import CORE_TOOLS
from widgetd.server.mcp.builtin.table import BuiltinResource, BuiltinTool, BuiltinTools, ToolContext
from widgetd.server.mcp.clients import Clients
from widgetd.server.mcp.limits import LIMITS as MCP_LIMITS
from widgetd.server.mcp.listing import AppTools, Expose, ResourceListings, ToolListings
from widgetd.server.mcp.resources import Resources
from widgetd.server.mcp.roots import Root
from widgetd.server.mcp.sessions import SessionBounds, Sessions
from widgetd.server.observe.observer import Observer, RecordDuration
from widgetd.server.render.action_callers import ActionCaller
from widgetd.server.render.calls import Renderer
from widgetd.server.render.entry import entry_fields, tool_entry
from widgetd.server.render.hosts import draws_views
from widgetd.server.render.inline_images import InlineImages
from widgetd.server.render.result import Policy, Result, error_result
from widgetd.server.search.search import Search
from widgetd.server.store.factory import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """Options of a server apart from its widgets.

    Attributes:
        expose: Whether all widgets are listed, or only the pinned widgets.
        list_tokens: Token cost of listed widgets from which `auto` lists only the pinned widgets.
        formats: Whether listed schemas include `format`. It is enforced in any case.
        allow_unasked: Whether clients that cannot ask their user may change something.
        app_tools: Whether tools for pages are listed to all clients, or to drawing clients.
        page_size: Tools on a page of a list. 0 for all.
        images: The inline images of results. None for none.
        observers: Receive each call, render and notice.
        anonymous: The principal of requests without a token.
        sessions: Limits on legacy sessions over HTTP.
        builtin: The rows of built-in tools of all toolsets.
        reserved: Names that no widget may have.
        toolsets: The active toolsets besides `core`.
        readable: The resources of all toolsets.
        services: The services of toolsets, by toolset.
        traced: Whether each request gets an OpenTelemetry span.
        record_duration: Receives the duration of each request. None to measure none.
        system: Dates renders and presses, and makes their ids.
    """

    policy: Policy = field(default_factory=Policy)
    expose: Expose = "auto"
    list_tokens: int = MCP_LIMITS.list_tokens
    formats: bool = True
    allow_unasked: bool = False
    app_tools: AppTools = "auto"
    page_size: int = 0
    resources: Resources = field(default_factory=Resources)
    images: InlineImages | None = None
    observers: Sequence[Observer] = ()
    anonymous: Principal = LOCAL
    sessions: SessionBounds = field(default_factory=SessionBounds)
    journal: CrashJournal | None = None
    builtin: Sequence[BuiltinTool] = CORE_TOOLS
    reserved: Container[str] | None = None
    toolsets: Sequence[str] = ()
    readable: Sequence[BuiltinResource] = ()
    services: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    traced: bool = False
    record_duration: RecordDuration | None = None
    system: System = SYSTEM


class Server:
    """A registry as an MCP server, with its roots and sessions.

    Attributes:
        mcp: The FastMCP server, ready to run on any transport.
        standalone: Whether it serves nothing else, so we answer lists ourselves.
        admit: Encodes a widget's list entry, or raises `WidgetError`.
        entry_fields: Returns a widget's list entry as the fields of an SDK tool.
        roots: The servers through which clients reach the widgets, `mcp` first.
        sessions: The open legacy sessions over HTTP. None without HTTP.

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
        self.options = options
        self.standalone = standalone
        self.resources = resources = options.resources
        self.rendering = Renderer(
            registry,
            options.policy,
            store,
            observers=options.observers,
            journal=options.journal,
            images=options.images,
            system=options.system,
        )
        self.builtin = builtin = BuiltinTools(options.builtin, options.toolsets)
        asking = [row for row in options.builtin if row.asks]
        self._consent = BuiltinTools(asking, {row.toolset for row in asking})
        self._readable = tuple(
            resource for resource in options.readable if resource.toolset in options.toolsets
        )
        self.services: dict[str, Any] = {**options.services}
        self.actions = ActionCaller()
        self.search = Search()
        self.views = SnapshotViews()
        listed: dict[str, Any] = {
            "has_view": bool(resources.view),
            "formats": options.formats,
            "image_origins": resources.image_origins,
        }
        self.entry_fields: Callable[[Widget], dict[str, Any]] = partial(entry_fields, **listed)
        reserved = builtin.reserved if options.reserved is None else options.reserved
        self.admit: Callable[[Widget], bytes] = partial(tool_entry, **listed, reserved=reserved)
        self.listings = ToolListings(
            self.admit,
            builtin,
            expose=options.expose,
            list_tokens=options.list_tokens,
            page_size=options.page_size,
        )
        self.resource_listings = ResourceListings(
            resources, self.listings.listed_widgets, options.page_size
        )
        self.roots: list[Root] = []
        self.sessions: Sessions | None = None

    @property
    def clients(self) -> Clients:
        return self.roots[0].clients

    async def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> Result:
        if caller.denied is not None:
            return error_result(caller.denied)
        if name in self.builtin:
            return await self.builtin.call(name, arguments, self.context(caller))
        widget = caller.snapshot.widgets.get(name)
        try:
            if widget is None:
                raise await self.search.explain_unknown(name, caller)
            return await self.rendering.call(widget, arguments, caller)
        except CallError as error:
            return error_result(error)

    def context(self, caller: Caller) -> ToolContext[None]:
        return ToolContext(
            caller=caller,
            rendering=self.rendering,
            store=self.store,
            search=self.search,
            schema=lambda widget: self.entry_fields(widget)["inputSchema"],
            services=None,
            consent=self._consent,
            toolsets=self.services,
            actions=self.actions,
            observers=self.options.observers,
        )

    def readable_by(self, principal: Principal) -> tuple[BuiltinResource, ...]:
        return tuple(resource for resource in self._readable if resource.scope in principal.scopes)

    def end_streams(self, gone: Collection[Principal] | None = None) -> None:
        if gone is None:
            self.clients.close()
        else:
            self.clients.end(gone)
        if self.sessions is not None:
            self.sessions.end_streams(gone)

    def listed_tools(self, caller: Caller) -> frozenset[str]:
        # Tools for pages are of no use to a client without views.
        apps = self.options.app_tools == "always" or draws_views(caller.client)
        return self.builtin.listed_for(caller.principal.scopes, apps=apps)
