"""A stock FastMCP server over HTTP, to measure against; run as a process of its own.

`constant FILE`: Flight Tracker's arguments in, the result in FILE out, the schema hook set.
`listed FOLDER`: a tool for every `.widget` file in FOLDER, with its schema.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from fastmcp import FastMCP
from fastmcp.tools.base import Tool, ToolResult
from mcp_types import TextContent, ToolAnnotations

from benchmarks.serving import serve


def constant(file: Path) -> FastMCP:
    """A server whose one tool always returns the result in `file`."""
    result = json.loads(file.read_text(encoding="utf-8"))
    answer = ToolResult(
        content=[TextContent(**block) for block in result["content"]],
        structured_content=result["structuredContent"],
        meta=result["_meta"],
    )
    server = FastMCP("widgetd")

    @server.tool
    def flight_tracker(  # noqa: PLR0917 - the arguments of the widget, as a tool would take them
        number: str,  # noqa: ARG001 - taken and validated, as by any tool
        date: str,  # noqa: ARG001
        status: str,  # noqa: ARG001
        progress: float,  # noqa: ARG001
        airline: dict[str, Any],  # noqa: ARG001
        departure: dict[str, Any],  # noqa: ARG001
        arrival: dict[str, Any],  # noqa: ARG001
        note: str | None = None,  # noqa: ARG001
    ) -> ToolResult:
        return answer

    # Without the hook a modern call lists all tools before it is made.
    server._mcp_server.get_tool_input_schema = lambda _name: None  # noqa: SLF001 - FastMCP offers no public way
    return server


def listed(folder: Path) -> FastMCP:
    """A server with one tool for each file in `folder`, verbatim schemas and all."""
    server = FastMCP("widgetd", dereference_schemas=False)
    hints = ToolAnnotations(read_only_hint=True, idempotent_hint=True, destructive_hint=False)
    for path in folder.glob("*.widget"):
        document = json.loads(path.read_text(encoding="utf-8"))
        name = document["name"].lower().replace(" ", "_")
        tool = Tool.from_function(
            _nothing,
            name=name,
            title=document["name"],
            description=document["description"],
            annotations=hints,
        )
        server.add_tool(tool.model_copy(update={"parameters": document["jsonSchema"]}))
    return server


def _nothing() -> ToolResult:
    return ToolResult(content=[])


if __name__ == "__main__":
    kind, place = sys.argv[1:]
    serve((constant if kind == "constant" else listed)(Path(place)))
