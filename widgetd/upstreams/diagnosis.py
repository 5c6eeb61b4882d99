"""Why an upstream is not there, and what would help: one try, bounded, for whoever asks by hand."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import anyio
import anyio.to_thread

from widgetd.upstreams import wire
from widgetd.upstreams.clients import import_client
from widgetd.upstreams.connection import Upstream, while_running
from widgetd.upstreams.declarations import Declaration, host_of

SETTLING_S = 0.5
"""Beside the time that connecting may take."""

HINTS: Mapping[str, str] = MappingProxyType(
    {
        "dns": "its name is unknown here; look at the address",
        "refused": "nobody listens there; look at the port, and whether it is started",
        "timeout": "it does not answer; look whether it is well, or give it more connect_s",
        "tls": "TLS fails; look at its certificate, or write http:// where it speaks plainly",
        "auth": "it does not let us in; look at the token in headers",
        "redirect": "it redirects, often to the same with a slash at its end; write that address",
        "not_mcp": "it answers, but not as an MCP server does; look at the path, often /mcp",
        "http_404": "there is nothing at that path; MCP is often at /mcp",
        "http_406": "it does not accept what we accept; a proxy in front of it may change Accept",
        "protocol": "it answers what is no MCP; look into its own log",
        "spawn": "the program cannot be started; install it, or name it with its folder",
        "exited": "the program ended, or says what is no MCP; run it by hand and read what it says",
        "config": "it is at an address of this network; write private = true if it may be",
    }
)
"""By reason."""


async def diagnosed(declaration: Declaration) -> Upstream:
    """The upstream as it is after one try, which takes hardly longer than connecting may."""
    upstream = Upstream(declaration, is_logged=False)
    await anyio.to_thread.run_sync(import_client, declaration)  # whose time is not the upstream's
    async with while_running(upstream.run):
        with anyio.move_on_after(declaration.connect_s + SETTLING_S):
            await upstream.settled()
        if upstream.state == "connecting":
            upstream.reason = "timeout"
        elif upstream.state in {"ready", "empty"} and not upstream.has_session:
            upstream.reason = await _reached(declaration)
    return upstream


async def _reached(declaration: Declaration) -> str:
    """Why a service cannot be reached, which has no session to tell it; empty where it can."""
    line = wire.Wire(private=declaration.declared.private, is_mcp=False)
    host, port, is_tls = host_of(declaration)
    address = f"{'https' if is_tls else 'http'}://{host}:{port}/"
    async with wire.client(line, declaration.secrets["headers"]) as http:
        with anyio.move_on_after(declaration.connect_s) as waiting:
            await wire.asked(http, declaration.secrets["base"] or address)
    if waiting.cancelled_caught:
        return "timeout"
    reason = line.noted.reason if line.noted else ""
    return reason if reason in HINTS.keys() - _ANSWERED else ""


_ANSWERED = frozenset({"redirect", "http_404", "http_406"})
"""What the address of a whole service may well answer."""


def hint(declaration: Declaration, reason: str) -> str:
    """What would help, in one sentence."""
    said = HINTS.get(reason, "it answers with an error; look into its own log")
    host = host_of(declaration)[0]
    if reason == "refused" and host in {"localhost", "127.0.0.1", "::1"}:
        said += "; in a container, that host is the container itself"
    if reason == "spawn" and declaration.declared.command in {"uvx", "npx"}:
        said = f"{declaration.declared.command} is not installed here; " + said
    return said
