"""A command that serves nobody imports nothing of what serving takes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import PATIENCE_S, daemon_process
from tests.support.widgets import widget_file
from widgetd.files.folder import bundled_folder

SERVING = ("fastmcp", "mcp", "starlette", "uvicorn", "pygments")
"""The last comes with rich's tracebacks, which structlog takes where it finds them."""

RUN = f"""
import sys
from widgetd.cli import main

code = main(sys.argv[1:])
print("imported:", *(name for name in {SERVING} if name in sys.modules))
sys.exit(code)
"""

COMMANDS = {
    "check": ("check", "."),
    "list": ("list", "--dir", "."),
    "list --tokens": ("list", "--dir", ".", "--tokens"),
    "render": ("render", "greeting", "--dir", "."),
    "mock": ("mock", "greeting", "--dir", "."),
    "types": ("types", "--dir", "."),
    "new-sidecar": ("new-sidecar", "Greeting.widget"),
    "settings": ("settings",),
    "codes": ("codes",),
    "config": ("config", "cursor"),
    "guide": ("guide", "start"),
    "reference": ("reference", "button", "--dir", "."),
    "components": ("components", "Button", "--dir", "."),
    "health": ("health", "--url", "http://127.0.0.1:1/readyz"),
}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_a_command_that_serves_nobody_imports_no_server(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    command = [sys.executable, "-W", "error", "-c", RUN, *arguments]

    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == (1 if arguments[0] == "health" else 0), done.stderr
    assert done.stdout.splitlines()[-1] == "imported:"


ROWS_OF_TOOLSETS = {
    "widgetd.browser.limits",
    "widgetd.browser.pictures",
    "widgetd.browser.toolset",
    "widgetd.browser.traces",
    "widgetd.chat.preflight",
    "widgetd.guide.guide",
    "widgetd.guide.toolset",
    "widgetd.upstreams.toolset",
}
"""Modules that every start reads of rooms that are not on: names, and settings to check."""

NOT_ON = (
    *("widgetd.catalog.uploads", "widgetd.observe.audit.", "widgetd.store.delivery.webhook"),
    *("widgetd.browser.", "widgetd.chat.", "widgetd.checks.", "widgetd.declarations."),
    *("widgetd.guide.", "widgetd.studio.", "widgetd.template.jinja", "widgetd.testing."),
    *("widgetd.store.shared.", "widgetd.upstreams.", "widgetd.web.gallery."),
    *("agents.", "chatkit.", "jinja2.", "openai.", "playwright.", "pytest.", "redis."),
    *("tree_sitter", "opentelemetry.sdk."),
)
"""The beginnings of modules that a start with known widgets does without."""


async def test_start_imports_no_module_of_rooms_that_are_not_on(tmp_path: Path) -> None:
    widgets, state, log = tmp_path / "widgets", tmp_path / "state", tmp_path / "log"
    widgets.mkdir()
    (widgets / "Greeting.widget").write_text(widget_file())
    program = (sys.executable, "-X", "importtime", "-m", "widgetd")
    for _ in range(2):  # the first proves the widget
        log.unlink(missing_ok=True)
        flags = ("--state-dir", str(state))
        async with daemon_process(widgets, *flags, log=log, program=program) as served:
            served.process.terminate()
            await served.ended(within_s=PATIENCE_S)
    lines = log.read_text(encoding="utf-8").splitlines()
    imported = {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time")}

    assert "widgetd.daemon.serve" in imported
    assert {one for one in imported if one.startswith(NOT_ON)} - ROWS_OF_TOOLSETS == set()


@pytest.mark.parametrize(
    ("arguments", "imported"),
    [
        (("list",), "False"),
        (("render", "playlist"), "False"),
        (("mock", "flight_tracker"), "False"),
        (("check",), "True"),
    ],
    ids=["list", "render", "mock", "check"],
)
def test_the_parser_of_jsx_is_imported_where_jsx_may_be_drawn_or_is_asked_about(
    arguments: tuple[str, ...], imported: str
) -> None:
    """Every bundled widget holds JSX beside its template; none has lost any of it."""
    code = (
        "import sys; from widgetd.cli import main; main(sys.argv[1:]); "
        "print('tree_sitter' in sys.modules)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code, *arguments, *([str(bundled_folder())] * (imported == "True"))],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stdout.splitlines()[-1] == imported, done.stderr
