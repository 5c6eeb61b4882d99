"""A server of flights, as an airline might have it: an upstream that fills the flight tracker.

    python -m examples.upstream_flights          # http://127.0.0.1:8801/mcp

With `examples/upstreams.toml`, and the feed in the flight tracker's sidecar uncommented,
`widgetd serve --upstreams examples/upstreams.toml` asks a model for a flight's number alone.
"""

from __future__ import annotations

import os

from fastmcp import FastMCP

mcp = FastMCP("flights")


@mcp.tool(annotations={"readOnlyHint": True})
def get_flight(number: str) -> dict[str, object]:
    """One flight, by its number."""
    return {
        "flight": {"number": number.upper(), "state": "airborne"},
        "carrier": {"name": "Northfjord Air"},
        "origin": {"iata": "LIS", "city": "Lisbon", "departs": "12:05"},
        "destination": {"iata": "BGO", "city": "Bergen", "arrives": "17:15"},
    }


if __name__ == "__main__":
    port = int(os.environ.get("PORT", "8801"))
    mcp.run("http", host=os.environ.get("HOST", "127.0.0.1"), port=port, show_banner=False)
