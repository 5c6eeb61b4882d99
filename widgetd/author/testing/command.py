"""Run pytest with the plugin: once, or again after each save of a tested file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from functools import partial
from io import FileIO, TextIOWrapper
from pathlib import Path

import anyio
import pytest

from widgetd.author.testing.csv_folder import CASES
from widgetd.author.testing.yaml_file import read_suite
from widgetd.base.files.hints import Hints
from widgetd.base.files.stamp import Stamp, stamp_of
from widgetd.base.files.watch import WatchObserver, watch
from widgetd.base.system import SYSTEM
from widgetd.core.widget.naming import JSX_SUFFIX, TESTS_SUFFIX, WIDGET_SUFFIX, slugify, stem
from widgetd.core.widget.sidecar import SUFFIX
from widgetd.server.progress import Progress

_FLAGS = (
    "--every-widget",
    # The configuration of a suite beside the widgets is not meant for them. Authors of widgets run
    # no Python, so neither is its code.
    *("-c", os.devnull, "--rootdir", ".", "-p", "widgetd.author.testing.plugin"),
    *("-o", "python_files=", "--no-header", "--tb=short"),
    # The plugin is imported by then, and has no assertions for pytest to rewrite.
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)
_EXPLANATIONS = {2: "some tests could not be collected", 5: "there is nothing to test"}
_WATCHED = (
    *(TESTS_SUFFIX, ".csv", WIDGET_SUFFIX, JSX_SUFFIX),
    *(WIDGET_SUFFIX + SUFFIX, JSX_SUFFIX + SUFFIX),
)


def run(
    paths: Sequence[str],
    pytest_arguments: Sequence[str],
    *,
    update: bool,
    host: str = "",
    report: str = "",
) -> int:
    """Run the tests of folders, widgets and test files, and return pytest's exit code.

    Args:
        paths: Folders, widgets and test files.
        pytest_arguments: Passed on.
        update: Write the baselines instead of comparing with them.
        host: A known host to emulate, or `all`.
        report: A folder for the page about the run. None without it.
    """
    flags = ["--host", host, "--report", report, *(["--update-widgets"] if update else [])]
    progress = _ShownProgress(is_quiet="-q" in pytest_arguments)
    is_verbose = any(argument.startswith("-v") for argument in pytest_arguments)
    if not is_verbose:
        flags += ["-o", "console_output_style=classic"]
    arguments = [*paths, *_FLAGS, *flags, *_own_arguments(pytest_arguments)]
    code = int(pytest.main(arguments, plugins=[] if is_verbose else [progress]))
    if progress.is_interrupted:
        raise KeyboardInterrupt
    if code in _EXPLANATIONS:
        print(f"widgetd: {_EXPLANATIONS[code]}", file=sys.stderr)  # noqa: T201 - the command's last line
    return code


class _ShownProgress:
    """A plugin of pytest, which shows progress in place of a letter for each test."""

    def __init__(self, *, is_quiet: bool) -> None:
        # A copy, because pytest captures standard error while tests run.
        stream = TextIOWrapper(FileIO(os.dup(2), "w"))
        self._progress = Progress("test", quiet=is_quiet, stream=stream)
        self.is_interrupted = False

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._progress.total = len(session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        self._progress.total = len(ids)

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self) -> Generator[None, tuple[str, ...], tuple[str, str, str]]:
        category = (yield)[0]
        return category, "", ""

    def pytest_runtest_logfinish(self) -> None:
        self._progress.advance()

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        # pytest's own ends, such as after errors of collection, are subclasses.
        self.is_interrupted = excinfo.type is KeyboardInterrupt

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        self._progress.close(interrupted=self.is_interrupted)


def _own_arguments(pytest_arguments: Sequence[str]) -> Sequence[str]:
    is_trusted = any(argument.startswith("--confcutdir") for argument in pytest_arguments)
    verbosity = () if "-v" in pytest_arguments else ("-q",)
    return [*verbosity, *pytest_arguments, *(() if is_trusted else ("--noconftest",))]


def run_on_saves(paths: Sequence[str], pytest_arguments: Sequence[str], *, host: str) -> int:
    arguments = ["--host", host, *pytest_arguments]
    anyio.run(partial(_watch, [Path(path) for path in paths], arguments))
    return 0


async def _watch(paths: Sequence[Path], pytest_arguments: Sequence[str]) -> None:
    root = paths[0] if await SYSTEM.threads.run_blocking(paths[0].is_dir) else paths[0].parent
    hints = Hints()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(watch, root, hints, observer=WatchObserver(), stop=anyio.Event()))
        before = await SYSTEM.threads.run_blocking(_stamps, root)
        await _run_in_process(list(map(str, paths)), pytest_arguments)
        while True:
            await hints.wait()
            # A hint about a save during a run names no file, so their stamps are compared.
            stamps = await SYSTEM.threads.run_blocking(_stamps, root)
            saved = [path for path, stamp in stamps.items() if before.get(path) != stamp]
            before = stamps
            if affected := await SYSTEM.threads.run_blocking(affected_files, root, saved):
                await _run_in_process(affected, pytest_arguments)


def _stamps(root: Path) -> dict[str, Stamp]:
    stamps: dict[str, Stamp] = {}
    for file in sorted(root.rglob("*")):
        with suppress(OSError):
            if file.name.endswith(_WATCHED):
                stamps[str(file.relative_to(root))] = stamp_of(file.stat())
    return stamps


async def _run_in_process(paths: Sequence[str], pytest_arguments: Sequence[str]) -> None:
    # A process of its own, because this process has imported and read the earlier files.
    arguments = [*paths, *_FLAGS, *_own_arguments(pytest_arguments)]
    # -P: the current folder may be the widgets folder.
    command = [sys.executable, "-P", "-m", "pytest", *arguments]
    await SYSTEM.threads.run_blocking(partial(subprocess.run, command, check=False))


def affected_files(root: Path, saved: Iterable[str]) -> list[str]:
    affected: dict[str, None] = {}
    for saved_path in saved:
        file = root / saved_path.removesuffix(SUFFIX)
        if file.name.endswith(TESTS_SUFFIX):
            affected[str(file)] = None
        elif file.suffix == ".csv" and (file.parent / CASES).is_file():
            affected[str(file.parent / CASES)] = None
        elif file.name.endswith((WIDGET_SUFFIX, JSX_SUFFIX)):
            affected[str(file)] = None
            for path in sorted(root.rglob(f"*{TESTS_SUFFIX}")):
                suite = read_suite(path)
                # A file with faults is run as well, to report them.
                if suite.faults or suite.widget == slugify(stem(file.name)):
                    affected[str(path)] = None
    return [path for path in affected if Path(path).is_file()]
