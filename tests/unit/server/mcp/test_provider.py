"""FastMCP's tool of each widget is kept as long as the widget is, and no longer."""

from __future__ import annotations

import gc
import weakref

import pytest

from tests.support.widgets import build_widget, snapshot_of
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.provider import WidgetProvider
from widgetd.server.render.entry import tool_entry
from widgetd.server.store.factory import local_store


async def test_removed_widget_is_released() -> None:
    provider = WidgetProvider(build(Registry(), local_store()), None)
    widget = build_widget("Greeting")
    tool_entry(widget)
    reference = weakref.ref(widget)
    tool = provider.tool_of_widget(widget)
    assert provider.tool_of_widget(widget) is tool

    del widget
    gc.collect()
    result = await tool.run({"who": "Ada"})

    assert reference() is None
    assert result.is_error
    assert "[W2001] name: there is no widget 'greeting'; search_widgets finds what there is" in str(
        result.content
    )


async def test_starting_server_builds_no_tool_to_find_tasks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = build(Registry(snapshot_of(build_widget("Greeting"))), local_store())
    built: list[Widget] = []
    monkeypatch.setattr(WidgetProvider, "tool_of_widget", lambda _, widget: built.append(widget))

    tasks = await server.mcp.get_tasks()

    assert not tasks
    assert not built
