"""Watchers follow what only a kernel has: moved folders, links, odd names, dropped events.

Saves and lost events are laws of the simulation.
"""

from __future__ import annotations

import mmap
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from tests.unit.base.files.mirror import FOLLOWERS, following, mirrored_apart, reported
from tests.unit.base.files.privilege import stopped_by_permissions

Texts = dict[str, str]
Situation = Callable[[Path], Iterator[Texts]]

OLD, NEW = f"<old {'.' * 500}>", f"<new {'.' * 500}>"


def edits_through_a_memory_map(root: Path) -> Iterator[Texts]:
    root.mkdir()
    file = write(root / "a.widget", OLD)
    yield {"a.widget": OLD}
    with file.open("r+b") as opened, mmap.mmap(opened.fileno(), 0) as memory:
        memory[:] = NEW.encode()
        yield {"a.widget": NEW}


def files_in_folders_just_made(root: Path) -> Iterator[Texts]:
    root.mkdir()
    yield {}
    texts = {f"{n}/below/a.widget": f"<{n}>" for n in range(50)}
    write_all(root, texts)
    yield texts


def folder_renamed(root: Path) -> Iterator[Texts]:
    write_all(root, {"a/x.widget": OLD, "a/b/y.widget": OLD})
    yield {"a/x.widget": OLD, "a/b/y.widget": OLD}
    (root / "a").rename(root / "c")
    yield {"c/x.widget": OLD, "c/b/y.widget": OLD}


def folder_moved_in(root: Path) -> Iterator[Texts]:
    root.mkdir()
    yield {}
    write_all(root.with_name("aside"), {"x.widget": OLD, "b/c/y.widget": OLD})
    root.with_name("aside").rename(root / "a")
    yield {"a/x.widget": OLD, "a/b/c/y.widget": OLD}
    write(root / "a/b/c/y.widget", NEW)
    yield {"a/x.widget": OLD, "a/b/c/y.widget": NEW}


def folder_moved_out_and_replaced(root: Path) -> Iterator[Texts]:
    write_all(root, {"a/x.widget": OLD, "a/b/y.widget": OLD})
    yield {"a/x.widget": OLD, "a/b/y.widget": OLD}
    (root / "a").rename(root.with_name("away"))
    write_all(root, {"a/x.widget": NEW})
    yield {"a/x.widget": NEW}
    write(root.with_name("away") / "x.widget", "<elsewhere>")
    write(root / "a/x.widget", OLD)
    yield {"a/x.widget": OLD}


def root_deleted_and_recreated(root: Path) -> Iterator[Texts]:
    write_all(root, {"a.widget": OLD, "b.widget": OLD})
    yield {"a.widget": OLD, "b.widget": OLD}
    shutil.rmtree(root)
    write_all(root, {"a.widget": NEW})
    yield {"a.widget": NEW}


def root_renamed_away_and_replaced(root: Path) -> Iterator[Texts]:
    write_all(root, {"a.widget": OLD})
    yield {"a.widget": OLD}
    root.rename(root.with_name("away"))
    write_all(root, {"a.widget": NEW})
    yield {"a.widget": NEW}
    write(root.with_name("away") / "a.widget", "<elsewhere>")
    write(root / "b.widget", NEW)
    yield {"a.widget": NEW, "b.widget": NEW}


def root_link_pointed_elsewhere(root: Path) -> Iterator[Texts]:
    blue, green = root.with_name("blue"), root.with_name("green")
    write_all(blue, {"a.widget": OLD})
    write_all(green, {"a.widget": NEW})
    root.symlink_to("blue")
    yield {"a.widget": OLD}
    point(root, "green")
    yield {"a.widget": NEW}
    write(green / "b.widget", NEW)
    yield {"a.widget": NEW, "b.widget": NEW}


def root_that_comes_late(root: Path) -> Iterator[Texts]:
    yield {}
    write_all(root, {"a.widget": NEW})
    yield {"a.widget": NEW}


def root_that_goes_for_a_while(root: Path) -> Iterator[Texts]:
    write_all(root, {"a.widget": OLD})
    yield {"a.widget": OLD}
    root.rename(root.with_name("away"))
    yield {"a.widget": OLD}
    root.with_name("away").rename(root)
    write(root / "a.widget", NEW)
    yield {"a.widget": NEW}


def edit_of_what_a_link_leads_to(root: Path) -> Iterator[Texts]:
    write_all(root, {".store/a": OLD})
    (root / "a.widget").symlink_to(".store/a")
    yield {"a.widget": OLD}
    write(root / ".store/a", NEW)
    yield {"a.widget": NEW}


