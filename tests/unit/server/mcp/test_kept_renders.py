"""Stored renders, and answers of the same bytes."""

from __future__ import annotations

import gc
import json
import weakref
from functools import partial
from itertools import cycle, islice
from typing import Any

import orjson
import pytest

from tests.support.widgets import build_widget, snapshot_of
from widgetd import load_widget
from widgetd.base.errors import CallError
from widgetd.base.files.folder import bundled_folder
from widgetd.core.widget.widget import CompiledCache, Widget
from widgetd.server.access.principal import Caller
from widgetd.server.catalog.catalog import discover_widgets
from widgetd.server.catalog.registry import Registry
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.provider import WidgetProvider
from widgetd.server.render.calls import Renderer
from widgetd.server.render.entry import tool_entry
from widgetd.server.render.envelope import RenderMark
from widgetd.server.render.result import Policy, Result, error_result, structured_result
from widgetd.server.store.contract import Bounds
from widgetd.server.store.factory import local_store

STAMP = b'"io.modelcontextprotocol/serverInfo":{"name":"widgetd"}'


def rendering(snapshot: Snapshot, *, most: int = 100, **policy: Any) -> Renderer:
    return Renderer(Registry(snapshot), Policy(**policy), local_store(Bounds(renders=most)))


async def test_full_cache_of_renders_gives_the_collector_nothing_to_visit() -> None:
    widgets, most = discover_widgets(bundled_folder()), 2000
    snapshot = snapshot_of(*widgets)
    calls = rendering(snapshot, most=most)

    async def keep(count: int) -> list[str]:
        renders = [
            await calls.store(await calls.compute(widget, widget.example or {}, "g", owner="ann"))
            for widget in islice(cycle(widgets), count)
        ]
        return [render.id for render in renders]

    await keep(2 * len(widgets))  # what is made once for each widget is made
    gc.collect()
    before = len(gc.get_objects())
    cached = await keep(most)
    oldest = cached[0]
    del cached
    gc.collect()

    assert len(gc.get_objects()) - before < most / 100
    assert (await calls.load(oldest, Caller(snapshot=snapshot))).id == oldest


@pytest.mark.parametrize("profile", ["chatkit", "split"])
@pytest.mark.parametrize("text", ["summary", "json"])
@pytest.mark.parametrize("inline_max_bytes", [10, 10_000])
async def test_result_is_equal_as_json_and_as_values_in_both_eras(
    profile: Any, text: Any, inline_max_bytes: int
) -> None:
    flight = load_widget(bundled_folder() / "Flight Tracker.widget")
    snapshot = snapshot_of(flight)
    calls = rendering(snapshot, profile=profile, text=text, inline_max_bytes=inline_max_bytes)

    result = await calls.call(flight, flight.example or {}, Caller(snapshot=snapshot))

    values = same_in_both_eras(result)
    assert values["isError"] is False
    tree = flight.call(flight.example or {}).tree
    if inline_max_bytes == 10:
        assert values["content"][1]["size"] == len(orjson.dumps(tree))
    elif profile == "chatkit":
        assert values["structuredContent"] == tree
    else:
        assert values["_meta"]["widgetd/widget"] == tree
    mark = values["_meta"]["widgetd/render"]
    assert RenderMark.model_validate(mark).wire() == mark


@pytest.mark.parametrize(
    ("result", "is_error", "parts"),
    [
        (
            structured_result({"items": [None], "total": 0}),
            False,
            {"content", "structuredContent", "isError"},
        ),
        (
            error_result(CallError("W2001", "there is none", path="name")),
            True,
            {"content", "isError", "_meta"},
        ),
        (
            error_result(CallError("W2404", "no"), {"status": "invalid"}),
            True,
            {"content", "structuredContent", "isError", "_meta"},
        ),
    ],
    ids=["answer", "error", "error with more to say"],
)
def test_absent_fields_are_omitted_from_a_result(
    result: Result, is_error: bool, parts: set[str]
) -> None:
    values = same_in_both_eras(result)

    assert values.keys() == parts
    assert values["isError"] is is_error


def same_in_both_eras(result: Result) -> dict[str, Any]:
    """Return the result as values after comparing it with its JSON in both eras."""
    values = result.values()
    legacy, modern = json.loads(result.json()), json.loads(result.json(STAMP))
    stamp = json.loads(b"{%b}" % STAMP)
    assert legacy == values
    assert modern == {
        "resultType": "complete",
        **values,
        "_meta": {**values.get("_meta", {}), **stamp},
    }
    return values


async def test_integers_above_64_bits_keep_every_digit() -> None:
    counted = build_widget(
        schema={"properties": {"n": {"type": "integer"}}},
        template='{"type":"Card"}',
        sidecar='[summary_data]\nbelow = "n - 1"\n',
    )
    caller = Caller(snapshot=snapshot_of(counted))
    calls = rendering(caller.snapshot, profile="split")

    result = await calls.call(counted, {"n": -(2**63)}, caller)

    assert json.loads(result.structured)["below"] == -(2**63) - 1
    values = same_in_both_eras(result)
    render = await calls.load(values["_meta"]["widgetd/render"]["id"], caller)
    assert calls.result(render, caller).values() == values


async def test_call_releases_the_least_recently_called_widget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("widgetd.server.render.calls.CompiledCache", partial(CompiledCache, most=1))
    first, second = build_widget("First"), build_widget("Second")
    snapshot = snapshot_of(first, second)
    server = build(Registry(snapshot), local_store())

    for called in (first, second):
        await server.rendering.call(called, {"who": "Ada"}, Caller(snapshot=snapshot))

    assert "template" not in vars(first)
    assert "template" in vars(second)


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
