"""A command that serves nobody imports nothing of what serving takes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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


def test_a_daemon_without_authors_imports_nothing_that_answers_them() -> None:
    """Nor what draws pictures: both come with the toolset that asks for them."""
    code = (
        "import sys, widgetd.daemon.serve, widgetd.mcp.server\n"
        "print(*(name for name in sys.modules if name.startswith('widgetd.guide.') "
        "or name in ('playwright', 'pytest', 'agents')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert set(done.stdout.split()) == {"widgetd.guide.guide", "widgetd.guide.toolset"}


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
