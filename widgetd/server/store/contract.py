"""The values of a store, and the limits of each collection."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson
from orjson import Fragment

from widgetd.base.errors import CallError
from widgetd.core.schema.json_values import copy_exact, to_json
from widgetd.core.widget.actions import has_actions

Clock = Callable[[], float]
"""Tells seconds: since the epoch for dates, or of a monotonic clock for lifetimes in this process.
Replicas with the same server should agree on dates to a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The limits of each collection, by number, size and time.

    Attributes:
        renders: Number of renders.
        render_bytes: Size of all renders, as JSON.
        render_ttl_s: Time for which a render can be shown and acted on, and for its actions.
        versions_per_s: Versions of a render per second in the long run, and as many at once.
        actions: Unread actions of a render.
        queues: Renders with actions, per process.
        payload_bytes: Size of an action's payload, as JSON.
        answers: Number of idempotent answers.
        answer_bytes: Size of all of them.
        answer_ttl_s: Time to live of an idempotent answer.
        fed: Number of answers of upstreams.
        fed_bytes: Size of all of them.
        fed_ttl_s: Maximum time to live of an answer.
        rate_per_s: Calls per second and principal in the long run. None for no limit.
        burst: Calls of a rested principal at once.
        at_once: Concurrent calls of a principal. None for no limit.
        waits: Streams and waiting calls of a named principal in a process. None for no limit.
        principals: Principals with remembered use, per process.
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
    waits: int | None = None
    principals: int = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRender:
    """A render, with everything for a later result in any profile.

    Parts of results are kept as JSON, so results need not encode them again, and the garbage
    collector has nothing to visit in 10,000 renders.

    Attributes:
        id: A random id. Everyone who knows it may see the render.
        tool: The widget's tool.
        tree: The widget root, as JSON.
        created: Time of this version, in seconds since the epoch.
        version: Number of the version, from 1.
        generation: Hash of the snapshot at the call.
        digest: Digest of the widget's content.
        duration_ms: Time of rendering.
        coerced: Sentences on coerced arguments.
        source: The drawn part of a file with both a template and JSX.
        follow: Whether the render may be replaced, so pages should ask for newer versions.
        repeatable: Actions that pages send again at each press.
        state: Outcome of the user's action. Empty in the first version.
        note: A sentence for the user, shown beneath the widget.
        text: The summary, for the model.
        body: The tree as Markdown for the model. Empty for the summary.
        data: Structured content for the model in profile `split`, as JSON.
        ui: `_meta["widgetd/ui"]`, as JSON.
        feed: `_meta["widgetd/feed"]`, as JSON. Empty if the caller sent all arguments.
        local: The local state and its actions, as `LocalMark` types it, as JSON. Empty for a widget
            without state.
        arguments: The drawn arguments, as JSON. Empty if the server needs them for nothing.
        mapped: The arguments behind its actions and their questions, as JSON. An entry holds the
            first of the versions with the same arguments. The newest is the last.
        has_actions: Whether the user can act in it.
        secret: Whether the tree may hold values that no model may read.
        elevated: Whether its widget required a scope of its own.
        labels: The tool and the tags of its widget at the call.
        owner: The principal whose share of the store it counts against.
        request: The caller's arguments, as JSON, of a widget with a live feed. Empty for others.
        tell: A line for the model about changes by a feed in this version.
        press: Secret of this render. Its page sends it with a press. Empty without actions of
            upstreams. It must never be where a model reads it.
        key: Secret for signing the addresses of this render. Empty if it has none.
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
    repeatable: tuple[str, ...] = ()
    state: Literal["done", "failed", ""] = ""
    note: str = ""
    text: str = ""
    body: str = ""
    data: bytes = b"{}"
    ui: bytes = b"{}"
    feed: bytes = b""
    local: bytes = b""
    arguments: bytes = b""
    mapped: tuple[tuple[int, bytes], ...] = ()
    has_actions: bool = False
    secret: bool = False
    elevated: bool = False
    labels: tuple[str, ...] = ()
    owner: str = ""
    request: bytes = b""
    tell: str = ""
    press: str = ""
    key: str = ""
    rate_tokens_until: float = 0.0

    def mapped_at(self, version: int) -> bytes | None:
        earlier = (mapped for first, mapped in reversed(self.mapped) if first <= version)
        return next(earlier, None) if version <= self.version else None

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
            "repeat": self.repeatable,
            "version": self.version if self.version > 1 else None,
            "state": self.state,
            "note": self.note,
            "tell": self.tell,
            "local": Fragment(self.local) if self.local else None,
        }
        return required | {name: value for name, value in optional.items() if value}

    def json(self) -> bytes:
        # The names are those of earlier releases: replicas of both read each other's renders.
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
                    **({"press": self.press} if self.press else {}),
                    **({"key": self.key} if self.key else {}),
                    **({"asked": Fragment(self.request)} if self.request else {}),
                    **({"arguments": Fragment(self.arguments)} if self.arguments else {}),
                    **(
                        {"mapped": [(n, Fragment(mapped)) for n, mapped in self.mapped]}
                        if self.mapped
                        else {}
                    ),
                    **({"paid_s": self.rate_tokens_until} if self.rate_tokens_until else {}),
                    # Releases before 0.2 need it.
                    "size_bytes": len(self.tree),
                    "tree": Fragment(self.tree),
                }
            )
        )

    @classmethod
    def read(cls, stored: bytes) -> StoredRender:
        """Parse a stored render of this release, or of a release with more or fewer fields.

        Raises:
            ValueError: It is not valid JSON, or not a render.
        """
        try:
            fields = json.loads(stored)  # unlike orjson it reads integers of any length exactly
        except RecursionError as error:
            raise ValueError(str(error)) from None
        if not isinstance(fields, dict):
            raise ValueError("expected an object")  # noqa: TRY004 - it is the value that is wrong
        for name, kinds in _STORED_TYPES.items():
            if type(fields.get(name)) not in kinds:
                raise ValueError(f"expected another {name}")
        if any(type(label) is not str for label in fields["marks"]):
            raise ValueError("expected other marks")
        try:
            tree = orjson.dumps(fields["tree"])
        except orjson.JSONEncodeError as error:  # deeper than any tree of ours
            raise ValueError(str(error)) from None
        mark = fields["mark"]
        arguments, version = _read_object(fields, "arguments"), _read(fields, "version", 1)
        same_names = ("id", "tool", "created", "secret", "elevated", "owner", "text")
        source, state = _read(mark, "source", ""), _read(mark, "state", "")
        return cls(
            **{name: fields[name] for name in same_names},
            **{name: _read(mark, name, "") for name in ("generation", "digest", "note", "tell")},
            duration_ms=_read(mark, "ms", 0.0),
            coerced=tuple(text for text in _read(mark, "mended", []) if isinstance(text, str)),
            source=source if source in ("template", "view") else "",
            follow=_read(mark, "follow", False),
            repeatable=tuple(name for name in _read(mark, "repeat", []) if isinstance(name, str)),
            state=state if state in ("done", "failed") else "",
            local=_read_object(mark, "local"),
            data=to_json(fields["facts"]),
            ui=to_json(fields["ui"]),
            has_actions=has_actions(fields["tree"]),
            labels=tuple(fields["marks"]),
            tree=tree,
            feed=_read_object(fields, "feed"),
            press=_read(fields, "press", ""),
            key=_read(fields, "key", ""),
            arguments=arguments,
            mapped=_read_mapped(fields) or (((version, arguments),) if arguments else ()),
            request=_read_object(fields, "asked"),
            version=version,
            rate_tokens_until=_read(fields, "paid_s", 0.0),
        )


def _read(fields: Mapping[str, Any], name: str, default: Any) -> Any:
    value = fields.get(name)
    kinds = (int, float) if type(default) is float else (type(default),)
    return value if type(value) in kinds else default


def _read_object(fields: Mapping[str, Any], name: str) -> bytes:
    value = fields.get(name)
    return to_json(value) if isinstance(value, dict) else b""


def _read_mapped(fields: Mapping[str, Any]) -> tuple[tuple[int, bytes], ...]:
    """Return the mapped arguments by version. Renders of earlier releases have none."""
    mapped = []
    for entry in _read(fields, "mapped", []):
        match entry:
            case [int(first), dict(arguments)]:
                mapped.append((first, to_json(arguments)))
            case _:
                return ()
    return tuple(mapped)


HEAD_BYTES = 64
"""The first bytes of a stored render. They tell its versions apart."""


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
"""The fields of every release, with their types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The facts about an action's render, for the time after the render expired.

    Attributes:
        owner: The principal whose share of the store the queue counts against.
        elevated: Whether its widget required a scope of its own.
        labels: The tool and the tags of its widget.
    """

    owner: str = ""
    elevated: bool = False
    labels: tuple[str, ...] = ()


UNKNOWN = Origin()
"""The origin of an action of an unknown render."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """An action of a user in a widget.

    Attributes:
        seq: Its number among the actions of its render, higher for later actions.
        action: The action's type, such as `flight.track`.
        payload: Its payload, JSON.
        at: Time of its acceptance, in seconds since the epoch.
        origin: The facts about its render.
        outcome: `done`, `failed` or `unsure`. Empty if its reader decides.
    """

    seq: int
    action: str
    payload: Any
    at: float
    origin: Origin = UNKNOWN
    outcome: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Awaited:
    """The response to a reader of actions.

    Attributes:
        status: `actions`: there are some. `timeout`: there are none, ask again. `draining`: this
            process ends, ask again. `expired`: there will be none, the render expired.
        next: The `after` of the next request. It acknowledges `actions`.
        actions: The actions, in the order of their acceptance.
    """

    status: Literal["actions", "timeout", "draining", "expired"]
    next: int
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The decision on a principal's request.

    Attributes:
        code: Empty if it is allowed, else W2201 (rate) or W2202 (too many at once).
        retry_after_s: Time after which to try again. 0 if it is allowed.
    """

    code: Literal["", "W2201", "W2202"] = ""
    retry_after_s: float = 0.0

    @property
    def is_allowed(self) -> bool:
        return not self.code

    @property
    def refusal(self) -> CallError | None:
        """Return the error with the time to try again, or None if the request is allowed."""
        if not self.code:
            return None
        what = "too many calls" if self.code == "W2201" else "too many calls at the same time"
        return too_soon(self.code, what, self.retry_after_s)

    def check(self) -> None:
        if self.refusal is not None:
            raise self.refusal


def call_again(code: str, problem: str, hint: str, **more: Any) -> CallError:
    return CallError(code, f"{problem}; {hint}", recoverable=True, suggestions=(hint,), **more)


def too_soon(code: str, problem: str, wait_s: float) -> CallError:
    hint = f"try again in {wait_s:.3g} s"
    return call_again(code, problem, hint, retry_after_s=round(wait_s, 3))
