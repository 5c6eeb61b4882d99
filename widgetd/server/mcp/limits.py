"""Limits and timeouts of the MCP server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """Limits of requests, answers and notifications.

    Attributes:
        fast_request_bytes: Size of a request on the fast path. The ordinary path parses larger
            requests in a worker thread.
        piece_bytes: Part of a response to send at once. The list of the bundled widgets fits.
        cached_hosts: Cached Host headers, and as many client descriptions.
        cached_client_bytes: Size of a cached client description.
        challenged_bytes: Part of a message to read for its scope.
        checked_bytes: Size from which a body is checked for duplicate keys in a worker thread.
        notify_s: Pause between two notices. A client answers each by fetching a list.
        subscriptions: Subscribed resources of a legacy client.
        session_s: Delay of timers for tokens without expiry.
        list_tokens: Tokens from which `auto` lists only pinned widgets. The bundled widgets cost
            about 12,000.
        threaded_resources: New widgets from which resource lists are built in a worker thread.
        wait_s: The longest wait of a call. Many clients time out after a minute.
        note_chars: Length of a note beneath a widget.
        named_actions: Actions in an error.
        outcome_chars: Text for a model about a call allowed on a card.
        recorded_actions: Recorded actions of a version, for pages mounted later. They show the
            last.
        hits: Widgets in an answer of a search, or of details.
        details_bytes: Size of an answer about widgets. The first item is always included.
        log_bytes: Size of the events in an answer. The first event is always included.
        report_rows: Rows of a usage report.
        prompt_widgets: Widgets in the prompt.
    """

    fast_request_bytes: int = 64 * 1024
    piece_bytes: int = 128 * 1024
    cached_hosts: int = 256
    cached_client_bytes: int = 4 * 1024
    challenged_bytes: int = 4 * 1024 * 1024
    checked_bytes: int = 64 * 1024
    notify_s: float = 0.1
    subscriptions: int = 1_000
    session_s: float = 365 * 24 * 3600
    list_tokens: int = 16_000
    threaded_resources: int = 100
    wait_s: int = 60
    note_chars: int = 200
    named_actions: int = 6
    outcome_chars: int = 4_000
    recorded_actions: int = 16
    hits: int = 50
    details_bytes: int = 64 * 1024
    log_bytes: int = 64 * 1024
    report_rows: int = 200
    prompt_widgets: int = 3


LIMITS: Final = ServerLimits()
