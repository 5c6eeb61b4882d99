"""Decide whether a message is let in: its sender's scopes, their rate, their places.

A call that is not let in has an error as its result, for the model to read; any
other request has a protocol error. Neither takes more time than it takes to say.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from typing import Any

from mcp.shared.exceptions import MCPError

from widgetd.errors import CallError
from widgetd.mcp.principal import CALL, READ, Principal
from widgetd.store.contract import Limits
from widgetd.store.values import Verdict

CALLS = "tools/call"
LISTS = "tools/list"

REFUSED = -32000
"""A server's own JSON-RPC error; the message says what to do."""

_FREE = frozenset({"initialize", "server/discover", "ping", "logging/setLevel"})
_READING = frozenset({"search_widgets", "get_widget_details"})
_LASTING = "subscriptions/listen"
_WAITING = "await_widget_action"


@asynccontextmanager
async def admitted(
    method: str, params: Mapping[str, Any], principal: Principal, limits: Limits
) -> AsyncIterator[CallError | None]:
    """Let a message in for as long as the block runs; a refused call is told why.

    Raises:
        MCPError: It is refused, and is no call.
    """
    if method in _FREE or method.startswith("notifications/"):
        yield None
        return
    lasting = nullcontext(Verdict())
    async with lasting if _lasts(method, params) else limits.slot(principal.name) as place:
        refusal: CallError | None = None
        try:
            principal.demand(_needed(method, params))
            place.check()
            (await limits.take(principal.name)).check()
        except CallError as error:
            if method != CALLS:
                raise refused(error) from None
            refusal = error
        yield refusal


def _lasts(method: str, params: Mapping[str, Any]) -> bool:
    """Whether it holds no place, for it waits: for a change, or for what the same user does."""
    return method == _LASTING or (method == CALLS and params.get("name") == _WAITING)


def refused(error: CallError) -> MCPError:
    """`error` as the protocol says it."""
    return MCPError(REFUSED, f"[{error.code}] {error.message}", {"code": error.code})


def _needed(method: str, params: Mapping[str, Any]) -> str:
    return CALL if method == CALLS and params.get("name") not in _READING else READ
