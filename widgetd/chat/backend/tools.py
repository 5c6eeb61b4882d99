"""The MCP servers of an agent: the daemon's own, and its upstreams."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import orjson
from agents.mcp import MCPServer, MCPServerStreamableHttp
from httpx2 import AsyncClient
from mcp_types import CallToolResult, TextContent
from mcp_types import Tool as McpTool
from typing_extensions import override

from widgetd.base.errors import CallError
from widgetd.chat.limits import LIMITS
from widgetd.server.mcp.builtin.consent import CARD_KEY
from widgetd.server.store.delivery.addresses import tls_context
from widgetd.upstreams.connection import Upstream

_SHORT_CHARS = 200
_NO_ARGUMENTS = {"type": "object", "properties": {}}

IN_WORDS = "\nIn words: "
"""What stands before the words for people in the agent's notice of an action."""


def _error_text(_context: Any, error: Exception) -> str:
    """Return the text of a failed call for the model. The SDK's own does not give the reason."""
    return f"This failed: {error}"[:500]


def split_name(tool: str) -> tuple[str, str]:
    """Return the server of a tool, empty for our own, and its name there. The SDK joins both."""
    if not tool.startswith("mcp_"):
        return "", tool
    server, _, name = tool.removeprefix("mcp_").partition("__")
    return "" if server == "widgetd" else server, name


class OwnTools(MCPServerStreamableHttp):
    """The widgetd tools of the holder of `token`.

    Attributes:
        problem: Why its tools could not be listed, empty if they could.
    """

    def __init__(
        self,
        url: str,
        token: str = "",
        name: str = "widgetd",
        *,
        offers: Callable[[str], bool] = lambda _tool: True,
    ) -> None:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        super().__init__(
            {
                "url": url,
                "headers": headers,
                # The daemon is on this machine, so a proxy from the environment is not for it.
                "httpx_client_factory": partial(AsyncClient, trust_env=False, verify=tls_context()),
            },
            name=name,
            client_session_timeout_seconds=LIMITS.tool_call_s,
            failure_error_function=_error_text,
        )
        self.problem = ""
        self._offers = offers

    @override
    async def call_tool(
        self, tool_name: str, arguments: dict[str, Any] | None, meta: dict[str, Any] | None = None
    ) -> CallToolResult:
        # A model may name a tool it was not offered.
        if not self._offers(tool_name):
            raise CallError("W3106", f"the chat's model has no tool '{tool_name}'")
        return await super().call_tool(tool_name, arguments, {**(meta or {}), CARD_KEY: True})

    @override
    async def list_tools(self, *arguments: Any, **options: Any) -> Any:
        try:
            tools = await super().list_tools(*arguments, **options)
        except Exception as error:  # noqa: BLE001 - the tools of other servers stay usable
            self.problem = first_line(error)
            return []
        return [tool for tool in tools if self._offers(tool.name)]


NEXT_PAGE = "read_next_page"

AskFirst = Callable[[str, str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""Makes the card that asks before a call of an upstream's tool; returns it as MCP's result."""


class UpstreamTools(MCPServer):
    """The tools of an upstream, over the daemon's own connection.

    A tool with effects is called after a person has allowed it on a card.
    """

    def __init__(self, upstream: Upstream, ask_first: AskFirst) -> None:
        super().__init__(failure_error_function=_error_text)
        self._upstream = upstream
        self._ask_first = ask_first
        self._call_problem = ""
        self._rest = ""

    @property
    @override
    def name(self) -> str:
        return self._upstream.name

    @property
    def problem(self) -> str:
        """The reason why it cannot be called now, or could not in this turn, empty if it can."""
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
        """Leave the connection open, for the daemon to close."""

    @override
    async def list_tools(self, run_context: Any = None, agent: Any = None) -> Any:
        tools = [
            McpTool(name=tool.name, description=tool.description, input_schema=tool.input_schema)
            for tool in self._upstream.tools.values()
        ]
        if self._rest:
            left = f"Read the next of {len(self._rest)} characters left of the last answer."
            tools.append(McpTool(name=NEXT_PAGE, description=left, input_schema=_NO_ARGUMENTS))
        return tools

    @override
    async def call_tool(
        self, tool_name: str, arguments: dict[str, Any] | None, meta: dict[str, Any] | None = None
    ) -> CallToolResult:
        if tool_name == NEXT_PAGE and NEXT_PAGE not in self._upstream.tools:
            return self._page(self._rest)
        tool = self._upstream.tools.get(tool_name)
        if tool is not None and not tool.is_read_only:
            card = await self._ask_first(self._upstream.name, tool_name, arguments or {})
            return CallToolResult.model_validate(card)
        try:
            answer = await self._upstream.call(tool_name, arguments or {})
        except CallError as error:
            # Only a recoverable error is the server's fault. Any other is the call's.
            self._call_problem = error.message if error.recoverable else self._call_problem
            raise
        text = f"({len(answer.content)} bytes of {answer.mime_type})"
        if answer.kind != "binary":
            text = answer.content.decode()
        return self._page(text)

    def _page(self, text: str) -> CallToolResult:
        most = LIMITS.tool_text_chars
        page, self._rest = text[:most], text[most:]
        if self._rest:
            page += f"… ({len(self._rest)} characters are left; {NEXT_PAGE} reads on)"
        return CallToolResult(content=[TextContent(type="text", text=page)])

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


def as_object(value: Any) -> dict[str, Any]:
    """Return an action's payload or a model's arguments as an object."""
    if isinstance(value, str):
        with suppress(orjson.JSONDecodeError):
            value = orjson.loads(value)
    return dict(value) if isinstance(value, Mapping) else {} if value is None else {"value": value}


def first_line(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return (str(error).splitlines() or [""])[0][:_SHORT_CHARS] or type(error).__name__
