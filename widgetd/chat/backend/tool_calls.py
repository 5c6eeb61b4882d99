"""Calls of tools in a thread: a row for each, and its widget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
from agents import RunHooks, Tool
from agents.mcp import MCPToolCustomDataContext
from chatkit.agents import AgentContext
from chatkit.types import (
    CustomTask,
    NoticeEvent,
    ProgressUpdateEvent,
    ThreadItemDoneEvent,
    WidgetItem,
)
from pydantic import ValidationError
from typing_extensions import override

from widgetd.base.system import SYSTEM
from widgetd.chat.backend.tools import as_object, split_name, text_of
from widgetd.chat.limits import ChatLimits
from widgetd.core.widget.components import to_chatkit
from widgetd.core.widget.components.tree import ROOTS
from widgetd.core.widget.summary import remove_paths
from widgetd.server.access.principal import Principal
from widgetd.server.mcp.builtin import CORE_TOOLS

SensitivePaths = Callable[[str, Mapping[str, Any]], tuple[str, ...]]
"""Returns the dotted paths in the arguments of a tool's call that its widget calls sensitive."""

_ROWS = {row.name: row for row in CORE_TOOLS}


def _label(tool: Tool) -> str:
    """Return the name of a tool in words, with its server unless it is ours."""
    server, name = split_name(tool.name)
    words = name.replace("_", " ").strip().capitalize()
    return f"{words} of {server}" if server else words


class ToolCallHooks(RunHooks[AgentContext[Principal]]):
    """Adds a row to the thread for each call of a tool, and the widget of its result."""

    def __init__(self, sensitive: SensitivePaths, limits: ChatLimits) -> None:
        self._sensitive = sensitive
        self._limits = limits
        self._started_s: dict[str, float] = {}
        self._results: dict[str, MCPToolCustomDataContext] = {}

    def record_result(self, call: MCPToolCustomDataContext) -> None:
        """Keep the result of an MCP server until `on_tool_end`, which gets only its text."""
        context: Any = call.run_context
        self._results[context.tool_call_id] = call

    @override
    async def on_tool_start(self, context: Any, agent: Any, tool: Tool) -> None:
        self._started_s[context.tool_call_id] = SYSTEM.clock.steady_s()
        await context.context.stream(ProgressUpdateEvent(text=f"Calling {_label(tool)}"))

    @override
    async def on_tool_end(self, context: Any, agent: Any, tool: Tool, result: object) -> None:
        ms = (SYSTEM.clock.steady_s() - self._started_s.pop(context.tool_call_id)) * 1000
        call, text = self._results.pop(context.tool_call_id, None), text_of(result)
        failed = call is None or call.is_error
        # A token is about four characters.
        facts = "failed" if failed else f"{ms:.0f} ms · {len(text) // 4} tokens"
        name = tool.name.rpartition("__")[2] if call is None else call.tool_name
        arguments = as_object(context.tool_arguments)
        if name in _ROWS:
            arguments = dict(_ROWS[name].reads(arguments))
        if isinstance(arguments.get("arguments"), str):
            arguments["arguments"] = as_object(arguments["arguments"])
        public = remove_paths(arguments, self._sensitive(name, arguments))
        most = self._limits.tool_text_chars
        task = CustomTask(
            title=f"{_label(tool)} · {facts}",
            content=f"{orjson.dumps(public).decode()[:most]}\n\n{text[:most]}",
            status_indicator="complete",
        )
        await context.context.add_workflow_task(task)
        if call is not None and not failed:
            if call.tool_name == "update_render":
                await self._note_update(context.context, dict(call.arguments))
            await self._show(context.context, call, text)

    async def _note_update(
        self, context: AgentContext[Principal], arguments: dict[str, Any]
    ) -> None:
        """Note the new arguments of a widget in the thread, for all further drawings."""
        threads: Any = context.store
        thread, owner = context.thread.id, context.request_context
        most = self._limits.input_items
        items = await threads.load_thread_items(thread, None, most, "desc", owner)
        for item in items.data:
            facts = await threads.load_note(thread, item.id, owner)
            is_updated = facts.get("render") == arguments["render_id"] and "arguments" in arguments
            if is_updated and not facts.get("private"):
                facts["arguments"] = as_object(arguments["arguments"])
                await threads.save_note(thread, item.id, facts, owner)

    async def _show(
        self, context: AgentContext[Principal], call: MCPToolCustomDataContext, text: str
    ) -> None:
        meta = call.result_meta or {}
        # The tree of a widget with sensitive arguments is in no structured content.
        tree = meta.get("widgetd/widget") or call.structured_content
        if not tree or tree.get("type") not in ROOTS:
            return
        try:
            widget = to_chatkit(dict(tree))
        except ValidationError:
            # Studio is ahead of the library, and its threads hold only the library's components.
            await context.stream(
                NoticeEvent(level="warning", message=f"{call.tool_name} shows what ChatKit cannot.")
            )
            return
        item = WidgetItem(
            id=f"wgt_{SYSTEM.numbers.token_hex(8)}",
            thread_id=context.thread.id,
            created_at=datetime.now(UTC),
            widget=widget,
            copy_text=text[: self._limits.tool_text_chars],
        )
        mark = meta.get("widgetd/render", {})
        arguments = dict(call.arguments)
        row = _ROWS.get(call.tool_name)
        if row is not None and row.widget_argument:
            arguments = as_object(row.reads(arguments).get("arguments"))
        tool = mark.get("widget", "")
        # A conversation outlives the process, a sensitive argument must not: such a widget is
        # drawn from the render, as long as it is kept.
        private = bool(self._sensitive(tool, {}))
        facts = {
            "tool": tool,
            "arguments": None if private or call.tool_name == "show_render" else arguments,
            "render": mark.get("id", ""),
            "private": private,
        }
        threads: Any = context.store
        await threads.save_note(context.thread.id, item.id, facts, context.request_context)
        await context.stream(ThreadItemDoneEvent(item=item))
