"""All widgets at one moment.

A snapshot holds what each file came to, and is never changed: another one follows
it, at the price of the files that changed. It does not read files, and it does not
know how a widget looks on a wire.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain
from types import MappingProxyType
from typing import Any

from widgetd.errors import Finding
from widgetd.files.persistent_map import patch
from widgetd.widget.naming import by_preference
from widgetd.widget.widget import Widget

Claims = Mapping[str, tuple[str, ...]]
"""By tool name, the paths of the files that claim it, the owner's first."""

_HASH_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Some of the widgets.

    Attributes:
        include: Only widgets with one of these tags or tool names; empty for all.
        exclude: No widgets with one of these, whatever `include` says.
    """

    include: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()

    def admits(self, widget: Widget) -> bool:
        """Whether the widget is served."""
        if not (self.include or self.exclude):
            return True
        return self.picks({widget.tool, *widget.definition.tags})

    def picks(self, marks: set[str]) -> bool:
        """Whether a widget with these tags and this name is."""
        return not (marks & self.exclude) and (not self.include or bool(marks & self.include))


EVERYTHING = Selection()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What one file came to.

    Attributes:
        path: The file, relative to the widgets folder.
        key: Digest of the file and its sidecar as they are now; empty while they cannot be read.
        widget: The last good widget; None if the file never was one.
        fault: Why the file is not served as it stands; None if it is.
    """

    path: str
    key: str
    widget: Widget | None
    fault: Finding | None = None

    @property
    def may_have_sidecar(self) -> bool:
        """Whether a sidecar stands beside the file; where they cannot be read, nobody knows."""
        return not self.key or "+" in self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class SetHash:
    """The hash of a set of lines, which is brought up to date and not made anew.

    It is the sum of the lines' own hashes, so their order does not matter, and a line comes and
    goes at the price of that line. It tells whether two replicas see the same; it is no proof
    against somebody who makes lines up.

    Source: Bellare and Micciancio, "A New Paradigm for Collision-Free Hashing" (AdHash).

    Attributes:
        settings: Part of the hash besides the lines, and never changed.
        total: The sum of the lines' hashes.
    """

    settings: str = ""
    total: int = 0

    def changed(self, *, added: Iterable[str], taken: Iterable[str]) -> SetHash:
        """The hash with some lines more, and without some that it has."""
        total = self.total + sum(map(_hash, added)) - sum(map(_hash, taken))
        return replace(self, total=total % (1 << 8 * _HASH_BYTES))

    def __str__(self) -> str:
        said = self.settings.encode() + self.total.to_bytes(_HASH_BYTES, "big")
        return blake2b(said, digest_size=8).hexdigest()


