"""The difference between two snapshots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from widgetd.base.errors import Finding
from widgetd.base.files.persistent_map import list_differing, list_missing
from widgetd.server.catalog.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The difference between the snapshots of a swap, for clients and operators.

    Attributes:
        added: New tools, sorted.
        changed: Tools with another content.
        removed: Tools no longer served.
        relisted: Tools of `changed` with another entry in a list of tools.
        refused: New faults.
        recovered: Paths without their former fault.
        theme: Whether the widgets have another theme.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    relisted: tuple[str, ...] = ()
    refused: tuple[Finding, ...] = ()
    recovered: tuple[str, ...] = ()
    theme: bool = False

    @property
    def tools(self) -> tuple[str, ...]:
        return self.added + self.changed + self.removed


def difference(before: Snapshot, after: Snapshot) -> Change:
    was, now = before.widgets, after.widgets
    touched = list_differing(was, now)
    changed = tuple(tool for tool in touched if tool in was and was[tool].key != now[tool].key)
    return Change(
        added=tuple(tool for tool in touched if tool not in was),
        changed=changed,
        removed=tuple(list_missing(was, now)),
        relisted=tuple(
            tool
            for tool in changed
            # The entry names the page, and the page's URI holds its digest.
            if (was[tool].listing, was[tool].entry) != (now[tool].listing, now[tool].entry)
        ),
        refused=tuple(f for path, f in after.faults.items() if before.faults.get(path) != f),
        recovered=tuple(
            path for path in list_missing(before.faults, after.faults) if path in after.entries
        ),
        theme=before.theme != after.theme,
    )


def breaking_changes(before: Snapshot, after: Snapshot, change: Change) -> Iterator[Finding]:
    was, now = before.widgets, after.widgets
    for tool in change.changed:
        # Imported late: the first swap of a start changes nothing, and a start loads no checks.
        from widgetd.core.checks.breaking_changes import find_breaking_changes  # noqa: PLC0415

        for finding in find_breaking_changes(was[tool].definition, now[tool].definition):
            yield replace(finding, path=now[tool].definition.path)
