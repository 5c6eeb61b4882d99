"""The smallest server that FastMCP makes, as FastMCP serves it; runs in its own process.

One tool that returns a constant, on the port that is named: what a start cannot do without.
"""

from __future__ import annotations

import sys

from fastmcp import FastMCP

server = FastMCP("plain")


@server.tool
def constant() -> str:
    """Return a constant."""
    return "constant"


if __name__ == "__main__":
    server.run(transport="http", port=int(sys.argv[1]), show_banner=False)
