"""Tell a deleted file from one that is merely not there at this moment.

Editors, rsync and ConfigMaps take a file away and bring it back within
milliseconds, and a mount may vanish as a whole. So a file is gone only when two
scans of the same folder, 250 ms apart, did not find it; and a folder that was
replaced by an empty one, or by none, takes nothing with it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from widgetd.errors import Finding
from widgetd.files.persistent_map import key_set, list_missing
from widgetd.files.scan import Scan

GRACE_S = 0.25
"""Longer than any editor's gap between taking a file away and putting the new one in place."""


class MissingFiles:
    """Remembers since when each file has been missing, and which folder is being watched."""

    def __init__(self) -> None:
        self._root: tuple[int, int] | None = None
        self._compared: tuple[object, object] | None = None
        self._lacking: Collection[str] = ()
        self._since_s: dict[str, float] = {}

    @property
    def pending(self) -> bool:
        """Whether a file is missing that does not count as gone yet."""
        return bool(self._since_s)

    def degraded(self, scan: Scan) -> Finding | None:
        """Why what this scan lacks may be there all the same; None if it is truly missing."""
        if scan.root is None:
            problem = "the widgets folder is not there"
            return _degraded(problem, "put it back; until then everything goes on serving")
        if scan.failure is not None:
            problem = f"the widgets folder cannot be listed ({scan.failure.strerror})"
            return _degraded(problem, "give widgetd the right to read and enter it")
        if self._root not in (None, scan.root) and not scan.sources:
            problem = "the widgets folder was replaced by an empty one"
            return _degraded(problem, "mount it again; until then everything goes on serving")
        return None

    def gone(self, scan: Scan, known: Mapping[str, object], now_s: float) -> frozenset[str]:
        """The paths of `known` that count as deleted at `now_s`, if the scan can be trusted."""
        self._root = scan.root
        # Found anew only where the paths changed.
        compared = key_set(known), key_set(scan.sources)
        if compared != self._compared:
            self._compared, self._lacking = compared, list_missing(known, scan.sources)
        # What could not be read is there.
        there = (scan.faults, scan.unsettled)
        absent = [path for path in self._lacking if not any(path in each for each in there)]
        self._since_s = {path: self._since_s.get(path, now_s) for path in absent}
        gone = frozenset(p for p, since_s in self._since_s.items() if now_s - since_s >= GRACE_S)
        for path in gone:
            del self._since_s[path]
        return gone


def _degraded(problem: str, advice: str) -> Finding:
    return Finding(code="W0008", problem=problem, advice=advice)
