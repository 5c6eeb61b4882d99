"""`widgetd test`: widgets are tested in a browser, by pytest with our plugin."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from widgetd.errors import ConfigError

_RESULTS = {2: "some tests could not be collected", 5: "there is nothing to test"}


def test(
    *paths: Annotated[str, Parameter(allow_leading_hyphen=True)],
    update: Annotated[bool, Parameter(negative="")] = False,
    watch: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Test widgets in a browser: each as it stands, and what `*.test.yaml` beside them say.

    Whatever stands after `--` is pytest's own: -k, -x, --lf, -n 2, --junitxml FILE, --collect-only.

    Args:
        paths: Folders, widgets and test files. Default: ./widgets, else the current folder.
        update: What is seen now is right: write the pictures and aria snapshots.
        watch: Go on, and test again what a save touches.
    """
    try:
        import pytest
    except ImportError:
        problem = "tests need pytest, which is not installed"
        advice = 'run `pip install "widgetd[test]"`'
        raise ConfigError("W0011", problem, advice, exit_code=3) from None
    from widgetd.browser.chromium import demand_browser

    at = next((at for at, one in enumerate(paths) if one.startswith("-")), len(paths))
    chosen, own = list(paths[:at]), [one for one in paths[at:] if one != "--"]
    chosen = chosen or ["widgets" if Path("widgets").is_dir() else "."]
    for one in chosen:
        if not Path(one.partition("::")[0]).exists():
            raise ConfigError("W0003", f"there is no {one}", "name a file or a folder", exit_code=3)
    if "--collect-only" not in own and "--co" not in own:
        demand_browser("tests")
    arguments = [
        *chosen,
        "--every-widget",
        # What a suite beside the widgets is set to is not for these.
        *("-c", os.devnull, "--rootdir", ".", "-p", "widgetd.testing.plugin"),
        *("-o", "python_files=", "-q", "--no-header", "--tb=short"),
        *(["--update-widgets"] if update else []),
        *own,
    ]
    if watch:
        return _watched(arguments, chosen)
    code = int(pytest.main(arguments))
    if code in _RESULTS:
        print(f"widgetd: {_RESULTS[code]}", file=sys.stderr)
    return code


def _watched(arguments: list[str], chosen: list[str]) -> int:
    """Test, and test again what each save touches, until somebody ends it."""
    from widgetd.testing.watch import touched

    def run(paths: list[str]) -> None:
        # A process of its own, which begins with what is on the disk.
        command = [sys.executable, "-m", "pytest", *paths, *arguments[len(chosen) :]]
        subprocess.run(command, check=False)  # noqa: S603 - our own

    run(chosen)
    for paths in touched(chosen):
        run(paths)
    return 0
