"""What a store keeps and answers, and what it promises, whichever backend keeps the promise.

Every method can be called from any number of tasks at once. None raises because
a server is away: then this process keeps the promise alone, for itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import orjson
from orjson import Fragment

from widgetd.errors import CallError
from widgetd.schema.json_values import copy_exact, to_json
from widgetd.widget.actions import has_actions

Clock = Callable[[], float]
"""Tells seconds: since the epoch for dates, on which replicas that share a server should agree to a
second, or of a monotonic clock for lifetimes in this process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much is kept, and for how long. Every collection has a bound.

    Attributes:
        renders: How many renders.
        render_bytes: Their size together, as JSON.
        render_ttl_s: How long a render can be shown and acted on; its actions likewise.
        versions_per_s: How often a render may be replaced, in the long run; as many at once.
        actions: How many unread actions of one render.
        queues: How many renders may have actions, in one process.
        payload_bytes: The size of one action's payload, as JSON.
        answers: How many remembered answers.
        answer_bytes: Their size together.
        answer_ttl_s: How long an answer is remembered.
        fed: How many answers of upstreams.
        fed_bytes: Their size together.
        fed_ttl_s: How long one is kept at most.
        rate_per_s: Calls per second and principal, in the long run; None is no limit.
        burst: Calls that a principal may make at once after a rest.
        at_once: Calls of one principal that may run at the same time; None is no limit.
        principals: How many principals' recent use is remembered, in one process.
    """

    renders: int = 10_000
    render_bytes: int = 67_108_864
    render_ttl_s: float = 3600.0
    versions_per_s: float = 20.0
    actions: int = 64
    queues: int = 10_000
    payload_bytes: int = 65_536
    answers: int = 10_000
    answer_bytes: int = 16_777_216
    answer_ttl_s: float = 3600.0
    fed: int = 10_000
    fed_bytes: int = 33_554_432
    fed_ttl_s: float = 3600.0
    rate_per_s: float | None = None
    burst: float = 100.0
    at_once: int | None = None
    principals: int = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRender:
    """A render, with everything that a later result in any profile needs.

    Parts of results are kept as JSON: results are made of them without encoding them again, and
    the garbage collector has nothing to visit in 10,000 renders.

    Attributes:
        id: A random id; everyone who knows it may see the render.
        tool: The widget's tool.
        tree: The widget root, as JSON.
        created: Time of this version, in seconds since the epoch.
        version: Number of the version; 1 is the first.
        generation: Hash of the snapshot that it was rendered from.
        digest: Digest of the widget's content.
        duration_ms: Time that rendering took.
        coerced: Sentences on coerced arguments.
        source: The part of the file that was drawn, if it has both a template and JSX.
        follow: Whether the render may be replaced, so that pages should ask for newer versions.
        state: Outcome of the user's action; empty in the first version.
        note: A sentence for the user, shown beneath the widget.
        text: The summary, for the model.
        data: Structured content for the model in profile `split`, as JSON.
        ui: `_meta["widgetd/ui"]`, as JSON.
        feed: `_meta["widgetd/feed"]`, as JSON; empty if the caller sent all arguments.
        has_actions: Whether the user can act in it.
        secret: Whether the tree may hold values that no model may read.
        elevated: Whether its widget required a scope of its own.
        labels: The tool and the tags of its widget at that time.
        owner: The principal whose share of the store it counts against.
        rate_tokens_until: Time up to which the rate of versions is used, in seconds since the
            epoch.
    """

    id: str
    tool: str
    tree: bytes
    created: float
    version: int = 1
    generation: str = ""
    digest: str = ""
    duration_ms: float = 0.0
    coerced: tuple[str, ...] = ()
    source: Literal["template", "view", ""] = ""
    follow: bool = False
    state: Literal["done", "failed", ""] = ""
    note: str = ""
    text: str = ""
    data: bytes = b"{}"
    ui: bytes = b"{}"
    feed: bytes = b""
    has_actions: bool = False
    secret: bool = False
    elevated: bool = False
    labels: tuple[str, ...] = ()
    owner: str = ""
    rate_tokens_until: float = 0.0

    def metadata(self) -> dict[str, Any]:
        """Return `_meta["widgetd/render"]` without empty fields, as `RenderMark` types it."""
        required = {
            "id": self.id,
            "widget": self.tool,
            "generation": self.generation,
            "digest": self.digest,
            "ms": self.duration_ms,
        }
        optional = {
            "mended": self.coerced,
            "source": self.source,
            "follow": self.follow,
            "version": self.version if self.version > 1 else None,
            "state": self.state,
            "note": self.note,
        }
        return required | {name: value for name, value in optional.items() if value}

    def json(self) -> bytes:
        """Return the render as it is stored, in this process and on a shared server.

        The names are those of earlier releases, so replicas of both can read each other's.
        """
        return copy_exact(
            orjson.dumps(
                {
                    # First, so that two versions differ in their first bytes, see `HEAD_BYTES`.
                    **({"version": self.version} if self.version > 1 else {}),
                    "created": self.created,
                    "id": self.id,
                    "tool": self.tool,
                    "secret": self.secret,
                    "elevated": self.elevated,
                    "marks": self.labels,
                    "owner": self.owner,
                    "text": self.text,
                    "facts": Fragment(self.data),
                    "ui": Fragment(self.ui),
                    "mark": self.metadata(),
                    **({"feed": Fragment(self.feed)} if self.feed else {}),
                    **({"paid_s": self.rate_tokens_until} if self.rate_tokens_until else {}),
                    # Releases before 0.2 need it.
                    "size_bytes": len(self.tree),
                    "tree": Fragment(self.tree),
                }
            )
        )

    @classmethod
    def read(cls, stored: bytes) -> StoredRender:
        """Parse a stored render of this release, or of one that stores more or fewer fields.

        Raises:
            ValueError: It is not valid JSON, or not a render.
        """
        try:
            found = json.loads(stored)  # unlike orjson it reads integers of any length exactly
        except RecursionError as error:
            raise ValueError(str(error)) from None
        if not isinstance(found, dict):
            raise ValueError("expected an object")  # noqa: TRY004 - it is the value that is wrong
        for name, kinds in _STORED_TYPES.items():
            if type(found.get(name)) not in kinds:
                raise ValueError(f"expected another {name}")
        if any(type(label) is not str for label in found["marks"]):
            raise ValueError("expected other marks")
        try:
            tree = orjson.dumps(found["tree"])
        except orjson.JSONEncodeError as error:  # deeper than any tree of ours
            raise ValueError(str(error)) from None
        same_names = ("id", "tool", "created", "secret", "elevated", "owner", "text")
        return cls(
            **{name: found[name] for name in same_names},
            **_read_metadata(found["mark"]),
            data=to_json(found["facts"]),
            ui=to_json(found["ui"]),
            has_actions=has_actions(found["tree"]),
            labels=tuple(found["marks"]),
            tree=tree,
            feed=to_json(found["feed"]) if isinstance(found.get("feed"), dict) else b"",
            version=found["version"] if type(found.get("version")) is int else 1,
            rate_tokens_until=_read_float(found, "paid_s"),
        )


def _read_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a render that `metadata()` wrote; a field of another type is empty."""

    def text(name: str, allowed: Collection[str] = ()) -> str:
        value = metadata.get(name)
        return value if isinstance(value, str) and (not allowed or value in allowed) else ""

    coerced = metadata.get("mended")
    return {
        "generation": text("generation"),
        "digest": text("digest"),
        "duration_ms": _read_float(metadata, "ms"),
        "coerced": tuple(filter(_is_text, coerced)) if isinstance(coerced, list) else (),
        "source": text("source", ("template", "view")),
        "follow": metadata.get("follow") is True,
        "state": text("state", ("done", "failed")),
        "note": text("note"),
    }


