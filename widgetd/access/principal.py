"""Who is calling, what they may do, and which widgets they see.

Values; how they were proven is the business of `auth`. Lists, searches, calls and
resources take a snapshot and ask no more, so nothing else has to know that widgets
can be hidden.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from math import inf
from secrets import token_bytes
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from widgetd.catalog.snapshot import EVERYTHING, Entry, Selection, Snapshot
from widgetd.errors import CallError
from widgetd.widget.widget import Widget

if TYPE_CHECKING:
    from widgetd.catalog.registry import Registry

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
"""Everything that can be granted."""


@dataclass(frozen=True, kw_only=True)
class Audience:
    """Those who see the same widgets.

    Attributes:
        elevated: Whether they see widgets whose sidecar says `permission = "elevated"`.
        selection: Which of the others they see.
    """

    elevated: bool = True
    selection: Selection = EVERYTHING

    @cached_property
    def sees_everything(self) -> bool:
        """Whether nothing is hidden from them."""
        return self.elevated and self.selection == EVERYTHING

    def sees(self, widget: Widget) -> bool:
        """Whether the widget exists for them."""
        return (self.elevated or not is_elevated(widget)) and self.selection.admits(widget)

    def saw(self, *, elevated: bool, marks: set[str]) -> bool:
        """Whether a widget existed for them that had this permission, these tags and this name."""
        return (self.elevated or not elevated) and self.selection.picks(marks)


def is_elevated(widget: Widget) -> bool:
    """Whether callers need a scope of their own for the widget."""
    return widget.definition.sidecar.permission == "elevated"


_KEY = token_bytes(16)


def opaque(name: str) -> str:
    """Stands for a name that whoever reads it may not see, the same until this process ends.

    A digest alone would be found out by whoever tries names.
    """
    return f"hidden_{blake2b(name.encode(), key=_KEY, digest_size=6).hexdigest()}"


@dataclass(frozen=True, kw_only=True)
class Principal:
    """Somebody who calls.

    Attributes:
        name: As the token's line, or its issuer, names them; empty for whoever needs no token.
        scopes: What they may do.
        selection: Which widgets they may see at all.
        proof: Digest of the token that says so; empty for whoever needs no token.
        until: When the token ends, in seconds since the epoch; None if it does not by itself.
    """

    name: str = ""
    scopes: frozenset[str] = SCOPES
    selection: Selection = EVERYTHING
    proof: bytes = field(default=b"", repr=False)
    until: float | None = None

    @cached_property
    def audience(self) -> Audience:
        """With whom they share what they see."""
        return Audience(elevated=ELEVATED in self.scopes, selection=self.selection)

    def left_s(self, now: float) -> float:
        """How long the token is good for, `now` being in seconds since the epoch."""
        return inf if self.until is None else self.until - now

    def lent(self, proof: bytes = b"") -> Principal:
        """Whoever acts for them, by a token of this digest: sees and calls their widgets alone."""
        scopes = frozenset({READ, CALL}) | self.scopes & {ELEVATED}
        return replace(self, scopes=scopes, proof=proof or self.proof)

    def demand(self, *scopes: str) -> None:
        """Return if they have one of `scopes`.

        Raises:
            CallError: They have none of them (W2301).
        """
        if self.scopes.isdisjoint(scopes):
            needed = " or ".join(f"'{scope}'" for scope in scopes)
            raise CallError("W2301", f"this token has no scope {needed}; ask for one that has")


LOCAL = Principal()
"""Whoever can start the daemon, or reach it on this machine where no token is needed."""

NOBODY = Principal(scopes=frozenset())
"""Whoever came without a token where one is needed."""

PUBLIC = Principal(scopes=frozenset({READ, CALL, GALLERY, METRICS}))
"""Whoever reaches a public address where no token is needed."""

MOST_AUDIENCES = 16
"""More than these have what is kept for each of them made anew, each time another one asks."""


class PerAudience(Generic[T]):
    """What is made once for each audience, and kept for those that asked last."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._kept: OrderedDict[Hashable, T] = OrderedDict()

    def __contains__(self, audience: Hashable) -> bool:
        return audience in self._kept

    def of(self, audience: Hashable) -> T:
        """What is kept for this audience, else what is made now."""
        if audience not in self._kept:
            self._kept[audience] = self._make()
        self._kept.move_to_end(audience)
        if len(self._kept) > MOST_AUDIENCES:
            self._kept.popitem(last=False)
        return self._kept[audience]

    def keep(self, audience: Hashable, made: T) -> None:
        """Take what was made elsewhere, unless there is one already."""
        self._kept.setdefault(audience, made)


