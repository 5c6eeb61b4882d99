"""Say to probes whether widgetd lives, and whether clients may be sent to it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from widgetd.catalog.registry import Registry
from widgetd.mcp.status import Vitals, readiness


def health_routes(registry: Registry, vitals: Vitals) -> list[Route]:
    """`/livez` and `/readyz`."""

    async def livez(_request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def readyz(_request: Request) -> Response:
        return JSONResponse(readiness(registry, vitals), status_code=200 if vitals.ready else 503)

    return [
        Route("/livez", livez, methods=["GET"]),
        Route("/readyz", readyz, methods=["GET"]),
    ]
