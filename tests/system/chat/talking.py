"""A client of a chat, by ChatKit's protocol; a response that does not validate fails the test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from warnings import catch_warnings, simplefilter

import anyio
import httpx2
import pytest
from pydantic import TypeAdapter

from tests.support.patience import PATIENCE_S
from widgetd.chat.limits import LIMITS, ChatLimits


@dataclass
class Talker:
    """One user of a chat.

    Attributes:
        url: Of the daemon's MCP endpoint.
        headers: Sent with each request.
        thread: The current conversation.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    thread: str = ""

    @property
    def base(self) -> str:
        return self.url.removesuffix("/mcp")

    async def get(self, path: str) -> httpx2.Response:
        async with httpx2.AsyncClient(timeout=3 * PATIENCE_S) as client:
            return await client.get(self.base + path, headers=dict(self.headers))

    async def post(self, kind: str, /, **params: Any) -> httpx2.Response:
        headers = {"origin": self.base, **self.headers}
        body = {"type": kind, "params": params}
        async with httpx2.AsyncClient(timeout=3 * PATIENCE_S) as client:
            return await client.post(f"{self.base}/chatkit", json=body, headers=headers)

    async def turn(self, kind: str, /, **params: Any) -> list[dict[str, Any]]:
        """Return the events of one turn."""
        with anyio.fail_after(3 * PATIENCE_S):
            response = await self.post(kind, **params)
        assert response.status_code == 200, response.text
        with catch_warnings():
            # Its first import warns of its own classes.
            simplefilter("ignore", DeprecationWarning)
            from chatkit.types import ThreadStreamEvent

        event: TypeAdapter[ThreadStreamEvent] = TypeAdapter(ThreadStreamEvent)
        lines = [line.removeprefix("data: ") for line in response.text.split("\n\n") if line]
        events = []
        for line in lines:
            with catch_warnings():
                # It is made of classes that ChatKit deprecates itself.
                simplefilter("ignore", DeprecationWarning)
                event.validate_json(line)
            events.append(httpx2.Response(200, text=line).json())
        return events

    async def say(self, words: str) -> list[dict[str, Any]]:
        """Return the events of the turn that `words` begin."""
        content = [{"type": "input_text", "text": words}]
        user_input = {"content": content, "attachments": [], "inference_options": {}}
        if self.thread:
            return await self.turn(
                "threads.add_user_message", thread_id=self.thread, input=user_input
            )
        events = await self.turn("threads.create", input=user_input)
        self.thread = events[0]["thread"]["id"]
        return events

    @asynccontextmanager
    async def begun(self, words: str) -> AsyncIterator[AsyncIterator[str]]:
        """Yield the lines of the turn that `words` begin; leaving the block stops it."""
        content = [{"type": "input_text", "text": words}]
        user_input = {"content": content, "attachments": [], "inference_options": {}}
        body = {"type": "threads.create", "params": {"input": user_input}}
        headers = {"origin": self.base, **self.headers}
        async with (
            httpx2.AsyncClient(timeout=3 * PATIENCE_S) as client,
            client.stream("POST", f"{self.base}/chatkit", json=body, headers=headers) as response,
        ):
            yield response.aiter_lines()

    async def items(self) -> list[dict[str, Any]]:
        """Return the items of the thread."""
        response = await self.post("items.list", thread_id=self.thread, order="asc", limit=100)
        data: list[dict[str, Any]] = response.json()["data"]
        return data


def set_limits(monkeypatch: pytest.MonkeyPatch, **changed: Any) -> ChatLimits:
    """Give the chats of this test other limits, and return them."""
    limits = replace(LIMITS, **changed)
    monkeypatch.setattr("widgetd.chat.limits.LIMITS", limits)
    return limits


def agent_messages(events: list[dict[str, Any]]) -> list[str]:
    """Return the agent's messages."""
    items = [event["item"] for event in events if event["type"] == "thread.item.done"]
    return [
        "".join(part["text"] for part in item["content"]).strip()
        for item in items
        if item["type"] == "assistant_message"
    ]


def problems(events: list[dict[str, Any]]) -> list[str]:
    """Return the sentences of errors."""
    return [event["message"] for event in events if event["type"] == "error"]


def shown_widgets(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the widgets in the events."""
    items = [event["item"] for event in events if event["type"] == "thread.item.done"]
    return [item for item in items if item["type"] == "widget"]
