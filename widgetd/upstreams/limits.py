"""Limits and timeouts of upstreams. Their output is as untrusted as a dropped file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from widgetd.base.system import SYSTEM

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamLimits:
    """Limits on what upstreams send and what is kept of it, and timeouts.

    Attributes:
        file_bytes: Size of the upstreams file and of an OpenAPI document, as GitHub's or Stripe's.
        document_depth: Levels of an OpenAPI document.
        answer_bytes: Size of a decompressed response, or of a line of a program. An event
            stream has no end, so no size, but each event has.
        event_bytes: Size of an event after lists of tools are reduced: the SDK's own limit. Above
            it, the SDK reports only a failed connection.
        containers: Objects and arrays of a response, counted as brackets in its text. The SDK
            parses 8 MiB of empty arrays in 4 s, in the event loop.
        piece_bytes: Decompressed bytes handled in a turn of the event loop.
        loop_bytes: JSON parsed in the event loop. More is parsed in a worker thread, at a cost of
            0.1 ms.
        blocks: Blocks of an answer for a feed.
        answer_blocks: Blocks of any answer.
        tools: Tools of an upstream, besides those declared without wildcards.
        pages: Pages of a tool list.
        description_chars: Length of a tool's description, and of its words on a failure.
        schema_bytes: Size of a tool's input schema, as JSON.
        schemas_bytes: Size of all input schemas of an upstream together.
        compiled_schemas: Cached compiled input schemas of an upstream. Each may take 30 MB, so the
            schemas of all tools do not fit.
        held_answers: Requests with a held latest answer.
        held_bytes: Size of those answers and of the widgets' arguments made of them.
        held_arguments: Held arguments of an answer, by widget and request.
        watches: Repeated requests for following pages, half of them for any single owner.
        follow_linger_s: Time of repeated requests after the last follower left. Pages
            ask anew when an answer came or their wait ended.
        subscribed_s: Interval of requests for a feed with announcements.
        words_chars: Length of an upstream's words for a user.
        paged_answers: Answers in pages.
        paged_bytes: Size of those answers.
        paged_s: Lifetime of such an answer.
        poll_s: Interval between two looks at the upstreams file, each a `stat`.
        settle_s: Time for `widgetd upstreams` to wait beyond the timeout of connecting.
        retry_s: Pause before the one retry after HTTP 503 without `Retry-After`.
        exit_s: Time for a program to end after its input is closed, and again after SIGTERM.
        pauses_s: Pauses after the first failure, the second and so on. The last repeats.
    """

    file_bytes: int = 8 * 1024 * 1024
    document_depth: int = 128
    answer_bytes: int = 8 * 1024 * 1024
    event_bytes: int = 1024 * 1024
    containers: int = 1_000_000
    piece_bytes: int = 64 * 1024
    loop_bytes: int = 64 * 1024
    blocks: int = 100
    answer_blocks: int = 10_000
    tools: int = 500
    pages: int = 50
    description_chars: int = 1024
    schema_bytes: int = 256 * 1024
    schemas_bytes: int = 4 * 1024 * 1024
    compiled_schemas: int = 8
    held_answers: int = 10_000
    held_bytes: int = 16 * 1024 * 1024
    held_arguments: int = 8
    watches: int = 1_000
    follow_linger_s: float = 10.0
    subscribed_s: float = 300.0
    words_chars: int = 200
    paged_answers: int = 1_000
    paged_bytes: int = 64 * 1024 * 1024
    paged_s: float = 900.0
    poll_s: float = 1.0
    settle_s: float = 0.5
    retry_s: float = 0.25
    exit_s: float = 2.0
    pauses_s: tuple[float, ...] = (1.0, 2.0, 5.0, 15.0, 60.0)


LIMITS = UpstreamLimits()


async def run_sized(size_bytes: int, function: Callable[..., Result], *arguments: object) -> Result:
    """Call `function`, in a worker thread where it works on more than `LIMITS.loop_bytes`."""
    if size_bytes <= LIMITS.loop_bytes:
        return function(*arguments)
    return await SYSTEM.threads.run_blocking(function, *arguments)
