"""A backend that receives actions: plain HTTP on this machine, with planned answers."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream

from tests.support.patience import PATIENCE_S


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedRequest:
    """One request that came."""

    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> Any:
        """The body."""
        return json.loads(self.body)

    def is_signed_with(self, key: bytes) -> bool:
        """Return whether the sender knows `key`.

        Source: Standard Webhooks 1.0.0, "Signature scheme".
        """
        head = f"{self.headers['webhook-id']}.{self.headers['webhook-timestamp']}."
        digest = hmac.new(key, head.encode() + self.body, hashlib.sha256).digest()
        return self.headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"


@dataclass(slots=True)
class Receiver:
    """A receiver of webhooks: its requests so far, and its answers.

    Attributes:
        url: Where it is.
        answers: The status of each answer, in order; the last one stays.
        requests: The requests.
        ignored: A request with this in its body gets no answer.
        answered: Number of requests that got an answer.
    """

    url: str
    answers: list[str]
    requests: list[ReceivedRequest] = field(default_factory=list)
    ignored: bytes = b"\0"
    answered: int = 0
    _came: anyio.Event = field(default_factory=anyio.Event)

    async def wait_for_requests(self, times: int) -> None:
        """Return once so many requests came."""
        with anyio.fail_after(PATIENCE_S):
            while len(self.requests) < times:
                await self._came.wait()

    async def wait_for_answers(self, times: int) -> None:
        """Return once so many requests got an answer."""
        with anyio.fail_after(PATIENCE_S):
            while self.answered < times:
                await self._came.wait()

    async def take(self, stream: SocketStream) -> None:
        """Read one request and answer it; one that was given up meanwhile did not come."""
        async with stream:
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                await self._take(stream)

    async def _take(self, stream: SocketStream) -> None:
        received = b""
        while b"\r\n\r\n" not in received:
            received += await stream.receive()
        head, _, body = received.partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in head.decode().split("\r\n")[1:]]
        headers = {name.lower(): value for name, _, value in lines}
        while len(body) < int(headers["content-length"]):
            body += await stream.receive()
        self.requests.append(ReceivedRequest(headers=headers, body=body))
        if self.ignored in body:
            self._stir()
            await silent(stream)
            return
        status = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        await stream.send(
            f"HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".encode()
        )
        self.answered += 1
        self._stir()

    def _stir(self) -> None:
        event, self._came = self._came, anyio.Event()
        event.set()


Manner = Callable[[SocketStream], Awaitable[None]]
"""How a receiver deals with a connection, until it is closed on it."""

PAUSE_S = 0.01


async def silent(stream: SocketStream) -> None:
    """Read the request without answering."""
    with suppress(anyio.BrokenResourceError):
        async for _ in stream:
            pass


async def deaf(_stream: SocketStream) -> None:
    """Read nothing, and say nothing."""
    await anyio.sleep_forever()


def dripping(begin: bytes, drop: bytes) -> Manner:
    """Answer at once with a response that never ends."""

    async def answer(stream: SocketStream) -> None:
        await stream.receive()
        await stream.send(begin)
        while True:
            await stream.send(drop)
            await anyio.sleep(PAUSE_S)

    return answer


SLOW: dict[str, Manner] = {
    "says nothing": silent,
    "reads nothing": deaf,
    "drips its status": dripping(b"HTTP/1.1 ", b"0"),
    "drips its headers": dripping(b"HTTP/1.1 200 Ok\r\n", b"a: b\r\n"),
    "drips one header": dripping(b"HTTP/1.1 200 Ok\r\na: ", b"b"),
    "drips early hints": dripping(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
}
"""Receivers that never come to the end of an answer's head, each in its way."""


@asynccontextmanager
async def receiving_slowly(manner: Manner) -> AsyncIterator[Receiver]:
    """Run a receiver during the block that records each connection."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    receiver = Receiver(f"http://localhost:{listener.extra(SocketAttribute.local_port)}/", [])

    async def take(stream: SocketStream) -> None:
        receiver.requests.append(ReceivedRequest(headers={}, body=b""))
        async with stream:
            with suppress(anyio.BrokenResourceError, anyio.EndOfStream):
                await manner(stream)

    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, take)
        yield receiver
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def receiving(*answers: str) -> AsyncIterator[Receiver]:
    """Run a receiver during the block."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(SocketAttribute.local_port)
    receiver = Receiver(f"http://localhost:{port}/hooks?of=widgets", list(answers) or ["204 Ok"])
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, receiver.take)
        yield receiver
        tasks.cancel_scope.cancel()
