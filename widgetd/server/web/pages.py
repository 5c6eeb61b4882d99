"""The table of pages for programs: probes, status, metrics, and renders for backends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from widgetd.base.errors import CallError
from widgetd.core.schema.json_text import NotJsonError, parse_json
from widgetd.core.schema.json_values import kind
from widgetd.server.access.auth import Access, Reason, principal_of
from widgetd.server.access.principal import ADMIN, METRICS, Caller
from widgetd.server.mcp.http_calls import keep_render, update_kept
from widgetd.server.mcp.limits import LIMITS as MCP_LIMITS
from widgetd.server.mcp.login import reason_of
from widgetd.server.mcp.server import Server
from widgetd.server.observe.status import Health, readiness, status
from widgetd.server.web.app import routes
from widgetd.server.web.cross_site import CrossSiteGuard
from widgetd.server.web.guard import Guard
from widgetd.server.web.limits import LIMITS
from widgetd.server.web.metrics import Metrics
from widgetd.server.web.page import PageRoute, RefusedError, WebPage, body_of, caller_of, status_of
from widgetd.server.web.templating import inline_stylesheet


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemon:
    """The parts of the daemon on these pages."""

    server: Server
    health: Health
    metrics: Metrics


async def livez(_daemon: Daemon, _request: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def readyz(daemon: Daemon, _request: Request) -> Response:
    ready = readiness(daemon.server.registry, daemon.health)
    return JSONResponse(ready, status_code=200 if ready["ready"] else 503)


async def status_page(daemon: Daemon, request: Request) -> Response | dict[str, Any]:
    server = daemon.server
    facts = status(server.registry, daemon.health, caller_of(request).snapshot)
    if "text/html" not in request.headers.get("accept", ""):
        return JSONResponse(facts)
    if "requiredUpstreams" in facts:
        counts = facts.pop("requiredUpstreams").items()
        facts["required upstreams"] = ", ".join(f"{name}: {count}" for name, count in counts)
    facts["drawLimits"] = ", ".join(facts["drawLimits"])
    if facts["rollback"]:
        facts["rollback"] = "{generation} since {since}".format(**facts["rollback"])
    return {
        "faults": facts.pop("faults"),
        "upstreams": facts.pop("allUpstreams", {}),
        "facts": facts,
        "stylesheet": inline_stylesheet(),
    }


async def metrics_page(daemon: Daemon, request: Request) -> Response:
    server = daemon.server
    # On a port of its own, metrics have no guard.
    caller: Caller | None = getattr(request.state, "caller", None)
    audience = (server.options.anonymous if caller is None else caller.principal).audience
    named = None
    if not audience.sees_everything:
        named = {*server.views.of(server.registry.current, audience).widgets, *server.builtin, ""}
    numbers, media_type = daemon.metrics.exposition(request.headers.get("accept", ""), named)
    return Response(numbers, headers={"content-type": media_type})


async def render(daemon: Daemon, request: Request) -> Response:
    """Render a backend's data and keep the render for a model to show by its id.

    The body is the widget's arguments: rows that no model should have to type or read.
    """

    async def read_arguments() -> Mapping[str, Any]:
        return _object(await _body(request))

    user, name = request.scope.get("user"), request.path_params["name"]
    answer = await keep_render(daemon.server, user, name, read_arguments)
    return _render_response(daemon, request, answer, 201)


async def update(daemon: Daemon, request: Request) -> Response:
    """Replace a kept render with other data of a backend, or with a note.

    The body is the widget's arguments, or empty. `?note=`, `failed` and `after` are the arguments
    of `update_render`.
    """

    async def read() -> Mapping[str, Any]:
        query = request.query_params
        update: dict[str, Any] = {"note": query.get("note", "")}
        if len(update["note"]) > MCP_LIMITS.note_chars:
            problem = (
                f"expected at most {MCP_LIMITS.note_chars} characters, got {len(update['note'])}"
            )
            raise CallError("W2002", problem, path="note")
        if (failed := query.get("failed", "0")) not in ("0", "1"):
            raise CallError("W2002", f"expected 1 or 0, got {failed!r:.60}", path="failed")
        update["failed"] = failed == "1"
        if "after" in query:
            if not query["after"].isdecimal() or len(query["after"]) > LIMITS.version_digits:
                raise CallError("W2002", "expected the number of a version", path="after")
            update["after"] = int(query["after"])
        if body := await _body(request):
            update["arguments"] = _object(body)
        return update

    user, name = request.scope.get("user"), request.path_params["name"]
    answer = await update_kept(daemon.server, user, name, request.path_params["id"], read)
    return _render_response(daemon, request, answer, 200)


async def _body(request: Request) -> bytes:
    try:
        body = await body_of(request, LIMITS.arguments_bytes)
    except RefusedError as error:
        raise CallError("W2009", f"expected a JSON object, but {error.body['error']}") from None
    if body is None:
        raise CallError(
            "W2008", f"expected a body of at most {LIMITS.arguments_bytes} bytes, got more"
        )
    return body


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        value = parse_json(body)
    except NotJsonError as error:
        raise CallError("W2009", f"expected a JSON object, got no JSON ({error})") from None
    if not isinstance(value, dict):
        raise CallError("W2009", f"expected a JSON object, got {kind(value)}")
    return value


def _render_response(
    daemon: Daemon, request: Request, answer: dict[str, Any], done: int
) -> Response:
    error = answer.get("error", {})
    code, headers = error.get("code"), {}
    http_status = done if code is None else status_of(code)
    access = daemon.server.mcp.auth
    if code == "W2301" and isinstance(access, Access):
        is_authenticated = principal_of(request.scope.get("user"), None) is not None
        reason: Reason = "no_scope" if is_authenticated else reason_of(request.scope)
        http_status, headers["www-authenticate"], _ = access.refuse(reason)
    if "retryAfterS" in error:
        headers["retry-after"] = str(ceil(error["retryAfterS"]))  # whole seconds
    return JSONResponse(answer, status_code=http_status, headers=headers)


_Probe = partial(WebPage, scopes=None, cross_site="allow")

PAGES = (
    _Probe(path="/livez", view=livez),
    _Probe(path="/healthz", view=livez),  # as many platforms call it
    _Probe(path="/readyz", view=readyz),
    # They require scopes, and charge, as calls do.
    WebPage(path="/render/{name}", view=render, scopes=None, methods=("POST",)),
    WebPage(path="/render/{name}/{id}", view=update, scopes=None, methods=("POST",)),
    WebPage(
        path="/status",
        view=status_page,
        scopes=frozenset({ADMIN}),
        cross_site="navigate",
        template="status.html",
        headers={
            "content-security-policy": (
                "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
            )
        },
    ),
)

PROBES = tuple(page.path for page in PAGES if page.view in {livez, readyz})
"""Paths that are answered even when there are too many connections."""

METRICS_PAGE = WebPage(
    path="/metrics",
    view=metrics_page,
    scopes=frozenset({ADMIN, METRICS}),
    cost=0,  # A scraper without a token shares its rate with every other caller without a token.
)


def daemon_routes(daemon: Daemon, guard: Guard, *, metrics: bool) -> list[PageRoute]:
    return routes((*PAGES, METRICS_PAGE) if metrics else PAGES, daemon, guard)


def metrics_app(daemon: Daemon) -> Starlette:
    pages = routes([METRICS_PAGE], daemon)
    return Starlette(routes=pages, middleware=[Middleware(CrossSiteGuard, routes=pages)])
