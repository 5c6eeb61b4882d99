"""Commands for publishing: types, a site, an export, pictures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from widgetd.base.errors import ConfigError
from widgetd.base.text_search import compile_pattern
from widgetd.server.command import (
    MCP_URL,
    STANDARD,
    Arguments,
    Folder,
    Output,
    Quiet,
    Shell,
    Tool,
    find_widget,
    parse_arguments,
    write_content,
)
from widgetd.server.progress import Progress

_PATH = compile_pattern(r"[\w./~-]*")


def types(dir: Folder = None, *, lang: Literal["ts", "python"] = "ts", shell: Shell) -> None:
    """Print types of the arguments and results of each widget and built-in tool.

    Each type of a widget's response has a guard.

    Args:
        lang: TypeScript, or Python typed dictionaries.
    """
    from widgetd.author.declarations.module import declarations

    print(declarations(shell.load_snapshot(dir), lang, shell.builtin_schemas()))


def build(
    dir: Folder = None,
    *,
    output: Output = None,
    base: str = "/",
    url: str = MCP_URL,
    clean: Annotated[bool, Parameter(negative="")] = False,
    quiet: Quiet = False,
    shell: Shell,
) -> None:
    """Write the gallery as a static site: every widget in every state, without a daemon.

    Args:
        output: The folder for the site. Default: site.
        base: The site's path on its server, as /widgets/.
        url: The address of MCP, for the calls that can be copied.
        clean: Show the widgets alone, for handing over: no names of tools, sources or problems.
    """
    import anyio

    from widgetd.author.gallery import site
    from widgetd.author.gallery.gallery import Gallery
    from widgetd.author.gallery.problems import Problems
    from widgetd.author.testing.widgets import server_over
    from widgetd.author.uploads.history import History
    from widgetd.core.checks.page import check_page_program
    from widgetd.core.checks.report import escape_for_terminal

    if not base.startswith("/") or not _PATH.fullmatch(base):
        raise ConfigError("W0002", f"--base cannot be '{base}'", "write a path, as /widgets/")
    settings, folder = shell.read_settings(dir=dir), output or Path("site")
    if folder == STANDARD:
        raise ConfigError("W0002", "a site is a folder of files", "name one with --output")
    widgets = shell.folder_of(settings)
    server = server_over(widgets, settings)
    gallery = Gallery(
        server=server,
        folder=widgets,
        uploads=None,
        url=url,
        image_origins=settings.image_origin,
        sample_images=settings.sample_images,
        stop=anyio.Event(),
        problems=Problems(widgets, shell.rules(settings)),
        history=History(),
        clean=clean,
    )
    for widget in server.registry.current.widgets.values():
        for finding in check_page_program(widget):
            print(
                escape_for_terminal(f"{finding.code} {widget.definition.path}: {finding}"),
                file=sys.stderr,
            )
    files = site.build(gallery, folder, f"{base.rstrip('/')}/", quiet=quiet)
    print(f"{folder}: {len(server.registry.current.widgets)} widgets in {files} files")
    if base == "/":
        print(f"Look at it: python3 -m http.server --directory {folder}")


def export(
    name: Tool,
    dir: Folder = None,
    *,
    output: Output = None,
    strict: bool = False,
    shell: Shell,
) -> int:
    """Write one widget as a complete .widget file for ChatKit Studio.

    Args:
        output: The file, which must not exist, or - for standard output. Default: the widget's
            name in this folder.
        strict: Write nothing if Studio or other programs would lack something of the widget.
    """
    from widgetd.author.export.package import NOT_IN_STUDIO, file_name, pack
    from widgetd.core.checks.report import escape_for_terminal

    widget = find_widget(shell.load_snapshot(dir), name)
    file, packed = output or Path(file_name(widget)), pack(widget)
    if file != STANDARD and file.exists():
        raise ConfigError("W0002", f"{file} is there already", "name another with --output")
    for finding in packed.findings:
        print(escape_for_terminal(f"{finding.code} {finding}"), file=sys.stderr)
    if strict and packed.findings:
        return 1
    write_content(file, packed.content)
    print(NOT_IN_STUDIO, file=sys.stderr)
    return 0


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
    quiet: Quiet = False,
    shell: Shell,
) -> None:
    """Take a picture of one widget, or of every widget, light and dark, and one of them all.

    Args:
        output: The PNG file, or - for standard output. For all widgets, the folder. Default:
            NAME.png, or the folder shots.
        state: A state of the gallery: sample, example-1, empty, one, many, long, rtl, emoji. With
            all, one picture of all states, at three widths in both themes. Default: sample.
        theme: Light or dark. Default: light.
        width: In CSS pixels. The height is the widget's own.
        scale: Pixels of the picture for each CSS pixel.
    """
    from widgetd.author.browser.camera import sample_screenshots, take_picture, take_pictures
    from widgetd.author.browser.picture import Screenshot
    from widgetd.core.widget.states import ShownState, find_state, show_state

    is_folder = dir is None and name != "" and Path(name).is_dir()
    snapshot = shell.load_snapshot(Path(name) if is_folder else dir)
    if is_folder or not name:
        if arguments or state or theme or output == STANDARD:
            problem = "--arguments, --state, --theme and --output - are for one widget"
            raise ConfigError("W0002", problem, "name one, as `widgetd list` prints it")
        screenshots = sample_screenshots(snapshot, width=width, scale=scale)
        folder = output or Path("shots")
        with Progress("shot", len(screenshots), quiet=quiet) as progress:
            files = take_pictures(screenshots, folder, snapshot.theme, progress.advance)
        print(*files, sep="\n")
        return
    widget = find_widget(snapshot, name)
    if state == "all":
        picture = take_picture(lambda camera: camera.take_states(widget, owner=""), snapshot.theme)
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
        picture = take_picture(lambda camera: camera.take(screenshot, owner=""), snapshot.theme)
    write_content(output or Path(f"{name}.png"), picture.content)