def _read_float(fields: Mapping[str, Any], name: str) -> float:
    value = fields.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def _is_text(value: object) -> bool:
    return isinstance(value, str)


HEAD_BYTES = 64
"""The first bytes of a stored render, which are enough to tell its versions apart."""


_STORED_TYPES: Mapping[str, Collection[type]] = {
    "id": {str},
    "tool": {str},
    "tree": {dict},
    "created": {float, int},
    "size_bytes": {int},
    "secret": {bool},
    "elevated": {bool},
    "marks": {list},
    "owner": {str},
    "text": {str},
    "facts": {dict},
    "ui": {dict},
    "mark": {dict},
}
"""The fields that every release has stored, with their types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The facts about an action's render that are needed after the render expired.

    Attributes:
        owner: The principal whose share of the store the queue counts against.
        elevated: Whether its widget required a scope of its own.
        labels: The tool and the tags of its widget.
    """

    owner: str = ""
    elevated: bool = False
    labels: tuple[str, ...] = ()


UNKNOWN = Origin()
"""Of a render that nothing is known of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """Something that a user did in a widget.

    Attributes:
        seq: Its place among the actions of its render; a later action has a higher one.
        action: The action's type, as `flight.track`.
        at: When it was accepted, in seconds since the epoch.
    """

    seq: int
    action: str
    payload: Any
    at: float
    origin: Origin = UNKNOWN


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
class Decision:
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

    @property
    def refusal(self) -> CallError | None:
        """The error that says when to try again; None where the principal may go on."""
        if not self.code:
            return None
        what = "too many calls" if self.code == "W2201" else "too many calls at the same time"
        return too_soon(self.code, what, self.retry_after_s)

    def check(self) -> None:
        """Raise `refusal`, if there is one."""
        if self.refusal is not None:
            raise self.refusal


def call_again(code: str, problem: str, hint: str, **more: Any) -> CallError:
    """That the same call may succeed later, and how, as `hint` says."""
    return CallError(code, f"{problem}; {hint}", recoverable=True, suggestions=(hint,), **more)


def too_soon(code: str, problem: str, wait_s: float) -> CallError:
    """That the same call may succeed in `wait_s`."""
    hint = f"try again in {wait_s:.3g} s"
    return call_again(code, problem, hint, retry_after_s=round(wait_s, 3))


class Renders(Protocol):
    """Renders by id, for a while.

    Obligations: a render that was put is found until its time to live is over or newer
    renders need its room; then the oldest of whoever has most of it goes first, so that nobody
    loses any who has less than an equal share. Putting its id again has no effect. What is put in
    one replica is found in all of them. A version never changes: `replace` puts another in
    its place, with the next number, so that of two at once one comes after the other; none comes
    after a newer one. While the server is away each replica replaces alone, and of what
    they have then the highest number stays.
    """

    async def put(self, render: StoredRender) -> None:
        """Keep `render`, all that it is made of in one JSON text; its room is what that takes."""

    async def get(self, render_id: str) -> StoredRender | None:
        """The render in its newest version, or None if there is none of that id, or not any more.

        It is the newest of all replicas.
        """

    async def replace(
        self,
        render_id: str,
        change: Callable[[StoredRender], StoredRender],
        *,
        after: int | None = None,
    ) -> StoredRender | None:
        """Keep another version of a render, for its time to live from now on.

        Args:
            render_id: Of the render.
            change: The newest version to the next. Its id, owner and number are not its business;
                it may be asked again, where somebody else was first.
            after: The version that must be the newest.

        Returns:
            The version that is the newest now, or None if there is no such render any more.

        Raises:
            CallError: Another version than `after` is the newest (W2406), or there are too many
                too soon (W2201).
        """

    async def newer(
        self, render_id: str, *, after: int, timeout_s: float
    ) -> StoredRender | Literal["timeout", "draining", "expired"]:
        """The newest version once that has a higher number than `after`, or why there is none."""

    def hearing(self, listener: Callable[[str], None]) -> AbstractContextManager[None]:
        """Within the block, `listener` is told the id of each render that any replica replaces."""


class Actions(Protocol):
    """What users did in each render, until whoever waits for it has it.

    Obligations: the actions of a render are read in the order in which they were accepted,
    each with a `seq` above the last. Reading removes nothing; giving the `next` of an answer
    as a later `after` does, so a reader that lost an answer reads it again. An `after` that
    was never given out acknowledges nothing that was not read. While the server is away,
    each replica queues alone and counts from another origin; what nobody read until the
    server is back moves there. A reader that follows `next` misses none, and may see one
    twice where the server went away in the middle of an answer.
    """

    async def append(
        self,
        render_id: str,
        action: str,
        payload: object,
        *,
        idempotency_key: str,
        origin: Origin = UNKNOWN,
    ) -> Accepted:
        """Queue an action and wake whoever waits for it.

        Args:
            render_id: A render that the caller has just found in the store.
            action: The action's type.
            payload: JSON.
            idempotency_key: The same key for the same render queues once, and has one answer.
            origin: Of the render.

        Raises:
            CallError: Too many are unread (W2402, try again), the payload is too large (W2403),
                or this process drains and would be the only one to have the action (W2405).
        """

    async def read(self, render_id: str, *, after: int = 0, timeout_s: float = 20.0) -> Awaited:
        """Acknowledge what came up to `after`; answer what came later, or wait for it.

        Unread actions are answered before anything else: also while draining, and also
        when the render itself is gone. Waiting costs a task and an event.
        """

    def drain(self) -> None:
        """Answer whoever waits in this process, now and from now on, with `draining`.

        What is taken after this is kept on a server that replicas share, or not taken.
        """


class Idempotency(Protocol):
    """Answers by key, so that a call made twice has one effect and one answer.

    Obligations: the first answer under a key stands, in all replicas, until its time to live
    is over or newer answers need its room, of which each owner has a share
    as with renders. Keys are compared whole; that they name the
    principal and the tool too is up to the caller.
    """

    async def remember(
        self, key: str, answer: Mapping[str, Any], *, owner: str = ""
    ) -> Mapping[str, Any]:
        """Keep `answer` (JSON) under `key` if it is the first, and give the one that stands."""

    async def recall(self, key: str) -> Mapping[str, Any] | None:
        """The answer under `key`, or None if the call was never made, or long ago."""


class Answers(Protocol):
    """What upstreams answered, under keys that hold the window of time that it is good for.

    Obligations: what stands under a key never changes, in any replica; it is found until its
    time to live is over or newer answers need its room.
    """

    async def put(self, key: str, value: bytes, *, owner: str) -> bytes:
        """Keep `value`, a JSON object, unless one stands there, and give the one that stands."""

    async def get(self, key: str) -> bytes | None:
        """What stands under `key`, if anything does."""


class Limits(Protocol):
    """How much each principal may ask for.

    Obligations: a principal never gets more than its rate and burst over all replicas, and one
    principal's use takes nothing from another's. Memory is bounded; forgetting a principal
    is in its favour.
    """

    async def take(self, principal: str, *, cost: float = 1.0) -> Decision:
        """Take `cost` calls from the principal's allowance, or none and say when to try again.

        A cost above the burst counts as the burst, or it could never be paid.
        """

    def slot(self, principal: str) -> AbstractAsyncContextManager[Decision]:
        """Hold one of the principal's places for as long as the block runs.

        The block runs in any case; if the verdict is not `allowed`, it holds no place.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """What outlives a call, by what it is for.

    Attributes:
        mode: Says where all this is: in this process by choice (`local`), on a server that
            replicas share (`shared`), or in this process while the server is away (`degraded`).
        skipped: Counts what stood on the server and could not be read.
        unread: How many actions wait in this process for somebody to read them.
    """

    renders: Renders
    actions: Actions
    idempotency: Idempotency
    limits: Limits
    answers: Answers
    mode: Callable[[], Literal["local", "shared", "degraded"]]
    skipped: Callable[[], int] = lambda: 0
    unread: Callable[[], int] = lambda: 0
