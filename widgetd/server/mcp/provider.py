"""The edge to FastMCP and the SDK: their own calls, without our request.

Each answer comes from the snapshot of the request at hand. The middleware left its caller in a
ContextVar, because these signatures are not ours.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from functools import cached_property, partial
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary

from fastmcp import FastMCP
from fastmcp.prompts import Prompt
from fastmcp.resources.base import Resource
from fastmcp.resources.template import ResourceTemplate
from fastmcp.server.providers import Provider
from fastmcp.tools.base import Tool, ToolResult
from fastmcp.utilities.components import FastMCPComponent
from fastmcp.utilities.versions import VersionSpec
from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp_types import CallToolRequestParams, CallToolResult, CompletionArgument
from mcp_types import Tool as McpTool
from pydantic import PrivateAttr

from widgetd.base.errors import CallError
from widgetd.core.widget.widget import Widget
from widgetd.server.access.auth import principal_of
from widgetd.server.access.principal import Caller, current_caller, with_prefix
from widgetd.server.mcp import sdk
from widgetd.server.mcp.builtin.table import BuiltinTool
from widgetd.server.mcp.elicitation import ask_consent
from widgetd.server.mcp.handlers import call_tool
from widgetd.server.mcp.middleware import middleware_of
from widgetd.server.mcp.prompts import show_data_prompt
from widgetd.server.mcp.resources import read_of_toolset, render_resource, resources_of
from widgetd.server.mcp.roots import Root
from widgetd.server.mcp.server import Server
from widgetd.server.render.entry import page_meta
from widgetd.server.render.result import RENDERS, Result

Lifespan = Callable[[Server], AbstractAsyncContextManager[None]]
"""A context entered at the start of a server and left at its end."""

Answer = Callable[[dict[str, Any]], Awaitable[Result]]
"""Answers a call with these arguments. Errors are results, too."""


class ServedTool(Tool):
    """A tool of ours as a FastMCP tool, with the author's schema verbatim and our own result."""

    _answer: Answer = PrivateAttr()

    def __init__(self, answer: Answer, **fields: Any) -> None:
        super().__init__(**fields)
        self._answer = answer

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        result = await self._answer(arguments)
        return ToolResult.from_mcp_result(CallToolResult.model_validate(result.values()))

    def get_meta(self) -> dict[str, Any]:
        return self.meta or {}

    def to_mcp_tool(self, **overrides: Any) -> McpTool:
        return super().to_mcp_tool(**{"_meta": self.meta or None, **overrides})