def _hash(line: str) -> int:
    return int.from_bytes(blake2b(line.encode(), digest_size=_HASH_BYTES).digest(), "big")


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Every widget being served, under its tool name, and every file that is not.

    Attributes:
        entries: What each file came to, by path, sorted.
        claims: Which files claim each tool name, the owner first, sorted.
        widgets: The widgets by tool name, sorted.
        faults: Why a file is not served as it stands, by path, sorted.
        degraded: Why the folder as a whole cannot be trusted; None if it can.
        selection: Which widgets are served at all.
        seen: Hash of the files.
        served: Hash of what is served.
    """

    entries: Mapping[str, Entry]
    claims: Claims
    widgets: Mapping[str, Widget]
    faults: Mapping[str, Finding]
    degraded: Finding | None
    selection: Selection
    seen: SetHash
    served: SetHash

    @classmethod
    def empty(cls, *, selection: Selection = EVERYTHING, settings: str = "") -> Snapshot:
        """The snapshot before the first scan: it serves nothing and blames nobody.

        Those that follow it have the same selection and settings. These are whatever else decides
        what is served, as text; part of both hashes.
        """
        nothing: Mapping[str, Any] = MappingProxyType({})
        nothing_yet = SetHash(settings=settings)
        return cls(
            entries=nothing,
            claims=nothing,
            widgets=nothing,
            faults=nothing,
            degraded=None,
            selection=selection,
            seen=nothing_yet,
            served=nothing_yet,
        )

    @property
    def files(self) -> str:
        """Identifies the files: equal on replicas that see the same folder."""
        return str(self.seen)

    @property
    def generation(self) -> str:
        """Identifies what is served: equal where, besides, nothing is stale."""
        return str(self.served)

    @property
    def stale(self) -> tuple[str, ...]:
        """The tools whose file is broken now and whose last good version is served."""
        return tuple(sorted(tool for tool in map(self._serves, self.faults) if tool))

    @property
    def refused(self) -> tuple[Finding, ...]:
        """The faults of files that have no version to serve."""
        return tuple(fault for path, fault in self.faults.items() if not self._serves(path))

    def _serves(self, path: str) -> str | None:
        """The tool that the file at `path` is served as; None if it is not."""
        entry = self.entries.get(path)
        if entry is None or entry.widget is None:
            return None
        tool = entry.widget.tool
        return tool if self.widgets.get(tool) is entry.widget else None

    def same_as(self, other: Snapshot) -> bool:
        """Whether nobody could tell this snapshot from `other`."""
        return (
            self.seen == other.seen
            and self.served == other.served
            and self.faults == other.faults
            and self.degraded == other.degraded
        )

    def followed_by(
        self, changes: Mapping[str, Entry | None], *, degraded: Finding | None = None
    ) -> Snapshot:
        """The snapshot that differs from this one in `changes`, with None for a file that is gone.

        Where the folder as a whole cannot be trusted now, `degraded` says why.
        """
        before, entries = self.entries, patch(self.entries, changes)
        claimed = _reclaimed(
            self.claims,
            given_up=self._claimed(before.get(path) for path in changes),
            made=self._claimed(changes.values()),
        )
        owned = {
            tool: entries[paths[0]].widget if paths else None for tool, paths in claimed.items()
        }
        claims = patch(self.claims, claimed)
        told = {*changes, *_paths(self.claims, claimed), *_paths(claims, claimed)}
        return replace(
            self,
            entries=entries,
            claims=claims,
            widgets=patch(self.widgets, owned),
            faults=patch(self.faults, {path: _fault(entries.get(path), claims) for path in told}),
            degraded=degraded,
            seen=self.seen.changed(
                added=(f"{entry.path} {entry.key}" for entry in changes.values() if entry),
                taken=(f"{path} {before[path].key}" for path in changes if path in before),
            ),
            served=self.served.changed(
                added=(f"{tool} {widget.key}" for tool, widget in owned.items() if widget),
                taken=(
                    f"{tool} {self.widgets[tool].key}" for tool in owned if tool in self.widgets
                ),
            ),
        )

    def _claimed(self, entries: Iterable[Entry | None]) -> Mapping[str, str]:
        """The tool names that files claim, by path."""
        return {
            entry.path: entry.widget.tool
            for entry in entries
            if entry and entry.widget and self.selection.admits(entry.widget)
        }


def _reclaimed(
    claims: Claims, *, given_up: Mapping[str, str], made: Mapping[str, str]
) -> Mapping[str, tuple[str, ...] | None]:
    """The claims that are others now; None where nobody claims the name any more.

    Files gave up tool names, and made claims to others, by path. It is decided from the names
    alone, so it does not depend on the order of files.
    """
    touched: dict[str, set[str]] = {}
    for path, tool in given_up.items():
        touched.setdefault(tool, set(claims[tool])).discard(path)
    for path, tool in made.items():
        touched.setdefault(tool, set(claims.get(tool, ()))).add(path)
    return {tool: tuple(by_preference(paths)) or None for tool, paths in touched.items()}


def _paths(claims: Claims, tools: Iterable[str]) -> Iterator[str]:
    return chain.from_iterable(claims.get(tool, ()) for tool in tools)


def _fault(entry: Entry | None, claims: Claims) -> Finding | None:
    """Why the file is not served as it stands."""
    if entry is None or entry.widget is None or entry.fault is not None:
        return None if entry is None else entry.fault
    tool = entry.widget.tool
    owner, *others = claims.get(tool, ("",))
    if entry.path not in others:
        return None
    return Finding(
        code="W1108",
        path=entry.path,
        at="/name",
        problem=f"the tool name '{tool}' belongs to '{owner}'",
        advice="give this widget another name, or remove one of the two files",
    )
