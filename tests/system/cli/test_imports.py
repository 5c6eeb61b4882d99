"""Imports of commands: those that do not serve import no server."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.processes import daemon_process
from tests.support.widgets import widget_file
from widgetd.base.files.folder import bundled_folder

SERVING = ("fastmcp", "mcp", "starlette", "uvicorn", "pygments")
"""The last comes with rich's tracebacks, which structlog takes where it finds them."""

PARSER = "tree_sitter"
"""The parser of JSX. Every bundled widget holds JSX beside its template and has lost none of it."""

RUN = f"""
import json, sys
from widgetd.cli import main

for name, arguments in json.load(sys.stdin).items():
    code = main(arguments)
    imported = [module for module in {(*SERVING, PARSER)} if module in sys.modules]
    print(json.dumps([name, code, imported]), file=sys.stderr)
"""

COMMANDS = {
    "check": ("check", "."),
    "list": ("list", "."),
    "list --tokens": ("list", ".", "--tokens"),
    "render": ("render", "greeting", "."),
    "mock": ("mock", "greeting", "."),
    "types": ("types", "."),
    "new --sidecar": ("new", "--sidecar", "Greeting.widget"),
    "serve --settings": ("serve", "--settings"),
    "config": ("config", "cursor"),
    "guide": ("guide", "start"),
    "guide codes": ("guide", "codes"),
    "guide for a search": ("guide", "round", "button", "--dir", "."),
    "guide for a component": ("guide", "Button", "--dir", "."),
    "status": ("status", "http://127.0.0.1:1"),
}


def imports_of(folder: Path, commands: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Run commands in `folder`, one after the other in one process, and return imports after each.

    A module that is absent at the end was imported by none of them, and no command is paid for
    with a process of its own.
    """
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN],
        cwd=folder,
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    rows = [json.loads(line) for line in ran.stderr.splitlines() if line.startswith("[")]
    assert {name: code for name, code, _ in rows if code} == (
        {"status": 1} if "status" in commands else {}
    ), ran.stderr
    imports = {name: imported for name, _, imported in rows}
    assert imports.keys() == commands.keys()
    return imports


def test_commands_other_than_serve_import_no_server(tmp_path: Path) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file())

    imports = imports_of(tmp_path, COMMANDS)

    assert {name: set(SERVING).intersection(one) for name, one in imports.items()} == {
        name: set() for name in COMMANDS
    }


ROWS_OF_TOOLSETS = {
    "widgetd.author.browser.limits",
    "widgetd.author.browser.pictures",
    "widgetd.author.browser.toolset",
    "widgetd.author.browser.session_parts",
    "widgetd.chat.preflight",
    "widgetd.author.guide.guide",
    "widgetd.author.guide.toolset",
    "widgetd.author.options",
    "widgetd.author.wing",
    "widgetd.chat.wing",
    "widgetd.upstreams.toolset",
    "widgetd.upstreams.wing",
}
"""Modules that every start reads of rooms that are not on: names, and settings to check."""

NOT_ON = (
    *(
        "widgetd.author.uploads.uploads",
        "widgetd.server.observe.audit.",
        "widgetd.server.store.delivery.webhook",
    ),
    *(
        "widgetd.author.browser.",
        "widgetd.chat.",
        "widgetd.core.checks.",
        "widgetd.author.declarations.",
    ),
    *(
        "widgetd.author.guide.",
        "widgetd.core.studio.",
        "widgetd.core.template.jinja",
        "widgetd.author.testing.",
    ),
    *("widgetd.server.store.shared.", "widgetd.upstreams.", "widgetd.author.gallery."),
    *("agents.", "chatkit.", "jinja2.", "openai.", "playwright.", "pytest.", "redis."),
    *("tree_sitter", "opentelemetry.sdk."),
)
"""The beginnings of modules that a start with known widgets does without."""


async def test_start_imports_no_module_of_disabled_rooms(tmp_path: Path) -> None:
    widgets, state, log = tmp_path / "widgets", tmp_path / "state", tmp_path / "log"
    widgets.mkdir()
    (widgets / "Greeting.widget").write_text(widget_file())
    program = (sys.executable, "-X", "importtime", "-m", "widgetd")
    for _ in range(2):  # the first proves the widget
        log.unlink(missing_ok=True)
        flags = ("--state-dir", str(state))
        async with daemon_process(widgets, *flags, log=log, program=program) as served:
            served.process.terminate()
            await served.wait_for_end()
    lines = log.read_text(encoding="utf-8").splitlines()
    imported = {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time")}

    assert "widgetd.daemon.serve" in imported
    assert {one for one in imported if one.startswith(NOT_ON)} - ROWS_OF_TOOLSETS == set()


def test_parser_of_jsx_is_imported_where_jsx_may_be_drawn_or_is_asked_about(tmp_path: Path) -> None:
    bundled = bundled_folder() / "Flight Tracker.widget"
    (tmp_path / bundled.name).write_bytes(bundled.read_bytes())
    commands = {
        "list": ("list", "."),
        "render": ("render", "flight_tracker", "."),
        "mock": ("mock", "flight_tracker", "."),
        "check": ("check", "."),
    }

    imports = imports_of(tmp_path, commands)

    assert {name for name, one in imports.items() if PARSER in one} == {"check"}
