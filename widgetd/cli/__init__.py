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

from cyclopts import App, CycloptsError, Group

from widgetd import author, upstreams
from widgetd.base.errors import CallError, ConfigError, WidgetError
from widgetd.cli import shell
from widgetd.cli.options import complain
from widgetd.cli.usage_errors import describe_usage_error

app = App(
    name="widgetd",
    help="Serve ChatKit Studio widgets as typed MCP tools, and reload them as their files change.",
    help_epilogue="`widgetd guide` explains widgets, components, settings and codes.",
    help_format="plaintext",
    version_flags=["--version", "-V"],
    group_commands=Group("Options", sort_key=9),
)
COMMANDS: Mapping[str, str] = {
    "serve": "widgetd.cli.serve:serve",
    "dev": "widgetd.cli.serve:dev",
    "chat": "widgetd.cli.serve:chat",
    "config": "widgetd.cli.client_config:config",
    "check": "widgetd.cli.check:check",
    "render": "widgetd.cli.inspect:render",
    "list": "widgetd.cli.inspect:list_",
    "mock": "widgetd.cli.inspect:mock",
    "status": "widgetd.cli.status:status",
    "rollback": "widgetd.cli.rollback:rollback",
    **author.COMMANDS,
    **upstreams.COMMANDS,
}
"""The function of each command, imported when it is needed."""

GROUPS: Mapping[str, Sequence[str]] = {
    "Serve": ("serve", "dev", "chat", "config"),
    "Make": ("new", "check", "test", "render", "shot", "export", "build", "list"),
    "Integrate": ("types", "schema", "mock"),
    "Operate": ("status", "rollback", "upstreams"),
    "Learn": ("guide",),
}
"""The commands in the order of the help."""

for _at, (_title, _names) in enumerate(GROUPS.items()):
    _group = Group(_title, sort_key=_at)
    for _place, _name in enumerate(_names):
        app.command(COMMANDS[_name], name=_name, group=_group, sort_key=_place)
app.register_install_completion_command(
    help="Let the shell complete commands and flags: bash, zsh or fish."
)


INTERRUPTED = 130
"""Exit code of a command after Ctrl-C, as shells report it."""

READER_GONE = 141
"""Exit code of a command after the reader has closed the pipe, as shells report it."""


def main(argv: Sequence[str] | None = None) -> int:
    _repair_streams()
    argv = list(sys.argv[1:] if argv is None else argv)
    if argv[:1] == ["help"]:
        argv = [*argv[1:2], "--help"] if argv[1:2] and argv[1] in app else ["guide", *argv[1:]]
    if not argv or argv[0].startswith("-"):  # help and completion describe all commands
        import_commands()
    try:
        code = _run(argv)
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
        return complain(describe_usage_error(error), 2)
    except ConfigError as error:
        return complain(f"{error.problem}; {error.advice} [{error.code}]", error.exit_code)
    except (CallError, WidgetError) as error:
        return complain(str(error), 1)
    return code


def _run(argv: Sequence[str]) -> int:
    command, bound, unparsed = app.parse_args(argv, exit_on_error=False, print_error=False)
    try:
        # Parameters without an argument are the shell, for commands of wings.
        return int(command(*bound.args, **bound.kwargs, **dict.fromkeys(unparsed, shell)) or 0)
    except KeyboardInterrupt:
        return INTERRUPTED


def import_commands() -> None:
    for name in app:
        app[name]


def _repair_streams() -> None:
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            empty = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - to the end
            setattr(sys, name, empty)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
