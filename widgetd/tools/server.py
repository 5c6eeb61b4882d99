"""A registry becomes an MCP server. Knows nothing of files, ports or signals.

message -> seam (who calls, which snapshot) -> provider -> tool -> result
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from typing import Any

from fastmcp import FastMCP
from fastmcp.resources.base import Resource
from fastmcp.resources.template import ResourceTemplate
from fastmcp.server.auth import AuthProvider
from fastmcp.server.providers import Provider
from fastmcp.tools.base import Tool, ToolResult
from fastmcp.utilities.versions import VersionSpec
from mcp.shared.exceptions import MCPError
from mcp_types import CompletionArgument
from pydantic import PrivateAttr

from widgetd.catalog.registry import Registry
from widgetd.catalog.snapshot import Change, Snapshot
from widgetd.catalog.verdicts import Verdicts
from widgetd.errors import CallError
from widgetd.store.contract import Store
from widgetd.tools import sdk
from widgetd.tools.access import principal_of
from widgetd.tools.actions import action_tools
from widgetd.tools.audience import Views
from widgetd.tools.caller import CALLER
from widgetd.tools.clients import Clients
from widgetd.tools.gate import LISTS, admitted
from widgetd.tools.listing import Expose, Listings
from widgetd.tools.observer import Observer
from widgetd.tools.principal import LOCAL, Principal
from widgetd.tools.ready import ReadyLists
from widgetd.tools.refusal import error_result
from widgetd.tools.rendering import Rendering
from widgetd.tools.resources import Resources, render_resource, view_uri
from widgetd.tools.result import RENDERS, Policy
from widgetd.tools.seam import seam_of
from widgetd.tools.standing import StandingTool, standing_tools, unknown_widget
from widgetd.tools.tool import Toolbox

INSTRUCTIONS = (
    "Every tool here shows the user a widget. Call the one that fits what they should see, "
    "with the data it asks for. Tools come and go as files change: search_widgets always knows."
)

SESSION_IDLE_S = 300
"""A legacy client that vanished without a word is forgotten after this time."""


class _Refusing(Tool):
    """Answers a call with why it is refused, or why there is no such tool."""

    _result: ToolResult = PrivateAttr()

    @classmethod
    def because(cls, error: CallError) -> _Refusing:
        tool = cls(name="refusing", parameters={"type": "object"})
        tool._result = error_result(error)
        return tool

    async def run(self, arguments: dict[str, Any]) -> ToolResult:  # noqa: ARG002 - whatever they are
        return self._result


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
        toolbox: Admits widgets, and makes their tools.
        listings: What is listed.
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
    toolbox: Toolbox
    listings: Listings
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
        return app

    async def _ready_page(self, user: Any, after: str) -> bytes | None:
        principal = principal_of(user, self.otherwise)
        try:
            async with admitted(LISTS, {}, principal, self.store.limits):
                snapshot = self.views.of(self.registry.current, principal.audience)
                return self.listings.of(snapshot).ready(after, sdk.modern_envelope(self.mcp))
        except MCPError:
            return None

    def listed(self, before: Snapshot, after: Snapshot, change: Change) -> bool:
        """Whether clients that know `before` should fetch the list again."""
        if change.added or change.removed:
            return True
        shown = self.listings.of(after).tools
        return any(tool in shown for tool in change.relisted) or (
            shown.keys() != self.listings.of(before).tools.keys()
        )


Lifespan = Callable[[Server], AbstractAsyncContextManager[None]]
"""What runs as long as a server does."""


class WidgetProvider(Provider):
    """The widgets of the snapshot that the request at hand is answered from.

    Args:
        server: What is served.
        standing: The tools that are always there.
        lifespan: Entered with the server's own.
    """

    def __init__(
        self, server: Server, standing: Sequence[StandingTool], lifespan: Lifespan | None
    ) -> None:
        super().__init__()
        self._server = server
        self._standing = {tool.name: tool for tool in standing}
        self._lifespan = lifespan

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Whatever must run as long as the server does."""
        async with self._lifespan(self._server) if self._lifespan else nullcontext():
            yield

    async def _list_tools(self) -> Sequence[Tool]:
        return tuple(self._server.listings.of(self._snapshot).tools.values())

    async def _get_tool(self, name: str, version: VersionSpec | None = None) -> Tool | None:  # noqa: ARG002 - widgets have one version
        caller = CALLER.get(None)
        if caller is not None and caller.refusal is not None:
            return _Refusing.because(caller.refusal)
        if name in self._standing:
            return self._standing[name]
        widgets = self._snapshot.widgets
        if name in widgets:
            return self._server.toolbox.of(widgets[name])
        error = unknown_widget(name, widgets)
        return _Refusing.because(error) if self._server.alone else None

    async def _list_resources(self) -> Sequence[Resource]:
        return tuple(self._server.resources.listed(self._snapshot))

    async def _list_resource_templates(self) -> Sequence[ResourceTemplate]:
        return self._server.resources.templates()

    async def _get_resource(self, uri: str, version: VersionSpec | None = None) -> Resource | None:  # noqa: ARG002 - resources have one version
        if uri.startswith(RENDERS):
            try:
                render = await self._server.rendering.kept(uri.removeprefix(RENDERS))
            except CallError:
                return None
            return render_resource(uri, render)
        return self._server.resources.find(uri, self._snapshot)

    async def _get_resource_template(
        self,
        uri: str,  # noqa: ARG002 - whatever a template leads to is found as a resource
        version: VersionSpec | None = None,  # noqa: ARG002 - as above
    ) -> ResourceTemplate | None:
        return None

    @property
    def _snapshot(self) -> Snapshot:
        caller = CALLER.get(None)
        return self._server.registry.current if caller is None else caller.snapshot


