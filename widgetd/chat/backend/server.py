"""A ChatKit backend whose agent shows widgets: the worked example, and the daemon's own chat.

    a message -> respond -> the agent -> tools over MCP -> a widget in the thread
    an action -> action  -> checked as every action -> the agent reads it -> respond

The model reads the short text of a tool's answer, and the tree goes into the thread. A user's
actions in a widget go back as hidden context, and the agent answers to them.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import anyio
import orjson
from agents import Agent, Runner
from agents.mcp import MCPServerManager
from chatkit.actions import Action
from chatkit.agents import AgentContext, stream_agent_response
from chatkit.errors import CustomStreamError
from chatkit.server import ChatKitServer
from chatkit.types import (
    ClientEffectEvent,
    HiddenContextItem,
    NoticeEvent,
    StreamingReq,
    SyncCustomActionResponse,
    ThreadItem,
    ThreadItemDoneEvent,
    ThreadItemRemovedEvent,
    ThreadMetadata,
    ThreadsRetryAfterItemReq,
    ThreadStreamEvent,
    UserMessageItem,
    UserMessageTextContent,
    WidgetItem,
)
from typing_extensions import override

from widgetd.base.logs import get_logger
from widgetd.base.system import SYSTEM
from widgetd.chat.backend.conversation import Conversation, newest
from widgetd.chat.backend.model import ChatModel, require_answer
from widgetd.chat.backend.threads import Threads, with_zone
from widgetd.chat.backend.tool_calls import SensitivePaths, ToolCallHooks
from widgetd.chat.backend.tools import (
    IN_WORDS,
    OwnTools,
    UpstreamTools,
    as_object,
    first_line,
    text_of,
)
from widgetd.chat.backend.turn_events import AnswerSize, MessageIds, RunEvents, ToolEvents
from widgetd.chat.limits import LIMITS, ChatLimits
from widgetd.core.widget.components import to_chatkit
from widgetd.server.access.principal import Principal
from widgetd.server.store.cache import LocalCache

INSTRUCTIONS = (
    "You help the user by showing widgets. Call the tool that fits what they should see, with the "
    "data it asks for; then say one short sentence. Never repeat in words what a widget shows."
)

ACTION = "The user did this in the widget {tool}: {action} {payload}" + IN_WORDS + "{words}."
"""The agent's notice of an action; the payload is JSON."""

PRESS = "widgetd/press"
"""The key of a payload with what a page sends along: ChatKit's actions have no other place."""

_PRESS_FIELDS = ("idempotency_key", "token", "state")

TURN_TOO_LONG = "W2501"

_log = get_logger()

Servers = Callable[[Principal], AbstractContextManager[Sequence[OwnTools | UpstreamTools]]]
"""The MCP servers of one turn of a user, not connected yet."""

ActionHandler = Callable[
    [Mapping[str, Any], Principal], Awaitable[tuple[dict[str, Any], dict[str, Any], str]]
]
"""Calls `widget_action` for a user; returns its answer, the payload's readable part, and what was
done in words."""

Redraw = Callable[[Mapping[str, Any], Principal], Any]
"""Draws a widget of a thread again for a user; returns its tree, or None if it cannot."""


