"""The generations that were served, kept in the state folder, to go back to.

The latest has the last good content of each file, for a start at which a file is broken.

    versions.jsonl    a line for each generation: what it changed, after which other line
    versions/         the content of each file once, named DIGEST-BYTES

A line names its predecessor by hash, so a damaged line takes only those with it that follow from
it; the next one without a predecessor has the whole folder again. Contents are written before
the line that names them: a crash in between leaves contents that the next compaction deletes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType

import orjson

from widgetd.catalog.limits import LIMITS
from widgetd.catalog.snapshot import Snapshot
from widgetd.catalog.state import StateFolder, seal, unseal
from widgetd.files.source import Source
from widgetd.widget.sidecar import SUFFIX

LOG, CONTENTS = "versions.jsonl", "versions"

Files = Mapping[str, str]
"""Key of each file by path: its digest, and that of its sidecar after a plus."""

Pair = tuple[Source, Source | None]
"""A file and its sidecar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A generation that was served from the folder as it stood.

    Attributes:
        generation: Hash of what was served, as in `/status`.
        since_s: When it was first served, in seconds since the epoch.
        widgets: The number of widgets.
        tools: The first tools that it added, changed or removed, as `+name`, `~name`, `-name`.
        changes: The keys that differ from its predecessor; None for a file that was removed.
        after: Hash of its predecessor's line; empty if `changes` are all of its files.
        id: Hash of its own line.
    """

    generation: str
    since_s: float
    widgets: int
    tools: tuple[str, ...]
    changes: Mapping[str, str | None]
    after: str = ""
    id: str = field(default="", compare=False)


class Versions:
    """The generations of one widgets folder; one thread at a time uses it.

    Args:
        state: The folder of the files.
    """

    def __init__(self, state: StateFolder) -> None:
        self._state = state
        self._files: Files | None = None
        self._last: Version | None = None
        self._lines = 0
        self._sizes: dict[str, int] = {}

    def latest(self) -> list[Version]:
        """Return the undamaged generations that are kept, the oldest first."""
        return list(self._read().values())[-LIMITS.versions :]

    def files(self, generation: str) -> Files:
        """Return all files of a generation; none if it is not known."""
        known = self._read()
        found = [one for one in known.values() if one.generation == generation]
        return _collect(known, found[-1]) if found else {}

    def list_lost(self, files: Files) -> list[str]:
        """Return the paths of files whose content is not stored any more."""
        stored = dict(self._list_contents())
        return [path for path, key in files.items() if not stored.keys() >= {*key.split("+")}]

    def sources(self, path: str, key: str) -> Pair | None:
        """Return a file of a generation with its sidecar; None if its content is lost."""
        digest, _, beside = key.partition("+")
        source = self._content(path, digest)
        sidecar = self._content(path + SUFFIX, beside) if beside else None
        return None if source is None or (beside and sidecar is None) else (source, sidecar)

    def recall(self, path: str) -> Pair | None:
        """Return a file as it was last served, with its sidecar; None if that is not stored."""
        key = self._latest_files().get(path)
        return None if key is None else self.sources(path, key)

    def record(self, snapshot: Snapshot, sources: Mapping[str, Source]) -> None:
        """Add the generation that `snapshot` serves, unless it is the last one already.

        Args:
            snapshot: The folder's own; a file that is broken counts as it was when it was good.
            sources: The folder's files by path.
        """
        if snapshot.degraded is not None or not snapshot.entries:
            return
        before = self._latest_files()
        wanted = {
            path: key
            for path, entry in snapshot.entries.items()
            if (key := entry.key if entry.fault is None else before.get(path))
        }
        changes = _difference(before, wanted)
        same = self._last is not None and self._last.generation == snapshot.generation
        if same or not changes or not self._store(changes, sources):
            return
        version = Version(
            generation=snapshot.generation,
            since_s=time.time(),
            widgets=len(snapshot.widgets),
            tools=_tools(snapshot, changes, before),
            changes=changes,
            after=self._last.id if self._last is not None else "",
        )
        line, version = _encode(version)
        # A log without one good line is replaced.
        keep = self._state.write if self._last is None else self._state.append
        if keep(LOG, line):
            self._files, self._last, self._lines = wanted, version, self._lines + 1
            self._state.report_recovery(LOG)
            self._state.report_recovery(CONTENTS)
            if (
                self._lines > 2 * LIMITS.versions
                or sum(self._sizes.values()) > LIMITS.versions_bytes
            ):
                self._compact()

    def _latest_files(self) -> Files:
        if self._files is None:
            known = self._read()
            self._last = next(reversed(known.values()), None)
            self._files = _collect(known, self._last) if self._last is not None else {}
            self._lines, self._sizes = len(known), dict(self._list_contents())
        return self._files

    def _store(self, changes: Mapping[str, str | None], sources: Mapping[str, Source]) -> bool:
        """Write the contents of changed files; return whether all are stored."""
        for path, key in changes.items():
            for name in (path, path + SUFFIX)[: 0 if key is None else 1 + key.count("+")]:
                source = sources.get(name)
                if source is None or source.digest not in (key or ""):
                    return False  # it changed again; the next scan records it
                content = source.content
                if source.digest not in self._sizes:
                    if not self._state.write(_place(source.digest, len(content)), content):
                        return False
                    self._sizes[source.digest] = len(content)
        return True

    def _compact(self) -> None:
        """Keep the latest generations that fit into the limits, and the contents that they name."""
        known = self._read()
        versions = list(known.values())[-LIMITS.versions :]
        if not versions:
            return
        states = [_collect(known, version) for version in versions]
        while len(states) > 1 and (
            sum(self._sizes.get(digest, 0) for digest in _digests(states)) > LIMITS.versions_bytes
        ):
            del versions[0], states[0]
        kept: list[Version] = []
        lines = []
        for version, (before, files) in zip(versions, pairwise([{}, *states]), strict=True):
            after = kept[-1].id if kept else ""
            changes = _difference(before, files)
            line, rewritten = _encode(replace(version, changes=changes, after=after))
            kept.append(rewritten)
            lines.append(line)
        if not self._state.write(LOG, b"".join(lines)):
            return
        self._last, self._lines = kept[-1], len(kept)
        used = _digests(states)
        for digest in [digest for digest in self._sizes if digest not in used]:
            if self._state.remove(_place(digest, self._sizes[digest])):
                del self._sizes[digest]

    def _content(self, path: str, digest: str) -> Source | None:
        self._sizes = self._sizes or dict(self._list_contents())
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

    def _read(self) -> dict[str, Version]:
        """Read the undamaged lines whose predecessors are undamaged, by hash."""
        known: dict[str, Version] = {}
        content = self._state.read(LOG, most_bytes=LIMITS.version_log_bytes) or b""
        for line in content.splitlines():
            version = _decode(line)
            if version is not None and (not version.after or version.after in known):
                known[version.id] = version
        return known


def _collect(known: Mapping[str, Version], version: Version) -> Files:
    """Apply the changes of a generation and of all its predecessors."""
    chain = [version]
    while chain[-1].after:
        chain.append(known[chain[-1].after])
    files: dict[str, str | None] = {}
    for each in reversed(chain):
        files.update(each.changes)
    return {path: key for path, key in files.items() if key is not None}


def _difference(before: Files, after: Files) -> dict[str, str | None]:
    changed: dict[str, str | None] = {
        path: key for path, key in after.items() if before.get(path) != key
    }
    return changed | dict.fromkeys(path for path in before if path not in after)


def _digests(states: Iterable[Files]) -> set[str]:
    return {digest for files in states for key in set(files.values()) for digest in key.split("+")}


def _tools(snapshot: Snapshot, changes: Mapping[str, str | None], before: Files) -> tuple[str, ...]:
    """Name the first changed tools; a removed file by its path, since its tool is gone."""
    names = []
    for path, key in sorted(changes.items())[: LIMITS.logged_tools]:
        entry = snapshot.entries.get(path)
        tool = entry.widget.tool if entry is not None and entry.widget is not None else path
        names.append(("-" if key is None else "~" if path in before else "+") + tool)
    return tuple(names)


def _encode(version: Version) -> tuple[bytes, Version]:
    """Return a generation as a line with its end, and with the hash of that line."""
    body = orjson.dumps(
        {
            "generation": version.generation,
            "since": version.since_s,
            "widgets": version.widgets,
            "tools": version.tools,
            "after": version.after,
            "files": version.changes,
        }
    )
    line = seal(body)
    return line + b"\n", replace(version, id=_id_of(line))


def _decode(line: bytes) -> Version | None:
    """Return the generation of a line without its end; None if the line is damaged."""
    # The hash of a line that another program wrote may be right, so its content is not trusted.
    try:
        match orjson.loads(unseal(line) or b"null"):
            case {
                "generation": str(generation),
                "since": float(since_s),
                "widgets": int(widgets),
                "tools": [*tools],
                "after": str(after),
                "files": dict(files),
            } if all(isinstance(key, str | None) for key in files.values()):
                return Version(
                    generation=generation,
                    since_s=since_s,
                    widgets=widgets,
                    tools=tuple(map(str, tools)),
                    changes=MappingProxyType(files),
                    after=after,
                    id=_id_of(line),
                )
    except ValueError:
        pass
    return None


def _place(digest: str, size: int) -> str:
    return f"{CONTENTS}/{digest}-{size}"


def _id_of(line: bytes) -> str:
    return line.partition(b"\t")[0].decode()