def build(
    registry: Registry,
    store: Store,
    *,
    policy: Policy,
    expose: Expose = "auto",
    page_size: int = 0,
    resources: Resources | None = None,
    verdicts: Verdicts | None = None,
    auth: AuthProvider | None = None,
    observers: Sequence[Observer] = (),
    otherwise: Principal = LOCAL,
) -> Server:
    """A server whose tools are the registry's widgets, at every moment.

    Args:
        registry: Where the widgets are.
        store: Where renders are kept.
        policy: How results are shaped.
        expose: Whether every widget is listed, or the pinned ones.
        page_size: How many tools stand on one page of a list; 0 for all.
        resources: What can be read besides.
        verdicts: What was proven before; None to prove everything.
        auth: Decides who may come in over HTTP.
        observers: Are told of each call.
        otherwise: Who calls where no token says it.

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
    server = attach(
        mcp,
        registry,
        store,
        policy=policy,
        expose=expose,
        page_size=page_size,
        resources=resources,
        verdicts=verdicts,
        alone=True,
        observers=observers,
        otherwise=otherwise,
    )
    sdk.answer_schemas_from(mcp, partial(_header_schema, registry, server.toolbox))
    return server


def attach(
    mcp: FastMCP,
    registry: Registry,
    store: Store,
    *,
    policy: Policy,
    expose: Expose = "auto",
    page_size: int = 0,
    resources: Resources | None = None,
    verdicts: Verdicts | None = None,
    alone: bool = False,
    observers: Sequence[Observer] = (),
    otherwise: Principal = LOCAL,
    lifespan: Lifespan | None = None,
) -> Server:
    """Add the registry's widgets to a FastMCP server, and tell its clients when they change.

    Args:
        mcp: Anybody's server; it keeps what else it serves.
        registry: Where the widgets are.
        store: Where renders are kept.
        policy: How results are shaped.
        expose: Whether every widget is listed, or the pinned ones.
        page_size: How many tools stand on one page of a list; 0 for all.
        resources: What can be read besides.
        verdicts: What was proven before; None to prove everything.
        alone: Whether nothing else is served, so that lists and unknown names are ours to answer.
        observers: Are told of each call.
        otherwise: Who calls where no token says it.
        lifespan: Entered when the server starts, with what was attached; left when it ends.

    Raises:
        ConfigError: The installed fastmcp or mcp is not one that widgetd knows.
    """
    sdk.verify(mcp)
    rendering = Rendering(registry, policy, store)
    readable = resources or Resources()
    toolbox = Toolbox(
        rendering, view_uri=view_uri if readable.has_view else None, verdicts=verdicts
    )
    standing = (*standing_tools(rendering), *action_tools(rendering, store))
    server = Server(
        registry=registry,
        mcp=mcp,
        rendering=rendering,
        resources=readable,
        store=store,
        clients=Clients(),
        toolbox=toolbox,
        listings=Listings(toolbox, standing, expose=expose, page_size=page_size),
        alone=alone,
        observers=tuple(observers),
        otherwise=otherwise,
    )
    mcp.add_provider(WidgetProvider(server, standing, lifespan))
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


def _header_schema(registry: Registry, toolbox: Toolbox, name: str) -> dict[str, Any] | None:
    """The schema of a tool that wants arguments repeated in headers; None for all others."""
    widget = registry.current.widgets.get(name)
    if widget is None:
        return None
    tool = toolbox.of(widget)
    return tool.parameters if tool.wants_headers else None
