"""Distinguish a deleted file from one that is missing for a moment.

Editors, rsync and ConfigMaps remove a file and put it back within milliseconds, and a
mount may vanish as a whole. So a file counts as deleted only after two scans of the same
folder, 250 ms apart, did not find it; a folder that was replaced by an empty one, or by
none, deletes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from widgetd.base.errors import Finding
from widgetd.base.files.persistent_map import key_set, list_missing
from widgetd.base.files.scan import Scan
from widgetd.server.catalog.limits import LIMITS


class MissingFiles:
    """The files that are missing, each since when, and the folder that is watched."""

    def __init__(self) -> None:
        self._root: tuple[int, int] | None = None
        self._compared: tuple[object, object] | None = None
        self._lacking: Collection[str] = ()
        self._since_s: dict[str, float] = {}

    @property
    def paths(self) -> Collection[str]:
        """Return the files that are missing and do not count as deleted yet."""
        return self._since_s.keys()

    def find_degradation(self, scan: Scan) -> Finding | None:
        """Return why the folder cannot be trusted to lack what it lacks; None if it can."""
        if scan.root is None:
            problem = "the widgets folder is not there"
            return _degradation(problem, "put it back; until then everything goes on serving")
        if scan.failure is not None:
            problem = f"the widgets folder cannot be listed ({scan.failure.strerror})"
            return _degradation(problem, "give widgetd the right to read and enter it")
        if self._root not in (None, scan.root) and not scan.sources:
            problem = "the widgets folder was replaced by an empty one"
            return _degradation(problem, "mount it again; until then everything goes on serving")
        return None

    def find_deleted(self, scan: Scan, known: Mapping[str, object], now_s: float) -> frozenset[str]:
        """Return the paths of `known` that count as deleted at `now_s`; the folder is trusted."""
        self._root = scan.root
        # Of 10,000 widgets this takes milliseconds, so only a scan with other paths compares.
        compared = key_set(known), key_set(scan.sources)
        if compared != self._compared:
            self._compared, self._lacking = compared, list_missing(known, scan.sources)
        # A file that could not be read, or is being written, exists.
        existing = (scan.faults, scan.unsettled)
        absent = [path for path in self._lacking if not any(path in each for each in existing)]
        self._since_s = {path: self._since_s.get(path, now_s) for path in absent}
        until_s = now_s - LIMITS.deletion_grace_s
        deleted = frozenset(path for path, since_s in self._since_s.items() if since_s <= until_s)
        for path in deleted:
            del self._since_s[path]
        return deleted


def _degradation(problem: str, advice: str) -> Finding:
    return Finding(code="W0008", problem=problem, advice=advice)
