"""A rollback: an earlier generation is served until the folder's next change.

    widgetd rollback -> request in the state folder -> next scan -> swap

The request is a file: it needs no port and no right except to the state folder, and waits until a
daemon starts. The daemon adds a hash of the folder's own content. As soon as the folder would serve
anything else, the rollback ends, even if this happened while the daemon was down. A broken file
changes no served content, so it ends no rollback.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

import orjson

from widgetd.base.files.stamp import Stamp
from widgetd.base.logs import get_logger
from widgetd.core.widget.definition import join_digests
from widgetd.server.catalog.entries import load_entry
from widgetd.server.catalog.limits import LIMITS
from widgetd.server.catalog.loader import Load
from widgetd.server.catalog.snapshot import Entry, Snapshot
from widgetd.server.catalog.state import StateFolder
from widgetd.server.catalog.versions import Files, Versions

FILE = "rollback"

_log = get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackRequest:
    """The content of the file.

    Attributes:
        generation: The generation to serve.
        since_s: Time of the request, in seconds since the epoch.
        folder: Hash of the folder's own content, once a daemon serves the generation. Empty before.
    """

    generation: str
    since_s: float
    folder: str = ""


def read_request(state: StateFolder) -> RollbackRequest | None:
    """Return the pending or active rollback, or None if there is none, or the file is not ours."""
    content = state.read(FILE, most_bytes=LIMITS.rollback_bytes)
    if content is None:
        return None
    try:
        match orjson.loads(content):
            case {
                "generation": str(generation),
                "since_s": float(since_s),
                "folder": str(folder),
            }:
                return RollbackRequest(generation=generation, since_s=since_s, folder=folder)
    except ValueError:
        pass
    state.fail(FILE, "it holds no rollback")
    return None


def write_request(state: StateFolder, generation: str) -> bool:
    """Ask the daemon, or the next daemon, to serve a generation. Return whether it was written."""
    return _write(
        state, RollbackRequest(generation=generation, since_s=state.system.clock.wall_s())
    )


def _write(state: StateFolder, request: RollbackRequest) -> bool:
    is_written = state.write(FILE, orjson.dumps(asdict(request)))
    if is_written:
        state.report_recovery(FILE)
    return is_written


class Rollback:
    """The rollback of a widgets folder. Used by one thread at a time.

    Attributes:
        versions: The generations to go back to.
        recorded: The same for the recording thread. No scan waits for the disk.
        active: The rollback being served. None without one.
    """

    def __init__(self, state: StateFolder, load: Load) -> None:
        self.versions, self.recorded = Versions(state), Versions(state)
        self.active: RollbackRequest | None = None
        self._state = state
        self._load = load
        self._stamp: Stamp | None = None
        self._request: RollbackRequest | None = None
        self._files: Files = {}
        # Entries of the generation's files, where the folder differs.
        self._loaded: Mapping[str, Entry] = {}
        self._merged: tuple[Snapshot, Snapshot] | None = None

    def report(self) -> dict[str, str] | None:
        active = self.active
        if active is None:
            return None
        since = datetime.fromtimestamp(active.since_s, UTC).isoformat(timespec="seconds")
        return {"generation": active.generation, "since": since}

    def is_requested(self) -> bool:
        return self._state.stamp(FILE) not in (None, self._stamp)

    def choose(self, folder: Snapshot, *, settled: bool) -> Snapshot:
        """Return the snapshot to serve: the folder's own, or an earlier generation.

        Args:
            folder: The folder's own snapshot.
            settled: Whether no file is being written. Otherwise no rollback ends.
        """
        # One stat for each scan. The absence of the file ends nothing.
        if self.is_requested():
            self._stamp = self._state.stamp(FILE)
            self._request = read_request(self._state) or self._request
        request = self._request
        if request is None:
            return folder
        if settled and folder.degraded is None and folder.entries:
            own = f"{folder.served_hash.total:x}"
            if own != (request.folder or own) or folder.generation == request.generation:
                return self._end(request, folder)
            request = replace(request, folder=own)
        elif not request.folder:
            return folder if self.active is None else self._merge(folder)
        if request != self.active:
            problem = self._prepare(request.generation, folder)
            if problem:
                return self._refuse(request, folder, problem)
            self._request = self.active = request
            # If this fails, a change while widgetd is down does not end the rollback.
            _write(self._state, request)
            _log.info("rollback.started", rollback=request.generation)
        return self._merge(folder)

    def _end(self, request: RollbackRequest, folder: Snapshot) -> Snapshot:
        _log.info("rollback.ended", rollback=request.generation, generation=folder.generation)
        self._request = self.active = None
        self._state.remove(FILE)
        return folder

    def _refuse(self, request: RollbackRequest, folder: Snapshot, problem: str) -> Snapshot:
        _log.warning("rollback.refused", rollback=request.generation, problem=problem)
        self._request = self.active
        if self.active is None:
            self._state.remove(FILE)
            return folder
        _write(self._state, self.active)
        return self._merge(folder)

    def _prepare(self, generation: str, folder: Snapshot) -> str:
        files, loaded = self.versions.files(generation), {}
        if not files:
            return "the history does not have it"
        for path, key in files.items():
            if _holds(folder.entries.get(path), key):
                continue
            pair = self.versions.sources(path, key)
            if pair is None:
                return f"{path}: its content is lost"
            loaded[path] = load_entry(None, key, *pair, self._load)
            if (fault := loaded[path].fault) is not None:
                return str(fault)
        self._files, self._loaded, self._merged = files, loaded, None
        return ""

    def _merge(self, folder: Snapshot) -> Snapshot:
        if self._merged is not None and self._merged[0] is folder:
            return self._merged[1]
        changes: dict[str, Entry | None] = {
            path: replace(entry, widget=None, theme=None) if entry.fault else None
            for path, entry in folder.entries.items()
            if path not in self._files and entry.has_content
        }
        for path, entry in self._loaded.items():
            now = folder.entries.get(path)
            if not _holds(now, self._files[path]):
                fault, further = (now.fault, now.further_faults) if now else (None, ())
                changes[path] = replace(entry, fault=fault, further_faults=further)
        merged = folder.with_changes(changes, degraded=folder.degraded)
        self._merged = folder, merged
        return merged


def _holds(entry: Entry | None, key: str) -> bool:
    if entry is None or entry.widget is None:
        return False
    digest, _, beside = key.partition("+")
    return entry.widget.key == join_digests(digest, beside)
