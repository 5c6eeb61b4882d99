"""Limits and timeouts of upstreams, whose output is as untrusted as a dropped file."""

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
        answer_bytes: Size of one response, decompressed, or of one line of a program. An event
            stream has no end, so no size, but each event has.
        event_bytes: Size of one event after lists of tools are reduced: the SDK's own limit, above
            which it says no more than that the connection failed.
        containers: Objects and arrays of one response, counted as brackets in its text: 8 MiB of
            empty arrays take 4 s to parse, which the SDK does in the event loop.
        piece_bytes: Decompressed bytes that are handled in one turn of the event loop.
        loop_bytes: JSON that is parsed in the event loop; more is parsed in a worker thread, which
            costs 0.1 ms to begin.
        blocks: Blocks of an answer that a feed reads one by one.
        answer_blocks: Blocks of any answer.
        tools: Tools of one upstream, besides those that its declaration names without wildcards.
        pages: Pages of one tool list.
        description_chars: Length of a tool's description, and of its words on a failure.
        schema_bytes: Size of one tool's input schema, as JSON.
        schemas_bytes: Size of all input schemas of one upstream together.
        compiled_schemas: Compiled input schemas that one upstream keeps. A compiled schema may
            take 30 MB, so those of all tools do not fit.
        held_answers: Requests whose latest answer is held for feeds.
        held_bytes: Size of those answers and of the arguments that widgets make of them.
        held_arguments: Arguments that are held for one answer: one per widget and request.
        watches: Requests that are made again while pages follow, half of them for one owner.
        follow_linger_s: Time for which a feed is asked again after its last follower left; pages
            ask anew when an answer came or their wait ended.
        subscribed_s: Interval at which a feed is asked that only waits for announcements.
        words_chars: Length of an upstream's words that a user reads.
        paged_answers: Answers that are read page by page.
        paged_bytes: Size of those answers.
        paged_s: Lifetime of such an answer.
        poll_s: Interval between two looks at the upstreams file, each a `stat`.
        settle_s: Time that `widgetd upstreams` waits beyond what connecting may take.
        retry_s: Pause before the one retry after HTTP 503 without `Retry-After`.
        exit_s: Time that a program has to end after its input is closed, and again after SIGTERM.
        pauses_s: Pauses after the first failure, the second and so on; the last one repeats.
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
