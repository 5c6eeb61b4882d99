"""Results of tools."""

from __future__ import annotations

from mcp_types import CallToolResult, TextContent


def text(result: CallToolResult) -> str:
    """Return the only block of a result, which is a text."""
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text
