"""Documents to find this server before a connection.

    /mcp/server-card                 the card: who this is and where it is
    /.well-known/ai-catalog.json     the catalog of the domain, which leads to the card

Everything affected by a new revision of either format stands here. Neither names a tool: the list
of tools changes, and depends on the caller.

Source: SEP-2127, "MCP Server Cards" (schema v1); modelcontextprotocol/experimental-ext-server-card,
docs/discovery.md; Agent-Card/ai-catalog, specification 1.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from widgetd.server.mcp import sdk
from widgetd.server.web.static_files import cacheable

CARD_PATH = "/mcp/server-card"
CATALOG_PATH = "/.well-known/ai-catalog.json"

CARD_SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
CARD_TYPE = "application/mcp-server-card+json"
CATALOG_VERSION = "1.0"
CATALOG_TYPE = "application/ai-catalog+json"

_TITLE = "widgetd"
_DESCRIPTION = (
    "Shows people widgets: forms, tables, charts and cards, from data that a model brings."
)

_HEADERS = {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET",
    "access-control-allow-headers": "Content-Type, If-None-Match",
    "access-control-expose-headers": "ETag",
    "cache-control": "public, max-age=3600",
    "x-content-type-options": "nosniff",
}


def server_card(public_url: str) -> Mapping[str, Any]:
    host = urlsplit(public_url).hostname or "localhost"
    remote = {
        "type": "streamable-http",
        "url": f"{public_url}/mcp",
        "supportedProtocolVersions": sdk.PROTOCOL_VERSIONS,
    }
    return {
        "$schema": CARD_SCHEMA,
        "name": f"{'.'.join(reversed(host.split('.')))}/mcp",  # as com.example.widgets/mcp
        "title": _TITLE,
        "description": _DESCRIPTION,
        "version": version("widgetd"),
        "remotes": [remote],
    }


def ai_catalog(public_url: str) -> Mapping[str, Any]:
    host = urlsplit(public_url).hostname or ""
    entry = {
        "identifier": f"urn:air:{host}:mcp:{_TITLE}",
        "displayName": _TITLE,
        "description": _DESCRIPTION,
        "type": CARD_TYPE,
        "url": f"{public_url}{CARD_PATH}",
    }
    return {"specVersion": CATALOG_VERSION, "host": {"displayName": host}, "entries": [entry]}


def with_discovery(app: ASGIApp, *, public_url: str) -> ASGIApp:
    """Return `app` with both documents in front of it.

    In front of the check of Origin, too: any page may read what is public.
    """
    documents = {
        CARD_PATH: (orjson.dumps(server_card(public_url)), CARD_TYPE),
        CATALOG_PATH: (orjson.dumps(ai_catalog(public_url)), CATALOG_TYPE),
    }

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        document = documents.get(scope["path"]) if scope["type"] == "http" else None
        response: ASGIApp
        if document is None:
            response = app
        elif scope["method"] == "OPTIONS":
            response = Response(status_code=204, headers=_HEADERS)
        elif scope["method"] in ("GET", "HEAD"):
            response = cacheable(Request(scope), *document, _HEADERS)
        else:
            response = Response(
                status_code=405, headers={**_HEADERS, "allow": "GET, HEAD, OPTIONS"}
            )
        await response(scope, receive, send)

    return answer
