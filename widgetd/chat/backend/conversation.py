"""A thread as a model reads it: widgets by their summary, and as much as fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from chatkit.agents import ThreadItemConverter
from chatkit.types import (
    AssistantMessageItem,
    UserMessageItem,
    UserMessageTagContent,
    WidgetItem,
    WorkflowItem,
)
from typing_extensions import override


class Conversation(ThreadItemConverter):
    """A thread as a model reads it: widgets by their summary, without the rows about tools."""

    @override
    async def user_message_to_input(
        self, item: UserMessageItem, is_last_message: bool = True
    ) -> Any:
        # ChatKit puts quotes and tags into messages of their own. Within a message a model cannot
        # take the context for what the user said last.
        converted: Any = await super().user_message_to_input(item, is_last_message)
        messages = converted if isinstance(converted, list) else [converted]
        content = [part for message in messages for part in message["content"]]
        return {"type": "message", "role": "user", "content": content}

    @override
    async def tag_to_message_content(self, tag: UserMessageTagContent) -> Any:
        data = orjson.dumps({"name": tag.text, "id": tag.id, **tag.data}).decode()
        return {"type": "input_text", "text": f"<Tag>{data}</Tag>"}

    @override
    async def widget_to_input(self, item: WidgetItem) -> Any:
        tag = f"<ShownWidget>{item.copy_text or 'a widget'}</ShownWidget>"
        part = {"type": "input_text", "text": tag}
        return {"type": "message", "role": "user", "content": [part]}

    @override
    async def assistant_message_to_input(self, item: AssistantMessageItem) -> Any:
        # Chat completions have no parts in a model's message.
        return {"role": "assistant", "content": "".join(part.text for part in item.content)}

    @override
    async def workflow_to_input(self, item: WorkflowItem) -> Any:
        return None


def newest(items: Sequence[Any], most_bytes: int) -> list[Any]:
    """Return the last of `items` within a size as JSON, the very last in any case."""
    left, count = most_bytes, 0
    for item in reversed(items):
        left -= len(orjson.dumps(item, default=dict))
        if left < 0 and count:
            break
        count += 1
    return list(items[len(items) - count :])
