"""Earlier generations, kept in the state folder for rollbacks.

The latest has the last good content of each file, for a start with a broken file.

    versions.jsonl    a line for each changed file, then a line for the generation
    versions/         the content of each file once, named DIGEST-BYTES

No line needs another: a damaged line costs a file its last change, or the list a generation. The
last line of a generation has a hash of all its files, so a generation without all its lines is left
out. Contents are written before their lines: a crash in between leaves contents for the next
compaction to delete. Processes with the same folder write in turn, each after it has read the
others' lines.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import orjson

from widgetd.base.files.source import Source
from widgetd.base.files.stamp import Stamp
from widgetd.core.widget.sidecar import SUFFIX
from widgetd.server.catalog.limits import LIMITS
from widgetd.server.catalog.snapshot import SetHash, Snapshot
from widgetd.server.catalog.state import StateFolder, seal, unseal

LOG, CONTENTS = "versions.jsonl", "versions"

_KEYS = {str, type(None)}

Files = Mapping[str, str]
"""Key of each file by path: its digest, and that of its sidecar after a plus."""

Changes = Mapping[str, str | None]
"""Keys that differ by path, or None for a file that was removed."""

Pair = tuple[Source, Source | None]
"""A file and its sidecar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A generation of the folder itself.

    Attributes:
        generation: Hash of the served content, as in `/status`.
        since_s: Time when it was first served, in seconds since the epoch.
        widgets: The number of widgets.
        tools: Its first changed tools, as `+name` (added), `~name`, or `-name` (removed).
        changes: The changed keys since the generation before it.
    """

    generation: str
    since_s: float
    widgets: int
    tools: tuple[str, ...]
    changes: Changes = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class _Log:
    """The sum of the lines.

    Attributes:
        files: The key of each file after the last line.
        hash: Hash of `files`.
        generations: The number of closing lines of generations.
    """

    files: dict[str, str] = field(default_factory=dict)
    hash: SetHash = field(default_factory=SetHash)
    generations: int = 0

    def hash_with(self, changes: Changes) -> SetHash:
        return self.hash.update(
            add=(f"{path} {key}" for path, key in changes.items() if key is not None),
            remove=(f"{path} {self.files[path]}" for path in changes if path in self.files),
        )

    def apply(self, changes: Changes) -> None:
        self.hash = self.hash_with(changes)
        for path, key in changes.items():
            if key is None:
                self.files.pop(path, None)
            else:
                self.files[path] = key


class Versions:
    """The generations of a widgets folder. Used by one thread at a time."""

    def __init__(self, state: StateFolder) -> None:
        self._state = state
        self._log: _Log | None = None
        self._stamp: Stamp | None = None
        self._sizes: dict[str, int] = {}

    def latest(self) -> list[Version]:
        _, versions = self._read()
        # An emptied folder is recorded, or a start would miss its files. Nobody goes back to it.
        return [version for version in versions if version.widgets][-LIMITS.versions :]

    def files(self, generation: str) -> Files:
        _, versions = self._read()
        log, files = _Log(), {}
        for version in versions:
            log.apply(version.changes)
            if version.generation == generation:
                files = dict(log.files)
        return files

    def list_lost(self, files: Files) -> list[str]:
        """Return the paths of files without stored content."""
        stored = dict(self._list_contents())
        return [path for path, key in files.items() if not stored.keys() >= {*key.split("+")}]

    def sources(self, path: str, key: str) -> Pair | None:
        digest, _, beside = key.partition("+")
        source = self._content(path, digest)
        sidecar = self._content(path + SUFFIX, beside) if beside else None
        return None if source is None or (beside and sidecar is None) else (source, sidecar)

    def list_missing(self, files: Collection[str]) -> Files:
        stored = self._refresh().files
        return {path: key for path, key in stored.items() if path not in files}

    def recall(self, path: str) -> Pair | None:
        key = self._refresh().files.get(path)
        return None if key is None else self.sources(path, key)

    def record(
        self,
        snapshot: Snapshot,
        sources: Mapping[str, Source],
        *,
        held: Collection[str] = (),
        recalled: Files = MappingProxyType({}),
    ) -> None:
        """Add the generation that `snapshot` serves, unless the last has the same files.

        Args:
            snapshot: The folder's own. A broken file counts as it was when it was good.
            sources: The folder's files by path.
            held: Paths being written. Their last stored content counts.
            recalled: Keys of the last good content of broken files, maybe under another path.
        """
        if snapshot.degraded is None:
            with self._state.hold_lock(LOG) as is_locked:
                if is_locked:
                    self._add(snapshot, sources, held, recalled)

    def _add(
        self,
        snapshot: Snapshot,
        sources: Mapping[str, Source],
        held: Collection[str],
        recalled: Files,
    ) -> None:
        log = self._refresh()
        wanted = {
            path: key
            for path, entry in snapshot.entries.items()
            if (key := log.files.get(path, recalled.get(path)) if entry.fault else entry.key)
        }
        wanted |= {
            path: log.files[path] for path in held if path in log.files and path not in wanted
        }
        changes: dict[str, str | None] = {
            path: key for path, key in wanted.items() if log.files.get(path) != key
        }
        changes |= dict.fromkeys(path for path in log.files if path not in wanted)
        if not changes or not self._store(changes, sources):
            return
        version = Version(
            generation=snapshot.generation,
            since_s=self._state.system.clock.wall_s(),
            widgets=len(snapshot.widgets),
            tools=_tools(snapshot, changes, log.files),
            changes=changes,
        )
        # A log without any good line is replaced.
        keep = self._state.append if log.files or log.generations else self._state.write
        if keep(LOG, _encode(version, log.hash_with(changes))):
            log.apply(changes)
            log.generations += 1
            self._state.report_recovery(LOG)
            self._state.report_recovery(CONTENTS)
            if (
                log.generations > 2 * LIMITS.versions
                or sum(self._sizes.values()) > LIMITS.versions_bytes
            ):
                self._compact(log)
        self._stamp = self._state.stamp(LOG)

    def _refresh(self) -> _Log:
        stamp = self._state.stamp(LOG)
        if self._log is None or self._stamp != stamp:
            self._log, _ = self._read()
            self._stamp, self._sizes = stamp, dict(self._list_contents())
        return self._log

    def _store(self, changes: Changes, sources: Mapping[str, Source]) -> bool:
        written: dict[str, int] = {}
        for path, key in changes.items():
            if key is not None and self._sizes.keys() >= {*key.split("+")}:
                continue
            for name in (path, path + SUFFIX)[: 0 if key is None else 1 + key.count("+")]:
                source = sources.get(name)
                if source is None or source.digest not in (key or ""):
                    return False  # it changed again. The next scan records it
                content = source.content
                if source.digest not in self._sizes and source.digest not in written:
                    place = _place(source.digest, len(content))
                    if not self._state.write(place, content, synced=False):
                        return False
                    written[source.digest] = len(content)
        # Before their line, or a power cut leaves a generation without its contents.
        if written and not self._state.sync(list(map(_place, written, written.values()))):
            return False
        self._sizes |= written
        return True

    def _compact(self, log: _Log) -> None:
        _, versions = self._read()
        while len(versions) > LIMITS.versions or (
            len(versions) > 1
            and sum(self._sizes.get(digest, 0) for digest in _list_digests(versions))
            > LIMITS.versions_bytes
        ):
            first, second, *others = versions
            merged = {**first.changes, **second.changes}
            files = {path: key for path, key in merged.items() if key is not None}
            versions = [replace(second, changes=files), *others]
        written, lines = _Log(), []
        for version in versions:
            written.apply(version.changes)
            lines.append(_encode(version, written.hash))
        if not versions or not self._state.write(LOG, b"".join(lines)):
            return
        log.generations = len(versions)
        used = _list_digests(versions)
        for digest in [digest for digest in self._sizes if digest not in used]:
            if self._state.remove(_place(digest, self._sizes[digest])):
                del self._sizes[digest]

    def _content(self, path: str, digest: str) -> Source | None:
        self._refresh()
        size = self._sizes.get(digest)
        if size is None:
            return None
        content = self._state.read(_place(digest, size), most_bytes=size)
        source = None if content is None else Source.of(path, content)
        return source if source is not None and source.digest == digest else None

    def _list_contents(self) -> Iterator[tuple[str, int]]:
        for name in self._state.names(CONTENTS):
            digest, _, size = name.partition("-")
            if size.isdecimal():
                yield digest, int(size)

    def _read(self) -> tuple[_Log, list[Version]]:
        log, versions = _Log(), list[Version]()
        fresh: dict[str, str | None] = {}
        changes: dict[str, str | None] = {}
        last = ""
        content = self._state.read(LOG, most_bytes=LIMITS.version_log_bytes) or b""
        for line in content.splitlines():
            record = _decode(line)
            fresh |= _read_changes(record)
            version = _read_version(record)
            if version is None:
                continue
            log.apply(fresh)
            changes |= fresh
            fresh = {}
            log.generations += 1
            # widgetd 0.3 wrote a generation as one line, with the hash of the line before it.
            if record.get("after") == last:
                last = line.partition(b"\t")[0].decode()
            elif record.get("hash") != log.hash.text:
                continue
            if versions and versions[-1].generation == version.generation:
                # Only unserved files changed.
                version = versions.pop()
                changes = {**version.changes, **changes}
            versions.append(replace(version, changes=changes))
            changes = {}
        log.apply(fresh)
        return log, versions


def _list_digests(versions: Iterable[Version]) -> set[str]:
    return {
        digest
        for version in versions
        for key in version.changes.values()
        for digest in (key or "").split("+")
    }


def _tools(snapshot: Snapshot, changes: Changes, before: Files) -> tuple[str, ...]:
    names = []
    for path, key in sorted(changes.items())[: LIMITS.logged_tools]:
        entry = snapshot.entries.get(path)
        tool = entry.widget.tool if entry is not None and entry.widget is not None else path
        names.append(("-" if key is None else "~" if path in before else "+") + tool)
    return tuple(names)


def _encode(version: Version, files_hash: SetHash) -> bytes:
    last = {
        "generation": version.generation,
        "since": version.since_s,
        "widgets": version.widgets,
        "tools": version.tools,
        "hash": files_hash.text,
    }
    records = [*({"files": {path: key}} for path, key in version.changes.items()), last]
    return b"".join(seal(orjson.dumps(record)) + b"\n" for record in records)


def _decode(line: bytes) -> Mapping[str, Any]:
    try:
        record = orjson.loads(unseal(line) or b"{}")
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _read_changes(record: Mapping[str, Any]) -> Changes:
    # Another program may have written a line with the right hash, so its content is not trusted.
    files = record.get("files")
    if isinstance(files, dict) and _KEYS.issuperset(map(type, files.values())):
        return files
    return {}


def _read_version(record: Mapping[str, Any]) -> Version | None:
    match record:
        case {
            "generation": str(generation),
            "since": float(since_s),
            "widgets": int(widgets),
            "tools": [*tools],
        }:
            return Version(
                generation=generation,
                since_s=since_s,
                widgets=widgets,
                tools=tuple(map(str, tools)),
            )
    return None


def _place(digest: str, size: int) -> str:
    return f"{CONTENTS}/{digest}-{size}"
