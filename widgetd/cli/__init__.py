"""argv -> exit code. Every command is a sentence here and a call into a room.

Exit codes: 0 ok, 1 faults, 2 a flag, setting or value, 3 a folder, port or permission.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError

from widgetd.cli.check import check
from widgetd.cli.generate import build, codes, config, new_sidecar, types
from widgetd.cli.guide import components, guide, reference
from widgetd.cli.inspect import list_, mock, render, shot, shots_
from widgetd.cli.new import new, schema
from widgetd.cli.options import complain
from widgetd.cli.serve import chat, dev, health, serve, settings, usage, validate
from widgetd.cli.test import test
from widgetd.cli.upstreams import upstreams
from widgetd.errors import CallError, ConfigError, WidgetError

app = App(
    name="widgetd",
    help="Serve ChatKit Studio widgets as typed MCP tools, and reload them as their files change.",
    help_format="plaintext",
    version_flags=["--version"],
)
for _commands in (
    (serve, dev, chat, validate, health, settings),
    (check, usage, codes),
    (list_, render, mock, shot, shots_),
    (new, new_sidecar, schema, types, config, build),
    (guide, components, reference),
    (test, upstreams),
):
    for _command in _commands:
        app.command(_command)


SEEN_ENOUGH = 141
"""As a shell says of a command whose reader went away."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that `argv` names, and answer the exit code."""
    try:
        code = app(argv, exit_on_error=False, print_error=False, result_action="return_value") or 0
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read has seen enough, as in `widgetd check | head`; nothing more can be told.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return SEEN_ENOUGH
    except CycloptsError as error:
        return complain(str(error), 2)
    except ConfigError as error:
        return complain(f"{error.problem}; {error.advice} [{error.code}]", error.exit_code)
    except (CallError, WidgetError) as error:
        return complain(str(error), 1)
    return int(code)
