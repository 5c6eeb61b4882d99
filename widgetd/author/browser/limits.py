"""The limits and timeouts of everything that runs in the browser, in one table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

Charge = Callable[[str, int], Awaitable[None]]
"""Charges an owner for so many calls, or raises W2201."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserLimits:
    """Limits of pictures and sessions, and timeouts of everything that a caller waits for.

    Attributes:
        step_s: Time that a step waits for its element, unless the call says otherwise.
        step_max_s: The longest time that a call can ask for.
        steps: Steps in one call.
        answer_s: How long a page may take to answer one question, beyond the time of the step that
            asks. A page that takes longer is closed.
        close_s: Time for a page, a browser or its driver to close.
        candidates: Targets of which the first that matches counts.
        target_chars: Length of one of them.
        named_elements: Elements that an error names, of several that a target leads to.
        matched_texts: Different texts on a page that the pattern of a target may match.
        matched_chars: Length of a text on a page that the pattern of a target is matched with.
        named_events: Events, violations or console lines that an error names.
        poll_s: Pause before a page is asked again for what is not there yet.
        calendar_months: Months that a calendar is turned by to reach a date.
        event_bytes: Events of one session, as JSON; the oldest are dropped first.
        events: The same, counted.
        console_chars: Length of one line of a page's console.
        sessions: Sessions at the same time.
        session_idle_s: Time after which an unused session ends.
        session_hard_s: Time after which every session ends.
        expire_s: Pause between two looks for sessions that are due to end.
        trace_bytes: Size of one trace.
        pictures_at_once: Pictures that are drawn at the same time, half of them for one token.
        picture_cost: Calls that a picture, or a sheet of named widgets, counts as, besides the
            request for it; the sheet of all states counts as ten.
        draw_s: Time to draw one, and time that a caller waits for a place.
        picture_bytes: Size of one picture.
        picture_px: Longest side of one picture; browsers draw no more at once.
        cached_pictures: Pictures that are not drawn again; a share for each owner.
        cached_bytes: Size of all of them.
        cached_s: Time for which one is not drawn again.
        page_uses: Pictures drawn on one page before a new one replaces it, because what a page
            retains of each widget adds up.
        baseline_bytes: Size of a file that a test compares with.
        sheet_widgets: Widgets on one sheet of pictures.
        browser_idle_s: Time after which an unused browser is closed.
        browser_poll_s: Pause between two looks for that, and at the memory of a browser.
        probe_s: Time for a running browser to answer that it is alive.
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

    Half of them, so that no token takes all. Callers without a token are one owner, and may.
    """
    return (most + 1) // 2 if owner else most
