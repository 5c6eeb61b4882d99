"""A ChatKit backend whose agent shows widgets: the worked example, and the daemon's own chat.

    a message -> respond -> the agent -> tools over MCP -> a widget in the thread
    an action -> action  -> checked as every action -> the agent is told -> respond

The model reads the short text that a tool answers; the tree goes into the thread. What a user
does in a widget goes back as hidden context, and the agent answers to it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, suppress
from datetime import datetime
from secrets import token_hex
from typing import Any

import anyio
import orjson
from agents import Agent, RunHooks, Runner, Tool
from agents.mcp import MCPServerManager, MCPToolCustomDataContext
from chatkit.actions import Action
from chatkit.agents import AgentContext, ThreadItemConverter, stream_agent_response
from chatkit.errors import CustomStreamError
from chatkit.server import ChatKitServer
from chatkit.types import (
    AssistantMessageItem,
    ClientEffectEvent,
    CustomTask,
    HiddenContextItem,
    NoticeEvent,
    ProgressUpdateEvent,
    SyncCustomActionResponse,
    ThreadItem,
    ThreadItemAddedEvent,
    ThreadItemDoneEvent,
    ThreadItemRemovedEvent,
    ThreadItemUpdatedEvent,
    ThreadMetadata,
    ThreadStreamEvent,
    UserMessageItem,
    WidgetItem,
    WorkflowItem,
)
from pydantic import ValidationError
from typing_extensions import override

from widgetd.access.principal import Principal
from widgetd.chat.backend.model import ChatModel, demand_answer
from widgetd.chat.backend.threads import Threads
from widgetd.chat.backend.tools import OwnTools, UpstreamTools, short, text_of
from widgetd.logs import get_logger
from widgetd.store.cache import LocalCache
from widgetd.widget.components import to_chatkit
from widgetd.widget.summary import without

INSTRUCTIONS = (
    "You help the user by showing widgets. Call the tool that fits what they should see, with the "
    "data it asks for; then say one short sentence. Never repeat in words what a widget shows."
)

TURN_S = 120.0
"""How long one turn may take, tools and all."""

MOST_STEPS = 12
"""How often the model may be asked in one turn."""

REMEMBERED = 100
"""The items at the end of a thread that a model is told."""

MOST_LAST_TURNS = 1_000
LAST_TURN_BYTES, LAST_TURNS_BYTES = 256 * 1024, 16 * 1024 * 1024
LAST_TURN_S = 3600.0

ACTION = "The user did this in the widget {tool}: {action} {payload}"
"""How the agent is told of what was done in a widget; the payload is JSON."""

ROOTS = {"Card", "ListView", "Basic"}

TOO_LONG = "W2501"

_log = get_logger()

Servers = Callable[[Principal], AbstractContextManager[Sequence[OwnTools | UpstreamTools]]]
"""The MCP servers of one turn, not connected yet, for whoever talks."""

Act = Callable[[Mapping[str, Any], Principal], Awaitable[tuple[dict[str, Any], dict[str, Any]]]]
"""Calls `widget_action` for a user; returns its answer and the payload's readable part."""

SensitivePaths = Callable[[str, Mapping[str, Any]], tuple[str, ...]]
"""Returns the dotted paths in the arguments of a tool's call that its widget calls sensitive."""

Redraw = Callable[[Mapping[str, Any], Principal], Any]
"""Draws a widget of a thread again for a user; answers its tree, or None if it cannot."""


class Conversation(ThreadItemConverter):
    """A thread as a model reads it: widgets by their summary, and no rows about tools."""

    @override
    async def widget_to_input(self, item: WidgetItem) -> Any:
        shown = f"<ShownWidget>{item.copy_text or 'a widget'}</ShownWidget>"
        part = {"type": "input_text", "text": shown}
        return {"type": "message", "role": "user", "content": [part]}

    @override
    async def assistant_message_to_input(self, item: AssistantMessageItem) -> Any:
        # Chat completions know no parts of what a model said.
        return {"role": "assistant", "content": "".join(part.text for part in item.content)}

    @override
    async def workflow_to_input(self, item: WorkflowItem) -> Any:
        return None