def linked_folder_pointed_elsewhere(root: Path) -> Iterator[Texts]:
    write_all(root, {".one/a.widget": OLD, ".two/a.widget": NEW})
    (root / "current").symlink_to(".one")
    yield {"current/a.widget": OLD}
    point(root / "current", ".two")
    yield {"current/a.widget": NEW}


def name_that_is_not_utf_8(root: Path) -> Iterator[Texts]:
    root.mkdir()
    write(root / "a.widget", OLD)
    yield {"a.widget": OLD}
    write(root / os.fsdecode(b"\xff.widget"), NEW)
    write(root / "a.widget", NEW)
    yield {"a.widget": NEW}


def names_with_anything_else_in_them(root: Path) -> Iterator[Texts]:
    root.mkdir()
    yield {}
    texts = dict.fromkeys(("new\nline.widget", "🛫 flug.widget", "é" * 124 + ".widget"), NEW)
    write_all(root, texts)
    yield texts


SITUATIONS: tuple[Situation, ...] = (
    edits_through_a_memory_map,
    files_in_folders_just_made,
    folder_renamed,
    folder_moved_in,
    folder_moved_out_and_replaced,
    root_deleted_and_recreated,
    root_renamed_away_and_replaced,
    root_link_pointed_elsewhere,
    root_that_comes_late,
    root_that_goes_for_a_while,
    edit_of_what_a_link_leads_to,
    linked_folder_pointed_elsewhere,
    name_that_is_not_utf_8,
    names_with_anything_else_in_them,
)


by_each_follower = pytest.mark.parametrize("follower", FOLLOWERS)


@by_each_follower
@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
async def test_mirror_converges_untorn_and_events_continue(
    situation: Situation, follower: str, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    steps = situation(root)
    texts = next(steps)
    async with following(root, FOLLOWERS[follower]) as mirror:
        await mirror.holds(texts)
        if root.exists():
            await mirror.is_armed()
        while (later := await anyio.to_thread.run_sync(partial(next, steps, None))) is not None:
            texts = later
            await mirror.holds(texts)

        await mirror.has_events_of(root / "alive.widget")
        await mirror.holds(texts | {"alive.widget": "<alive>"})

    assert [text for text in mirror.seen if not is_whole(text)] == []


@by_each_follower
async def test_mirror_continues_beside_unreadable_files(follower: str) -> None:
    with stopped_by_permissions() as root:
        write_all(root, {"a.widget": OLD, "folder/b.widget": OLD})
        async with following(root, FOLLOWERS[follower]) as mirror:
            await mirror.is_armed()
            await mirror.holds({"a.widget": OLD, "folder/b.widget": OLD})
            set_mode(0, root / "a.widget", root / "folder")
            write_all(root, {"c.widget": NEW})
            await mirror.holds({"c.widget": NEW, "folder/b.widget": OLD})
            await mirror.blames("a.widget", "folder")

            set_mode(0o700, root / "folder", root / "a.widget")
            write_all(root, {"folder/b.widget": NEW})
            await mirror.holds({"a.widget": OLD, "c.widget": NEW, "folder/b.widget": NEW})
            await mirror.has_events_of(root / "alive.widget")


@by_each_follower
async def test_mirror_converges_where_the_kernel_dropped_events(
    follower: str, tmp_path: Path
) -> None:
    async with mirrored_apart(tmp_path, follower) as (process, lines):
        await reported(lines, lambda state: state["modes"][-1:] == ["native"])
        process.send_signal(signal.SIGSTOP)
        overflow(tmp_path / "busy", tmp_path / "busy too")
        write(tmp_path / "a.widget", NEW)
        process.send_signal(signal.SIGCONT)

        state = await reported(lines, lambda state: state["texts"] == {"a.widget": NEW})

    assert "a.widget" not in state["hinted"]


def overflow(*files: Path) -> None:
    """Make more events than the kernel keeps for a watcher that does not fetch them."""
    queue = Path("/proc/sys/fs/inotify/max_queued_events")
    if not queue.exists():
        pytest.skip("needs inotify, whose queue is the one that overflows")
    # In turns, for of equal events that follow each other the kernel keeps one.
    for file in islice(cycle(files), int(queue.read_text())):
        file.open("a").close()


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def write_all(root: Path, texts: Texts) -> None:
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def set_mode(mode: int, *paths: Path) -> None:
    for path in paths:
        path.chmod(mode)


def point(link: Path, target: str) -> None:
    link.with_name("..tmp").symlink_to(target)
    link.with_name("..tmp").rename(link)


def is_whole(text: str) -> bool:
    return text.startswith("<") and text.endswith(">")
