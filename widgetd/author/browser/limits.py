"""The limits and timeouts of everything in the browser."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

Charge = Callable[[str, int], Awaitable[None]]
"""Charges an owner for so many calls, or raises W2201."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserLimits:
    """Limits of pictures and sessions, and timeouts of a caller's waits.

    Attributes:
        step_s: Time that a step waits for its element, unless the call says otherwise.
        step_max_s: The longest time that a call can ask for.
        steps: Steps in one call.
        answer_s: Time for a page to answer a question, beyond the time of the asking step. A slower
            page is closed.
        close_s: Time for a page, a browser or its driver to close.
        candidates: Alternative targets. The first match counts.
        target_chars: Length of each.
        named_elements: Elements named in an error about an ambiguous target.
        matched_texts: Different texts on a page matched by a target's pattern.
        matched_chars: Length of a page's text for a target's pattern.
        named_events: Events, violations or console lines named in an error.
        poll_s: Pause before a page is asked again.
        calendar_months: Turns of a calendar to reach a date, in months.
        event_bytes: Events of a session, as JSON. The oldest are dropped first.
        events: The same, counted.
        console_chars: Length of a line of a page's console.
        sessions: Sessions at the same time.
        session_idle_s: Lifetime of an unused session.
        session_hard_s: Lifetime of any session.
        expire_s: Pause between two looks for expired sessions.
        trace_bytes: Size of a trace.
        pictures_at_once: Pictures drawn at the same time, half of them for any single token.
        picture_cost: Cost of a picture, or of a sheet of named widgets, in calls besides the
            request. The sheet of all states counts as ten.
        draw_s: Time to draw a picture, and time of a caller's wait for a place.
        picture_bytes: Size of a picture.
        picture_px: Longest side of a picture. Browsers draw no more at once.
        cached_pictures: Cached pictures, with a share for each owner.
        cached_bytes: Size of all of them.
        cached_s: Lifetime of a cached picture.
        page_uses: Pictures drawn on a page before its replacement. A page retains something of each
            widget.
        baseline_bytes: Size of a baseline.
        sheet_widgets: Widgets on a sheet of pictures.
        browser_idle_s: Lifetime of an unused browser.
        browser_poll_s: Pause between two looks for that, and at the memory of a browser.
        probe_s: Time for a running browser to prove that it is alive.
    """

    step_s: float = 5
    step_max_s: float = 30
    steps: int = 50
    answer_s: float = 10
    close_s: float = 10
    candidates: int = 16
    target_chars: int = 2_000
    named_elements: int = 8
    matched_texts: int = 50
    matched_chars: int = 4_000
    named_events: int = 5
    poll_s: float = 0.03
    calendar_months: int = 240
    event_bytes: int = 4 * 1024 * 1024
    events: int = 1_000
    console_chars: int = 2_000
    sessions: int = 8
    session_idle_s: float = 300
    session_hard_s: float = 3_600
    expire_s: float = 5
    trace_bytes: int = 16 * 1024 * 1024
    pictures_at_once: int = 2
    picture_cost: int = 4
    draw_s: float = 10
    picture_bytes: int = 4 * 1024 * 1024
    picture_px: int = 16_384
    cached_pictures: int = 64
    cached_bytes: int = 32 * 1024 * 1024
    cached_s: float = 900
    page_uses: int = 200
    baseline_bytes: int = 16 * 1024 * 1024
    sheet_widgets: int = 48
    browser_idle_s: float = 60
    browser_poll_s: float = 1
    probe_s: float = 10


LIMITS: Final = BrowserLimits()


async def no_charge(_owner: str, _cost: int) -> None:
    """Charge nothing, where only the user of this machine takes pictures."""


def compute_share(most: int, owner: str) -> int:
    """Return how many of `most` sessions or pictures `owner` may have at the same time.

    Half of them, so no token takes all. Callers without a token share an owner, and may.
    """
    return (most + 1) // 2 if owner else most
