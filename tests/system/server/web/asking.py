"""Ask a daemon for a page, as probes, scrapers and browsers do."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import httpx2

from tests.support.patience import PATIENCE_S


async def ask(url: str, path: str, *, method: str = "GET", **headers: str) -> httpx2.Response:
    """Send a request to a page, and return the response.

    Args:
        url: Where MCP is served.
        path: Of the page, as `/readyz`.
        method: The HTTP method.
        headers: With `_` for `-`.
    """
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    async with httpx2.AsyncClient(timeout=PATIENCE_S) as client:
        return await client.request(method, url.removesuffix("/mcp") + path, headers=fields)


async def status(url: str) -> dict[str, Any]:
    """Return the daemon's description of itself."""
    report: dict[str, Any] = (await ask(url, "/status")).json()
    return report


async def put(
    url: str, files: Mapping[str, str], query: str = "", **headers: str
) -> httpx2.Response:
    """Upload files as a page of the gallery does, and return the response.

    Args:
        url: Where MCP is served.
        files: Texts by name.
        query: Of the address, with its `?`.
        headers: Beside, or instead of, the page's own.
    """
    site = url.removesuffix("/mcp")
    contents = {name: b64encode(text.encode()).decode() for name, text in files.items()}
    async with httpx2.AsyncClient(base_url=site, timeout=PATIENCE_S) as client:
        return await client.post(
            f"/gallery/files{query}", json=contents, headers={"origin": site, **headers}
        )
