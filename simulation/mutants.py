"""Defects for the product, put into it in turn. The simulation must find them.

A surviving mutant shows a gap in the world.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

from simulation.disk import SimulatedDisk
from simulation.simulate import Outcome, simulate
from widgetd.base.errors import CallError
from widgetd.base.files import scan, source, stamp, walk, watch
from widgetd.base.files.hints import Hint, Hints
from widgetd.server.catalog import catalog, deletion, entries, reload, state, versions
from widgetd.server.catalog import rollback as rollbacks
from widgetd.server.catalog.change import difference
from widgetd.server.catalog.limits import LIMITS as CATALOG_LIMITS
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp import notifications
from widgetd.server.mcp.builtin import actions
from widgetd.server.mcp.clients import LegacyClient, ListenStreams
from widgetd.server.observe.line_queue import LineQueue
from widgetd.server.render import acting
from widgetd.server.store import confirmations
from widgetd.server.store.cache import Idempotency
from widgetd.server.store.shared.cache import SharedCache

Change = tuple[object, str, Any]
"""An object, the name of its attribute, and the new value."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A defect.

    Attributes:
        guards: The broken law or decision of the product.
        changes: Its replacements.
    """

    name: str
    guards: str
    changes: tuple[Change, ...]

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Put the defect into the product while the block runs."""
        with ExitStack() as undo:
            for owner, name, value in self.changes:
                getattr(owner, name)  # a missing attribute: the mutant does not fit any more
                had = vars(owner).get(name, _MISSING)
                undo.callback(_restore, owner, name, had)
                setattr(owner, name, value)
            yield


_MISSING = object()
_revive = catalog.Catalog._revive
_compare = notifications._compare
_record = versions.Versions.record


def _restore(owner: object, name: str, value: object) -> None:
    if value is _MISSING:
        delattr(owner, name)
    else:
        setattr(owner, name, value)


TABLE = Path(__file__).with_name("mutants.txt")
"""A line for each mutant: its seed and its name."""


def read_table() -> dict[str, int]:
    """Return the seeds by mutant."""
    rows = (line.split(" ", 1) for line in TABLE.read_text(encoding="utf-8").splitlines())
    return {name: int(seed) for seed, name in rows}


def write_table(seeds: Mapping[str, int]) -> None:
    """Write the seeds by mutant, in the order of the mutants."""
    names = [mutant.name for mutant in MUTANTS if mutant.name in seeds]
    lines = [f"{seeds[name]} {name}\n" for name in names]
    TABLE.write_text("".join(lines), encoding="utf-8")


def find(mutant: Mutant, most: int) -> Outcome | None:
    """Return the first outcome that finds a mutant: of its seed in the table, then of `most` seeds.

    A seed counts if it breaks a law with the mutant and none without it.
    """
    first = [seed for name, seed in read_table().items() if name == mutant.name]
    for seed in dict.fromkeys([*first, *range(1, most + 1)]):
        with mutant.applied():
            outcome = simulate(seed)
        if outcome.violations and not simulate(seed).violations:
            return outcome
    return None


MUTANTS: list[Mutant] = []


def mutant(name: str, guards: str, *changes: Change) -> None:
    """Add a mutant to the table."""
    MUTANTS.append(Mutant(name=name, guards=guards, changes=changes))


# Files.

_stamp_of = stamp.stamp_of


def _undated(status: Any) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size


mutant(
    "write of equal length is not noticed",
    "stamp: dates",
    *((module, "stamp_of", _undated) for module in (scan, source, walk)),
)
mutant(
    "second write within a tick is not noticed",
    "stamp: racy dates",
    *((module, "is_racy", lambda *_: False) for module in (source, walk)),
)
mutant(
    "empty file counts at once",
    "scan: doubt of empty files",
    *((module, "LIMITS", replace(module.LIMITS, empty_ns=0)) for module in (scan,)),
)
mutant(
    "halves of two moments are served (R2)",
    "scan: pairs",
    (scan._Scanner, "_settle_pairs", lambda *_: None),
)
mutant(
    "pair is not compared with the disk again (R2)",
    "scan: pairs",
    (scan._Scanner, "_is_of_one_moment", lambda *_: True),
)


mutant(
    "unreadable file is dropped",
    "scan: what could not be read stays",
    (scan._Scanner, "_blame", lambda *_: None),
    (scan._Scanner, "_keep", lambda *_: None),
)


