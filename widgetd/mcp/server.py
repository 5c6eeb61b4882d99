"""A registry becomes an MCP server. Knows nothing of files, ports or signals.

message -> middleware (who calls, which snapshot) -> built-in tool or widget -> result
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

from fastmcp import FastMCP
from fastmcp.server.auth import AuthProvider
from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp_types import CallToolRequestParams, CompletionArgument

from widgetd.access.auth import Access, principal_of
from widgetd.access.principal import LOCAL, Caller, Principal, SnapshotViews, current_caller
from widgetd.catalog.draws import Draws
from widgetd.catalog.registry import Registry
from widgetd.catalog.snapshot import Snapshot
from widgetd.errors import CallError, ConfigError
from widgetd.mcp import sdk
from widgetd.mcp.builtin import CORE_TOOLS
from widgetd.mcp.builtin.table import BuiltinResource, BuiltinTool, BuiltinTools, ToolContext
from widgetd.mcp.fast_path import FastPath
from widgetd.mcp.handlers import CALLS, call_tool
from widgetd.mcp.listing import LIST_TOKENS, Expose, Pages, ResourceListings, ToolListings
from widgetd.mcp.login import Challenges
from widgetd.mcp.notifications import Clients
from widgetd.mcp.provider import Lifespan, Root, WidgetProvider
from widgetd.mcp.resources import Resources
from widgetd.mcp.sessions import SessionBounds, Sessions
from widgetd.mcp.unambiguous import Unambiguous
from widgetd.observe.observer import Observer
from widgetd.render.calls import Rendering
from widgetd.render.entry import said_of, tool_entry
from widgetd.render.result import Policy, Result, error_result, unknown_widget
from widgetd.search.search import Search
from widgetd.store.contract import Store
from widgetd.widget.widget import Widget

INSTRUCTIONS = (
    "Every tool here shows the user a widget. Call the one that fits what they should see, "
    "with the data it asks for; what it shows need not be repeated in words. Where it has buttons "
    "or fields, its result ends with a render id: give that to await_widget_action, which waits "
    "for what the user does. Tools come and go as files change: search_widgets always knows."
)


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

    async def answer_call(self, _context: sdk.Context, params: CallToolRequestParams) -> Any:
        """Answer a call that the fast path did not, before FastMCP looks for a tool of that name.

        Of what the result says, the SDK drops what the caller's protocol does not know.
        """
        arguments, caller = params.arguments or {}, current_caller(self.registry)
        tool = self.builtin.get(params.name)
        if tool is not None and tool.asks and caller.client.asks and caller.refusal is None:
            said, question = sdk.confirmed(params), tool.asks(self.context(caller), arguments)
            if question and said is None:
                return sdk.asked_first(question)
            if question and not said:
                refusal = CallError("W3006", "the user did not agree, so nothing was done")
                return {"resultType": "complete", **error_result(refusal).values()}
        result = await call_tool(self, params.name, arguments, caller)
        return {"resultType": "complete", **result.values()}

    def complete(
        self, _reference: object, argument: CompletionArgument, _context: object
    ) -> list[str]:
        """The tools that begin with what was typed, for `{tool}` in a resource's address."""
        if argument.name != "tool":
            return []
        widgets = current_caller(self.registry).snapshot.widgets
        return [tool for tool in widgets if tool.startswith(argument.value)]

    def header_schema(self, name: str) -> dict[str, Any] | None:
        """The schema of a tool that wants arguments repeated in headers; None for all others."""
        # Asked before anybody knows the caller; a schema would tell that there is such a widget.
        audience = principal_of(auth_context_var.get(), self.otherwise).audience
        widget = self.views.of(self.registry.current, audience).widgets.get(name)
        if widget is None or not self.listings.wants_headers(widget):
            return None
        return dict(widget.advertised)

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

    def http_app(
        self,
        path: str,
        *,
        allowed_hosts: Sequence[str],
        allowed_origins: Sequence[str],
        middleware: Sequence[Any],
    ) -> Any:
        """The server as an ASGI app, with Host and Origin checked before anything else.

        Args:
            path: Where MCP is served; there is no other route yet.
            allowed_hosts: Host headers to accept besides loopback.
            allowed_origins: Browser origins to accept besides loopback.
            middleware: ASGI layers inside that check.
        """
        # Plain JSON answers survive a shutdown and have no size limit, as an event
        # in a stream has; streams that are asked for are streams all the same.
        app = self.mcp.http_app(
            path=path,
            json_response=True,
            host_origin_protection=True,
            allowed_hosts=list(allowed_hosts),
            allowed_origins=list(allowed_origins),
            session_idle_timeout=self.session_bounds.idle_s,
            middleware=list(middleware),
        )
        route = sdk.route_of(app, path)
        sdk.wrap_endpoint(route, Unambiguous)
        sessions = partial(
            Sessions,
            bounds=self.session_bounds,
            limits=self.store.limits,
            otherwise=self.otherwise,
            clients=self.clients,
        )
        self.sessions = sdk.wrap_endpoint(route, sessions)
        if isinstance(self.mcp.auth, Access):
            route.app = Challenges(route.app, server=self, login=self.mcp.auth.login)
        if not self.traced:  # spans are made by what the fast path leaves out
            fast_path = partial(
                FastPath,
                server=self,
                path=path,
                sessions=self.sessions,
                host_check=sdk.host_check(app),
            )
            sdk.put_before(app, fast_path)
        return app


def build(
    registry: Registry,
    store: Store,
    options: ServerOptions | None = None,
    *,
    auth: AuthProvider | None = None,
) -> Server:
    """A server whose tools are the registry's widgets, at every moment.

    Raises:
        ConfigError: The installed fastmcp or mcp is not one that widgetd knows, or two built-in
            tools have the same name.
    """
    mcp = FastMCP(
        "widgetd",
        version=version("widgetd"),
        instructions=INSTRUCTIONS,
        auth=auth,
        dereference_schemas=False,
        mask_error_details=True,
    )
    server = attach(mcp, registry, store, options, standalone=True)
    mcp.completion(server.complete)
    lowlevel = sdk.lowlevel_of(mcp)
    # So that a call does not list all tools to find the schema of one.
    lowlevel.get_tool_input_schema = server.header_schema
    lowlevel.add_request_handler(CALLS, CallToolRequestParams, server.answer_call)
    return server


def attach(
    mcp: FastMCP,
    registry: Registry,
    store: Store,
    options: ServerOptions | None = None,
    *,
    standalone: bool = False,
    lifespan: Lifespan | None = None,
) -> Server:
    """Add the registry's widgets to a FastMCP server, and tell its clients when they change.

    Args:
        mcp: Anybody's server; it keeps what else it serves.
        registry: Where the widgets are.
        store: What outlives a call.
        options: How they are served.
        standalone: Whether nothing else is served.
        lifespan: Entered when the server starts, with what was attached; left when it ends.

    Raises:
        ConfigError: The installed fastmcp or mcp is not one that widgetd knows (W0007), or the
            server has widgets already (W0030).
    """
    sdk.verify(mcp)
    if any(isinstance(provider, WidgetProvider) for provider in mcp.providers):
        raise ConfigError(
            "W0030",
            f"the server '{mcp.name}' has widgets already, from a call of register before this one",
            "register one folder, once; mount a server of its own for another folder",
        )
    server = Server(mcp, registry, store, options or ServerOptions(), standalone=standalone)
    provider = WidgetProvider(server, lifespan)
    mcp.add_provider(provider)
    server.roots.append(Root(mcp, provider, server))
    return server
