"""Commands that inspect widgets without serving them: list, render, mock, picture."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from widgetd.base.errors import ConfigError
from widgetd.cli.options import (
    STANDARD,
    Arguments,
    Folder,
    Many,
    Output,
    Tool,
    find_widget,
    load_snapshot,
    parse_arguments,
    print_json,
    write_content,
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
    given = parse_arguments(arguments) if arguments else widget.example
    if upstreams is not None and widget.feed is not None:
        from widgetd.upstreams.feeds import fill_once

        call_arguments = given if arguments else widget.call_example
        given = fill_once(widget, widget.feed, call_arguments or {}, upstreams).arguments
    if open:
        import anyio

        from widgetd.daemon.opened import show_widget

        anyio.run(show_widget, snapshot, widget, given or {}, _open_page)
    else:
        print_json(widget.call(given).tree)


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
    count: Many = 1,
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


def shot(
    name: Annotated[
        str, Parameter(help="The tool's name. Without one, or with a folder alone: all widgets.")
    ] = "",
    dir: Folder = None,
    *,
    output: Output = None,
    arguments: Arguments = "",
    state: str = "",
    theme: Literal["light", "dark"] | None = None,
    width: int = 400,
    scale: float = 2.0,
) -> None:
    """Take a picture of one widget; or of every widget, light and dark, and one of them all.

    Args:
        output: The PNG file, or - for standard output; of all widgets, the folder. Default:
            NAME.png, or the folder shots.
        state: A state of the gallery: sample, example-1, empty, one, many, long, rtl, emoji. With
            all, one picture of all states, at three widths in both themes. Default: sample.
        theme: Light or dark. Default: light.
        width: In CSS pixels; the height is the widget's own.
        scale: Pixels of the picture for each CSS pixel.
    """
    from widgetd.author.browser import camera
    from widgetd.author.browser.picture import Screenshot
    from widgetd.core.widget.states import ShownState, find_state, show_state

    is_folder = dir is None and name != "" and Path(name).is_dir()
    snapshot = load_snapshot(Path(name) if is_folder else dir)
    if is_folder or not name:
        if arguments or state or theme or output == STANDARD:
            problem = "--arguments, --state, --theme and --output - are for one widget"
            raise ConfigError("W0002", problem, "name one, as `widgetd list` prints it")
        screenshots = camera.sample_screenshots(snapshot, width=width, scale=scale)
        for file in camera.take_pictures(screenshots, output or Path("shots"), snapshot.theme):
            print(file)
        return
    widget = find_widget(snapshot, name)
    if state == "all":
        picture = camera.take_picture(lambda one: one.take_states(widget, owner=""), snapshot.theme)
    else:
        if arguments:
            drawing = ShownState(arguments=parse_arguments(arguments))
        else:
            drawing = show_state(widget, find_state(widget, state or "sample").key)
        screenshot = Screenshot(
            tree=drawing.tree(widget),
            title=widget.definition.title,
            theme=theme or "light",
            width=width,
            scale=scale,
            locale="ar" if state == "rtl" else "en-US",
        )
        picture = camera.take_picture(lambda one: one.take(screenshot, owner=""), snapshot.theme)
    write_content(output or Path(f"{name}.png"), picture.content)
