"""Say to probes and people whether widgetd lives, is ready, and what it serves.

Reads the snapshot of the moment. It never tells a path of the disk or an argument.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from widgetd.catalog.registry import Registry

STALLED_S = 30.0
"""Surveys come every 2 s; the longest rebuild of many thousand files takes less than this."""


@dataclass(slots=True, kw_only=True)
class Vitals:
    """What the daemon knows of itself; it writes, the pages read.

    Attributes:
        surveyed: The first survey is done, so that what is served is what there is.
        draining: The daemon is about to end; send nobody here any more.
        watch: `"native"` while file events arrive, else `"poll"`.
        stalled_s: So long without a look at the folder, and something hangs.
    """

    surveyed: bool = False
    draining: bool = False
    watch: str = "poll"
    stalled_s: float = STALLED_S
    _looked_s: float = field(default_factory=time.monotonic)
    _waiting: list[Callable[[], None]] = field(default_factory=list)

    def looked(self) -> None:
        """The folder was looked at just now, and what is served is what it holds."""
        self.surveyed = True
        self._looked_s = time.monotonic()
        waiting, self._waiting = self._waiting, []
        for tell in waiting:
            tell()

    def on_next_look(self, tell: Callable[[], None]) -> None:
        """Call `tell` once, when the folder has been looked at again."""
        self._waiting.append(tell)

    def progressing(self) -> bool:
        """Whether the folder is still being looked at, as it should be every few seconds."""
        return time.monotonic() - self._looked_s < self.stalled_s

    @property
    def ready(self) -> bool:
        """Whether clients may be sent here."""
        return self.surveyed and not self.draining


def health_routes(registry: Registry, vitals: Vitals) -> list[Route]:
    """`/livez` and `/readyz`."""

    async def livez(_request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def readyz(_request: Request) -> Response:
        return JSONResponse(readiness(registry, vitals), status_code=200 if vitals.ready else 503)

    return [_probe("/livez", livez), _probe("/readyz", readyz)]


def readiness(registry: Registry, vitals: Vitals) -> dict[str, Any]:
    """What `/readyz` answers: `{"ready": true, "widgets": 16, "generation": "...", ...}`."""
    snapshot = registry.current
    return {
        "ready": vitals.ready,
        "draining": vitals.draining,
        "widgets": len(snapshot.widgets),
        "stale": len(snapshot.stale),
        "refused": len(snapshot.refused),
        "generation": snapshot.generation,
        "files": snapshot.files,
        "watch": vitals.watch,
        "degraded": str(snapshot.degraded) if snapshot.degraded else None,
    }


def _probe(path: str, endpoint: Callable[[Request], Any]) -> Route:
    return Route(path, endpoint, methods=["GET"])
