from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest

from tests.support.patience import PATIENCE_S
from tests.unit.base.files.deep import LONGEST, STEP, deep
from tests.unit.base.files.mirror import mirrored_apart, reported
from tests.unit.base.files.watching import watched
from widgetd.base.files import inotify_watcher
from widgetd.base.files.hints import Hint

pytestmark = pytest.mark.skipif(
    not inotify_watcher.AVAILABLE, reason="needs inotify, which only Linux has"
)


async def test_closed_file_is_finished(tmp_path: Path) -> None:
    async with watched(tmp_path, inotify_watcher.follow) as watch:
        await watch.went_through("native")
        (tmp_path / "a.widget").write_text("whole")

        assert "a.widget" in (await watch.hinted_at("a.widget")).finished


async def test_file_moved_into_place_is_finished(tmp_path: Path) -> None:
    (tmp_path / ".a").write_text("whole")
    async with watched(tmp_path, inotify_watcher.follow) as watch:
        await watch.went_through("native")
        (tmp_path / ".a").rename(tmp_path / "a.widget")

        assert "a.widget" in (await watch.hinted_at("a.widget")).finished


async def test_file_open_for_writing_is_not_finished(tmp_path: Path) -> None:
    async with watched(tmp_path, inotify_watcher.follow) as watch:
        await watch.went_through("native")
        with (tmp_path / "a.widget").open("w", buffering=1) as file:
            file.write("half\n")

            assert "a.widget" not in (await watch.hinted_at("a.widget")).finished


async def test_rewritten_file_is_not_finished(tmp_path: Path) -> None:
    file = tmp_path / "a.widget"
    async with watched(tmp_path, inotify_watcher.follow) as watch:
        await watch.went_through("native")
        file.write_text("whole")
        with file.open("w", buffering=1) as again:
            again.write("half\n")

            with anyio.fail_after(PATIENCE_S):
                while "a.widget" in (await watch.hinted_at("a.widget")).finished:
                    pass


async def test_renamed_folder_is_known_by_its_new_name(tmp_path: Path) -> None:
    (tmp_path / "old/below").mkdir(parents=True)
    async with watched(tmp_path, inotify_watcher.follow) as watch:
        await watch.went_through("native")
        (tmp_path / "old").rename(tmp_path / "new")
        await watch.hinted_at("new")
        (tmp_path / "new/below/a.widget").touch()

        hint = await watch.hinted_at("new/below/a.widget")

    assert hint == finished("new/below/a.widget")


async def test_folder_moved_out_is_no_longer_followed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "folder/below").mkdir(parents=True)
    async with watched(root, inotify_watcher.follow) as watch:
        await watch.went_through("native")
        (root / "folder").rename(tmp_path / "away")
        await watch.hinted_at("folder")
        (tmp_path / "away/a.widget").touch()
        (tmp_path / "away/below/a.widget").touch()
        (root / "b.widget").touch()

        assert await watch.hints.wait() == finished("b.widget")


