"""Ask a daemon for a page, as probes, scrapers and browsers do."""

from __future__ import annotations

import httpx2

PATIENCE_S = 10


async def ask(url: str, path: str, *, method: str = "GET", **headers: str) -> httpx2.Response:
    """The answer to a request beside MCP.

    Args:
        url: Where MCP is served.
        path: Of the page, as `/readyz`.
        method: The HTTP method.
        headers: With `_` for `-`.
    """
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    async with httpx2.AsyncClient(timeout=PATIENCE_S) as client:
        return await client.request(method, url.removesuffix("/mcp") + path, headers=sent)
