"""The traces of ended sessions, for `playwright show-trace`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from widgetd.author.browser.limits import BrowserLimits, compute_share

TRACE = "trace.zip"
PARTS = {
    "screen": "text/plain",
    "picture.png": "image/png",
    "events": "application/json",
    "console": "application/json",
    TRACE: "application/zip",
}
"""Media types of the resources of a session, of which the trace outlives it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A trace, a ZIP file, of the session of the principal `owner`."""

    owner: str
    expires_s: float
    content: bytes


@dataclass(eq=False, kw_only=True)
class Traces:
    """Traces by session, each owner's within a quota."""

    limits: BrowserLimits
    clock: Callable[[], float]
    _traces: dict[str, Trace] = field(default_factory=dict)

    def put(self, session_id: str, owner: str, content: bytes) -> None:
        """Store a trace for as long as an unused session would stay.

        The oldest of the same owner makes room for it, and only then the oldest of the owner with
        the most: a principal's traces never displace those of a principal with fewer.
        """
        expires_s = self.clock() + self.limits.session_idle_s
        self._traces[session_id] = Trace(owner=owner, expires_s=expires_s, content=content)
        count = sum(trace.owner == owner for trace in self._traces.values())
        if count > compute_share(self.limits.sessions, owner):
            self._drop_oldest(owner)
        if len(self._traces) > self.limits.sessions:
            [(most, _)] = Counter(trace.owner for trace in self._traces.values()).most_common(1)
            self._drop_oldest(most)

    def get(self, session_id: str, owner: str) -> bytes | None:
        trace = self._traces.get(session_id)
        if trace is None or trace.owner != owner or trace.expires_s <= self.clock():
            return None
        return trace.content

    def expire(self) -> None:
        now = self.clock()
        self._traces = {key: trace for key, trace in self._traces.items() if trace.expires_s > now}

    def _drop_oldest(self, owner: str) -> None:
        del self._traces[next(key for key, trace in self._traces.items() if trace.owner == owner)]
