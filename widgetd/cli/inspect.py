"""Commands for inspecting widgets without serving them: list, render, mock."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from widgetd.cli.shell import load_snapshot
from widgetd.server.command import (
    Arguments,
    Folder,
    Tool,
    find_widget,
    parse_arguments,
    print_json,
)


def list_(dir: Folder = None, *, json: bool = False, tokens: bool = False) -> None:
    """List the widgets of a folder: tool name, title, description.

    A file that is not served is named on standard error, with the reason.

    Args:
        json: Print a JSON array.
        tokens: Print the cost of each for a model instead: of listing the tool, and of a result of
            its first example in both profiles.
    """
    from widgetd.core.checks.report import escape_for_terminal

    snapshot = load_snapshot(dir)
    widgets = snapshot.widgets.values()
    for fault in snapshot.refusals:
        print(f"not served: {escape_for_terminal(str(fault))}", file=sys.stderr)
    if tokens:
        from widgetd.server.render.tokens import table

        print(table(snapshot))
    elif json:
        rows = [
            {
                "name": widget.tool,
                "title": widget.definition.title,
                "description": widget.description,
                "path": widget.definition.path,
            }
            for widget in widgets
        ]
        print_json(rows)
    else:
        width = max((len(widget.tool) for widget in widgets), default=0)
        for widget in widgets:
            description = escape_for_terminal(" ".join(widget.description.split()))
            print(f"{widget.tool:{width}}  {description}")


def render(
    name: Tool,
    dir: Folder = None,
    *,
    arguments: Arguments = "",
    upstreams: Path | None = None,
    open: bool = False,
) -> None:
    """Render one widget and print its tree.

    Args:
        upstreams: The upstreams file, to fill a widget with a feed as a call does.
        open: Show it in the browser instead, as the address of a call does, until Ctrl-C.
    """
    snapshot = load_snapshot(dir)
    widget = find_widget(snapshot, name)
    values = parse_arguments(arguments) if arguments else widget.example
    if upstreams is not None and widget.feed is not None:
        from widgetd.upstreams.feeds import fill_once

        call_arguments = values if arguments else widget.call_example
        values = fill_once(widget, widget.feed, call_arguments or {}, upstreams).arguments
    if open:
        import anyio

        from widgetd.daemon.opened import show_widget

        anyio.run(show_widget, snapshot, widget, values or {}, _open_page)
    else:
        print_json(widget.call(values).tree)


def _open_page(address: str) -> None:
    import webbrowser

    print(address, flush=True)
    webbrowser.open(address)


def mock(
    name: Tool,
    dir: Folder = None,
    *,
    state: Literal["sample", "empty", "one", "many", "long"] = "sample",
    seed: int = 0,
    count: Annotated[int, Parameter(validator=Number(gte=1))] = 1,
    profile: Literal["chatkit", "split"] = "chatkit",
) -> None:
    """Print calls of one widget with their results, for front-end tests.

    Args:
        state: The kind of arguments.
        seed: The same seed gives the same bytes.
        count: The number of calls.
        profile: The profile, which decides who sees the tree.
    """
    from widgetd.server.render.mock import mocks

    snapshot = load_snapshot(dir)
    widget = find_widget(snapshot, name)
    calls = mocks(widget, state=state, seed=seed, count=count, profile=profile, snapshot=snapshot)
    print_json(calls)
