"""Who is calling, what they may do, and which widgets they see.

A value; how it was proven is the business of `access`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from widgetd.catalog.selection import EVERYTHING, Selection
from widgetd.errors import CallError
from widgetd.widget.widget import Widget

READ = "widgets:read"
CALL = "widgets:call"
ELEVATED = "widgets:elevated"
GALLERY = "gallery"
METRICS = "metrics"
ADMIN = "admin"

SCOPES = frozenset({READ, CALL, ELEVATED, GALLERY, METRICS, ADMIN})
"""Everything that can be granted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """Those who see the same widgets.

    Attributes:
        elevated: Whether they see widgets whose sidecar says `permission = "elevated"`.
        selection: Which of the others they see.
    """

    elevated: bool = True
    selection: Selection = EVERYTHING

    @property
    def sees_everything(self) -> bool:
        """Whether nothing is hidden from them."""
        return self.elevated and self.selection == EVERYTHING

    def sees(self, widget: Widget) -> bool:
        """Whether the widget exists for them."""
        open_to_all = widget.definition.sidecar.permission != "elevated"
        return (self.elevated or open_to_all) and self.selection.admits(widget)


@dataclass(frozen=True, slots=True, kw_only=True)
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

    @property
    def audience(self) -> Audience:
        """With whom they share what they see."""
        return Audience(elevated=ELEVATED in self.scopes, selection=self.selection)

    def left_s(self, now: float) -> float:
        """How long the token is good for.

        Args:
            now: In seconds since the epoch.
        """
        return inf if self.until is None else self.until - now

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

PUBLIC = Principal(scopes=SCOPES - {ELEVATED, ADMIN})
"""Whoever reaches a public address where no token is needed."""
