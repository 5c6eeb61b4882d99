"""A stock FastMCP server over HTTP, to measure against; runs in its own process.

`constant FILE`: Flight Tracker's arguments in, the result in FILE out.
`listed FOLDER [SIZE]`: an idle tool for every `.widget` file in FOLDER, with its schema, listed
in pages of SIZE.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from fastmcp import FastMCP
from fastmcp.tools.base import Tool, ToolResult
from mcp_types import TextContent, ToolAnnotations

from benchmarks.fastmcp_server import serve


def constant(file: Path) -> FastMCP:
    """Build a server whose one tool always returns the result in `file`."""
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

    return server


class _Idle(Tool):
    """A tool without work."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:  # noqa: ARG002 - as FastMCP calls it
        return ToolResult(structured_content={})


def build_idle_tools(folder: Path, page_size: int | None = None) -> FastMCP:
    """Build a server with one tool for each file in `folder`, with its exact schema."""
    server = FastMCP("widgetd", dereference_schemas=False, list_page_size=page_size)
    hints = ToolAnnotations(read_only_hint=True, idempotent_hint=True, destructive_hint=False)
    for path in folder.glob("*.widget"):
        document = json.loads(path.read_text(encoding="utf-8"))
        tool = _Idle(
            name=document["name"].lower().replace(" ", "_"),
            title=document["name"],
            description=document.get("description", document["name"]),
            parameters=document["jsonSchema"],
            annotations=hints,
        )
        server.add_tool(tool)
    return server


def main(kind: str, place: str, *more: str) -> None:
    """Serve the kind of server that the command line names."""
    if kind == "constant":
        serve(constant(Path(place)))
    else:
        serve(build_idle_tools(Path(place), *map(int, more)))


if __name__ == "__main__":
    main(*sys.argv[1:])
