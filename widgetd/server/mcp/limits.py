"""The limits and timeouts of the MCP server, in one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """Limits of requests, answers and notifications.

    Attributes:
        fast_request_bytes: Size of a request on the fast path; larger ones are parsed in a worker
            thread by the ordinary path.
        piece_bytes: Part of a response that is sent at once; the list of the bundled widgets fits.
        cached_hosts: Checked Host headers, and as many client descriptions, that are cached.
        cached_client_bytes: Size of a cached client description.
        challenged_bytes: Part of a message that is read to find the scope it needs.
        checked_bytes: Size from which a body is checked for duplicate keys in a worker thread.
        notify_s: Pause between two notices; a client answers each by fetching a list.
        subscriptions: Resources that one legacy client may subscribe to.
        session_s: Delay of timers for tokens without expiry.
        list_tokens: Tokens from which `auto` lists only pinned widgets; the bundled ones cost
            about 12,000.
        threaded_resources: New widgets from which resource lists are built in a worker thread.
        wait_s: The longest wait of one call; many clients time out after a minute.
        note_chars: Length of a note beneath a widget.
        named_actions: Actions that an error names.
        outcome_chars: Text of a call that its user allowed on a card, as a model reads it.
        recorded_actions: Actions recorded of one version, for pages that are mounted later; they
            show the last one.
        hits: Widgets in one answer of a search, or of details.
        details_bytes: Size of an answer about widgets; the first item is always included.
        log_bytes: Size of the events in one answer; the first one is always included.
        report_rows: Rows of a usage report.
        prompt_widgets: Widgets that the prompt offers to the model.
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
