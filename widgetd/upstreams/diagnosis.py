"""Diagnosis of an upstream for an operator: a bounded attempt, its reason, and a hint."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import anyio

from widgetd.base.system import SYSTEM
from widgetd.base.tasks import while_running
from widgetd.upstreams.connection import Upstream, import_client
from widgetd.upstreams.declarations import Declaration, host_of
from widgetd.upstreams.limits import LIMITS
from widgetd.upstreams.transport import RecordingTransport, http_client, probe

HINTS: Mapping[str, str] = MappingProxyType(
    {
        "dns": "its name is unknown here; check the address",
        "refused": "nothing listens there; check the port, and whether the server is started",
        "timeout": "it does not answer; check whether it is well, or give it more connect_s",
        "tls": "TLS fails; check its certificate, or write http:// if it does not speak TLS",
        "auth": "it refuses our credentials; check the token in headers",
        "redirect": "it redirects, often to the same address with a slash at its end; write that",
        "not_mcp": "it answers, but not as an MCP server does; check the path, often /mcp",
        "http_404": "there is nothing at that path; MCP is often at /mcp",
        "http_406": "it does not accept what we accept; a proxy in front of it may change Accept",
        "protocol": "its answer is not valid MCP; look into its log",
        "spawn": "the program cannot be started; install it, or name it with its folder",
        "exited": "the program ended, or its output is not MCP; run it by hand and read it",
        "config": "it is at an address of this network; write private = true if it may be",
    }
)
"""Hints by reason."""


async def diagnose(declaration: Declaration) -> Upstream:
    """Return the upstream after a single attempt to connect."""
    upstream = Upstream(declaration, is_logged=False)
    # Beforehand: importing must not use up the upstream's time.
    await SYSTEM.threads.run_blocking(import_client, declaration)
    async with while_running(upstream.run):
        with anyio.move_on_after(declaration.connect_s + LIMITS.settle_s):
            await upstream.settled.wait()
        if upstream.state == "connecting":
            upstream.reason = "timeout"
        elif upstream.state in {"ready", "empty"} and not upstream.has_session:
            upstream.reason = await _probe_service(declaration)
    return upstream


async def _probe_service(declaration: Declaration) -> str:
    """Return why a service cannot be reached, or empty if it can. It has no session to show it."""
    recorder = RecordingTransport(private=declaration.table.private, is_mcp=False)
    host, port, is_tls = host_of(declaration)
    address = f"{'https' if is_tls else 'http'}://{host}:{port}/"
    async with http_client(recorder, declaration.secrets["headers"]) as http:
        with anyio.move_on_after(declaration.connect_s) as scope:
            await probe(http, declaration.secrets["base"] or address)
    if scope.cancelled_caught:
        return "timeout"
    reason = recorder.failure.reason if recorder.failure else ""
    # The base address of a healthy service may well redirect.
    return reason if reason in HINTS and reason != "redirect" else ""


def hint(declaration: Declaration, reason: str) -> str:
    sentence = HINTS.get(reason, "it answers with an error; look into its log")
    host = host_of(declaration)[0]
    if reason == "refused" and host in {"localhost", "127.0.0.1", "::1"}:
        sentence += "; in a container, that host is the container itself"
    if reason == "spawn" and declaration.table.command in {"uvx", "npx"}:
        sentence = f"{declaration.table.command} is not installed here; {sentence}"
    return sentence
