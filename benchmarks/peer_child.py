"""Run mcp-chatkit-widget, in its own environment, where nothing of widgetd is installed.

`versions`: what it is made of. `serve FOLDER`: over HTTP, by its own FastMCP
object. `render FILE`: arguments on the first line, then for each number on a
line so many renders, answered by the seconds that they took. `attempt`: for each
line `[file, arguments]` the tree, or null where it cannot make one.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import fastmcp_server

_PARTS = ("mcp-chatkit-widget", "fastmcp", "openai-chatkit")


def versions() -> None:
    """Print the versions of the installed packages."""
    parts = ", ".join(f"{part} {version(part)}" for part in _PARTS)
    print(f"{parts}, Python {platform.python_version()}")


def serve_folder(folder: str) -> None:
    """Serve the widgets in `folder` by its own FastMCP object."""
    package = import_module("mcp_chatkit_widget")
    package.register_widget_tools(Path(folder))
    fastmcp_server.serve(package.server)


def render(file: str) -> None:
    """Render and serialise, in this process."""
    package = import_module("mcp_chatkit_widget")
    widget = package.load_widget(Path(file))
    arguments = json.loads(sys.stdin.readline())
    print(json.dumps(_rendered(package, widget, arguments)), flush=True)
    for line in sys.stdin:
        started_s = time.perf_counter()
        for _ in range(int(line)):
            _rendered(package, widget, arguments)
        print(time.perf_counter() - started_s, flush=True)


def attempt() -> None:
    """Render each request on stdin; a failure becomes an answer."""
    package = import_module("mcp_chatkit_widget")
    for line in sys.stdin:
        file, arguments = json.loads(line)
        try:
            widget = package.load_widget(Path(file))
            tree = None if arguments is None else _rendered(package, widget, arguments)
            print(json.dumps({"loaded": True, "tree": tree}), flush=True)
        except Exception:  # noqa: BLE001 - that it fails is what is counted
            print(json.dumps({"loaded": False, "tree": None}), flush=True)


def _rendered(package: Any, widget: Any, arguments: dict[str, object]) -> object:
    root = package.render_widget_definition(widget, **arguments)
    return root.model_dump(mode="json", exclude_none=True)


_COMMANDS: dict[str, Callable[..., None]] = {
    "versions": versions,
    "serve": serve_folder,
    "render": render,
    "attempt": attempt,
}

if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    _COMMANDS[command](*rest)