async def test_name_outside_utf_8_is_hinted_at(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff.widget")
    async with watched(tmp_path, inotify_watcher.follow) as watch:
        await watch.went_through("native")
        (tmp_path / name).touch()

        await watch.hinted_at(name)

    assert watch.failures == []


@pytest.mark.parametrize("length", [LONGEST - 1, LONGEST, LONGEST + 300, 3 * LONGEST])
@pytest.mark.parametrize("when", ["before", "while watching", "moved in while watching"])
async def test_too_long_path_does_not_stop_other_watches(
    tmp_path: Path, length: int, when: str
) -> None:
    root = tmp_path / "root"
    (root / "sibling").mkdir(parents=True)
    apart = tmp_path / "away"
    apart.mkdir()
    async with AsyncExitStack() as stack:
        if when == "before":
            stack.enter_context(deep(root, length))
        watch = await stack.enter_async_context(watched(root, inotify_watcher.follow))
        await watch.went_through("native")
        if when == "while watching":
            stack.enter_context(deep(root, length))
        elif when == "moved in while watching":
            with deep(apart, length):
                (apart / STEP).rename(root / STEP)
                stack.callback(shutil.rmtree, root / STEP)
                (apart / STEP).mkdir()
        (root / "late").mkdir()
        await watch.hinted_at("late")
        for name in ("a.widget", "sibling/b.widget", f"{STEP}/c.widget", "late/d.widget"):
            (root / name).write_text("whole")
            await watch.hinted_at(name)

    assert (watch.modes, watch.failures) == (["native"], [])
    assert [error.errno for _, error in watch.skips] == (
        [errno.ENAMETOOLONG] if length >= LONGEST else []
    )


class Refusing(inotify_watcher.Queue):
    """Events of all folders but those whose name begins with `closed`."""

    number = 0

    def watch(self, path: str | os.PathLike[str], *, through_link: bool = False) -> int:
        if Path(path).name.startswith("closed"):
            raise OSError(self.number, os.strerror(self.number))
        return super().watch(path, through_link=through_link)


OF_ALL = {"ENOSPC", "EMFILE", "ENFILE", "ENOMEM", "ENOSYS", "EBADF"}
TOLD_BY_A_SCAN = {"ENOENT", "ENOTDIR", "EACCES", "EPERM"}


@pytest.mark.parametrize("name", sorted(errno.errorcode.values()))
async def test_watch_error_of_one_folder_affects_only_it_and_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    monkeypatch.setattr(inotify_watcher, "Queue", Refusing)
    monkeypatch.setattr(Refusing, "number", getattr(errno, name))
    for each in ("a", "closed1", "closed2/below", "z"):
        (tmp_path / each).mkdir(parents=True)

    async with watched(tmp_path, inotify_watcher.follow) as watch:
        if name in OF_ALL:
            await watch.went_through("poll")
        else:
            await watch.went_through("native")
            for path in ("a/a.widget", "z/z.widget"):
                (tmp_path / path).write_text("whole")
                await watch.hinted_at(path)
            (tmp_path / "closed3").mkdir()
            await watch.hinted_at("closed3")

    assert len(watch.failures) == (name in OF_ALL)
    assert len(watch.skips) == (name not in OF_ALL | TOLD_BY_A_SCAN)


@pytest.mark.parametrize(
    ("limit", "most", "value"),
    [
        ("watches", 2, "[Errno 28] all of fs.inotify.max_user_watches are taken"),
        ("instances", 0, "[Errno 24] all of fs.inotify.max_user_instances are taken"),
    ],
)
async def test_timer_continues_above_the_watch_limit_which_is_logged_once(
    limit: str, most: int, value: str, tmp_path: Path
) -> None:
    (tmp_path / "a/b/c").mkdir(parents=True)
    async with mirrored_apart(tmp_path, "linux", within=limited_to(most, limit)) as (_, lines):
        await reported(lines, lambda state: bool(state["failures"]))
        (tmp_path / "a/b/c/a.widget").write_text("<found>")

        state = await reported(lines, lambda state: "a/b/c/a.widget" in state["texts"])

    assert state["modes"] == ["poll"]
    assert state["failures"] == [value]


def limited_to(most: int, limit: str) -> Sequence[str]:
    """Return a command prefix that limits the inotify watches or instances of its user."""
    if subprocess.run(["unshare", "--user", "--map-root-user", "true"], check=False).returncode:
        pytest.skip("needs a user namespace, in which a user's limits can be set")
    limits = f"echo {most} > /proc/sys/user/max_inotify_{limit}"
    return ("unshare", "--user", "--map-root-user", "sh", "-c", f'{limits} && exec "$@"', "sh")


def finished(*paths: str) -> Hint:
    return Hint(paths=frozenset(paths), finished=frozenset(paths))
