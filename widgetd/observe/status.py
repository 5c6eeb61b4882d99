"""Say whether widgetd lives, is ready, and what it serves, fault by fault.

Reads the snapshot of the moment. Of the disk it tells paths inside the widgets
folder and nothing else; of calls it tells nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from widgetd.access.principal import pseudonym

if TYPE_CHECKING:
    from widgetd.catalog.registry import Registry
    from widgetd.catalog.snapshot import Snapshot

STALLED_S = 30.0
"""Scans come every 2 s; the longest rebuild of many thousand files takes less than this."""


@dataclass(slots=True, kw_only=True)
class Health:
    """What the daemon knows of itself; it writes, whoever answers probes reads.

    Attributes:
        scanned: The first scan is done, so that what is served is what there is.
        draining: The daemon is about to end; send nobody here any more.
        watch: `"native"` while file events arrive, else `"poll"`.
        upstreams: Of those that must be well, how many are and are not; None without any file.
        stalled_s: So long without a look at the folder, and something hangs.
    """

    scanned: bool = False
    draining: bool = False
    watch: str = "poll"
    stalled_s: float = STALLED_S
    upstreams: Callable[[], dict[str, int]] | None = None
    _scanned_s: float = field(default_factory=time.monotonic)
    _waiting: list[Callable[[], None]] = field(default_factory=list)

    def record_scan(self) -> None:
        """The folder was looked at just now, and what is served is what it holds."""
        self.scanned = True
        self._scanned_s = time.monotonic()
        waiting, self._waiting = self._waiting, []
        for callback in waiting:
            callback()

    def on_next_scan(self, callback: Callable[[], None]) -> None:
        """Call `callback` once, when the folder has been looked at again."""
        self._waiting.append(callback)

    def is_progressing(self) -> bool:
        """Whether the folder is still being looked at, as it should be every few seconds."""
        return time.monotonic() - self._scanned_s < self.stalled_s

    @property
    def ready(self) -> bool:
        """Whether clients may be sent here."""
        failed = self.upstreams()["failed"] if self.upstreams is not None else 0
        return self.scanned and not self.draining and not failed


def readiness(registry: Registry, health: Health) -> dict[str, Any]:
    """What `/readyz` answers: `{"ready": true, "widgets": 16, "generation": "...", ...}`."""
    snapshot = registry.current
    counts = {} if health.upstreams is None else {"upstreams": health.upstreams()}
    return {
        **counts,
        "ready": health.ready,
        "draining": health.draining,
        "widgets": len(snapshot.widgets),
        "stale": len(snapshot.stale),
        "refused": len(snapshot.refused),
        "generation": snapshot.generation,
        "files": snapshot.files,
        "watch": health.watch,
        "degraded": str(snapshot.degraded) if snapshot.degraded else None,
    }


def status(registry: Registry, health: Health, view: Snapshot) -> dict[str, Any]:
    """What `/readyz` answers, and `{"version": "...", "faults": [{"path", "code", ...}]}`.

    Args:
        registry: What is being served.
        health: What the daemon knows of itself.
        view: What whoever asks sees of it; other faults are told without their file.
    """
    snapshot = registry.current
    served = {widget.definition.path for widget in snapshot.widgets.values()}
    # Where one of these stands among the others would tell how it begins.
    faults = sorted(snapshot.faults.items(), key=lambda item: item[0] not in view.faults)
    return {
        "version": version("widgetd"),
        **readiness(registry, health),
        "faults": [
            {
                "path": path if path in view.faults else pseudonym(path),
                "code": fault.code,
                "state": "stale" if path in served else "refused",
                "problem": str(fault) if path in view.faults else "this token does not see it",
            }
            for path, fault in faults
        ],
    }