class Rows(RunHooks[AgentContext[Principal]]):
    """Tells the thread of each call of a tool, and puts the widget there that it answered with."""

    def __init__(self, sensitive: SensitivePaths) -> None:
        self._sensitive = sensitive
        self._began: dict[str, float] = {}
        self._answers: dict[str, MCPToolCustomDataContext] = {}

    def note(self, call: MCPToolCustomDataContext) -> None:
        """Keep what an MCP server answered until the call's end, which knows its text only."""
        context: Any = call.run_context
        self._answers[context.tool_call_id] = call

    @override
    async def on_tool_start(self, context: Any, agent: Any, tool: Tool) -> None:
        self._began[context.tool_call_id] = time.perf_counter()
        await context.context.stream(ProgressUpdateEvent(text=f"Calling {tool.name}"))

    @override
    async def on_tool_end(self, context: Any, agent: Any, tool: Tool, result: object) -> None:
        ms = (time.perf_counter() - self._began.pop(context.tool_call_id)) * 1000
        answer, text = self._answers.pop(context.tool_call_id, None), text_of(result)
        failed = answer is None or answer.is_error
        # Four letters are a token, more or less.
        facts = "failed" if failed else f"{ms:.0f} ms · {len(text) // 4} tokens"
        name = tool.name.rpartition("__")[2] if answer is None else answer.tool_name
        arguments = _object(context.tool_arguments)
        if isinstance(arguments.get("arguments"), str):
            arguments["arguments"] = _object(arguments["arguments"])
        if sensitive := self._sensitive(name, arguments):
            arguments = dict(without(arguments, sensitive))
        task = CustomTask(
            title=f"{tool.name} · {facts}",
            content=f"{orjson.dumps(arguments).decode()}\n\n{text}",
            status_indicator="complete",
        )
        await context.context.add_workflow_task(task)
        if answer is not None and not failed:
            if answer.tool_name == "update_render":
                await self._remember(context.context, dict(answer.arguments))
            await self._show(context.context, answer, text)

    async def _remember(self, context: AgentContext[Principal], given: dict[str, Any]) -> None:
        """What a widget of the thread is drawn with from now on; the page hears of it by itself."""
        threads: Any = context.store
        thread, owner = context.thread.id, context.request_context
        items = await threads.load_thread_items(thread, None, REMEMBERED, "desc", owner)
        for item in items.data:
            facts = await threads.noted(thread, item.id, owner)
            is_drawn_anew = facts.get("render") == given["render_id"] and "arguments" in given
            if is_drawn_anew and not facts.get("private"):
                facts["arguments"] = _object(given["arguments"])
                await threads.note(thread, item.id, facts, owner)

    async def _show(
        self, context: AgentContext[Principal], call: MCPToolCustomDataContext, text: str
    ) -> None:
        tree, meta = call.structured_content, call.result_meta or {}
        if not tree or tree.get("type") not in ROOTS:
            return
        try:
            widget = to_chatkit(dict(tree))
        except ValidationError:
            # Studio is ahead of the library; what it has no class for cannot stand in a thread.
            await context.stream(
                NoticeEvent(level="warning", message=f"{call.tool_name} shows what ChatKit cannot.")
            )
            return
        item = WidgetItem(
            id=f"wgt_{token_hex(8)}",
            thread_id=context.thread.id,
            created_at=datetime.now(),  # noqa: DTZ005 - as ChatKit's own items have it
            widget=widget,
            copy_text=text,
        )
        mark = meta.get("widgetd/render", {})
        arguments = dict(call.arguments)
        if call.tool_name == "render_widget":
            arguments = _object(arguments.get("arguments"))
        tool = mark.get("widget", "")
        # A conversation outlives the process, what a widget calls sensitive does not: it is shown
        # from the render, for as long as that is kept.
        private = bool(self._sensitive(tool, {}))
        facts = {
            "tool": tool,
            "arguments": None if private or call.tool_name == "show_render" else arguments,
            "render": mark.get("id", ""),
            "private": private,
        }
        threads: Any = context.store
        await threads.note(context.thread.id, item.id, facts, context.request_context)
        await context.stream(ThreadItemDoneEvent(item=item))


