"""`/status`: how widgetd is, fault by fault, for people and for machines."""

from __future__ import annotations

from html import escape
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from widgetd.catalog.registry import Registry
from widgetd.mcp.status import Vitals, status

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>widgetd: {headline}</title>
<style>
body {{ font: 16px/1.5 system-ui; margin: 2rem auto; max-width: 60rem; padding: 0 1rem }}
table {{ border-collapse: collapse }}
th, td {{ border-bottom: 1px solid #8884; padding: .3rem 1rem .3rem 0; text-align: left }}
td {{ overflow-wrap: anywhere }}
:root {{ color-scheme: light dark }}
</style>
<h1>{headline}</h1>
<table>{facts}</table>
{faults}
</html>
"""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"


def status_route(registry: Registry, vitals: Vitals) -> Route:
    """`/status`: HTML for a browser, JSON for everybody else."""

    async def answer(request: Request) -> Response:
        said = status(registry, vitals)
        if "text/html" in request.headers.get("accept", ""):
            return HTMLResponse(page(said), headers={"content-security-policy": _POLICY})
        return JSONResponse(said)

    return Route("/status", answer, methods=["GET"])


def page(said: dict[str, Any]) -> str:
    """A status for people."""
    facts = ((name, value) for name, value in said.items() if name != "faults")
    return _PAGE.format(
        headline=escape(_headline(said)),
        facts="".join(_row(name, value) for name, value in facts),
        faults=_table(said["faults"]),
    )


def _headline(said: dict[str, Any]) -> str:
    state = "draining" if said["draining"] else "ready" if said["ready"] else "starting"
    return f"{state} · widgets: {said['widgets']} · faults: {len(said['faults'])}"


def _table(faults: list[dict[str, Any]]) -> str:
    if not faults:
        return ""
    head = "<tr><th>file</th><th>code</th><th>is</th><th>why</th></tr>"
    rows = (
        _row(fault["path"], fault["code"], fault["state"], fault["problem"]) for fault in faults
    )
    return f"<h2>Faults</h2>\n<table>{head}{''.join(rows)}</table>"


def _row(first: str, *others: object) -> str:
    cells = "".join(f"<td>{escape(_shown(value))}</td>" for value in others)
    return f"<tr><th>{escape(first)}</th>{cells}</tr>"


def _shown(value: object) -> str:
    return "no" if value in (None, False) else "yes" if value is True else str(value)
