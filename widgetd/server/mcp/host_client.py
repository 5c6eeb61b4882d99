"""An MCP client as in a host, connected to a server in memory: for emulated hosts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client, MCPError
from mcp.client.extension import advertise
from mcp_types import Implementation
from pydantic import BaseModel

from widgetd.server.access.principal import UI_EXTENSION
from widgetd.server.mcp import sdk
from widgetd.server.mcp.resources import VIEW
from widgetd.server.mcp.server import Server


class HostClient:
    """A connected client. Its answers are JSON as they are sent."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._tools: dict[str, dict[str, Any]] = {}

    @property
    def instructions(self) -> str:
        """The server's instructions. Hosts give them to the model once."""
        return self._client.instructions or ""

    async def tools(self) -> Mapping[str, dict[str, Any]]:
        if not self._tools:
            listed = (await self._client.list_tools()).tools
            self._tools = {tool.name: _values(tool) for tool in listed}
        return self._tools

    async def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a view's request, `tools/call` or `resources/read`.

        An error of the protocol becomes `{"isError": true, ...}`, as hosts pass it on.
        """
        try:
            if method == "resources/read":
                return _values(await self._client.read_resource(params["uri"]))
            return _values(await self._client.call_tool(params["name"], params.get("arguments")))
        except MCPError as error:
            return {"content": [{"type": "text", "text": error.error.message}], "isError": True}


@asynccontextmanager
async def connect_host(
    server: Server, name: str, *, declares_apps: bool
) -> AsyncIterator[HostClient]:
    client = Client(
        sdk.lowlevel_of(server.mcp),
        mode="legacy",
        client_info=Implementation(name=name, version="1"),
        extensions=[advertise(UI_EXTENSION, {"mimeTypes": [VIEW]})] if declares_apps else None,
    )
    async with client:
        yield HostClient(client)


def _values(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)
