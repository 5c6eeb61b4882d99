"""What programs fetch beside MCP, in one table: probes, status, metrics, renders for backends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from math import ceil
from typing import Any

from markupsafe import Markup
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from widgetd.access.auth import Access, Reason, principal_of
from widgetd.access.principal import ADMIN, METRICS, Caller
from widgetd.errors import CallError
from widgetd.mcp.builtin.updates import LONGEST_NOTE
from widgetd.mcp.http_calls import keep_render, update_kept
from widgetd.mcp.login import reason_of
from widgetd.mcp.server import Server
from widgetd.observe.status import Health, readiness, status
from widgetd.schema.json_text import NotJsonError, parse_json
from widgetd.schema.json_values import kind
from widgetd.web.app import routes
from widgetd.web.cross_site import CrossSiteGuard
from widgetd.web.guard import Guard
from widgetd.web.limits import LIMITS
from widgetd.web.metrics import Metrics
from widgetd.web.page import Page, PageRoute, RefusedError, body_of, caller_of, status_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemon:
    """What the pages tell of."""

    server: Server
    health: Health
    metrics: Metrics


async def livez(_daemon: Daemon, _request: Request) -> Response:
    """Whether widgetd lives."""
    return JSONResponse({"status": "ok"})


async def readyz(daemon: Daemon, _request: Request) -> Response:
    """Whether clients may be sent here."""
    ready = readiness(daemon.server.registry, daemon.health)
    return JSONResponse(ready, status_code=200 if ready["ready"] else 503)


async def status_page(daemon: Daemon, request: Request) -> Response | dict[str, Any]:
    """How widgetd is, fault by fault: HTML for a browser, JSON for everybody else."""
    server = daemon.server
    facts = status(server.registry, daemon.health, caller_of(request).snapshot)
    if "text/html" not in request.headers.get("accept", ""):
        return JSONResponse(facts)
    return {"faults": facts.pop("faults"), "facts": facts, "dress": _dress()}


@cache
def _dress() -> Markup:
    """The gallery's stylesheet, within the page: there may be no gallery to fetch it from."""
    css = files("widgetd.web.gallery") / "static" / "gallery.css"
    return Markup(css.read_text(encoding="utf-8"))  # noqa: S704 - it is ours


async def metrics_page(daemon: Daemon, request: Request) -> Response:
    """Numbers for Prometheus, in the dialect that the scraper asks for."""
    server = daemon.server
    # On a port of its own, metrics have no guard.
    caller: Caller | None = getattr(request.state, "caller", None)
    audience = (server.anonymous if caller is None else caller.principal).audience
    named = None
    if not audience.sees_everything:
        named = {*server.views.of(server.registry.current, audience).widgets, *server.builtin, ""}
    numbers, media_type = daemon.metrics.exposition(request.headers.get("accept", ""), named)
    return Response(numbers, headers={"content-type": media_type})


async def render(daemon: Daemon, request: Request) -> Response:
    """A backend has its data rendered, and a model shows it by its id.

    The body is the widget's arguments. Rows that a model should never type, and need not see,
    take this way.
    """

    async def arguments() -> Mapping[str, Any]:
        return _object(await _body(request))

    user, name = request.scope.get("user"), request.path_params["name"]
    answer = await keep_render(daemon.server, user, name, arguments)
    return _rendered(daemon, request, answer, 201)


async def update(daemon: Daemon, request: Request) -> Response:
    """A backend has other data rendered in the place of what is shown, or says what came of it.

    The body is the widget's arguments, or empty; `?note=`, `failed` and `after` are those of
    `update_render`.
    """

    async def read() -> Mapping[str, Any]:
        query = request.query_params
        given: dict[str, Any] = {"note": query.get("note", "")}
        if len(given["note"]) > LONGEST_NOTE:
            problem = f"expected at most {LONGEST_NOTE} characters, got {len(given['note'])}"
            raise CallError("W2002", problem, path="note")
        if (failed := query.get("failed", "0")) not in ("0", "1"):
            raise CallError("W2002", f"expected 1 or 0, got {failed!r:.60}", path="failed")
        given["failed"] = failed == "1"
        if "after" in query:
            if not query["after"].isdecimal() or len(query["after"]) > LIMITS.version_digits:
                raise CallError("W2002", "expected the number of a version", path="after")
            given["after"] = int(query["after"])
        if body := await _body(request):
            given["arguments"] = _object(body)
        return given

    user, name = request.scope.get("user"), request.path_params["name"]
    answer = await update_kept(daemon.server, user, name, request.path_params["id"], read)
    return _rendered(daemon, request, answer, 200)


async def _body(request: Request) -> bytes:
    """Return the body; raise W2008 where it is too long, and W2009 where it ended early."""
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
    """The body as an object; raises W2009 where it is none."""
    try:
        given = parse_json(body)
    except NotJsonError as error:
        raise CallError("W2009", f"expected a JSON object, got no JSON ({error})") from None
    if not isinstance(given, dict):
        raise CallError("W2009", f"expected a JSON object, got {kind(given)}")
    return given


def _rendered(daemon: Daemon, request: Request, answer: dict[str, Any], done: int) -> Response:
    """`answer` as HTTP has it, with the status `done` where it is no error."""
    error = answer.get("error", {})
    code, headers = error.get("code"), {}
    http_status = done if code is None else status_of(code)
    access = daemon.server.mcp.auth
    if code == "W2301" and isinstance(access, Access):
        known = principal_of(request.scope.get("user"), None) is not None
        reason: Reason = "no_scope" if known else reason_of(request.scope)
        http_status, headers["www-authenticate"], _ = access.login.refuse(reason)
    if "retryAfterS" in error:
        headers["retry-after"] = str(ceil(error["retryAfterS"]))  # whole seconds
    return JSONResponse(answer, status_code=http_status, headers=headers)


_Probe = partial(Page, scopes=None, cross_site="allow")

PAGES = (
    _Probe(path="/livez", view=livez),
    _Probe(path="/healthz", view=livez),  # as many platforms call it
    _Probe(path="/readyz", view=readyz),
    # Whoever lacks the scope of a call is told so the way a call tells.
    Page(path="/render/{name}", view=render, scopes=None, methods=("POST",)),
    Page(path="/render/{name}/{id}", view=update, scopes=None, methods=("POST",)),
    Page(
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
"""What must be answered when nothing else is."""

METRICS_PAGE = Page(
    path="/metrics",
    view=metrics_page,
    scopes=frozenset({ADMIN, METRICS}),
    cost=0,  # A scraper without a token shares its rate with every caller that has none.
)


def daemon_routes(daemon: Daemon, guard: Guard, *, metrics: bool) -> list[PageRoute]:
    """The routes beside MCP, with or without `/metrics`."""
    return routes((*PAGES, METRICS_PAGE) if metrics else PAGES, daemon, guard)


def metrics_app(daemon: Daemon) -> Starlette:
    """`/metrics` and nothing else, for whoever reaches a port of its own."""
    pages = routes([METRICS_PAGE], daemon)
    return Starlette(routes=pages, middleware=[Middleware(CrossSiteGuard, routes=pages)])
