"""All widgets at one moment.

A snapshot holds the entry of each file and never changes. The next snapshot costs as much as its
changed files. It reads no files and knows no wire format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from types import MappingProxyType
from typing import Any

from widgetd.base.errors import Finding
from widgetd.base.files.persistent_map import patch
from widgetd.core.widget.naming import sort_by_preference
from widgetd.core.widget.theme import NO_THEME, THEME_FILE, Theme
from widgetd.core.widget.widget import Widget

Claims = Mapping[str, tuple[str, ...]]
"""The paths of the files that claim each tool name, the owner first."""

_HASH_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A choice of widgets by tag or tool name.

    Attributes:
        include: Only widgets with any of these. Empty for all.
        exclude: No widgets with any of these. Takes precedence over `include`.
    """

    include: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()

    def admits(self, widget: Widget) -> bool:
        if not (self.include or self.exclude):
            return True
        return self.admits_labels({widget.tool, *widget.definition.tags})

    def admits_labels(self, labels: set[str]) -> bool:
        return not (labels & self.exclude) and (not self.include or bool(labels & self.include))


EVERYTHING = Selection()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The outcome of loading one file.

    Attributes:
        path: The file, relative to the widgets folder.
        key: Digest of the file and its sidecar as they are now. Empty while they are unreadable.
        widget: The last good widget, if any.
        theme: The last good theme, of `theme.toml` alone.
        fault: Why the file is not served as it is. None if it is.
        further_faults: Further faults of the same file.
    """

    path: str
    key: str
    widget: Widget | None
    theme: Theme | None = None
    fault: Finding | None = None
    further_faults: tuple[Finding, ...] = ()

    @property
    def has_content(self) -> bool:
        return self.widget is not None or self.theme is not None

    @property
    def may_have_sidecar(self) -> bool:
        # Of an unreadable file this is unknown.
        return not self.key or "+" in self.key


@dataclass(frozen=True, kw_only=True)
class SetHash:
    """An incremental hash of a set of lines.

    It is the sum of the lines' own hashes: the order does not matter, and adding or removing a
    line costs nothing else. It compares replicas, and resists no attacker.

    Source: Bellare and Micciancio, "A New Paradigm for Collision-Free Hashing" (AdHash).

    Attributes:
        settings: Part of the hash besides the lines. Never changes.
        total: The sum of the lines' hashes.
    """

    settings: str = ""
    total: int = 0

    def update(self, *, add: Iterable[str], remove: Iterable[str]) -> SetHash:
        total = self.total + sum(map(_hash, add)) - sum(map(_hash, remove))
        return replace(self, total=total % (1 << 8 * _HASH_BYTES))

    @cached_property
    def text(self) -> str:
        content = self.settings.encode() + self.total.to_bytes(_HASH_BYTES, "big")
        return blake2b(content, digest_size=8).hexdigest()


def _hash(line: str) -> int:
    return int.from_bytes(blake2b(line.encode(), digest_size=_HASH_BYTES).digest(), "big")


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The widgets being served, by tool name, and the faults of all other files.

    Attributes:
        entries: The outcome of each file, by path, sorted.
        claims: The claiming files of each tool name, the owner first, sorted.
        widgets: The widgets by tool name, sorted.
        faults: Why a file is not served as it is, by path, sorted.
        degraded: Why the folder as a whole cannot be trusted. None if it can.
        selection: The widgets to serve at all.
        files_hash: Hash of the files.
        served_hash: Hash of the served content.
    """

    entries: Mapping[str, Entry]
    claims: Claims
    widgets: Mapping[str, Widget]
    faults: Mapping[str, Finding]
    degraded: Finding | None
    selection: Selection
    files_hash: SetHash
    served_hash: SetHash

    @classmethod
    def empty(cls, *, selection: Selection = EVERYTHING, settings: str = "") -> Snapshot:
        """Return the snapshot before the first scan: no widgets and no faults.

        Args:
            selection: The widgets of it and its successors.
            settings: All other settings of the served content, as text. Part of both hashes.
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
            files_hash=nothing_yet,
            served_hash=nothing_yet,
        )

    @property
    def files(self) -> str:
        """Return a hash of the files: equal on replicas with the same folder."""
        return self.files_hash.text

    @property
    def generation(self) -> str:
        """Return a hash of the served content, equal on replicas with equal folders."""
        return self.served_hash.text

    @property
    def theme(self) -> Theme:
        entry = self.entries.get(THEME_FILE)
        return (entry and entry.theme) or NO_THEME

    @property
    def stale(self) -> tuple[str, ...]:
        return tuple(sorted(tool for tool in map(self._serves, self.faults) if tool))

    @property
    def refusals(self) -> tuple[Finding, ...]:
        return tuple(fault for path, fault in self.faults.items() if not self._serves(path))

    def _serves(self, path: str) -> str | None:
        entry = self.entries.get(path)
        if entry is None or entry.widget is None:
            return None
        tool = entry.widget.tool
        return tool if self.widgets.get(tool) is entry.widget else None

    def is_same_as(self, other: Snapshot) -> bool:
        """Return whether clients and operators cannot distinguish this snapshot from `other`."""
        return (
            self.files_hash == other.files_hash
            and self.served_hash == other.served_hash
            and self.faults == other.faults
            and self.degraded == other.degraded
        )

    def with_changes(
        self, changes: Mapping[str, Entry | None], *, degraded: Finding | None = None
    ) -> Snapshot:
        """Return the next snapshot.

        Args:
            changes: The changed entries, by path. None for a deleted file.
            degraded: Why the folder as a whole cannot be trusted. None if it can.
        """
        before, entries = self.entries, patch(self.entries, changes)
        new_claims = _update_claims(
            self.claims,
            removed=self._claims_of(before.get(path) for path in changes),
            added=self._claims_of(changes.values()),
        )
        owners = {
            tool: entries[paths[0]].widget if paths else None for tool, paths in new_claims.items()
        }
        claims = patch(self.claims, new_claims)
        touched = {*changes, *_paths(self.claims, new_claims), *_paths(claims, new_claims)}
        return replace(
            self,
            entries=entries,
            claims=claims,
            widgets=patch(self.widgets, owners),
            faults=patch(
                self.faults, {path: _fault(entries.get(path), claims) for path in touched}
            ),
            degraded=degraded,
            files_hash=self.files_hash.update(
                add=(f"{entry.path} {entry.key}" for entry in changes.values() if entry),
                remove=(f"{path} {before[path].key}" for path in changes if path in before),
            ),
            served_hash=self.served_hash.update(
                add=_list_served(owners.items(), changes.values()),
                remove=_list_served(
                    ((tool, self.widgets[tool]) for tool in owners if tool in self.widgets),
                    map(before.get, changes),
                ),
            ),
        )

    def _claims_of(self, entries: Iterable[Entry | None]) -> Mapping[str, str]:
        return {
            entry.path: entry.widget.tool
            for entry in entries
            if entry and entry.widget and self.selection.admits(entry.widget)
        }


def _list_served(
    widgets: Iterable[tuple[str, Widget | None]], entries: Iterable[Entry | None]
) -> Iterator[str]:
    yield from (f"{tool} {widget.key}" for tool, widget in widgets if widget)
    yield from (f"{THEME_FILE} {entry.theme.json!r}" for entry in entries if entry and entry.theme)


def _update_claims(
    claims: Claims, *, removed: Mapping[str, str], added: Mapping[str, str]
) -> Mapping[str, tuple[str, ...] | None]:
    # Paths alone decide who owns a name, so the order of events does not matter.
    touched: dict[str, set[str]] = {}
    for path, tool in removed.items():
        touched.setdefault(tool, set(claims[tool])).discard(path)
    for path, tool in added.items():
        touched.setdefault(tool, set(claims.get(tool, ()))).add(path)
    return {tool: tuple(sort_by_preference(paths)) or None for tool, paths in touched.items()}


def _paths(claims: Claims, tools: Iterable[str]) -> Iterator[str]:
    return chain.from_iterable(claims.get(tool, ()) for tool in tools)


def _fault(entry: Entry | None, claims: Claims) -> Finding | None:
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