class ChatServer(ChatKitServer[Principal]):
    """Answers each message with an agent that knows the widgets."""

    def __init__(
        self,
        threads: Threads,
        model: ChatModel,
        servers: Servers,
        *,
        act: Act,
        redraw: Redraw,
        sensitive: SensitivePaths,
        instructions: str = INSTRUCTIONS,
    ) -> None:
        super().__init__(threads)
        self._sensitive = sensitive
        self._last_turns = LocalCache(
            most=MOST_LAST_TURNS,
            most_bytes=LAST_TURNS_BYTES,
            ttl_s=LAST_TURN_S,
            clock=time.monotonic,
        )
        self.threads = threads
        self.model = model
        self.instructions = instructions
        self._servers = servers
        self._act = act
        self._redraw = redraw

    @asynccontextmanager
    async def connected(
        self, owner: Principal
    ) -> AsyncIterator[tuple[list[Any], Callable[[], list[dict[str, str]]]]]:
        """The servers that can be reached, and a way to ask how all of them are.

        They are asked anew for each turn, so that one that was away is back at the next.
        """
        with self._servers(owner) as servers:
            async with MCPServerManager(servers, connect_in_parallel=True) as manager:

                def states() -> list[dict[str, str]]:
                    failed = {one: short(error) for one, error in manager.errors.items()}
                    return [
                        {"name": one.name, "problem": one.problem or failed.get(one, "")}
                        for one in servers
                    ]

                yield manager.active_servers, states

    @override
    async def respond(
        self,
        thread: ThreadMetadata,
        input_user_message: UserMessageItem | None,
        context: Principal,
    ) -> AsyncIterator[ThreadStreamEvent]:
        """Run the agent on the thread, and pass on what it does."""
        if thread.title is None and input_user_message is not None:
            thread.title = " ".join(part.text for part in input_user_message.content)[:60]
        items = await self.store.load_thread_items(thread.id, None, REMEMBERED, "desc", context)
        spoken = await Conversation().to_agent_input(items.data[::-1])
        ends, rows, pending = time.monotonic() + TURN_S, Rows(self._sensitive), Pending()
        async with AsyncExitStack() as held:
            try:
                servers, states = await held.enter_async_context(self.connected(context))
                yield ClientEffectEvent(name="widgetd.servers", data={"servers": states()})
                for server in servers:
                    server.custom_data_extractor = rows.note
                agent = Agent[AgentContext[Principal]](
                    name="widgetd",
                    instructions=self.instructions,
                    model=self.model.model,
                    mcp_servers=servers,
                    # Two servers may have a tool of the same name.
                    mcp_config={"include_server_in_tool_names": len(servers) > 1},
                )
                asked: AgentContext[Principal] = AgentContext(
                    thread=thread, store=self.store, request_context=context
                )
                asked._events = heard = Events()  # noqa: SLF001 - there is no other way to end it
                held.callback(heard.end)
                run = Runner.run_streamed(
                    agent, spoken, context=asked, max_turns=MOST_STEPS, hooks=rows
                )
                held.callback(run.cancel)
                events: Any = stream_agent_response(asked, run)
                held.push_async_callback(events.aclose)
                while True:
                    with anyio.fail_after(ends - time.monotonic()):
                        event = await anext(events, None)
                    if event is None:
                        break
                    yield pending.named(event)
                demand_answer(run)
                yield ClientEffectEvent(name="widgetd.servers", data={"servers": states()})
            except Exception as error:  # noqa: BLE001 - whatever fails is said in the thread
                for item_id in pending.names.values():
                    yield ThreadItemRemovedEvent(item_id=item_id)
                raise self._failure(error) from None
            await self._keep_last_turn(thread.id, run.to_input_list(), context)

    async def last_turn(self, thread_id: str, owner: Principal) -> dict[str, Any]:
        """Return what the model read and said in the last turn of a thread; empty if not kept.

        Raises:
            MissingError: `owner` has no such thread.
        """
        await self.threads.load_thread(thread_id, owner)
        kept = await self._last_turns.get(thread_id)
        found: dict[str, Any] = {} if kept is None else orjson.loads(kept)
        return found

    async def _keep_last_turn(self, thread_id: str, items: list[Any], owner: Principal) -> None:
        """Keep the end of a turn's input in memory: it repeats the thread, and tools' answers."""
        shown: dict[str, Any] = {"instructions": self.instructions, "input": items}
        while len(kept := orjson.dumps(shown, default=dict)) > LAST_TURN_BYTES and items:
            items = items[len(items) // 2 + 1 :]
            shown = {"instructions": self.instructions, "omitted": True, "input": items}
        before = await self._last_turns.get(thread_id)
        if before is None:
            await self._last_turns.put(thread_id, kept, owner=owner.name)
        else:
            await self._last_turns.replace(thread_id, kept, standing=before, owner=owner.name)

    def _failure(self, error: Exception) -> CustomStreamError:
        if isinstance(error, TimeoutError):
            said: str | None = f"{TOO_LONG}: this took longer than {TURN_S:.0f} s; try again"
        else:
            said = self.model.sentence(error)
        _log.warning("chat.failed", error=type(error).__name__)
        return CustomStreamError(said or "Something went wrong here; try again", allow_retry=True)

    @override
    async def action(
        self,
        thread: ThreadMetadata,
        action: Action[str, Any],
        sender: WidgetItem | None,
        context: Principal,
    ) -> AsyncIterator[ThreadStreamEvent]:
        """Check what the user did, tell the agent, and let it answer."""
        answer, told = await self._take(thread, action, sender, context)
        data = {"item": sender.id if sender else "", "result": answer}
        yield ClientEffectEvent(name="widgetd.action", data=data)
        if told is None:
            said = text_of(answer.get("content"))
            yield NoticeEvent(level="warning", message=said)
            return
        yield ThreadItemDoneEvent(item=told)
        async for event in self.respond(thread, None, context):
            yield event

    @override
    async def sync_action(
        self,
        thread: ThreadMetadata,
        action: Action[str, Any],
        sender: WidgetItem | None,
        context: Principal,
    ) -> SyncCustomActionResponse:
        """Check what the user did, and draw the widget anew in its place; no model is asked."""
        _answer, told = await self._take(thread, action, sender, context)
        if sender is None or told is None:
            return SyncCustomActionResponse(updated_item=sender)
        await self.store.add_thread_item(thread.id, told, context)
        facts = await self.threads.noted(thread.id, sender.id, context)
        tree = await self._redraw(facts, context) if facts.get("arguments") is not None else None
        if tree is not None:
            sender = sender.model_copy(update={"widget": to_chatkit(tree)})
            await self.store.save_item(thread.id, sender, context)
        return SyncCustomActionResponse(updated_item=sender)

    async def _take(
        self,
        thread: ThreadMetadata,
        action: Action[str, Any],
        sender: WidgetItem | None,
        context: Principal,
    ) -> tuple[dict[str, Any], HiddenContextItem | None]:
        """What the daemon answers to an action, and what the agent is told if it was taken."""
        facts = {} if sender is None else await self.threads.noted(thread.id, sender.id, context)
        # The raw payload goes nowhere else: it may hold a password.
        answer, readable = await self._act(
            {
                "render_id": facts.get("render", ""),
                "action": action.type,
                "payload": _object(action.payload),
                "idempotency_key": token_hex(8),
            },
            context,
        )
        if answer.get("isError"):
            return answer, None
        told = HiddenContextItem(
            id=self.store.generate_item_id("message", thread, context),
            thread_id=thread.id,
            created_at=datetime.now(),  # noqa: DTZ005 - as ChatKit's own items have it
            content=ACTION.format(
                tool=facts.get("tool", ""),
                action=action.type,
                payload=orjson.dumps(readable).decode(),
            ),
        )
        return answer, told

    @override
    async def transcribe(self, audio_input: Any, context: Principal) -> Any:
        raise NotImplementedError("this chat takes no speech")

    @override
    def _get_attachment_store(self) -> Any:
        raise NotImplementedError("this chat takes no attachments")

    @override
    async def handle_stream_cancelled(
        self, thread: ThreadMetadata, pending_items: list[ThreadItem], context: Principal
    ) -> None:
        # Whoever stops a turn keeps what it had said.
        with anyio.CancelScope(shield=True):
            await super().handle_stream_cancelled(thread, pending_items, context)


class Events(asyncio.Queue[Any]):
    """What tools say in a turn. ChatKit leaves a task that waits here when a turn is cut short."""

    def __init__(self) -> None:
        super().__init__()
        self._waits: asyncio.Task[Any] | None = None

    @override
    async def get(self) -> Any:
        self._waits = asyncio.current_task()
        return await super().get()

    def end(self) -> None:
        """Have nobody wait any more."""
        if self._waits is not None:
            self._waits.cancel()


class Pending:
    """Gives each message an id of its own, and knows which began and did not end.

    The SDK calls every message of a chat completion by one name, and a thread would keep the last.
    """

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def named(self, event: ThreadStreamEvent) -> ThreadStreamEvent:
        """`event`, with the message's own id."""
        match event:
            case ThreadItemUpdatedEvent(item_id=given):
                return event.model_copy(update={"item_id": self.names.get(given, given)})
            case ThreadItemAddedEvent(item=AssistantMessageItem() as item):
                name = self.names[item.id] = f"msg_{token_hex(8)}"
            case ThreadItemDoneEvent(item=AssistantMessageItem() as item):
                name = self.names.pop(item.id)
            case _:
                return event
        return event.model_copy(update={"item": item.model_copy(update={"id": name})})


def _object(value: Any) -> dict[str, Any]:
    """An action's payload, or a model's arguments, as an object."""
    if isinstance(value, str):
        with suppress(orjson.JSONDecodeError):
            value = orjson.loads(value)
    return dict(value) if isinstance(value, Mapping) else {} if value is None else {"value": value}
