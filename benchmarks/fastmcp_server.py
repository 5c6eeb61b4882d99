"""Serve a FastMCP object over HTTP as widgetd serves its own, in any environment."""

from __future__ import annotations

import socket
from typing import Any

import uvicorn


def serve(server: Any) -> None:
    """Serve until killed: plain JSON answers, on a free port, its URL on stdout."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
        app = server.http_app(path="/mcp", json_response=True)
        config = uvicorn.Config(app, ws="none", access_log=False, log_config=None)
        uvicorn.Server(config).run(sockets=[listener])
