"""The toolset `operate`: status, log and usage, for principals with the scope."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp_types import CallToolResult

from tests.support.answers import text
from tests.support.clients import connect_client
from tests.support.forked_daemons import forked_daemon
from tests.support.patience import PATIENCE_S
from tests.support.widgets import build_widget, snapshot_of, widget_file
from widgetd.base.errors import Finding
from widgetd.server.access.principal import OPERATE, READ, Principal
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp import sdk
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.builtin import CORE_TOOLS, OPERATE_TOOLS
from widgetd.server.mcp.builtin.operate import Operations
from widgetd.server.mcp.server import Server, ServerOptions
from widgetd.server.observe.limits import LIMITS
from widgetd.server.observe.log_ring import LogRing
from widgetd.server.observe.status import Health
from widgetd.server.store.factory import local_store

NAMES = {tool.name for tool in OPERATE_TOOLS}


def log_event(ring: LogRing, event: str, level: str = "info", **fields: Any) -> None:
    ring(
        None, level, {"event": event, "level": level, "timestamp": "2999-01-01T00:00:00Z", **fields}
    )


def operating(ring: LogRing, **options: Any) -> Server:
    registry = Registry(snapshot_of(build_widget(), faults=options.pop("faults", None)))
    operations = Operations(
        registry=registry, health=Health(), log=ring, audit=options.pop("audit", None)
    )
    chosen = ServerOptions(
        builtin=(*CORE_TOOLS, *OPERATE_TOOLS),
        toolsets=["operate"],
        services={"operate": operations},
        **options,
    )
    return build(registry, local_store(), chosen)


async def call(server: Server, tool: str, **arguments: Any) -> CallToolResult:
    with anyio.fail_after(PATIENCE_S):
        async with Client(sdk.lowlevel_of(server.mcp), mode="legacy") as client:
            return await client.call_tool(tool, arguments)


async def logs(server: Server, **arguments: Any) -> dict[str, Any]:
    result = await call(server, "get_logs", **arguments)
    assert result.structured_content is not None, text(result)
    return dict(result.structured_content)


def events(answer: dict[str, Any]) -> list[str]:
    return [item["event"] for item in answer["items"]]


async def test_operate_toolset_reads_log_and_status(tmp_path: Path) -> None:
    (tmp_path / "Good.widget").write_text(widget_file("Good"))
    (tmp_path / "Bad.widget").write_text("{")
    async with (
        forked_daemon(tmp_path, "--toolset", "operate") as served,
        connect_client(served.url, "modern") as client,
    ):
        listed = await client.tools()
        status = (await client.call("get_status")).structured_content
        logged: dict[str, Any] = {"items": []}
        with anyio.fail_after(PATIENCE_S):
            while "widget.refused" not in events(logged):  # it comes a moment after the swap
                logged = dict((await client.call("get_logs")).structured_content or {})

    assert listed >= NAMES
    assert status is not None
    assert (status["widgets"], status["store"]) == (1, "local")
    assert status["toolsets"] == ["core", "operate"]
    assert [fault["path"] for fault in status["faults"]] == ["Bad.widget"]
    assert str(tmp_path) not in json.dumps(logged)


async def test_events_come_oldest_first_and_by_level_text_pattern_and_widget() -> None:
    ring = LogRing()
    log_event(ring, "a.done", "debug")
    log_event(ring, "b.done", problem="the disk is full", path="B.widget")
    log_event(ring, "c.done", "warning", tool="greeting")
    server = operating(ring)

    assert events(await logs(server)) == ["b.done", "c.done"]
    assert events(await logs(server, level="debug")) == ["a.done", "b.done", "c.done"]
    assert events(await logs(server, level="warning")) == ["c.done"]
    assert events(await logs(server, contains="disk is")) == ["b.done"]
    assert events(await logs(server, pattern="[bc][.]d")) == ["b.done", "c.done"]
    assert events(await logs(server, widget="greeting")) == ["c.done"]
    assert events(await logs(server, widget="B.widget")) == ["b.done"]


async def test_reading_on_from_next_loses_and_repeats_no_event() -> None:
    ring = LogRing()
    for number in range(7):
        log_event(ring, f"event.{number}")
    server = operating(ring)

    first = await logs(server, limit=3)
    second = await logs(server, limit=3, after=first["next"])
    log_event(ring, "event.7")
    third = await logs(server, limit=3, after=second["next"])
    fourth = await logs(server, after=third["next"])

    messages = [*events(first), *events(second), *events(third), *events(fourth)]
    assert messages == [f"event.{number}" for number in range(8)]
    assert fourth["dropped"] == 0


async def test_event_larger_than_an_answer_comes_alone_and_hides_no_later_one() -> None:
    ring = LogRing()
    log_event(ring, "large.done", paths=["x" * LIMITS.field_chars] * 100)
    log_event(ring, "small.done")
    server = operating(ring)

    first = await logs(server)
    assert events(first) == ["large.done"]
    assert events(await logs(server, after=first["next"])) == ["small.done"]


async def test_ring_stays_within_its_bounds_and_counts_dropped_events() -> None:
    ring = LogRing(most_events=100, most_bytes=10_000)
    server = operating(ring)
    log_event(ring, "first.done")
    begin = await logs(server)
    for number in range(2_000):
        log_event(ring, "next.done", number=number)

    after = await logs(server, after=begin["next"], limit=1000)

    assert len(ring) <= 100
    assert ring.bytes_kept <= 10_000
    assert after["dropped"] == 2_000 - len(after["items"])
    assert after["items"][-1]["number"] == 1_999


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"pattern": "(?=look)around"}, "W3101"),
        ({"pattern": "(["}, "W3101"),
        ({"pattern": "a" * 1_001}, "W3101"),
        ({"after": "0bad0bad.1"}, "W3102"),
        ({"after": "nonsense"}, "W3102"),
        ({"since": "yesterday"}, "W2002"),
        ({"since": "9999999999d"}, "W2002"),
        ({"since": "9" * 60 + "ms"}, "W2002"),
        ({"since": "1" * 200_000 + "!"}, "W2002"),
    ],
)
async def test_invalid_log_query_is_refused(arguments: dict[str, Any], code: str) -> None:
    assert text(await call(operating(LogRing()), "get_logs", **arguments)).startswith(f"[{code}]")


async def test_cursor_of_thousands_of_digits_is_refused() -> None:
    ring = LogRing()
    ring(None, "info", {"event": "new.done", "level": "info", "timestamp": ""})

    answer = await call(operating(ring), "get_logs", after=ring.cursor_of() + "0" * 5_000)

    assert text(answer).startswith("[W3102]")


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (b"caf\xe9.widget".decode(errors="surrogateescape"), "caf\\udce9.widget"),
        (["\ud800"], ["\\ud800"]),
        (2**64, "a large number"),
        (2**63 - 1, 2**63 - 1),
    ],
    ids=["a name that is no UTF-8", "half a character", "beyond 64 bits", "64 bits"],
)
async def test_event_with_any_values_is_stored(value: object, stored: object) -> None:
    ring = LogRing()
    log_event(ring, "widget.refused", path=value)

    [event] = (await logs(operating(ring)))["items"]

    assert event["path"] == stored


async def test_log_query_returns_events_within_its_time() -> None:
    ring = LogRing()
    ring(None, "info", {"event": "old.done", "level": "info", "timestamp": "2001-01-01T00:00:00Z"})
    log_event(ring, "new.done")
    server = operating(ring)

    assert events(await logs(server, since="2h30m")) == ["new.done"]
    assert events(await logs(server, since="0")) == ["old.done", "new.done"]
    assert events(await logs(server, since="2001-01-01T00:00:01Z")) == ["new.done"]


async def test_log_query_finds_the_swap_that_changed_a_widget() -> None:
    ring = LogRing()
    log_event(ring, "catalog.swapped", tools=["greeting"])
    log_event(ring, "catalog.swapped", tools=["parting"])

    [event] = (await logs(operating(ring), widget="greeting"))["items"]

    assert event["tools"] == ["greeting"]


async def test_audience_reads_no_event_of_widgets_hidden_from_it() -> None:
    ring = LogRing()
    log_event(ring, "widget.refused", path="Payroll.widget", problem="salary is no field")
    log_event(ring, "call.crashed", tool="payroll")
    log_event(ring, "call.crashed", tool="greeting")
    log_event(ring, "library.logged", library="mcp", detail="payroll")
    some = Principal(scopes=frozenset({READ, OPERATE}))

    answer = await logs(operating(ring, anonymous=some))

    assert events(answer) == ["widget.refused", "call.crashed", "call.crashed", "library.logged"]
    assert "ayroll" not in json.dumps(answer)
    assert "salary" not in json.dumps(answer)
    assert answer["items"][2]["tool"] == "greeting"


async def test_refused_file_is_reported_to_callers_with_access() -> None:
    ring = LogRing()
    fault = Finding(code="W1101", problem="it is no JSON", advice="mend it", path="Bad.widget")
    log_event(ring, "widget.refused", path="Bad.widget", problem="it is no JSON")

    answer = await logs(operating(ring, faults={"Bad.widget": fault}))

    assert answer["items"][0]["problem"] == "it is no JSON"


@given(folder=st.text(st.characters(categories=["L", "N"]), min_size=1), words=st.text(max_size=20))
def test_events_store_no_path_and_no_traceback(folder: str, words: str) -> None:
    ring = LogRing()
    place = f"/srv/{folder}/widgets/A.widget"
    log_event(
        ring, "state.failed", path=place, problem=f"{words} '{place}'", exception=f"at {place}"
    )
    log_event(ring, "library.logged", message=f"GET {place}")

    stored = b"".join(event.line for event in ring.after("")[0]).decode()

    assert "/srv/" not in stored
    assert "A.widget" in stored
    assert "GET" not in stored


async def test_usage_summarises_the_audit_file_without_names_of_hidden_widgets(
    tmp_path: Path,
) -> None:
    audit = tmp_path / "audit.jsonl"
    line = {"event": "call", "at": "2999-01-01T00:00:00Z", "outcome": "ok", "code": "", "ms": 1.0}
    rows = [
        {**line, "widget": "greeting", "tool": "greeting", "principal": "a"},
        {**line, "widget": "payroll", "tool": "payroll", "principal": "b"},
        {**line, "widget": "", "tool": "search_widgets", "principal": "b"},
        {**line, "at": "2001-01-01T00:00:00Z", "widget": "old", "tool": "old", "principal": "b"},
    ]
    audit.write_text("\n".join(map(json.dumps, rows)))
    some = Principal(scopes=frozenset({READ, OPERATE}))

    every = await call(operating(LogRing(), audit=audit), "get_usage")
    hidden = await call(
        operating(LogRing(), audit=audit, anonymous=some), "get_usage", report="top"
    )

    assert every.structured_content is not None
    assert hidden.structured_content is not None
    assert {row["widget"] for row in every.structured_content["items"]} == {
        *("greeting", "payroll", "search_widgets")
    }
    assert "payroll" not in json.dumps(hidden.structured_content)
    assert len(hidden.structured_content["items"]) == 3


async def test_usage_without_an_audit_file_names_what_is_missing() -> None:
    refused = await call(operating(LogRing()), "get_usage", report="slow")

    assert text(refused).startswith("[W3103] nothing is recorded: widgetd was started without")