class SnapshotViews:
    """The two snapshots asked for last, as each audience sees them; each view is made once.

    Two, because whoever tells what changed asks for what was served before, too.
    """

    def __init__(self) -> None:
        self._made: tuple[tuple[Snapshot, dict[Audience, Snapshot]], ...] = ()

    def of(self, snapshot: Snapshot, audience: Audience) -> Snapshot:
        """`snapshot` without what `audience` may not see; itself if nothing is hidden from them."""
        if audience.sees_everything:
            return snapshot
        views = next((views for whole, views in self._made if whole is snapshot), None)
        if views is None:
            views = {}
            self._made = (*self._made[-1:], (snapshot, views))
        if audience not in views:
            widgets = {
                tool: widget for tool, widget in snapshot.widgets.items() if audience.sees(widget)
            }
            faults = {
                path: fault
                for path, fault in snapshot.faults.items()
                if _may_know(snapshot, snapshot.entries[path], audience)
            }
            views[audience] = snapshot
            if len(widgets) < len(snapshot.widgets) or len(faults) < len(snapshot.faults):
                views[audience] = replace(
                    snapshot, widgets=MappingProxyType(widgets), faults=MappingProxyType(faults)
                )
        return views[audience]


def _may_know(snapshot: Snapshot, entry: Entry, audience: Audience) -> bool:
    """Whether `audience` may hear of a file's fault, which may name the file that it collides with.

    Of a file that was never good nobody knows the tags, nor what its sidecar permits.
    """
    if entry.widget is None:
        return audience.selection == EVERYTHING and not entry.may_have_sidecar
    owner = snapshot.widgets.get(entry.widget.tool, entry.widget)
    return audience.sees(entry.widget) and audience.sees(owner)


UI_EXTENSION = "io.modelcontextprotocol/ui"
"""The capability by which a client says that it is an MCP Apps host."""


class ClientInfo(NamedTuple):
    """What a client says of itself, once at the handshake or with every request.

    Attributes:
        name: Its name (`clientInfo.name`); empty if it gave none.
        version: Its version, with the name.
        apps: Whether it shows MCP Apps views.
        asks: Whether its user can be asked something before a call is answered.
        protocol: The protocol version of the request, as `2026-07-28`; empty in-process.
    """

    name: str = ""
    version: str = ""
    apps: bool = False
    asks: bool = False
    protocol: str = ""


UNNAMED = ClientInfo()


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The client behind one request, and the snapshot that the request is answered from.

    Attributes:
        snapshot: Taken once, when the request came in, as far as the caller may see it.
        client: What it says of itself.
        meta: The request's `_meta`.
        principal: Who it is, as far as a token says.
        refusal: Why this message is not let in; None if it is.
        registry: Where the snapshot was taken.
        prefix: What stands before the path of our URIs as the client knows them.
        outer: The same client, as the widgets of another folder see it; None if there is no other.
    """

    snapshot: Snapshot
    client: ClientInfo = UNNAMED
    meta: Mapping[str, Any] = field(default_factory=dict)
    principal: Principal = LOCAL
    refusal: CallError | None = None
    registry: Registry | None = None
    prefix: str = ""
    outer: Caller | None = None

    def with_refusal(self, refusal: CallError | None) -> Caller:
        """Return this caller with the reason why the message is refused; None: it is admitted."""
        return self if refusal is None else replace(self, refusal=refusal)


CALLER: ContextVar[Caller] = ContextVar("widgetd_caller")
"""Set for the time of one request by the server that took it."""


def current_caller(registry: Registry) -> Caller:
    """Return the caller of the request at hand as the widgets of `registry` see it.

    For code that a framework calls without its request: FastMCP's provider and the SDK's own
    handlers. Everything else takes the caller as an argument. In-process, the caller is `LOCAL`.
    """
    caller = CALLER.get(None)
    while caller is not None and caller.registry is not registry:
        caller = caller.outer
    return caller or Caller(snapshot=registry.current)


def placed(uri: str, prefix: str) -> str:
    """`uri` as it reads where `prefix` stands before its path: `widget://ui/a` for `widget://a`."""
    scheme, separator, path = uri.partition("://")
    return f"{scheme}{separator}{prefix}{path}"
