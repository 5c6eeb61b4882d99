from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from widgetd.files.hints import Hints
from widgetd.files.watch import Mode, watch

NEVER_S = 600.0
ENDS_S = 2.0
"""For a machine that stalls: ending takes 11 ms, and for ever if the watcher is not told."""


class Watched:
    """A folder being watched: the hints, and what the observer was told."""

    def __init__(self) -> None:
        self.hints = Hints()
        self.stop = anyio.Event()
        self.modes: list[Mode] = []
        self.failures: list[Exception] = []
        self._told = anyio.Event()

    def watching(self, mode: Mode) -> None:
        self.modes.append(mode)
        told, self._told = self._told, anyio.Event()
        told.set()

    def failed(self, error: Exception) -> None:
        self.failures.append(error)

    async def went_through(self, *modes: Mode) -> None:
        with anyio.fail_after(3):
            while self.modes != list(modes):
                await self._told.wait()

    async def hinted_at(self, path: str) -> None:
        with anyio.fail_after(1):
            while path not in (await self.hints.wait()).paths:
                pass

    async def hinted_at_everything(self) -> None:
        with anyio.fail_after(1):
            while (await self.hints.wait()).paths:
                pass


@asynccontextmanager
async def watched(
    root: Path, *, native: bool = True, poll_s: float = NEVER_S
) -> AsyncIterator[Watched]:
    seen = Watched()
    run = partial(watch, root, seen.hints, observer=seen, stop=seen.stop)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(run, native=native, poll_s=poll_s))
        yield seen
        seen.stop.set()


async def test_a_write_is_hinted_at(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    async with watched(tmp_path) as seen:
        await seen.went_through("native")
        (tmp_path / "folder/a.widget").touch()

        await seen.hinted_at("folder/a.widget")


async def test_arming_hints_at_everything_for_events_before_it_were_lost(tmp_path: Path) -> None:
    async with watched(tmp_path) as seen:
        await seen.hinted_at_everything()

        assert seen.modes == ["native"]


async def test_without_events_the_timer_hints_at_everything(tmp_path: Path) -> None:
    async with watched(tmp_path, native=False, poll_s=0.01) as seen:
        await seen.hinted_at_everything()
        await seen.hinted_at_everything()

        assert seen.modes == ["poll"]


async def test_the_timer_goes_on_beside_the_events(tmp_path: Path) -> None:
    async with watched(tmp_path, poll_s=0.01) as seen:
        await seen.went_through("native")
        await seen.hinted_at_everything()
        await seen.hinted_at_everything()


async def test_a_name_that_ends_the_watcher_is_told_and_survived(tmp_path: Path) -> None:
    async with watched(tmp_path) as seen:
        await seen.went_through("native")
        (tmp_path / os.fsdecode(b"\xff.widget")).touch()
        await seen.hinted_at_everything()
        await seen.went_through("native", "poll", "native")
        (tmp_path / "a.widget").touch()

        await seen.hinted_at("a.widget")

    assert [type(error).__name__ for error in seen.failures] == ["WatchfilesRustInternalError"]


async def test_a_root_that_is_not_there_is_awaited_and_is_no_failure(tmp_path: Path) -> None:
    root = tmp_path / "root"
    async with watched(root) as seen:
        await seen.went_through("poll")
        root.mkdir()
        await seen.went_through("poll", "native")
        (root / "a.widget").touch()

        await seen.hinted_at("a.widget")

    assert seen.failures == []


async def test_a_root_that_is_replaced_is_followed_without_the_timer(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for name in ("blue", "green"):
        (tmp_path / name).mkdir()
    root.symlink_to("blue")
    async with watched(root) as seen:
        await seen.went_through("native")
        (tmp_path / "next").symlink_to("green")
        (tmp_path / "next").rename(root)
        await seen.went_through("native", "poll", "native")
        (tmp_path / "green/a.widget").touch()

        await seen.hinted_at("a.widget")

    assert seen.failures == []


async def test_slow_calls_of_others_do_not_hold_up_a_hint(tmp_path: Path) -> None:
    release = threading.Event()
    slow = partial(anyio.to_thread.run_sync, release.wait)
    async with anyio.create_task_group() as others:
        for _ in range(int(anyio.to_thread.current_default_thread_limiter().total_tokens)):
            others.start_soon(slow)
        try:
            async with watched(tmp_path) as seen:
                await seen.went_through("native")
                (tmp_path / "a.widget").touch()

                await seen.hinted_at("a.widget")
        finally:
            release.set()


@pytest.mark.parametrize("how", ["told", "cancelled"])
@pytest.mark.parametrize(
    ("folder", "native", "mode"),
    [(".", True, "native"), (".", False, "poll"), ("nowhere", True, "poll")],
    ids=["armed", "polling", "awaiting the root"],
)
async def test_it_ends_at_once(
    folder: str, native: bool, mode: Mode, how: str, tmp_path: Path
) -> None:
    seen, scope, over = Watched(), anyio.CancelScope(), anyio.Event()
    run = partial(watch, tmp_path / folder, seen.hints, native=native, observer=seen)

    async def run_to_its_end() -> None:
        with scope:
            await run(stop=seen.stop)
        over.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run_to_its_end)
        await seen.went_through(mode)
        if how == "told":
            seen.stop.set()
        else:
            scope.cancel()
        with anyio.fail_after(ENDS_S):
            await over.wait()
