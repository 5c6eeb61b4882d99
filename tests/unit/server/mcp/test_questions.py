"""A person who is asked about a request can read all of it."""

from __future__ import annotations

import json
from random import Random
from typing import Any, cast

import orjson
import pytest
from mcp.server.connection import Connection
from mcp_types import CallToolRequestParams

from tests.support.booking import TEMPLATE, Airline, airport, answer_of, code_of, host, mark, press
from tests.support.widgets import build_widget, snapshot_of
from widgetd.server.access.principal import CALL, LOCAL, Caller, ClientInfo
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp import sdk
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.builtin.table import BuiltinTool, ConsentQuestion, closed_object
from widgetd.server.mcp.elicitation import CONFIRMED, ask_consent
from widgetd.server.mcp.http_calls import caller_for
from widgetd.server.mcp.server import Server, ServerOptions
from widgetd.server.render.limits import LIMITS
from widgetd.server.render.result import Result
from widgetd.server.store.factory import local_store

HIDDEN = {"\u202e": "\\u202e", "\u200b": "\\u200b", "\n": "\\n", "\u3164": "\\u3164"}
LETTERS = "abcäß漢0 ."


def write_value(random: Random, length: int) -> tuple[str, str]:
    """Return a value, and how a person reads it."""
    pieces = random.choices([*LETTERS, *HIDDEN], k=length)
    return "".join(pieces), "".join(HIDDEN.get(piece, piece) for piece in pieces)


def requests() -> list[tuple[dict[str, str], dict[str, str]]]:
    """Return requests, of which one value is long, and how a person reads them."""
    random, made = Random(1), []
    for _ in range(20):
        names = random.sample(["to", "amount", "note", "when"], k=4)
        rows = {
            name: write_value(random, 10_000 if place == 0 else 12)
            for place, name in enumerate(names)
        }
        made.append(
            ({name: row[0] for name, row in rows.items()}, {n: row[1] for n, row in rows.items()})
        )
    return made


def serve_consent(arguments: dict[str, Any]) -> tuple[Server, CallToolRequestParams]:
    """Return a server with a tool that asks before a call, and the call."""
    question = ConsentQuestion(text="Pay?")
    tool = BuiltinTool(
        name="pay",
        description="Pay.",
        input_schema=closed_object({}),
        handler=cast("Any", None),
        scope=CALL,
        asks=lambda _context, _arguments: question,
    )
    server = airport()
    server.builtin = cast("Any", {"pay": tool})
    return server, CallToolRequestParams(name="pay", arguments=arguments)


def caller_with(server: Server, client: ClientInfo) -> Caller:
    caller = caller_for(server, LOCAL)
    return Caller(
        snapshot=caller.snapshot,
        principal=caller.principal,
        registry=caller.registry,
        client=client,
    )


async def ask_in_page(arguments: dict[str, str]) -> str:
    mapped = "\n".join(f'{name} = "{name}"' for name in arguments)
    sidecar = f"""
[actions."seat.book"]
upstream = "airline"
tool = "book_seat"
[actions."seat.book".arguments]
{mapped}
"""
    widget = build_widget("Seats", schema={"type": "object"}, template=TEMPLATE, sidecar=sidecar)
    server = build(Registry(snapshot_of(widget)), local_store(), ServerOptions())
    server.actions = Airline(confirms=True)
    async with host(server) as client:
        render = mark(await client.call_tool("seats", arguments))
        return str(answer_of(await press(client, render))["text"])


async def ask_by_elicitation(arguments: dict[str, str]) -> str:
    server, call = serve_consent(arguments)
    answer = await ask_consent(server, call, caller_with(server, ClientInfo(asks=True)))
    assert isinstance(answer, dict), answer
    return str(answer["inputRequests"][CONFIRMED]["params"]["message"])


async def ask_on_card(arguments: dict[str, str]) -> str:
    server, call = serve_consent(arguments)
    client = ClientInfo(name="claude-ai", apps=True)
    answer = await ask_consent(server, call, caller_with(server, client))
    assert isinstance(answer, Result)
    tree = orjson.loads(answer.meta)["widgetd/widget"]
    rows = [row["children"] for row in tree["children"] if row["type"] == "Col"]
    return "\n".join(f"{name['value']}: {value['value']}" for name, value in rows)


@pytest.mark.parametrize("ask", [ask_in_page, ask_by_elicitation, ask_on_card])
async def test_every_value_of_a_request_is_readable(ask: Any) -> None:
    for arguments, readable in requests():
        rows = dict(row.split(": ", 1) for row in (await ask(arguments)).split("\n") if ": " in row)
        assert rows == readable
        assert list(rows)[-1] == max(readable, key=lambda name: len(readable[name]))


async def test_request_that_no_person_could_read_is_refused() -> None:
    arguments = {"note": "x" * (LIMITS.question_chars + 1)}
    server, call = serve_consent(arguments)
    for client in (ClientInfo(asks=True), ClientInfo(name="claude-ai", apps=True)):
        refused = await ask_consent(server, call, caller_with(server, client))
        assert isinstance(refused, Result)
        assert refused.code == "W2403"
    airline = Airline(confirms=True)
    async with host(airport(airline)) as page:
        render = mark(await page.call_tool("seats", {"number": arguments["note"]}))
        assert code_of(await press(page, render)) == "W2403"
    assert not airline.calls


@pytest.mark.parametrize(
    ("declared", "asks"),
    [({}, True), ({"form": {}}, True), ({"form": {}, "url": {}}, True), ({"url": {}}, False)],
    ids=json.dumps,
)
def test_client_with_elicitation_of_no_mode_asks(declared: dict[str, Any], asks: bool) -> None:
    about, capabilities = {"name": "client", "version": "1"}, {"elicitation": declared}
    for version, is_modern in (("2025-06-18", False), ("2026-07-28", True)):
        client = sdk.client_info(Connection.from_envelope(version, about, capabilities))
        assert client.asks == (asks and is_modern)