def _scan_nothing(root: Any, paths: Any = (), *, known: Any, system: Any, **options: Any) -> Any:
    seen = _scan(root, paths, known=known, system=system, **options)
    return (
        seen if seen.failure is None else replace(seen, sources=MappingProxyType({}), failure=None)
    )


_scan = scan.scan
mutant(
    "folder that cannot be listed counts as empty",
    "scan: an unlistable folder deletes nothing",
    (catalog, "scan", _scan_nothing),
)
mutant(
    "ConfigMap's swap is taken for a hidden file",
    "scan: hidden folders with links",
    (scan, "_scope", lambda folder, paths, suffixes: _scope_plainly(folder, paths, suffixes)),
)


def _scope_plainly(folder: Any, paths: Any, suffixes: Any) -> Any:
    return _scope(folder, [path for path in paths if not path.startswith(".")], suffixes)


_scope = scan._scope


def _add_after(self: Hints, *paths: Any, **facts: Any) -> None:
    if self._pending is None:
        _add(self, *paths, **facts)


_add = Hints.add
mutant("hint is lost while another waits", "hints: a level, merged", (Hints, "add", _add_after))


async def _forget(self: Hints) -> Hint:
    hint = await _wait(self)
    self._pending = None
    return replace(hint, paths=frozenset(list(hint.paths)[:1]))


_wait = Hints.wait
mutant("hint of many paths keeps one", "hints: all paths are merged", (Hints, "wait", _forget))


async def _never(*_: object) -> None:
    """Do nothing instead of a loop."""


mutant("timer does not hint", "watch: events may be lost", (watch, "_tick", _never))
mutant(
    "saves are swapped without a pause",
    "reload: the gap after a swap",
    (reload, "LIMITS", replace(CATALOG_LIMITS, swap_gap_s=0)),
)

# The catalog.

_broken_entry = entries.broken_entry


def _without_widget(_: Any, *rest: Any) -> Any:
    return _broken_entry(None, *rest)


mutant(
    "broken file loses its last good version",
    "entries: the last good widget stays",
    *((module, "broken_entry", _without_widget) for module in (entries, catalog)),
)
mutant(
    "sidecar is no part of the key",
    "entries: a change of the sidecar alone",
    *((module, "key_of", lambda file, _: file.digest) for module in (catalog,)),
)
mutant(
    "deleted file is served for ever",
    "deletion",
    (deletion.MissingFiles, "_list_absent", lambda *_: []),
)
mutant(
    "missing file counts as deleted at once",
    "deletion: the grace",
    (deletion, "LIMITS", replace(CATALOG_LIMITS, deletion_grace_s=0)),
)


mutant(
    "empty mount deletes every widget (R5)",
    "deletion: the number of the mount, and files that vanish without an event",
    (SimulatedDisk, "number_mount", lambda *_: 0),
    (deletion, "LIMITS", replace(CATALOG_LIMITS, vanished_files=1_000)),
)
mutant(
    "file that is made again empty counts as absent (D1)",
    "deletion: a file that is being written exists",
    (
        deletion.MissingFiles,
        "_list_absent",
        lambda _, scan, known: [path for path in known if path not in scan.sources],
    ),
)
mutant(
    "scan of another path confirms a deletion (D2)",
    "deletion: only a scan that looked",
    (deletion.MissingFiles, "list_due", lambda *_: []),
)
mutant(
    "file that is empty at a start loses its last good version (D3)",
    "catalog: files that are being written are revived",
    (catalog.Catalog, "_revive", lambda self, changes: _revive_changed(self, changes)),
    (
        versions.Versions,
        "record",
        lambda *arguments, **options: _record_without(*arguments, **options),
    ),
)


def _record_without(*arguments: Any, **options: Any) -> None:
    _record(*arguments, **{**options, "held": ()})


def _revive_changed(self: Any, changes: Any) -> Any:
    unsettled, self._scan = self._scan, replace(self._scan, unsettled=frozenset())
    try:
        yield from _revive(self, changes)
    finally:
        self._scan = unsettled


# The state folder.

mutant(
    "content is not synced (R8)",
    "state folder: a power cut costs unsynced generations only",
    (state.StateFolder, "sync", lambda *_: True),
    (state.StateFolder, "_sync_folder", lambda *_: None),
)
mutant(
    "generation without a content is recorded",
    "versions: contents before lines",
    (versions.Versions, "_store", lambda *_: True),
)
mutant(
    "what was served at the end is not saved",
    "reload: the shield of a save",
    (catalog.Catalog, "copies", lambda self: lambda: None),
)
mutant(
    "stored content is not compared with its name",
    "versions: a torn content is lost",
    (versions.Versions, "_content", lambda self, path, digest: _any_content(self, path, digest)),
)


