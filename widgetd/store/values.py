"""What the store keeps and what it answers: plain values, and the bounds on all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from widgetd.errors import CallError

Clock = Callable[[], float]
"""Seconds since the epoch. Replicas that share a server should agree on it to a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much is kept, and for how long. Every collection has a bound.

    Attributes:
        renders: How many renders.
        render_bytes: Their size together.
        render_ttl_s: How long a render can be shown and acted on; its actions likewise.
        actions: How many unread actions of one render.
        queues: How many renders may have actions, in one process.
        payload_bytes: The size of one action's payload, as JSON.
        answers: How many remembered answers.
        answer_bytes: Their size together.
        answer_ttl_s: How long an answer is remembered.
        rate_per_s: Calls per second and principal, in the long run; None is no limit.
        burst: Calls that a principal may make at once after a rest.
        at_once: Calls of one principal that may run at the same time; None is no limit.
        principals: How many principals' recent use is remembered, in one process.
    """

    renders: int = 10_000
    render_bytes: int = 67_108_864
    render_ttl_s: float = 3600.0
    actions: int = 64
    queues: int = 10_000
    payload_bytes: int = 65_536
    answers: int = 10_000
    answer_bytes: int = 16_777_216
    answer_ttl_s: float = 3600.0
    rate_per_s: float | None = None
    burst: float = 100.0
    at_once: int | None = None
    principals: int = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRender:
    """One render, as whoever shows it later needs it, whatever profile they ask for.

    Attributes:
        id: Not to be guessed: whoever knows it may see the render.
        tool: The widget's tool name.
        tree: The widget root.
        text: The summary, for the model.
        facts: What the model gets as data in the split profile.
        ui: `_meta["widgetd/ui"]`, as on the wire.
        mark: `_meta["widgetd/render"]`, as on the wire.
        created: When, in seconds since the epoch.
        size_bytes: About the size as JSON. The length of the template's output will do, and
            whoever rendered has it; nothing is serialised to find it out.
        secret: Whether the tree may hold what no model is told.
    """

    id: str
    tool: str
    tree: Mapping[str, Any]
    created: float
    size_bytes: int
    secret: bool = False
    text: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    ui: Mapping[str, Any] = field(default_factory=dict)
    mark: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """Something that a user did in a widget.

    Attributes:
        seq: Its place among the actions of its render; a later action has a higher one.
        action: The action's type, as `flight.track`.
        payload: What came with it, as JSON.
        at: When it was accepted, in seconds since the epoch.
    """

    seq: int
    action: str
    payload: Any
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The answer to an action that was queued, now or under the same key before."""

    seq: int
    status: Literal["accepted"] = "accepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Awaited:
    """The answer to whoever waits for actions.

    Attributes:
        status: `actions`: there are some; `timeout`: none came, ask again; `draining`: this
            process ends, ask again; `expired`: none will come, the render is gone.
        next: What to give as `after` the next time; giving it acknowledges `actions`.
        actions: In the order in which they were accepted.
    """

    status: Literal["actions", "timeout", "draining", "expired"]
    next: int
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a principal may go on, and if not, when to try again.

    Attributes:
        code: Empty, or why not: W2201 (rate) or W2202 (too many at once).
        retry_after_s: When trying again makes sense; 0 where the principal may go on.
    """

    code: Literal["", "W2201", "W2202"] = ""
    retry_after_s: float = 0.0

    @property
    def allowed(self) -> bool:
        """Whether the principal may go on."""
        return not self.code

    def check(self) -> None:
        """Return if the principal may go on.

        Raises:
            CallError: It may not (W2201, W2202); the message says when to try again.
        """
        if not self.code:
            return
        what = "too many calls" if self.code == "W2201" else "too many calls at the same time"
        hint = f"try again in {self.retry_after_s:.3g} s"
        raise CallError(
            self.code,
            f"{what}; {hint}",
            recoverable=True,
            suggestions=(hint,),
            retry_after_s=round(self.retry_after_s, 3),
        )
