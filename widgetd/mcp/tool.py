"""A widget becomes an MCP tool. Knows nothing of other widgets or of lists."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, ref

import orjson
from fastmcp.tools.base import Tool, ToolResult
from mcp_types import CallToolResult
from pydantic import PrivateAttr

from widgetd.errors import CallError
from widgetd.mcp.calls import Rendering
from widgetd.mcp.entry import HEADER_ANNOTATION, READ_ONLY, entry, view_uri
from widgetd.mcp.error_result import error_result
from widgetd.mcp.result import Result
from widgetd.widget.widget import Widget


class WidgetdTool(Tool):
    """A tool that answers with a result as it goes to clients, and knows its entry in a list."""

    @abstractmethod
    async def answer(self, arguments: dict[str, Any]) -> Result:
        """Answer a call; errors are results too."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Answer a call that came by FastMCP's own way."""
        return as_tool_result(await self.answer(arguments))

    def entry(self) -> bytes:
        """This tool as it stands in `tools/list`: `{"name": ..., "inputSchema": {...}, ...}`."""
        assert self.annotations is not None  # noqa: S101 - each is made with some
        return entry(
            name=self.name,
            title=self.title or "",
            description=self.description or "",
            input_schema=self.parameters,
            annotations=self.annotations.model_dump(by_alias=True, exclude_none=True),
            meta=self.meta or {},
        )

    def get_meta(self) -> dict[str, Any]:
        """Our own metadata, without the bookkeeping that FastMCP would add."""
        return self.meta or {}


def as_tool_result(result: Result) -> ToolResult:
    """A result for FastMCP, which sends it as it is."""
    return ToolResult.from_mcp_result(CallToolResult.model_validate(result))


class WidgetTool(WidgetdTool):
    """One widget as a tool: the author's schema, verbatim, and a call that renders.

    It is kept for as long as its widget is, and so must not keep the widget. Whoever calls does:
    they hold the snapshot that it stands in.
    """

    _widget: ReferenceType[Widget] = PrivateAttr()
    _rendering: Rendering = PrivateAttr()
    _wants_headers: bool = PrivateAttr()

    def __init__(self, widget: Widget, rendering: Rendering, **fields: Any) -> None:
        super().__init__(**fields)
        self._widget = ref(widget)
        self._rendering = rendering
        self._wants_headers = HEADER_ANNOTATION in orjson.dumps(self.parameters)

    @property
    def wants_headers(self) -> bool:
        """Whether the schema asks clients to repeat arguments in HTTP headers."""
        return self._wants_headers

    async def answer(self, arguments: dict[str, Any]) -> Result:
        """Validate, render, and shape the result for the caller."""
        widget = self._widget()
        if widget is None:
            gone = f"this '{self.name}' is not served any more; ask again"
            return error_result(CallError("W2001", gone))
        try:
            return await self._rendering.call(widget, arguments)
        except CallError as error:
            return error_result(error)


class WidgetTools:
    """The tool of each widget, made when it is first called, and kept as long as the widget is.

    Args:
        rendering: Answers their calls.
        has_view: Whether the server has a page that draws results.
    """

    def __init__(self, rendering: Rendering, *, has_view: bool = False) -> None:
        self._rendering = rendering
        self._has_view = has_view
        self._tools: WeakKeyDictionary[Widget, WidgetTool] = WeakKeyDictionary()

    def of(self, widget: Widget) -> WidgetTool:
        """The tool of `widget`."""
        tool = self._tools.get(widget)
        if tool is None:
            tool = self._tools[widget] = WidgetTool(
                widget,
                self._rendering,
                name=widget.tool,
                title=widget.definition.title,
                description=widget.description,
                parameters=dict(widget.advertised),
                annotations=dict(READ_ONLY),
                meta={"ui": {"resourceUri": view_uri(widget.tool)}} if self._has_view else {},
            )
        return tool