def _any_content(self: Any, path: str, digest: str) -> Any:
    self._refresh()
    size = self._sizes.get(digest)
    if size is None:
        return None
    content = self._state.read(f"versions/{digest}-{size}", most_bytes=size)
    return None if content is None else source.Source.of(path, content)


mutant(
    "rollback outlives a change of the folder",
    "rollback: ends with the next change",
    (rollbacks.Rollback, "_end", lambda self, request, folder: self._merge(folder)),
)

_decode = versions._decode
mutant(
    "generations of widgetd 0.3 are not read (R4)",
    "versions: lines of earlier releases",
    (versions, "_decode", lambda line: {} if "after" in (record := _decode(line)) else record),
)

# Clients.

mutant(
    "swap wakes nobody who waits",
    "registry: each waiter is woken",
    (Registry, "swap", lambda self, snapshot: _swap_silently(self, snapshot)),
)


def _swap_silently(self: Any, snapshot: Any) -> Any:
    change = difference(self._current, snapshot)
    self._current = snapshot
    return change


mutant(
    "modern clients are not notified",
    "clients: both eras",
    (ListenStreams, "publish", _never),
)
mutant(
    "legacy clients are not notified",
    "clients: both eras",
    (LegacyClient, "add", lambda *_: False),
)
mutant(
    "difference is taken to the newest snapshot",
    "notifications: to what was announced last",
    (notifications, "_compare", lambda server, _, now: _compare(server, now, now)),
)

# The log.


def _write_at_once(self: LineQueue, line: bytes) -> None:
    _add_line(self, line)
    self.flush()


_add_line = LineQueue.add
mutant(
    "log is written on the event loop (R3)",
    "line queue: an unread pipe delays no call",
    (LineQueue, "add", _write_at_once),
)

# Presses.

mutant(
    "key of a press is this replica's alone (R1)",
    "actions: the key is agreed by all replicas",
    (Idempotency, "agree", Idempotency.remember),
)


async def _send_nothing(_: object) -> list[tuple[str, int]]:
    return []


mutant(
    "what was stored while the store was away stays here",
    "shared cache: handed over when the store is back",
    (SharedCache, "hand_over", _send_nothing),
)


async def _claim_here(self: Idempotency, key: str, record: Any, *, owner: str = "") -> bool:
    unique = {**record, "claim": self.numbers.token_hex(8)}
    return await self.remember(key, unique, owner=owner) == unique


async def _claim_always(self: Idempotency, key: str, record: Any, *, owner: str = "") -> bool:
    with suppress(CallError):
        await _claim(self, key, record, owner=owner)
    return True


_claim = Idempotency.claim
mutant(
    "claim falls back to this replica",
    "store: a claim is everybody's",
    (Idempotency, "claim", _claim_here),
)
mutant("claim is always granted", "actions: the claim", (Idempotency, "claim", _claim_always))
mutant(
    "outcome is not looked up",
    "actions: a repeated press is answered",
    (acting.ActionRunner, "find_outcome", _never),
)
_execute = acting.ActionRunner._execute


async def _execute_unkeyed(self: Any, *press: Any) -> Any:
    call = self.caller.call_action
    caller = SimpleNamespace(call_action=lambda *what, **named: call(*what, **named | {"key": ""}))
    return await _execute(replace(self, caller=caller), *press)


mutant(
    "upstream gets no key",
    "actions: an upstream knows a repeated call by its key",
    (acting.ActionRunner, "_execute", _execute_unkeyed),
)
mutant(
    "press of a stranger is taken",
    "actions: the press secret of the render",
    (actions, "_demand_press", lambda *_: None),
)
_is_from_page = actions.is_from_page
mutant(
    "press by another principal is taken",
    "actions: only the owner of a render presses its buttons",
    (actions, "is_from_page", lambda *_: True),
)
mutant(
    "cache key without its principal",
    "confirmations: the token's owner, behind the check of the render's owner",
    (confirmations, "_key", lambda kind, token, owner: f"confirmation {kind} {token}"),
    (actions, "is_from_page", lambda *call: "token" in call[2] or _is_from_page(*call)),
)
