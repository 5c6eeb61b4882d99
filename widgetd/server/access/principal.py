"""Callers as values: principal, scopes, audience, client, and the snapshot they may see.

`auth` proves them. Lists, searches, calls and resources take the caller's snapshot. No other code
has to know of hidden widgets.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import blake2b
from math import inf
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

from widgetd.base.errors import CallError
from widgetd.base.system import SYSTEM
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.snapshot import EVERYTHING, Entry, Selection, Snapshot

if TYPE_CHECKING:
    from widgetd.server.catalog.registry import Registry
    from widgetd.server.store.contract import Origin, StoredRender

T = TypeVar("T")

READ = "widgets:read"
CALL = "widgets:call"
ELEVATED = "widgets:elevated"
GALLERY = "gallery"
METRICS = "metrics"
AUTHOR = "author"
OPERATE = "operate"
WRITE = "write"
CHAT = "chat"
ADMIN = "admin"

SCOPES = frozenset({READ, CALL, ELEVATED, GALLERY, METRICS, AUTHOR, OPERATE, WRITE, CHAT, ADMIN})
"""All scopes that a token can grant."""


@dataclass(frozen=True, kw_only=True)
class Audience:
    """Principals with the same view of the widgets. Caches are kept per audience.

    Attributes:
        elevated: Whether they see widgets with `permission = "elevated"`.
        selection: The other widgets of their view.
    """

    elevated: bool = True
    selection: Selection = EVERYTHING

    @cached_property
    def sees_everything(self) -> bool:
        return self.elevated and self.selection == EVERYTHING

    def sees(self, widget: Widget) -> bool:
        return (self.elevated or not is_elevated(widget)) and self.selection.admits(widget)

    def could_see(self, render: StoredRender | Origin) -> bool:
        """Return whether the audience saw the widget of a render, even if it is gone by now."""
        is_admitted = self.selection.admits_labels(set(render.labels))
        return (self.elevated or not render.elevated) and is_admitted


def is_elevated(widget: Widget) -> bool:
    return widget.definition.sidecar.permission == "elevated"


_KEY = SYSTEM.numbers.token_bytes(16)


def pseudonym(name: str) -> str:
    """Return a stand-in for a hidden name, stable within this process."""
    # Keyed, because hashing likely names would reverse a plain digest.
    return f"hidden_{blake2b(name.encode(), key=_KEY, digest_size=6).hexdigest()}"


@dataclass(frozen=True, kw_only=True)
class Principal:
    """An authenticated user or program, or a caller without a token.

    Attributes:
        name: The name in the token file or of the issuer. Empty without a token.
        proof: Digest of the token. Empty without a token.
        until: Expiry of the token in seconds since the epoch. None if it has none.
    """

    name: str = ""
    scopes: frozenset[str] = SCOPES
    selection: Selection = EVERYTHING
    proof: bytes = field(default=b"", repr=False)
    until: float | None = None

    @cached_property
    def audience(self) -> Audience:
        return Audience(elevated=ELEVATED in self.scopes, selection=self.selection)

    def remaining_s(self, now: float) -> float:
        """Return the token's remaining lifetime. `now` is in seconds since the epoch."""
        return inf if self.until is None else self.until - now

    def delegate(self, proof: bytes = b"", more: frozenset[str] = frozenset()) -> Principal:
        """Return a principal to act for this one. It may only read and call its widgets.

        It keeps its scopes among `more`.
        """
        scopes = frozenset({READ, CALL}) | self.scopes & ({ELEVATED} | more)
        return replace(self, scopes=scopes, proof=proof or self.proof)

    def demand(self, *scopes: str) -> None:
        """Require at least one of `scopes`.

        Raises:
            CallError: The principal has none of them (W2301).
        """
        if self.scopes.isdisjoint(scopes):
            needed = " or ".join(f"'{scope}'" for scope in scopes)
            raise CallError("W2301", f"this token has no scope {needed}; ask for one that has")


LOCAL = Principal()
"""The user of this machine, where no token is needed."""

UNAUTHENTICATED = Principal(scopes=frozenset())
"""A request without the token that it needs."""

PUBLIC = Principal(scopes=frozenset({READ, CALL, GALLERY, METRICS}))
"""Any client of a public address that needs no token."""

MAX_AUDIENCES = 16
"""Audiences with cached values. Another audience evicts the least recently used."""

MAX_VIEWS = 256
"""Audiences with a cached view of a snapshot. A view takes time and memory for each widget."""


class PerAudience(Generic[T]):
    """A cache with a value for each of the most recently used audiences."""

    def __init__(self, make: Callable[[Any], T], most: int = MAX_AUDIENCES) -> None:
        self._make = make
        self._most = most
        self._kept: OrderedDict[Hashable, T] = OrderedDict()

    def __contains__(self, audience: Hashable) -> bool:
        return audience in self._kept

    def of(self, audience: Hashable) -> T:
        """Return the value of this audience. Make it at first use."""
        value = self._kept.get(audience)
        if value is None:
            value = self._make(audience)
            self.keep(audience, value)
        self._kept.move_to_end(audience)
        return value

    def keep(self, audience: Hashable, value: T) -> None:
        """Store a value from elsewhere, unless the audience has a value."""
        self._kept.setdefault(audience, value)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)