class ChatServer(ChatKitServer[Principal]):
    """Answers each message with an agent for the widgets."""

    def __init__(
        self,
        threads: Threads,
        model: ChatModel,
        servers: Servers,
        *,
        act: ActionHandler,
        redraw: Redraw,
        sensitive: SensitivePaths,
        instructions: str = INSTRUCTIONS,
        limits: ChatLimits = LIMITS,
    ) -> None:
        super().__init__(threads)
        self.threads = threads
        self.model = model
        self.instructions = instructions
        self._servers = servers
        self._act = act
        self._redraw = redraw
        self._sensitive = sensitive
        self._limits = limits
        self._last_turns = LocalCache(
            most=limits.last_turns,
            most_bytes=limits.last_turns_bytes,
            ttl_s=limits.last_turn_s,
            timer=SYSTEM.clock.steady_s,
        )

    @asynccontextmanager
    async def connect(
        self, owner: Principal
    ) -> AsyncIterator[tuple[list[Any], Callable[[], list[dict[str, str]]]]]:
        """Yield the reachable MCP servers, and a function to list the state of all.

        They are connected for each turn, so a server back again takes part at the next.
        """
        with self._servers(owner) as servers:
            async with MCPServerManager(servers, connect_in_parallel=True) as manager:

                def states() -> list[dict[str, str]]:
                    failed = {
                        failing: first_line(error) for failing, error in manager.errors.items()
                    }
                    return [
                        {
                            "name": failing.name,
                            "problem": failing.problem or failed.get(failing, ""),
                        }
                        for failing in servers
                    ]

                yield manager.active_servers, states

    @override
    async def _process_streaming_impl(
        self, request: StreamingReq, context: Principal
    ) -> AsyncGenerator[ThreadStreamEvent, None]:
        match request:
            case ThreadsRetryAfterItemReq(params=place, metadata={"text": str(text)}):
                # The user gave the message other words, so it is answered again.
                item = await self.store.load_item(place.thread_id, place.item_id, context)
                if isinstance(item, UserMessageItem):
                    content = [UserMessageTextContent(text=text)]
                    edited = item.model_copy(update={"content": content})
                    await self.store.save_item(place.thread_id, edited, context)
        async for event in super()._process_streaming_impl(request, context):
            entries = {name: getattr(event, name, None) for name in ("item", "thread")}
            zoned = {name: with_zone(entry) for name, entry in entries.items() if entry}
            yield event.model_copy(update=zoned)

    @override
    async def respond(
        self,
        thread: ThreadMetadata,
        input_user_message: UserMessageItem | None,
        context: Principal,
    ) -> AsyncIterator[ThreadStreamEvent]:
        limits = self._limits
        if thread.title is None and input_user_message is not None:
            title = " ".join(part.text for part in input_user_message.content)
            thread.title = title[: limits.title_chars]
        items = await self.store.load_thread_items(
            thread.id, None, limits.input_items, "desc", context
        )
        messages = await Conversation().to_agent_input(items.data[::-1])
        messages = newest(messages, limits.input_bytes)
        ends = SYSTEM.clock.steady_s() + limits.turn_s
        message_ids, answer = MessageIds(), AnswerSize(limits.answer_bytes)
        hooks = ToolCallHooks(self._sensitive, limits)
        async with AsyncExitStack() as resources:
            try:
                servers, states = await resources.enter_async_context(self.connect(context))
                yield ClientEffectEvent(name="widgetd.servers", data={"servers": states()})
                for server in servers:
                    server.custom_data_extractor = hooks.record_result
                agent = Agent[AgentContext[Principal]](
                    name="widgetd",
                    instructions=self.instructions,
                    model=self.model.model,
                    mcp_servers=servers,
                    # Two servers may have a tool of the same name.
                    mcp_config={"include_server_in_tool_names": len(servers) > 1},
                )
                agent_context: AgentContext[Principal] = AgentContext(
                    thread=thread, store=self.store, request_context=context
                )
                queue = ToolEvents()
                agent_context._events = queue  # noqa: SLF001 - there is no other way to end it
                resources.callback(queue.end)
                run = Runner.run_streamed(
                    agent, messages, context=agent_context, max_turns=limits.turn_steps, hooks=hooks
                )
                resources.callback(run.cancel)
                run_events = RunEvents(run.stream_events())
                run.stream_events = lambda: run_events  # type: ignore[method-assign]
                resources.callback(run_events.end)
                events: Any = stream_agent_response(agent_context, run)
                resources.push_async_callback(events.aclose)
                while True:
                    with anyio.fail_after(ends - SYSTEM.clock.steady_s()):
                        event = await anext(events, None)
                    if event is None:
                        break
                    answer.count(event)
                    yield message_ids.rename(event)
                require_answer(run)
                yield ClientEffectEvent(name="widgetd.servers", data={"servers": states()})
            except Exception as error:  # noqa: BLE001 - the user reads any failure in the thread
                for item_id in message_ids.unfinished.values():
                    yield ThreadItemRemovedEvent(item_id=item_id)
                raise self._to_stream_error(error) from None
            await self._keep_last_turn(thread.id, run.to_input_list(), context)

    async def last_turn(self, thread_id: str, owner: Principal) -> dict[str, Any]:
        """Return the model's input and output in the last turn of a thread, empty if not kept.

        Returns:
            `{"instructions": str, "input": [item]}`, with `"omitted": true` if older items are
            left out.

        Raises:
            MissingError: `owner` has no such thread.
        """
        await self.threads.load_thread(thread_id, owner)
        content = await self._last_turns.get(thread_id)
        turn: dict[str, Any] = {} if content is None else orjson.loads(content)
        return turn

    async def _keep_last_turn(self, thread_id: str, items: list[Any], owner: Principal) -> None:
        kept_items = newest(items, self._limits.last_turn_bytes)
        turn: dict[str, Any] = {"instructions": self.instructions, "input": kept_items}
        if len(kept_items) < len(items):
            turn["omitted"] = True
        content, before = orjson.dumps(turn, default=dict), await self._last_turns.get(thread_id)
        if before is None:
            await self._last_turns.put(thread_id, content, owner=owner.name)
        else:
            await self._last_turns.replace(thread_id, content, standing=before, owner=owner.name)

    def _to_stream_error(self, error: Exception) -> CustomStreamError:
        if isinstance(error, TimeoutError):
            seconds = self._limits.turn_s
            message: str | None = (
                f"{TURN_TOO_LONG}: this took longer than {seconds:.0f} s; try again"
            )
        else:
            message = self.model.error_message(error)
        _log.warning("chat.failed", error=type(error).__name__)
        return CustomStreamError(
            message or "Something went wrong here; try again", allow_retry=True
        )

    @override
    async def action(
        self,
        thread: ThreadMetadata,
        action: Action[str, Any],
        sender: WidgetItem | None,
        context: Principal,
    ) -> AsyncIterator[ThreadStreamEvent]:
        """Check an action, tell the agent of it, and stream its answer."""
        result, notice = await self._take_action(thread, action, sender, context)
        data = {"item": sender.id if sender else "", "result": result}
        yield ClientEffectEvent(name="widgetd.action", data=data)
        if notice is None:
            if result.get("isError"):
                yield NoticeEvent(level="warning", message=text_of(result.get("content")))
            elif (
                sender is not None
                and _status_of(result) == "confirm"
                and not as_object(action.payload).get(PRESS)
            ):
                card = await self._question(thread, action, sender, result, context)
                yield ThreadItemDoneEvent(item=card)
            return
        yield ThreadItemDoneEvent(item=notice)
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
        """Check an action and redraw its widget, without asking the model."""
        _result, notice = await self._take_action(thread, action, sender, context)
        if sender is None or notice is None:
            return SyncCustomActionResponse(updated_item=sender)
        await self.store.add_thread_item(thread.id, notice, context)
        facts = await self.threads.load_note(thread.id, sender.id, context)
        tree = await self._redraw(facts, context) if facts.get("arguments") is not None else None
        if tree is not None:
            sender = sender.model_copy(update={"widget": to_chatkit(tree)})
            await self.store.save_item(thread.id, sender, context)
        return SyncCustomActionResponse(updated_item=sender)

    async def _take_action(
        self,
        thread: ThreadMetadata,
        action: Action[str, Any],
        sender: WidgetItem | None,
        context: Principal,
    ) -> tuple[dict[str, Any], HiddenContextItem | None]:
        facts = (
            {} if sender is None else await self.threads.load_note(thread.id, sender.id, context)
        )
        payload = as_object(action.payload)
        press = as_object(payload.pop(PRESS, None))
        result, readable, words = await self._act(
            {
                "render_id": facts.get("render", ""),
                "action": action.type,
                # The raw payload goes nowhere else: it may hold a password.
                "payload": payload,
                "idempotency_key": SYSTEM.numbers.token_hex(8),
                **{name: press[name] for name in _PRESS_FIELDS if press.get(name)},
            },
            context,
        )
        answer = as_object(result.get("structuredContent"))
        is_news = _status_of(result) not in {"", "confirm"} and not answer.get("repeated")
        if result.get("isError") or not is_news:
            return result, None
        text = str(answer.get("line", ""))
        if not text:
            excerpt = orjson.dumps(readable)[: self._limits.message_bytes].decode(errors="ignore")
            text = ACTION.format(
                tool=facts.get("tool", ""), action=action.type, payload=excerpt, words=words
            )
        notice = HiddenContextItem(
            id=self.store.generate_item_id("message", thread, context),
            thread_id=thread.id,
            created_at=datetime.now(UTC),
            content=text,
        )
        return result, notice

    async def _question(
        self,
        thread: ThreadMetadata,
        action: Action[str, Any],
        sender: WidgetItem,
        result: Mapping[str, Any],
        context: Principal,
    ) -> WidgetItem:
        """Add a card with a question for the user to the thread, for pages without our view."""
        answer = as_object(result.get("structuredContent"))
        payload = {**as_object(action.payload), PRESS: {"token": answer.get("token", "")}}
        agree = {"type": action.type, "payload": payload}
        tree = {
            "type": "Card",
            "children": [{"type": "Text", "value": str(answer.get("text", ""))}],
            "confirm": {"label": "Confirm", "action": agree},
        }
        item = WidgetItem(
            id=f"wgt_{SYSTEM.numbers.token_hex(8)}",
            thread_id=thread.id,
            created_at=datetime.now(UTC),
            widget=to_chatkit(tree),
            copy_text=str(answer.get("text", "")),
        )
        facts = await self.threads.load_note(thread.id, sender.id, context)
        await self.threads.save_note(thread.id, item.id, {**facts, "arguments": None}, context)
        return item

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
        # After a user stopped a turn, its text so far stays.
        with anyio.CancelScope(shield=True):
            await super().handle_stream_cancelled(thread, pending_items, context)


def _status_of(result: dict[str, Any]) -> str:
    """Return the outcome of an action, empty for a local action, which only draws another state."""
    status = as_object(result.get("structuredContent")).get("status")
    return status if isinstance(status, str) else ""
