"""`widgetd test`: test widgets in a browser, by pytest."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from widgetd.base.errors import ConfigError
from widgetd.base.extras import install_advice
from widgetd.base.files.folder import OWN_FOLDER


def test(
    *paths: Annotated[str, Parameter(allow_leading_hyphen=True)],
    update: Annotated[bool, Parameter(negative="")] = False,  # noqa: PT028 - a command
    watch: Annotated[bool, Parameter(negative="")] = False,  # noqa: PT028 - a command
    client: str = "",  # noqa: PT028 - a command
    report: str = "",  # noqa: PT028 - a command
) -> int:
    """Test widgets in a browser: each by default, by its wishes, and by its `*.test.yaml`.

    Arguments after `--` are passed to pytest: -v (names), -k, -x, --lf, -n 2, --junitxml FILE,
    --collect-only.

    Args:
        paths: Folders, widgets and test files. Default: ./widgets, else the current folder.
        update: Write the pictures and aria snapshots instead of comparing with them.
        watch: Keep running, and test again what a save affects.
        client: Test as a known host shows widgets: chatgpt, claude-ai, claude-desktop, gateway,
            inspector, mcp-ui, plain or vscode. All for each of them.
        report: Write a page about the run into this folder: steps, pictures, traces and times.
    """
    at = next((at for at, path in enumerate(paths) if path.startswith("-")), len(paths))
    chosen, own = list(paths[:at]), [argument for argument in paths[at:] if argument != "--"]
    chosen = chosen or [str(OWN_FOLDER) if OWN_FOLDER.is_dir() else "."]
    for path in chosen:
        if not Path(path.partition("::")[0]).exists():
            raise ConfigError(
                "W0003", f"there is no {path}", "name a file or a folder", exit_code=3
            )
    if find_spec("pytest") is None or find_spec("yaml") is None:
        problem = "tests need pytest and PyYAML, and not both are installed"
        raise ConfigError("W0011", problem, install_advice("test"), exit_code=3)
    from widgetd.author.browser.chromium import demand_browser
    from widgetd.author.testing.command import run, run_on_saves
    from widgetd.author.testing.profiles import choose_profiles

    choose_profiles(client)
    if "--collect-only" not in own and "--co" not in own:
        demand_browser("tests")
    if watch:
        return run_on_saves(chosen, own, host=client)
    return run(chosen, own, update=update, host=client, report=report)
