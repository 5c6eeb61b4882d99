"""Slips of models are read as meant, or refused with a suggestion."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from fastmcp import Client

from widgetd.author.testing.widgets import server_over
from widgetd.base.files.folder import bundled_folder


@pytest.fixture
async def bundled_client() -> AsyncIterator[Client[Any]]:
    async with Client(server_over(bundled_folder()).mcp) as connected:
        yield connected


@pytest.mark.parametrize(
    ("tool", "arguments", "correction"),
    [
        ("table", {"title": "Cars", "columns": ["Car", "Price"], "rows": [["A", 1]]}, "1 row."),
        ("chart", {"title": "Cars", "labels": [2024], "values": [3]}, "Chart of Cars."),
        ("ride_status", {"status": "Riding", "pickup": "A", "dropoff": "B", "gate": None}, "ride"),
        (
            "render_widget",
            {"tool": "view_event", "args": {"title": "Swim", "time": "20:00"}},
            "Swim, 20:00 (confirmed)",
        ),
    ],
)
async def test_misspelt_argument_is_corrected(
    bundled_client: Client[Any], tool: str, arguments: dict[str, Any], correction: str
) -> None:
    result = await bundled_client.call_tool_mcp(tool, arguments)

    assert not result.is_error, result.content
    assert correction in result.content[0].text  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("create_task", {"title": "a", "due_date": "2026-01-01"}, "due_date: expected no such"),
        ("create_task", {"title": "a", "due_date": "2026-01-01"}, "(did you mean due?)"),
        (
            "lead_form",
            {"title": "a", "fields": [{"name": "a", "label": "b", "type": "email"}]},
            "(did you mean kind?)",
        ),
        ("render_widget", {}, 'Valid example: {"name":"booking_calendar","arguments":{"calendarId'),
        ("await_widget_action", {"render_id": "abc", "timeout_s": 0}, "there is no render 'abc'"),
        ("flight_status", {}, "did you mean 'flight_tracker'?"),
    ],
)
async def test_refusal_suggests_the_intended_value(
    bundled_client: Client[Any], tool: str, arguments: dict[str, Any], message: str
) -> None:
    result = await bundled_client.call_tool_mcp(tool, arguments)

    assert result.is_error
    assert message in result.content[0].text  # type: ignore[union-attr]
