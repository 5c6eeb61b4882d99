"""The widgets of one moment, as FastMCP asks for tools and resources.

Every question is answered from the snapshot that the request at hand took when it came.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from itertools import chain
from typing import TYPE_CHECKING, Any

from fastmcp.resources.base import Resource
from fastmcp.resources.template import ResourceTemplate
from fastmcp.server.providers import Provider
from fastmcp.tools.base import Tool, ToolResult
from fastmcp.utilities.components import FastMCPComponent
from fastmcp.utilities.versions import VersionSpec
from pydantic import PrivateAttr

from widgetd.catalog.snapshot import Snapshot
from widgetd.errors import CallError
from widgetd.mcp.builtin.catalog import unknown_widget
from widgetd.mcp.caller import CALLER
from widgetd.mcp.error_result import error_result
from widgetd.mcp.resources import render_resource
from widgetd.mcp.result import RENDERS, Result
from widgetd.mcp.tool import as_tool_result

if TYPE_CHECKING:
    from widgetd.mcp.server import Server

Lifespan = Callable[["Server"], AbstractAsyncContextManager[None]]
"""What runs as long as a server does."""


class WidgetProvider(Provider):
    """The widgets of the snapshot that the request at hand is answered from.

    Args:
        server: What is served.
        lifespan: Entered with the server's own.
    """

    def __init__(self, server: Server, lifespan: Lifespan | None) -> None:
        super().__init__()
        self._server = server
        self._lifespan = lifespan

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Whatever must run as long as the server does."""
        async with self._lifespan(self._server) if self._lifespan else nullcontext():
            yield

    async def get_tasks(self) -> Sequence[FastMCPComponent]:
        """None: a render is too short to be a task, so no tool is made at the start to find out."""
        return ()

    async def _list_tools(self) -> Sequence[Tool]:
        return tuple(self._server.listings.tools(self._snapshot))

    async def _get_tool(self, name: str, version: VersionSpec | None = None) -> Tool | None:  # noqa: ARG002 - widgets have one version
        caller = CALLER.get(None)
        if caller is not None and caller.refusal is not None:
            return _Refusing.because(caller.refusal)
        if name in self._server.standing:
            return self._server.standing[name]
        widgets = self._snapshot.widgets
        if name in widgets:
            return self._server.tools.of(widgets[name])
        error = unknown_widget(name, widgets)
        return _Refusing.because(error) if self._server.alone else None

    async def _list_resources(self) -> Sequence[Resource]:
        snapshot, resources = self._snapshot, self._server.resources
        shown = self._server.listings.shown(snapshot).values()
        of_widgets = chain.from_iterable(resources.of_widget(one, snapshot) for one in shown)
        return (*of_widgets, *resources.of_all(snapshot))

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


class _Refusing(Tool):
    """Answers a call with why it is refused, or why there is no such tool."""

    _result: Result = PrivateAttr()

    @classmethod
    def because(cls, error: CallError) -> _Refusing:
        tool = cls(name="refusing", parameters={"type": "object"})
        tool._result = error_result(error)
        return tool

    async def run(self, arguments: dict[str, Any]) -> ToolResult:  # noqa: ARG002 - whatever they are
        return as_tool_result(self._result)
