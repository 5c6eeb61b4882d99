"""The tool of each widget is kept as long as the widget is, and no longer."""

from __future__ import annotations

import gc
import weakref

import pytest

from tests.making import snapshot_of, widget
from widgetd.catalog.registry import Registry
from widgetd.mcp.entry import tool_entry
from widgetd.mcp.server import build
from widgetd.store.factory import local_store
from widgetd.widget.widget import Widget


async def test_a_widget_that_is_served_no_more_is_kept_by_nobody() -> None:
    tools = build(Registry(), local_store()).tools
    made = widget("Greeting")
    tool_entry(made)
    kept = weakref.ref(made)
    tool = tools.of(made)
    assert tools.of(made) is tool

    del made
    gc.collect()
    result = await tool.run({"who": "Ada"})

    assert kept() is None
    assert result.is_error
    assert "this 'greeting' is not served any more; ask again" in str(result.content)


async def test_a_server_that_starts_makes_no_tool_to_find_out_which_are_tasks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = build(Registry(snapshot_of(widget("Greeting"))), local_store())
    made: list[Widget] = []
    monkeypatch.setattr(type(server.tools), "of", lambda _, widget: made.append(widget))

    tasks = await server.mcp.get_tasks()

    assert not tasks
    assert not made
