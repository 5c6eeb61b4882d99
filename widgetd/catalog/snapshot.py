"""All widgets at one moment, and the difference between two moments.

A snapshot is made from entries, one for each file, and is never changed. It
decides which file owns a tool name; it does not read files, and it does not
know how a widget looks on a wire.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from types import MappingProxyType

from widgetd.catalog.selection import EVERYTHING, Selection
from widgetd.errors import Finding
from widgetd.widget.compiled import Widget
from widgetd.widget.findings import breaking
from widgetd.widget.naming import preferred


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Every widget being served, under its tool name, and every file that is not.

    Attributes:
        entries: What each file came to, by path, sorted.
        widgets: The widgets by tool name, sorted.
        faults: Why a file is not served as it stands, by path, sorted.
        degraded: Why the folder as a whole cannot be trusted; None if it can.
        files: Hash of the files: equal on replicas that see the same folder.
        generation: Hash of what is served: equal where, besides, nothing is stale.
    """

    entries: Mapping[str, Entry]
    widgets: Mapping[str, Widget]
    faults: Mapping[str, Finding]
    degraded: Finding | None
    files: str
    generation: str

    @classmethod
    def empty(cls) -> Snapshot:
        """The snapshot before the first survey: it serves nothing and blames nobody."""
        return snapshot({})

    @property
    def stale(self) -> tuple[str, ...]:
        """The tools whose file is broken now and whose last good version is served."""
        return tuple(
            tool for tool, widget in self.widgets.items() if widget.definition.path in self.faults
        )

    @property
    def refused(self) -> tuple[Finding, ...]:
        """The faults of files that have no version to serve."""
        served = {widget.definition.path for widget in self.widgets.values()}
        return tuple(fault for path, fault in self.faults.items() if path not in served)

    def same_as(self, other: Snapshot) -> bool:
        """Whether nobody could tell this snapshot from `other`."""
        return (
            self.files == other.files
            and self.generation == other.generation
            and self.faults == other.faults
            and self.degraded == other.degraded
        )


def snapshot(
    entries: Mapping[str, Entry],
    *,
    selection: Selection = EVERYTHING,
    settings: str = "",
    degraded: Finding | None = None,
) -> Snapshot:
    """Decide which file owns which tool name, and hash the outcome.

    Args:
        entries: What each file came to, by path.
        selection: Which widgets are served at all.
        settings: Whatever else decides what is served, as text; part of both hashes.
        degraded: Why the folder as a whole cannot be trusted.
    """
    ordered = dict(sorted(entries.items()))
    widgets, collisions = _owners(ordered.values(), selection)
    faults = {path: entry.fault for path, entry in ordered.items() if entry.fault is not None}
    for path, collision in collisions.items():
        faults.setdefault(path, collision)
    return Snapshot(
        entries=MappingProxyType(ordered),
        widgets=MappingProxyType(widgets),
        faults=MappingProxyType(dict(sorted(faults.items()))),
        degraded=degraded,
        files=_digest(settings, [f"{path} {entry.key}" for path, entry in ordered.items()]),
        generation=_digest(settings, [f"{tool} {w.key}" for tool, w in widgets.items()]),
    )


def _owners(
    entries: Iterable[Entry], selection: Selection
) -> tuple[dict[str, Widget], dict[str, Finding]]:
    """Give each tool name to one file; the others are told who has it."""
    owners: dict[str, Widget] = {}
    contested: dict[str, list[Widget]] = {}
    for entry in entries:
        widget = entry.widget
        if widget is None or not selection.admits(widget):
            continue
        tool = widget.definition.tool
        if owners.setdefault(tool, widget) is not widget:
            contested.setdefault(tool, [owners[tool]]).append(widget)
    collisions: dict[str, Finding] = {}
    for tool, claimants in contested.items():
        winner = preferred([widget.definition.path for widget in claimants])
        for widget in claimants:
            path = widget.definition.path
            if path == winner:
                owners[tool] = widget
            else:
                collisions[path] = _taken(tool, path, winner)
    return dict(sorted(owners.items())), collisions


def _taken(tool: str, path: str, winner: str) -> Finding:
    return Finding(
        code="W1108",
        path=path,
        at="/name",
        problem=f"the tool name '{tool}' belongs to '{winner}'",
        advice="give this widget another name, or remove one of the two files",
    )


def _digest(settings: str, lines: Iterable[str]) -> str:
    return blake2b("\n".join((settings, *lines)).encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a swap changed, as clients and operators want to know it.

    Attributes:
        added: Tools that were not served before, sorted.
        changed: Tools whose widget is another one now.
        removed: Tools that are served no more.
        relisted: The tools of `changed` whose entry in a tool list is another one now.
        breaking: What callers of a changed tool may stumble over.
        refused: Faults that were not there before.
        mended: Paths whose fault is gone.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    relisted: tuple[str, ...] = ()
    breaking: tuple[Finding, ...] = ()
    refused: tuple[Finding, ...] = ()
    mended: tuple[str, ...] = ()

    @property
    def tools(self) -> tuple[str, ...]:
        """Every tool that this change touches."""
        return self.added + self.changed + self.removed

    @property
    def lists(self) -> bool:
        """Whether a list of all tools reads otherwise now."""
        return bool(self.added or self.removed or self.relisted)


def difference(before: Snapshot, after: Snapshot) -> Change:
    """What happened between two snapshots, whatever lay between them."""
    changed = tuple(_changed(before.widgets, after.widgets))
    return Change(
        added=tuple(tool for tool in after.widgets if tool not in before.widgets),
        changed=changed,
        removed=tuple(tool for tool in before.widgets if tool not in after.widgets),
        relisted=tuple(
            tool for tool in changed if before.widgets[tool].listing != after.widgets[tool].listing
        ),
        breaking=tuple(
            replace(finding, path=after.widgets[tool].definition.path)
            for tool in changed
            for finding in breaking(before.widgets[tool].definition, after.widgets[tool].definition)
        ),
        refused=tuple(f for path, f in after.faults.items() if before.faults.get(path) != f),
        mended=tuple(
            path for path in before.faults if path not in after.faults and path in after.entries
        ),
    )


def _changed(before: Mapping[str, Widget], after: Mapping[str, Widget]) -> Iterator[str]:
    for tool, widget in after.items():
        earlier = before.get(tool)
        if earlier is not None and earlier is not widget and earlier.key != widget.key:
            yield tool
