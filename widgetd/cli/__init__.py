"""The command line: arguments in, exit code out. Commands call into the other rooms.

Exit codes: 0 ok, 1 faults, 2 a flag, setting or value, 3 a folder, port or permission.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path

from cyclopts import App, CycloptsError

from widgetd.base.errors import CallError, ConfigError, WidgetError
from widgetd.cli.options import complain

app = App(
    name="widgetd",
    help="Serve ChatKit Studio widgets as typed MCP tools, and reload them as their files change.",
    help_format="plaintext",
    version_flags=["--version", "-V"],
)
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "serve": ("serve", "dev", "chat", "validate", "health", "settings", "usage"),
    "history": ("history", "rollback"),
    "check": ("check",),
    "inspect": ("list_", "render", "mock", "shot", "shots_"),
    "new": ("new", "schema"),
    "generate": ("new_sidecar", "types", "config", "build", "export", "codes"),
    "guide": ("guide", "components", "reference"),
    "test": ("test",),
    "upstreams": ("upstreams",),
}
"""The functions that are commands, by their modules; each is imported when it is needed."""

for _module, _functions in COMMANDS.items():
    for _function in _functions:
        app.command(f"widgetd.cli.{_module}:{_function}")
app.register_install_completion_command(
    help="Let the shell complete commands and flags: bash, zsh or fish."
)


READER_GONE = 141
"""Exit code that shells report for a command whose reader has closed the pipe."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command in `argv` and return the exit code."""
    _repair_streams()
    argv = sys.argv[1:] if argv is None else argv
    if not argv or argv[0].startswith("-"):  # help and completion describe all commands
        import_commands()
    try:
        code = app(argv, exit_on_error=False, print_error=False, result_action="return_value") or 0
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe, as in `widgetd check | head`.
        _discard_output()
        return READER_GONE
    except OSError as error:
        if error.filename is None and error.errno != errno.ENOSPC:
            raise
        if error.filename is None:
            _discard_output()
        what = error.filename or "standard output"
        return complain(f"{what} cannot be used ({error.strerror}); name another [W0006]", 3)
    except CycloptsError as error:
        return complain(str(error), 2)
    except ConfigError as error:
        return complain(f"{error.problem}; {error.advice} [{error.code}]", error.exit_code)
    except (CallError, WidgetError) as error:
        return complain(str(error), 1)
    return int(code)


def import_commands() -> None:
    """Import the module of every command."""
    for name in app:
        app[name]


def _repair_streams() -> None:
    """Replace closed streams by empty ones, and print what cannot be encoded as escapes."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            empty = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - to the end
            setattr(sys, name, empty)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Discard output that is still buffered, which Python would write at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
