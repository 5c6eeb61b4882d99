"""Health, readiness and status of the daemon, with each fault of the served files.

Paths are relative to the widgets folder. Nothing else of the disk, and no call, is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from widgetd.base.system import SYSTEM, Clock
from widgetd.server.access.principal import pseudonym
from widgetd.server.observe.limits import LIMITS

if TYPE_CHECKING:
    from widgetd.base.errors import Finding
    from widgetd.server.catalog.registry import Registry
    from widgetd.server.catalog.snapshot import Snapshot


@dataclass(slots=True, kw_only=True)
class Health:
    """The daemon's health, written by the daemon and read by probes.

    Attributes:
        scanned: Whether the first scan is done.
        watch: `"native"` while file events arrive, else `"poll"`.
        upstreams: Returns the numbers of ready and failed required upstreams. None without any.
        upstream_states: Returns the state of every upstream, and the fault of the upstreams file:
            `{"items": [{"name", "state", …, "required"}], "fault"?}`.
        listing: Returns why lists lack widgets. Empty if they have all.
        strays: Returns the sidecars without a widget.
        rollback: Returns the active rollback, `{"generation", "since"}` or None. None without a
            state folder.
        draw_limits: Returns the limits of the first drawing of a content.
        stalled_s: Time without a scan until the daemon counts as stalled.
        clock: Measures this time.
    """

    scanned: bool = False
    draining: bool = False
    watch: str = "poll"
    draw_limits: Callable[[], tuple[str, ...]] = tuple
    stalled_s: float = LIMITS.stalled_s
    upstreams: Callable[[], dict[str, int]] | None = None
    upstream_states: Callable[[], dict[str, Any]] | None = None
    listing: Callable[[], str] = str
    strays: Callable[[], tuple[Finding, ...]] = tuple
    rollback: Callable[[], dict[str, str] | None] | None = None
    clock: Clock = SYSTEM.clock
    _scanned_s: float = field(init=False)
    _waiting: list[Callable[[], None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._scanned_s = self.clock.steady_s()

    def record_scan(self) -> None:
        self.scanned = True
        self._scanned_s = self.clock.steady_s()
        waiting, self._waiting = self._waiting, []
        for callback in waiting:
            callback()

    def on_next_scan(self, callback: Callable[[], None]) -> None:
        self._waiting.append(callback)

    def is_progressing(self) -> bool:
        return self.clock.steady_s() - self._scanned_s < self.stalled_s

    @property
    def ready(self) -> bool:
        failed = self.upstreams()["failed"] if self.upstreams is not None else 0
        return self.scanned and not self.draining and not failed


def readiness(registry: Registry, health: Health) -> dict[str, Any]:
    snapshot = registry.current
    counts = {} if health.upstreams is None else {"requiredUpstreams": health.upstreams()}
    return {
        **counts,
        "ready": health.ready,
        "draining": health.draining,
        "widgets": len(snapshot.widgets),
        "stale": len(snapshot.stale),
        "refused": len(snapshot.refusals),
        "generation": snapshot.generation,
        "files": snapshot.files,
        "watch": health.watch,
        "degraded": str(snapshot.degraded) if snapshot.degraded else None,
    }


def status(registry: Registry, health: Health, view: Snapshot) -> dict[str, Any]:
    """Return `readiness` and `{"version", "drawLimits", "rollback", "allUpstreams"?, "faults"}`.

        `faults` are `[{"path", "code", "state", "problem"}]`. Faults outside `view`, the part
    of the snapshot for this reader, have no path.
    """
    snapshot = registry.current
    served = {widget.definition.path for widget in snapshot.widgets.values()}
    # Hidden faults come last, because their place would reveal their first letters.
    faults = sorted(snapshot.faults.items(), key=lambda item: item[0] not in view.faults)
    return {
        "version": version("widgetd"),
        **readiness(registry, health),
        "drawLimits": list(health.draw_limits()),
        **({"listing": listing} if (listing := health.listing()) else {}),
        "rollback": None if health.rollback is None else health.rollback(),
        **({} if health.upstream_states is None else {"allUpstreams": health.upstream_states()}),
        "faults": [
            {
                "path": path if path in view.faults else pseudonym(path),
                "code": fault.code,
                "state": "stale" if path in served else "refused",
                "problem": str(fault) if path in view.faults else "this token does not see it",
            }
            for path, fault in faults
        ]
        + [
            {"path": stray.path, "code": stray.code, "state": "ignored", "problem": str(stray)}
            for stray in health.strays()
            if view is snapshot  # it may have the name of a hidden widget
        ],
    }
