"""A widget whose action an upstream does, and an upstream that counts, for tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp import Client
from mcp.client.extension import advertise
from mcp_types import CallToolResult

from tests.support.widgets import build_widget, snapshot_of
from widgetd.base.errors import CallError
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import UI_EXTENSION
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp import sdk
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.server import Server, ServerOptions
from widgetd.server.observe.observer import Observer
from widgetd.server.render.action_callers import ActionAnswer, ActionCaller, ActionTerms
from widgetd.server.store.factory import Store, local_store

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "number": {"type": "string"},
        "passport": {"type": "string"},
        "booked": {"type": "string", "maxLength": 4},
    },
    "required": ["number"],
    "additionalProperties": False,
}

TEMPLATE = """{"type":"Card","asForm":true,"children":[
 {"type":"Text","value":{{ booked | default("none") | tojson }}},
 {"type":"Input","name":"pin","inputType":"password"},
 {"type":"Input","name":"seat","required":true},
 {"type":"Button","submit":true,"label":"Book","onClickAction":{"type":"seat.book"}}]}"""

SIDECAR = """
summary = "Flight {{ number }}: {{ booked | default('no seat') }}"
sensitive = ["passport"]
[actions."seat.book"]
upstream = "airline"
tool = "book_seat"
confirm = "Book {{ payload.seat }}?"
[actions."seat.book".arguments]
flight = "number"
seat = "payload.seat"
[actions."seat.book".result]
booked = "seat.code"
"""

GIVEN = {"number": "PA 845", "passport": "C01X00T47"}


def seats(sidecar: str = SIDECAR) -> Widget:
    """Return the widget."""
    return build_widget("Seats", schema=SCHEMA, template=TEMPLATE, sidecar=sidecar)


@dataclass(eq=False)
class Airline(ActionCaller):
    """An upstream that books seats and counts.

    Attributes:
        confirms: Whether the operator demands a confirmation.
        calls: Number of calls, by the key of the operation.
        requests: The arguments and principals of all calls.
        answer: The answer of each call.
        error: Raised by each call instead.
        gate: Each call waits for it.
        patience: Seconds after which a call counts as lost.
    """

    confirms: bool = False
    calls: Counter[str] = field(default_factory=Counter)
    requests: list[tuple[Mapping[str, Any], str]] = field(default_factory=list)
    answer: ActionAnswer | None = None
    error: CallError | None = None
    gate: anyio.Event | None = None
    patience: float = 60.0

    def find_terms(self, _upstream: str, _tool: str) -> ActionTerms:
        """Return the terms that the attributes state."""
        return ActionTerms(confirm=self.confirms, title="Book a seat", patience_s=self.patience)

    async def call_action(
        self, upstream: str, tool: str, arguments: Mapping[str, Any], *, key: str, principal: str
    ) -> ActionAnswer:
        """Book a seat."""
        assert (upstream, tool) == ("airline", "book_seat")
        self.calls[key] += 1
        self.requests.append((dict(arguments), principal))
        if self.gate is not None:
            await self.gate.wait()
        if self.error is not None:
            raise self.error
        return self.answer or ActionAnswer(is_done=True, value={"seat": {"code": "12A"}})


def airport(
    airline: Airline | None = None,
    store: Store | None = None,
    *,
    sidecar: str = SIDECAR,
    observers: tuple[Observer, ...] = (),
) -> Server:
    """Return a server of the widget, by default without upstreams."""
    registry = Registry(snapshot_of(seats(sidecar)))
    server = build(registry, store or local_store(), ServerOptions(observers=observers))
    if airline is not None:
        server.actions = airline
    return server


@asynccontextmanager
async def host(server: Server, *, draws: bool = True) -> AsyncIterator[Client]:
    """Yield a client that draws views, or one that does not."""
    apps = [advertise(UI_EXTENSION, {"mimeTypes": ["text/html;profile=mcp-app"]})]
    extensions = apps if draws else None
    async with Client(sdk.lowlevel_of(server.mcp), extensions=extensions) as client:
        yield client


def mark(result: CallToolResult) -> dict[str, Any]:
    """Return `_meta["widgetd/render"]`."""
    assert result.meta is not None
    meta: dict[str, Any] = result.meta["widgetd/render"]
    return meta


async def shown(client: Client) -> dict[str, Any]:
    """Show the widget; return what its page knows of the render: `id` and `press`."""
    return mark(await client.call_tool("seats", GIVEN))


async def press(client: Client, render: Mapping[str, Any], **more: Any) -> CallToolResult:
    """Press the button in a render's page."""
    arguments = {
        "render_id": render["id"],
        "action": "seat.book",
        "payload": {"seat": "12A", "pin": "1234"},
        "press": render.get("press", ""),
    }
    return await client.call_tool("widget_action", {**arguments, **more})


def answer_of(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return dict(result.structured_content)


def code_of(result: CallToolResult) -> str:
    assert result.is_error
    assert result.meta is not None
    return str(result.meta["widgetd/error"]["code"])
