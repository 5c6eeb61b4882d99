"""Traces have an owner, a quota and an expiry."""

from __future__ import annotations

from widgetd.author.browser.limits import BrowserLimits
from widgetd.author.browser.traces import Traces

LIMITS = BrowserLimits(sessions=4, session_idle_s=10)


def test_many_owners_share_the_room_and_the_one_with_the_most_gives_way() -> None:
    traces = Traces(limits=LIMITS, clock=lambda: 0.0)
    for owner in ("ada", "ada", "bo", "cy", "di"):
        traces.put(f"{owner} {len(owner)}", owner, owner.encode())
        traces.put(f"{owner} more", owner, owner.encode())

    stored = [traces.get(f"{owner} more", owner) for owner in ("ada", "bo", "cy", "di")]
    assert stored == [b"ada", b"bo", b"cy", b"di"]


def test_trace_is_private_to_its_owner_and_expires() -> None:
    now = [0.0]
    traces = Traces(limits=LIMITS, clock=lambda: now[0])
    traces.put("one", "ada", b"ada")
    assert (traces.get("one", "bo"), traces.get("one", "ada")) == (None, b"ada")

    now[0] = 10.0
    assert traces.get("one", "ada") is None
    traces.expire()
    assert traces._traces == {}
