"""A registry becomes an MCP server. Knows nothing of files, ports or signals.

message -> seam (who calls, which snapshot) -> provider -> tool -> result
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from typing import Any

from fastmcp import FastMCP
from fastmcp.server.auth import AuthProvider
from mcp.shared.exceptions import MCPError
from mcp_types import CompletionArgument

from widgetd.catalog.registry import Registry
from widgetd.mcp import sdk
from widgetd.mcp.admission import LISTS, admitted
from widgetd.mcp.audience import Views
from widgetd.mcp.auth import principal_of
from widgetd.mcp.builtin.actions import action_tools
from widgetd.mcp.builtin.catalog import StandingTool, standing_tools
from widgetd.mcp.calls import Rendering
from widgetd.mcp.clients import Clients
from widgetd.mcp.direct_calls import direct
from widgetd.mcp.entry import tool_entry
from widgetd.mcp.listing import Expose, Listings
from widgetd.mcp.middleware import seam_of
from widgetd.mcp.observer import Observer
from widgetd.mcp.principal import LOCAL, Principal
from widgetd.mcp.provider import Lifespan, WidgetProvider
from widgetd.mcp.ready_lists import ReadyLists
from widgetd.mcp.resource_listing import Readable
from widgetd.mcp.resources import Resources
from widgetd.mcp.result import Policy
from widgetd.mcp.standing_streams import StandingStreams
from widgetd.mcp.tool import WidgetTools
from widgetd.store.contract import Store
from widgetd.widget.widget import Widget

INSTRUCTIONS = (
    "Every tool here shows the user a widget. Call the one that fits what they should see, "
    "with the data it asks for. Tools come and go as files change: search_widgets always knows."
)

SESSION_IDLE_S = 300
"""A legacy client that vanished without a word is forgotten after this time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """How widgets are served, whatever they are.

    Attributes:
        policy: How results are shaped.
        expose: Whether every widget is listed, or the pinned ones.
        page_size: How many tools stand on one page of a list; 0 for all.
        resources: What can be read besides.
        observers: Are told of each call.
        otherwise: Who calls where no token says it.
    """

    policy: Policy = field(default_factory=Policy)
    expose: Expose = "auto"
    page_size: int = 0
    resources: Resources = field(default_factory=Resources)
    observers: Sequence[Observer] = ()
    otherwise: Principal = LOCAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """An MCP server over a registry, and who listens to it.

    Attributes:
        registry: Where the widgets are.
        mcp: The FastMCP server, ready to be run on any transport.
        rendering: Answers calls.
        resources: What can be read besides.
        store: Where renders are kept.
        clients: Whom to tell of changes.
        admit: Widget to its entry in a list of tools; raises `WidgetError` where it has none.
        tools: The tool of each widget.
        listings: What is listed.
        readable: What is listed of the resources.
        standing: The tools that are always there, by name.
        alone: Whether nothing else is served, so that lists and unknown names are ours to answer.
        observers: Are told of each call.
        otherwise: Who calls where no token says it.
        views: What each audience sees.
    """

    registry: Registry
    mcp: FastMCP
    rendering: Rendering
    resources: Resources
    store: Store
    clients: Clients
    admit: Callable[[Widget], bytes]
    tools: WidgetTools
    listings: Listings
    readable: Readable
    standing: Mapping[str, StandingTool]
    alone: bool
    observers: Sequence[Observer] = ()
    otherwise: Principal = LOCAL
    views: Views = field(default_factory=Views)

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
            session_idle_timeout=SESSION_IDLE_S,
            middleware=list(middleware),
        )
        sdk.wrap_endpoint(app, path, lambda endpoint: ReadyLists(endpoint, self._ready_page))
        sdk.wrap_endpoint(app, path, lambda endpoint: StandingStreams(endpoint, self.clients))
        return app

    async def _ready_page(self, user: Any, after: str) -> bytes | None:
        principal = principal_of(user, self.otherwise)
        try:
            async with admitted(LISTS, {}, principal, self.store.limits):
                snapshot = self.views.of(self.registry.current, principal.audience)
                return self.listings.of(snapshot).ready(after, sdk.modern_envelope(self.mcp))
        except MCPError:
            return None


def build(
    registry: Registry,
    store: Store,
    options: ServerOptions | None = None,
    *,
    auth: AuthProvider | None = None,
) -> Server:
    """A server whose tools are the registry's widgets, at every moment.

    Args:
        registry: Where the widgets are.
        store: Where renders are kept.
        options: How they are served.
        auth: Decides who may come in over HTTP.

    Raises:
        ConfigError: The installed fastmcp or mcp is not one that widgetd knows.
    """
    mcp = FastMCP(
        "widgetd",
        version=version("widgetd"),
        instructions=INSTRUCTIONS,
        auth=auth,
        dereference_schemas=False,
        mask_error_details=True,
    )
    server = attach(mcp, registry, store, options, alone=True)
    sdk.answer_schemas_from(mcp, partial(_header_schema, registry, server.tools))
    sdk.answer_calls(mcp, partial(direct, server.tools))
    return server


def attach(
    mcp: FastMCP,
    registry: Registry,
    store: Store,
    options: ServerOptions | None = None,
    *,
    alone: bool = False,
    lifespan: Lifespan | None = None,
) -> Server:
    """Add the registry's widgets to a FastMCP server, and tell its clients when they change.

    Args:
        mcp: Anybody's server; it keeps what else it serves.
        registry: Where the widgets are.
        store: Where renders are kept.
        options: How they are served.
        alone: Whether nothing else is served, so that lists and unknown names are ours to answer.
        lifespan: Entered when the server starts, with what was attached; left when it ends.

    Raises:
        ConfigError: The installed fastmcp or mcp is not one that widgetd knows.
    """
    options = options or ServerOptions()
    sdk.verify(mcp)
    rendering = Rendering(registry, options.policy, store, observers=options.observers)
    has_view = options.resources.has_view
    admit = partial(tool_entry, has_view=has_view)
    tools = WidgetTools(rendering, has_view=has_view)
    standing = (*standing_tools(rendering), *action_tools(rendering, store))
    listings = Listings(tools, admit, standing, expose=options.expose, page_size=options.page_size)
    server = Server(
        registry=registry,
        mcp=mcp,
        rendering=rendering,
        resources=options.resources,
        store=store,
        clients=Clients(),
        admit=admit,
        tools=tools,
        listings=listings,
        readable=Readable(options.resources, listings.shown, options.page_size),
        standing={tool.name: tool for tool in standing},
        alone=alone,
        observers=options.observers,
        otherwise=options.otherwise,
    )
    mcp.add_provider(WidgetProvider(server, lifespan))
    sdk.serve_listen(mcp, server.clients.listen)
    sdk.serve_subscribe(mcp, server.clients.subscribe, server.clients.unsubscribe)
    if alone:
        mcp.completion(partial(_complete, rendering))
    sdk.add_seam(mcp, seam_of(server))
    return server


def _complete(
    rendering: Rendering,
    _reference: object,
    argument: CompletionArgument,
    _context: object,
) -> list[str]:
    """The tools that begin with what was typed, for `{tool}` in a resource's address."""
    if argument.name != "tool":
        return []
    widgets = rendering.caller.snapshot.widgets
    return [tool for tool in widgets if tool.startswith(argument.value)]


def _header_schema(registry: Registry, tools: WidgetTools, name: str) -> dict[str, Any] | None:
    """The schema of a tool that wants arguments repeated in headers; None for all others."""
    widget = registry.current.widgets.get(name)
    if widget is None:
        return None
    tool = tools.of(widget)
    return tool.parameters if tool.wants_headers else None
