"""Run pytest with the plugin, once or after each save that touches a test."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from widgetd.errors import WidgetError
from widgetd.files.hints import Hints
from widgetd.files.stamp import Stamp
from widgetd.files.watch import Mode, watch
from widgetd.testing.csv_folder import CASES
from widgetd.testing.plugin import YAML
from widgetd.testing.yaml_file import read_suite
from widgetd.widget.naming import JSX_SUFFIX, WIDGET_SUFFIX, slug, stem
from widgetd.widget.sidecar import SUFFIX

_FLAGS = (
    "--every-widget",
    # What a suite beside the widgets is set to is not for these.
    *("-c", os.devnull, "--rootdir", ".", "-p", "widgetd.testing.plugin"),
    *("-o", "python_files=", "-q", "--no-header", "--tb=short"),
    # The plugin is imported by then, and has nothing that pytest would rewrite.
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)
_SAID = {2: "some tests could not be collected", 5: "there is nothing to test"}


def run(paths: Sequence[str], own: Sequence[str], *, update: bool) -> int:
    """Run the tests of folders, widgets and test files, and answer pytest's exit code.

    pytest gets its `own` arguments, too; with `update`, what is seen now is right.
    """
    code = int(pytest.main([*paths, *_FLAGS, *(["--update-widgets"] if update else []), *own]))
    if code in _SAID:
        print(f"widgetd: {_SAID[code]}", file=sys.stderr)  # noqa: T201 - a command's last word
    return code


def run_on(paths: Sequence[str], own: Sequence[str]) -> int:
    """Run the tests of `paths`, and again what each save touches, until somebody ends it."""
    anyio.run(partial(_follow, [Path(one) for one in paths], own))
    return 0


async def _follow(paths: Sequence[Path], own: Sequence[str]) -> None:
    root = paths[0] if await to_thread.run_sync(paths[0].is_dir) else paths[0].parent
    hints = Hints()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(watch, root, hints, observer=_Quiet(), stop=anyio.Event()))
        known = await to_thread.run_sync(_stamps, root)
        await _again(list(map(str, paths)), own)
        while True:
            await hints.wait()
            # What was saved during a run is told of as "somewhere", so the files say it themselves.
            stamps = await to_thread.run_sync(_stamps, root)
            saved = [one for one, stamp in stamps.items() if known.get(one) != stamp]
            known = stamps
            if again := await to_thread.run_sync(touched, root, saved):
                await _again(again, own)


def _stamps(root: Path) -> dict[str, Stamp]:
    """What tells a save of each file that a test may depend on."""
    stamps: dict[str, Stamp] = {}
    for file in sorted(root.rglob("*")):
        with suppress(OSError):
            if file.name.endswith(_SAVED):
                stamps[str(file.relative_to(root))] = Stamp.of(file.stat())
    return stamps


_SAVED = (YAML, ".csv", WIDGET_SUFFIX, JSX_SUFFIX, WIDGET_SUFFIX + SUFFIX, JSX_SUFFIX + SUFFIX)


async def _again(paths: Sequence[str], own: Sequence[str]) -> None:
    # A process of its own, which begins with what is on the disk.
    command = [sys.executable, "-m", "pytest", *paths, *_FLAGS, *own]
    await to_thread.run_sync(partial(subprocess.run, command, check=False))


def touched(root: Path, saved: Iterable[str]) -> list[str]:
    """The widgets and test files in `root` that a save of these touches."""
    again: dict[str, None] = {}
    for one in saved:
        file = root / one.removesuffix(SUFFIX)
        if file.name.endswith(YAML):
            again[str(file)] = None
        elif file.suffix == ".csv" and (file.parent / CASES).is_file():
            again[str(file.parent / CASES)] = None
        elif file.name.endswith((WIDGET_SUFFIX, JSX_SUFFIX)):
            again[str(file)] = None
            for suite in sorted(root.rglob(f"*{YAML}")):
                try:
                    is_about = read_suite(suite).widget == slug(stem(file.name))
                except WidgetError:  # it says what is wrong with it when it is run
                    is_about = True
                if is_about:
                    again[str(suite)] = None
    return [one for one in again if Path(one).is_file()]


class _Quiet:
    """Nobody is told how the watching goes."""

    def watching(self, mode: Mode) -> None:
        """See `Observer`."""

    def failed(self, error: Exception) -> None:
        """See `Observer`."""

    def skipped(self, path: str, error: OSError) -> None:
        """See `Observer`."""
