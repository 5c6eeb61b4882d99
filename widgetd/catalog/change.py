"""The difference between two snapshots, whatever lay between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from widgetd.catalog.snapshot import Snapshot
from widgetd.checks import breaking
from widgetd.errors import Finding
from widgetd.files.persistent_map import list_differing, list_missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a swap changed, as clients and operators want to know it.

    Attributes:
        added: Tools that were not served before, sorted.
        changed: Tools whose widget is another one now.
        removed: Tools that are served no more.
        relisted: The tools of `changed` whose entry in a tool list is another one now.
        refused: Faults that were not there before.
        mended: Paths whose fault is gone.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    relisted: tuple[str, ...] = ()
    refused: tuple[Finding, ...] = ()
    mended: tuple[str, ...] = ()

    @property
    def tools(self) -> tuple[str, ...]:
        """Every tool that this change touches."""
        return self.added + self.changed + self.removed


def difference(before: Snapshot, after: Snapshot) -> Change:
    """What happened between two snapshots, whatever lay between them."""
    was, now = before.widgets, after.widgets
    others = list_differing(was, now)
    changed = tuple(tool for tool in others if tool in was and was[tool].key != now[tool].key)
    return Change(
        added=tuple(tool for tool in others if tool not in was),
        changed=changed,
        removed=tuple(list_missing(was, now)),
        relisted=tuple(tool for tool in changed if was[tool].listing != now[tool].listing),
        refused=tuple(f for path, f in after.faults.items() if before.faults.get(path) != f),
        mended=tuple(
            path for path in list_missing(before.faults, after.faults) if path in after.entries
        ),
    )


def breaking_changes(before: Snapshot, after: Snapshot, change: Change) -> Iterator[Finding]:
    """What breaks callers of the changed tools, now that `after` is served."""
    was, now = before.widgets, after.widgets
    for tool in change.changed:
        for finding in breaking(was[tool].definition, now[tool].definition):
            yield replace(finding, path=now[tool].definition.path)
