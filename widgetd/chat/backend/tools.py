"""The MCP servers whose tools an agent has: the daemon's own, and its upstreams."""

from __future__ import annotations

from functools import partial
from typing import Any

from agents.mcp import MCPServer, MCPServerStreamableHttp
from httpx2 import AsyncClient
from mcp_types import CallToolResult, TextContent
from mcp_types import Tool as McpTool
from typing_extensions import override

from widgetd.chat.limits import LIMITS
from widgetd.errors import CallError
from widgetd.upstreams.connection import Upstream

_SHORT_CHARS = 200

IN_WORDS = "\nIn words: "
"""What stands before the words for people in the agent's notice of an action."""


def _error_text(_context: Any, error: Exception) -> str:
    """Return what a model reads of a failed call; the SDK's own sentence does not say why."""
    return f"This failed: {error}"[:500]


class OwnTools(MCPServerStreamableHttp):
    """The tools that widgetd serves to the holder of `token`.

    Attributes:
        problem: Why its tools could not be listed; empty if they could.
    """

    def __init__(self, url: str, token: str = "", name: str = "widgetd") -> None:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        super().__init__(
            {
                "url": url,
                "headers": headers,
                # The daemon is on this machine; a proxy from the environment is not for it.
                "httpx_client_factory": partial(AsyncClient, trust_env=False),
            },
            name=name,
            client_session_timeout_seconds=LIMITS.tool_call_s,
            failure_error_function=_error_text,
        )
        self.problem = ""

    @override
    async def list_tools(self, *arguments: Any, **options: Any) -> Any:
        try:
            tools = await super().list_tools(*arguments, **options)
        except Exception as error:  # noqa: BLE001 - the tools of other servers stay usable
            self.problem = first_line(error)
            return []
        # The chat tells its agent of actions by itself, without passwords and sensitive fields;
        # a reader that awaits an action gets all of it.
        return [tool for tool in tools if tool.name != "await_widget_action"]


class UpstreamTools(MCPServer):
    """The read-only tools of an upstream, over the connection that the daemon keeps."""

    def __init__(self, upstream: Upstream) -> None:
        super().__init__(failure_error_function=_error_text)
        self._upstream = upstream
        self._call_problem = ""

    @property
    @override
    def name(self) -> str:
        return self._upstream.name

    @property
    def problem(self) -> str:
        """Why it cannot be called now, or could not in this turn; empty if it can."""
        upstream = self._upstream
        if upstream.state in {"ready", "empty"}:
            return self._call_problem
        return upstream.reason or upstream.state

    @override
    async def connect(self) -> None:
        await self._upstream.ensure_attempt()
        if self.problem:
            raise self._upstream.unavailable_error()

    @override
    async def cleanup(self) -> None:
        """Leave the connection open; the daemon closes it."""

    @override
    async def list_tools(self, run_context: Any = None, agent: Any = None) -> Any:
        # Until a user can consent to a call, none that changes something is offered.
        return [
            McpTool(name=one.name, description=one.description, input_schema=one.input_schema)
            for one in self._upstream.tools.values()
            if one.is_read_only
        ]

    @override
    async def call_tool(
        self, tool_name: str, arguments: dict[str, Any] | None, meta: dict[str, Any] | None = None
    ) -> CallToolResult:
        try:
            answer = await self._upstream.call(tool_name, arguments or {})
        except CallError as error:
            # Only a recoverable error is the server's fault; any other is the call's.
            self._call_problem = error.message if error.recoverable else self._call_problem
            raise
        text = f"({len(answer.content)} bytes of {answer.mime_type})"
        if answer.kind != "binary":
            text = answer.content.decode()
        if len(text) > LIMITS.tool_text_chars:
            text = f"{text[: LIMITS.tool_text_chars]}… ({len(text)} characters in all)"
        return CallToolResult(content=[TextContent(type="text", text=text)])

    @override
    async def list_prompts(self) -> Any:
        raise NotImplementedError

    @override
    async def get_prompt(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        raise NotImplementedError


def text_of(content: Any) -> str:
    """Return the text of a message or of a tool's answer, whatever its shape."""
    parts = content if isinstance(content, list) else [content]
    texts = (part.get("text", "") if isinstance(part, dict) else str(part) for part in parts)
    return "\n".join(text for text in texts if text)


def first_line(error: BaseException) -> str:
    """Return the first line of why a server cannot be reached."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return (str(error).splitlines() or [""])[0][:_SHORT_CHARS] or type(error).__name__