class SnapshotViews:
    """Filtered views of the two newest snapshots, by audience."""

    def __init__(self) -> None:
        self._made: tuple[tuple[Snapshot, PerAudience[Snapshot]], ...] = ()

    def of(self, snapshot: Snapshot, audience: Audience) -> Snapshot:
        """Return `snapshot` without the widgets hidden from `audience`, or itself."""
        if audience.sees_everything:
            return snapshot
        views = next((views for whole, views in self._made if whole is snapshot), None)
        if views is None:
            views = PerAudience(partial(_filter, snapshot), MAX_VIEWS)
            # Two snapshots: a notification compares the views before and after a swap.
            self._made = (*self._made[-1:], (snapshot, views))
        return views.of(audience)


def _filter(snapshot: Snapshot, audience: Audience) -> Snapshot:
    widgets = {tool: widget for tool, widget in snapshot.widgets.items() if audience.sees(widget)}
    faults = {
        path: fault
        for path, fault in snapshot.faults.items()
        if _may_know(snapshot, snapshot.entries[path], audience)
    }
    if len(widgets) == len(snapshot.widgets) and len(faults) == len(snapshot.faults):
        return snapshot
    return replace(snapshot, widgets=MappingProxyType(widgets), faults=MappingProxyType(faults))


def _may_know(snapshot: Snapshot, entry: Entry, audience: Audience) -> bool:
    # The tags and permission of a file without any valid version are unknown.
    if entry.widget is None:
        return audience.selection == EVERYTHING and not entry.may_have_sidecar
    # The fault can name a colliding file.
    owner = snapshot.widgets.get(entry.widget.tool, entry.widget)
    return audience.sees(entry.widget) and audience.sees(owner)


Profile = Literal["auto", "chatkit", "split"]
"""Who sees a result's tree: the model (`chatkit`) or the client (`split`). `auto` decides."""

UI_EXTENSION = "io.modelcontextprotocol/ui"
"""The capability of MCP Apps hosts."""


class ClientInfo(NamedTuple):
    """A client's description of itself, sent at the handshake or with every request.

    Attributes:
        name: `clientInfo.name`. Empty if not sent.
        version: `clientInfo.version`. Empty if not sent.
        apps: Whether it shows MCP Apps views.
        asks: Whether it supports elicitation before a call is answered.
        protocol: The protocol version of the request, as `2026-07-28`. Empty in-process.
    """

    name: str = ""
    version: str = ""
    apps: bool = False
    asks: bool = False
    protocol: str = ""


UNNAMED = ClientInfo()

Report = Callable[[float, float, str], Awaitable[None]]
"""Notifies a client of its call's progress: the steps done, the number of all, and the last."""


async def report_nothing(_done: float, _total: float, _step: str) -> None: ...


LINK_CLIENT = "widgetd-link"
"""Name of the page of a render, as a client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The client behind a request, and the snapshot for its answer.

    Attributes:
        snapshot: Taken once when the request arrived, without the widgets hidden from the caller.
        principal: Proven by the request's token.
        denied: Why the message is refused. None if it is admitted.
        prefix: The namespace before the path of our URIs, as this client knows them.
        profile: Requested by the address or a header. None without one.
        outer: The same client as seen by the widgets of another folder. None without one.
        report: Reports progress to a client that asked for it.
    """

    snapshot: Snapshot
    client: ClientInfo = UNNAMED
    meta: Mapping[str, Any] = field(default_factory=dict)
    principal: Principal = LOCAL
    denied: CallError | None = None
    registry: Registry | None = None
    prefix: str = ""
    profile: Profile | None = None
    outer: Caller | None = None
    report: Report = report_nothing


CALLER: ContextVar[Caller] = ContextVar("widgetd_caller")
"""Set during one request by the middleware. Read only behind FastMCP and the SDK."""


def current_caller(registry: Registry) -> Caller:
    """Return the caller of the request at hand, as the widgets of `registry` see it.

    For code called without its request: FastMCP's provider and the SDK's own
        handlers. Everything else takes the caller as an argument. In-process, the caller is
    `LOCAL`.
    """
    caller = CALLER.get(None)
    while caller is not None and caller.registry is not registry:
        caller = caller.outer
    return caller or Caller(snapshot=registry.current)


def with_prefix(uri: str, prefix: str) -> str:
    """Insert `prefix` before the path of `uri`: `widget://a` becomes `widget://ui/a`."""
    scheme, separator, path = uri.partition("://")
    return f"{scheme}{separator}{prefix}{path}"
