"""The prompt `show_data`: a user has data and wants to see it.

Hosts offer it as a command. It names widgets from a search for the wish and the data, and asks the
model for a single call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Annotated

import orjson
from fastmcp.prompts import Prompt
from pydantic import Field

from widgetd.core.schema.json_values import steps
from widgetd.core.widget.widget import Widget
from widgetd.server.mcp.builtin.table import ToolContext
from widgetd.server.mcp.limits import LIMITS
from widgetd.server.search.search import Hit
from widgetd.server.search.search_index import LONGEST_QUESTION

if TYPE_CHECKING:
    from widgetd.core.schema.json_values import Json


def show_data_prompt(context: Callable[[], ToolContext[None]]) -> Prompt:
    async def show_data(
        data: Annotated[str, Field(description="What is to be shown: JSON, CSV or plain text.")],
        wish: Annotated[str, Field(description="How, or what for, in a few words.")] = "",
    ) -> str:
        named = "\n".join(
            f"- {widget.tool}: {widget.description}"
            for widget in await _find_fitting(context(), data, wish)
        )
        choice = f"Of these tools take the one that fits best:\n{named}"
        if not named:
            choice = "Find the tool that fits with search_widgets."
        wished = f" They want: {wish.strip()}." if wish.strip() else ""
        return (
            f"Show the user the data below with one call of one tool.{wished} {choice}\n"
            "Where the tool is not in your list, get_widget_details tells its arguments and "
            "render_widget calls it. Take every value from the data: leave out what the tool has "
            "no place for, and invent nothing. Do not repeat in words what the widget shows.\n\n"
            f"<data>\n{data}\n</data>"
        )

    return Prompt.from_function(
        show_data,
        title="Show data",
        description="Show data as the widget that fits it best.",
    )


async def _find_fitting(context: ToolContext[None], data: str, wish: str) -> list[Widget]:
    ranks: list[list[Hit]] = []
    for question in (wish, " ".join(_list_properties(data)), data):
        if query := question[:LONGEST_QUESTION].strip():
            hits, _ = await context.search.search(context.caller, query, LIMITS.prompt_widgets)
            ranks.append(hits)
    widgets = {hit.widget.tool: hit.widget for hit in chain(*zip_longest(*ranks)) if hit}
    return list(widgets.values())[: LIMITS.prompt_widgets]


def _list_properties(data: str) -> Iterator[str]:
    try:
        waiting: list[Json] = [orjson.loads(data)]
    except orjson.JSONDecodeError:
        return
    seen: set[str] = set()
    for value in waiting:
        if isinstance(value, Mapping):
            yield from (key for key in value if key not in seen)
            seen.update(value)
        waiting.extend(inner for _, inner in steps(value))