class WidgetProvider(sdk.MountedProvider):
    """Provides FastMCP with the widgets of the snapshot of the request at hand."""

    def __init__(self, server: Server, lifespan: Lifespan | None) -> None:
        super().__init__()
        self._server = server
        self._lifespan = lifespan
        self._tools: WeakKeyDictionary[Widget, ServedTool] = WeakKeyDictionary()

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        async with self._lifespan(self._server) if self._lifespan else nullcontext():
            yield

    @contextmanager
    def reached_through(self, root: FastMCP) -> Iterator[None]:
        """Connect clients of `root` to the widgets while the block runs. Blocks may be nested."""
        roots = self._server.roots
        entered = next((entry for entry in roots if entry.mcp is root), None)
        if entered is None:
            entered = add_root(self._server, root, self)
        entered.uses += 1
        try:
            yield
        finally:
            entered.uses -= 1
            if not entered.uses and entered is not roots[0]:
                entered.unwrap()
                roots.remove(entered)

    # Renders are too short for tasks, and FastMCP need not build tools to know it.
    async def get_tasks(self) -> Sequence[FastMCPComponent]:
        return ()

    def tool_of_widget(self, widget: Widget) -> ServedTool:
        tool = self._tools.get(widget)
        if tool is None:
            tool = self._tools[widget] = self._tool(self._server.entry_fields(widget))
        return tool

    def tool_of_builtin(self, tool: BuiltinTool) -> ServedTool:
        return self._tool(tool.entry_fields)

    def _tool(self, entry: Mapping[str, Any]) -> ServedTool:
        return ServedTool(
            partial(self._call, entry["name"]),
            name=entry["name"],
            title=entry["title"],
            description=entry["description"],
            parameters=dict(entry["inputSchema"]),
            annotations=dict(entry["annotations"]),
            icons=entry.get("icons") or None,
            meta=entry["_meta"],
        )

    async def _call(self, name: str, arguments: Mapping[str, Any]) -> Result:
        return await self._server.call(name, arguments, self._caller)

    async def _list_tools(self) -> Sequence[Tool]:
        server, caller = self._server, self._caller
        widgets = server.listings.listed_widgets(caller.snapshot).values()
        listed = server.listed_tools(caller)
        tools = (
            *(self.tool_of_builtin(row) for row in server.builtin.values() if row.name in listed),
            *map(self.tool_of_widget, widgets),
        )
        return (
            tuple(_with_page_prefix(tool, caller.prefix) for tool in tools)
            if caller.prefix
            else tools
        )

    async def _get_tool(self, name: str, version: VersionSpec | None = None) -> Tool | None:  # noqa: ARG002 - widgets have one version
        if name in self._server.builtin:
            return self.tool_of_builtin(self._server.builtin[name])
        widget = self._caller.snapshot.widgets.get(name)
        return None if widget is None else self.tool_of_widget(widget)

    async def _list_resources(self) -> Sequence[Resource]:
        snapshot, resources = self._caller.snapshot, self._server.resources
        widgets = self._server.listings.listed_widgets(snapshot).values()
        of_widgets = chain.from_iterable(
            resources.of_widget(widget, snapshot) for widget in widgets
        )
        of_toolsets = resources_of(self._server.readable_by(self._caller.principal))
        return (*of_widgets, *resources.of_all(snapshot), *of_toolsets)

    async def _list_resource_templates(self) -> Sequence[ResourceTemplate]:
        readable = self._server.readable_by(self._caller.principal)
        return self._server.resources.templates(readable)

    async def _get_resource(self, uri: str, version: VersionSpec | None = None) -> Resource | None:  # noqa: ARG002 - resources have one version
        if uri.startswith(RENDERS):
            try:
                render = await self._server.rendering.load(uri.removeprefix(RENDERS), self._caller)
            except CallError:
                return None
            return render_resource(uri, render, self._server.registry.current.theme)
        caller, server = self._caller, self._server
        resource = server.resources.find(uri, caller.snapshot, caller.prefix)
        if resource is not None or caller.denied is not None:
            return resource
        readable = server.readable_by(caller.principal)
        return await read_of_toolset(readable, uri, server.context(caller))

    async def _get_resource_template(
        self,
        uri: str,  # noqa: ARG002 - all addresses of templates are resources
        version: VersionSpec | None = None,  # noqa: ARG002 - as above
    ) -> ResourceTemplate | None:
        return None

    async def _list_prompts(self) -> Sequence[Prompt]:
        return (self._show_data,)

    @cached_property
    def _show_data(self) -> Prompt:
        return show_data_prompt(lambda: self._server.context(self._caller))

    @property
    def _caller(self) -> Caller:
        return current_caller(self._server.registry)


def _with_page_prefix(tool: Tool, prefix: str) -> Tool:
    meta = tool.get_meta()
    ui = meta.get("ui", {})
    if "resourceUri" not in ui:
        return tool
    page = page_meta(with_prefix(ui["resourceUri"], prefix))
    return tool.model_copy(update={"meta": {**meta, **page}})


def add_root(server: Server, mcp: FastMCP, provider: Provider) -> Root:
    root = Root(mcp, provider)
    root.wrap(middleware_of(server, root))
    server.roots.append(root)
    return root


async def answer_call(
    server: Server, _context: object, params: CallToolRequestParams
) -> dict[str, Any]:
    """Answer `tools/call` before FastMCP looks for a tool of that name."""
    caller = current_caller(server.registry)
    # The SDK drops fields unknown to the caller's protocol version from the result.
    answer = await ask_consent(server, params, caller)
    if answer is None:
        answer = await call_tool(server, params.name, params.arguments or {}, caller)
    if isinstance(answer, Result):
        return {"resultType": "complete", **answer.values()}
    return answer


def complete(
    server: Server, _reference: object, argument: CompletionArgument, _context: object
) -> list[str]:
    if argument.name != "tool":
        return []
    widgets = current_caller(server.registry).snapshot.widgets
    return [tool for tool in widgets if tool.startswith(argument.value)]


def header_schema(server: Server, name: str) -> dict[str, Any] | None:
    # The SDK asks before the middleware runs, so the caller is identified here. Without a check,
    # a schema would tell a stranger of the widget's existence.
    audience = principal_of(auth_context_var.get(), server.options.anonymous).audience
    widget = server.views.of(server.registry.current, audience).widgets.get(name)
    if widget is None or not server.listings.wants_headers(widget):
        return None
    return dict(widget.input_schema)
