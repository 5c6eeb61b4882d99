"""The MCP servers whose tools an agent has: the daemon's own, and the upstreams that it keeps."""

from __future__ import annotations

from functools import partial
from typing import Any

from agents.mcp import MCPServer, MCPServerStreamableHttp
from httpx2 import AsyncClient
from mcp_types import CallToolResult, TextContent
from mcp_types import Tool as McpTool
from typing_extensions import override

from widgetd.errors import CallError
from widgetd.upstreams.connection import Upstream

CALL_S = 75.0
"""How long a tool may take: longer than one waits for what a user does."""

LONGEST_TEXT = 16_384
"""Characters of an upstream's answer that a model reads."""


def _said(_context: Any, error: Exception) -> str:
    """What a model reads of a call that failed; the SDK's own sentence would not say why."""
    return f"This failed: {error}"[:500]


class OwnTools(MCPServerStreamableHttp):
    """The tools that widgetd serves, as whoever holds `token` may call them.

    Attributes:
        problem: Why it could not be asked; empty where it could.
    """

    def __init__(self, url: str, token: str = "", name: str = "widgetd") -> None:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        super().__init__(
            {
                "url": url,
                "headers": headers,
                # It asks no proxy: it talks to this machine.
                "httpx_client_factory": partial(AsyncClient, trust_env=False),
            },
            name=name,
            client_session_timeout_seconds=CALL_S,
            failure_error_function=_said,
        )
        self.problem = ""

    @override
    async def list_tools(self, *asked: Any, **more: Any) -> Any:
        try:
            tools = await super().list_tools(*asked, **more)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other servers' tools are there
            self.problem = short(error)
            return []
        # The chat tells its agent of actions by itself, without passwords and sensitive fields;
        # whoever awaits an action gets all of it.
        return [tool for tool in tools if tool.name != "await_widget_action"]


class UpstreamTools(MCPServer):
    """The read-only tools of an upstream, over the connection that the daemon keeps."""

    def __init__(self, upstream: Upstream) -> None:
        super().__init__(failure_error_function=_said)
        self._upstream = upstream
        self._failed = ""

    @property
    @override
    def name(self) -> str:
        return self._upstream.name

    @property
    def problem(self) -> str:
        """Why it cannot be called now, or could not be in this turn; empty where it can."""
        one = self._upstream
        return self._failed if one.state in {"ready", "empty"} else one.reason or one.state

    @override
    async def connect(self) -> None:
        await self._upstream.retried()
        if self.problem:
            raise self._upstream.unavailable()

    @override
    async def cleanup(self) -> None:
        """Whoever keeps the connection ends it."""

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
            # What is wrong with it now; all else is wrong with the call.
            self._failed = error.message if error.recoverable else self._failed
            raise
        text = f"({len(answer.content)} bytes of {answer.mime_type})"
        if answer.kind != "binary":
            text = answer.content.decode()
        if len(text) > LONGEST_TEXT:
            text = f"{text[:LONGEST_TEXT]}… ({len(text)} characters in all)"
        return CallToolResult(content=[TextContent(type="text", text=text)])

    @override
    async def list_prompts(self) -> Any:
        raise NotImplementedError

    @override
    async def get_prompt(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        raise NotImplementedError


def text_of(content: Any) -> str:
    """The text of a message, or of what a tool answered, in whichever shape it comes."""
    parts = content if isinstance(content, list) else [content]
    texts = (part.get("text", "") if isinstance(part, dict) else str(part) for part in parts)
    return "\n".join(text for text in texts if text)


def short(error: BaseException) -> str:
    """Why a server cannot be reached, in few words."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return (str(error).splitlines() or [""])[0][:200] or type(error).__name__
