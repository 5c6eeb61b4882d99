"""The events of a turn: their queue, their ids and their size.

ChatKit leaves two tasks waiting if a turn is cut short, and gives all its messages the same id.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from chatkit.types import (
    AssistantMessageContentPartTextDelta,
    AssistantMessageItem,
    ThreadItemAddedEvent,
    ThreadItemDoneEvent,
    ThreadItemUpdatedEvent,
    ThreadStreamEvent,
)
from typing_extensions import override

from widgetd.base.system import SYSTEM
from widgetd.chat.backend.model import AnswerTooLongError


class _Events:
    """Events for which ChatKit leaves a task waiting if a turn is cut short."""

    _waiting: asyncio.Task[Any] | None = None

    def end(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()


class ToolEvents(_Events, asyncio.Queue[Any]):
    """The events of a turn's tools."""

    @override
    async def get(self) -> Any:
        self._waiting = asyncio.current_task()
        return await super().get()


class RunEvents(_Events):
    """The events of a run."""

    def __init__(self, events: AsyncIterator[Any]) -> None:
        self._events = events

    def __aiter__(self) -> RunEvents:
        return self

    async def __anext__(self) -> Any:
        self._waiting = asyncio.current_task()
        return await anext(self._events)


class MessageIds:
    """An id for each message of a turn.

    The SDK gives every message of a chat completion the same id, and a thread would keep the last.

    Attributes:
        unfinished: The ids of messages without an end so far, by the SDK's id.
    """

    def __init__(self) -> None:
        self.unfinished: dict[str, str] = {}

    def rename(self, event: ThreadStreamEvent) -> ThreadStreamEvent:
        match event:
            case ThreadItemUpdatedEvent(item_id=sdk_id):
                return event.model_copy(update={"item_id": self.unfinished.get(sdk_id, sdk_id)})
            case ThreadItemAddedEvent(item=AssistantMessageItem() as item):
                name = self.unfinished[item.id] = f"msg_{SYSTEM.numbers.token_hex(8)}"
            case ThreadItemDoneEvent(item=AssistantMessageItem() as item):
                name = self.unfinished.pop(item.id)
            case _:
                return event
        return event.model_copy(update={"item": item.model_copy(update={"id": name})})


class AnswerSize:
    """The size of a turn's text so far. `most_bytes` is the limit."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0

    def count(self, event: ThreadStreamEvent) -> None:
        """Add the text of `event`, and raise `AnswerTooLongError` above the limit."""
        match event:
            case ThreadItemUpdatedEvent(update=AssistantMessageContentPartTextDelta(delta=text)):
                self._bytes += len(text.encode())
        if self._bytes > self._most_bytes:
            raise AnswerTooLongError(self._most_bytes)
