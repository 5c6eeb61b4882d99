from __future__ import annotations

import errno
import math
import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from tests.support.patience import PATIENCE_S
from tests.unit.base.files.mirror import FOLLOWERS, follow_nothing
from tests.unit.base.files.watching import Watched, watched
from widgetd.base.files import watchfiles_watcher
from widgetd.base.files.hints import Hints, Skipped
from widgetd.base.files.watch import Follow, Mode, pause_s, watch

by_each_follower = pytest.mark.parametrize("follow", FOLLOWERS.values(), ids=FOLLOWERS)


@by_each_follower
async def test_write_is_hinted_at(follow: Follow, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    async with watched(tmp_path, follow) as watcher:
        await watcher.went_through("native")
        (tmp_path / "folder/a.widget").touch()

        await watcher.hinted_at("folder/a.widget")


@by_each_follower
async def test_arming_hints_at_everything_for_events_before_it_were_lost(
    follow: Follow, tmp_path: Path
) -> None:
    async with watched(tmp_path, follow) as watcher:
        await watcher.hinted_at_everything()

        assert watcher.modes == ["native"]


async def test_without_events_the_timer_hints_at_everything(tmp_path: Path) -> None:
    async with watched(tmp_path, None, poll_s=0.01) as watcher:
        await watcher.hinted_at_everything()
        await watcher.hinted_at_everything()

        assert watcher.modes == ["poll"]


@by_each_follower
async def test_timer_continues_beside_the_events(follow: Follow, tmp_path: Path) -> None:
    async with watched(tmp_path, follow, poll_s=0.01) as watcher:
        await watcher.went_through("native")
        await watcher.hinted_at_everything()
        await watcher.hinted_at_everything()


@pytest.mark.parametrize(
    ("cost_s", "rests_s"), [(0, 2), (0.0002, 2), (0.015, 2), (0.03, 4), (0.2, 10), (60, 10)]
)
def test_while_events_come_the_timer_takes_little_of_a_processor_and_rests_ten_seconds_at_most(
    cost_s: float, rests_s: float
) -> None:
    assert pause_s(2, cost_s) == pytest.approx(rests_s)


def test_longer_period_is_respected() -> None:
    assert pause_s(60, 0.2) == 60


async def test_while_events_come_the_timer_rests_as_long_as_a_look_is_costly(
    tmp_path: Path,
) -> None:
    costly = Hints()
    costly.cost_s = math.inf
    async with (
        watched(tmp_path, follow_nothing, costly, poll_s=0.01) as large,
        watched(tmp_path, follow_nothing, poll_s=0.01) as small,
    ):
        await large.hinted_at_everything()
        for _ in range(20):
            await small.hinted_at_everything()

        assert large.modes == small.modes == ["native"]
        with anyio.move_on_after(0.01):
            pytest.fail(f"{await large.hints.wait()}")


async def test_where_events_cease_the_timer_rests_no_longer(tmp_path: Path) -> None:
    costly, ended = Hints(), anyio.Event()
    costly.cost_s = math.inf

    async def ending(
        _root: Path, _hints: Hints, armed: Callable[[], None], _skipped: Skipped
    ) -> None:
        if not ended.is_set():
            armed()
            await ended.wait()
        raise OSError("no more events")

    async with watched(tmp_path, ending, costly, poll_s=0.01) as watcher:
        await watcher.went_through("native")
        ended.set()
        await watcher.went_through("native", "poll")
        for _ in range(5):
            await watcher.hinted_at_everything()


async def test_where_no_events_come_of_some_folder_the_timer_rests_no_longer(
    tmp_path: Path,
) -> None:
    costly = Hints()
    costly.cost_s = math.inf

    async def partial_sighted(
        _root: Path, _hints: Hints, armed: Callable[[], None], skipped: Skipped
    ) -> None:
        armed()
        skipped("deep", OSError(errno.ENAMETOOLONG, "its path is too long"))
        await anyio.sleep_forever()

    async with watched(tmp_path, partial_sighted, costly, poll_s=0.01) as watcher:
        for _ in range(5):
            await watcher.hinted_at_everything()

        assert watcher.modes == ["native"]


async def test_name_that_ends_the_watcher_is_logged_and_survived(tmp_path: Path) -> None:
    async with watched(tmp_path, watchfiles_watcher.follow) as watcher:
        await watcher.went_through("native")
        (tmp_path / os.fsdecode(b"\xff.widget")).touch()
        await watcher.hinted_at_everything()
        await watcher.went_through("native", "poll", "native")
        (tmp_path / "a.widget").touch()

        await watcher.hinted_at("a.widget")

    assert [type(error).__name__ for error in watcher.failures] == ["WatchfilesRustInternalError"]


async def test_persistent_error_is_logged_once(tmp_path: Path) -> None:
    tries = 0

    async def fail(*_: object) -> None:
        nonlocal tries
        tries += 1
        raise OSError("all are taken")

    async with watched(tmp_path, fail) as watcher:
        with anyio.fail_after(PATIENCE_S):
            while tries < 3:
                await watcher.hints.wait()

    assert watcher.modes == ["poll"]
    assert [str(error) for error in watcher.failures] == ["all are taken"]


@by_each_follower
async def test_missing_root_is_awaited_and_is_no_failure(follow: Follow, tmp_path: Path) -> None:
    root = tmp_path / "root"
    async with watched(root, follow) as watcher:
        await watcher.went_through("poll")
        root.mkdir()
        await watcher.went_through("poll", "native")
        (root / "a.widget").touch()

        await watcher.hinted_at("a.widget")

    assert watcher.failures == []


@by_each_follower
async def test_replaced_root_is_followed_without_the_timer(follow: Follow, tmp_path: Path) -> None:
    root = tmp_path / "root"
    for name in ("blue", "green"):
        (tmp_path / name).mkdir()
    root.symlink_to("blue")
    async with watched(root, follow) as watcher:
        await watcher.went_through("native")
        (tmp_path / "next").symlink_to("green")
        (tmp_path / "next").rename(root)
        await watcher.went_through("native", "poll", "native")
        (tmp_path / "green/a.widget").touch()

        await watcher.hinted_at("a.widget")

    assert watcher.failures == []


@by_each_follower
async def test_slow_calls_of_others_do_not_hold_up_a_hint(follow: Follow, tmp_path: Path) -> None:
    release = threading.Event()
    slow = partial(anyio.to_thread.run_sync, release.wait)
    async with anyio.create_task_group() as others:
        for _ in range(int(anyio.to_thread.current_default_thread_limiter().total_tokens)):
            others.start_soon(slow)
        try:
            async with watched(tmp_path, follow) as watcher:
                await watcher.went_through("native")
                (tmp_path / "a.widget").touch()

                await watcher.hinted_at("a.widget")
        finally:
            release.set()


@pytest.mark.parametrize("how", ["told", "cancelled"])
@pytest.mark.parametrize(
    ("folder", "mode"), [(".", "native"), ("nowhere", "poll")], ids=["armed", "awaiting the root"]
)
@by_each_follower
async def test_it_ends_at_once(
    follow: Follow, folder: str, mode: Mode, how: str, tmp_path: Path
) -> None:
    await ends_at_once(tmp_path / folder, follow, mode, how)


@pytest.mark.parametrize("how", ["told", "cancelled"])
async def test_without_events_it_ends_at_once(how: str, tmp_path: Path) -> None:
    await ends_at_once(tmp_path, None, "poll", how)


async def ends_at_once(root: Path, follow: Follow | None, mode: Mode, how: str) -> None:
    watcher, scope, over = Watched(), anyio.CancelScope(), anyio.Event()
    run = partial(watch, root, watcher.hints, follow=follow, observer=watcher)

    async def run_to_its_end() -> None:
        with scope:
            await run(stop=watcher.stop)
        over.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run_to_its_end)
        await watcher.went_through(mode)
        if how == "told":
            watcher.stop.set()
        else:
            scope.cancel()
        with anyio.fail_after(PATIENCE_S):  # it takes 11 ms, or never ends if it is not told
            await over.wait()
