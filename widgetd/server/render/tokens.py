"""Token costs of widgets: of a tool's list entry and of a result."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal

import orjson

from widgetd.base.errors import CallError
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.render.entry import (
    CHARACTERS_OF_A_TOKEN,
    PARTS_FOR_MODELS,
    tokens_of_entry,
    tool_entry,
)
from widgetd.server.render.mock import answer
from widgetd.server.render.result import Policy


def tokens_of_tool(widget: Widget) -> int:
    return tokens_of_entry(widget.entry or tool_entry(widget))


def tokens_of_result(
    widget: Widget,
    snapshot: Snapshot,
    arguments: Mapping[str, Any],
    profile: Literal["chatkit", "split"],
) -> int:
    """Return the tokens of a result's text and structured content for the model.

    Raises:
        CallError: The arguments do not fit, or the template fails on them.
    """
    policy = Policy(profile=profile)
    return tokens_of(answer(widget, snapshot, arguments, policy=policy, name="tokens"))


def tokens_of(result: Mapping[str, Any]) -> int:
    text = "".join(block.get("text", "") for block in result["content"])
    return (len(text) + len(orjson.dumps(result["structuredContent"]))) // CHARACTERS_OF_A_TOKEN


def table(snapshot: Snapshot) -> str:
    """Format a row for each widget with an example, and a sentence with the totals of all.

    A row has the tokens of the tool, and of results in both profiles: `chatkit` and `split` are of
    the first example, and `full` is the largest tree of all examples.
    """
    rows: list[tuple[str, ...]] = [("widget", "tool", "chatkit", "split", "full")]
    for widget in snapshot.widgets.values():
        if widget.known_example is not None:
            full = whole = tokens_of_result(widget, snapshot, widget.example, "chatkit")
            split = tokens_of_result(widget, snapshot, widget.example, "split")
            for arguments in widget.examples:
                with suppress(CallError):
                    full = max(full, tokens_of_result(widget, snapshot, arguments, "chatkit"))
            costs = (tokens_of_tool(widget), whole, split, full)
            rows.append((widget.tool, *(f"{cost:,}" for cost in costs)))
    width = max(len(row[0]) for row in rows)
    lines = ("  ".join((f"{name:{width}}", *(f"{cost:>7}" for cost in c))) for name, *c in rows)
    return "\n".join((*lines, "", _sum_parts(snapshot)))


def _sum_parts(snapshot: Snapshot) -> str:
    widgets = snapshot.widgets.values()
    entries = [orjson.loads(widget.entry or tool_entry(widget)) for widget in widgets]
    costs = {
        part: sum(len(orjson.dumps(entry[part])) for entry in entries) // CHARACTERS_OF_A_TOKEN
        for part in PARTS_FOR_MODELS
    }
    parts = ", ".join(f"{part} {cost:,}" for part, cost in costs.items())
    return f"{len(entries)} tools cost {sum(costs.values()):,} tokens: {parts}"
