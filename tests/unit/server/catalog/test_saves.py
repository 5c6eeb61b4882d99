"""Files saved in any style are served whole and at once, and no part of one is refused."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from tests.support.widgets import widget_file
from tests.unit.base.files.watching import watched
from widgetd.base.errors import Finding
from widgetd.base.files import inotify_watcher
from widgetd.base.files.hints import Hints
from widgetd.base.limits import Limits
from widgetd.server.catalog.catalog import Catalog
from widgetd.server.catalog.limits import LIMITS
from widgetd.server.catalog.loader import load
from widgetd.server.catalog.registry import Registry
from widgetd.server.catalog.reload import Swap, reload

Save = Callable[[Path, str], None]

PAUSE_S = 0.01
SERVED_S = 1.5
"""Less than the timer takes, and far less than a file must be quiet here."""

pytestmark = pytest.mark.skipif(
    not inotify_watcher.AVAILABLE, reason="needs to be told that a file was closed"
)


def in_place(file: Path, text: str) -> None:
    file.write_text(text)


def by_rename(file: Path, text: str) -> None:
    file.with_suffix(".tmp").write_text(text)
    file.with_suffix(".tmp").rename(file)


def from_another_folder(file: Path, text: str) -> None:
    aside = file.parent.with_name("aside")
    aside.write_text(text)
    aside.rename(file)


def after_taking_the_old_away(file: Path, text: str) -> None:
    file.unlink(missing_ok=True)
    file.write_text(text)


def in_parts(file: Path, text: str) -> None:
    with file.open("w") as opened:
        for part in slowly(text):
            opened.write(part)
            opened.flush()


def closed_after_each_part(file: Path, text: str) -> None:
    file.write_text("")
    for part in slowly(text):
        with file.open("a") as opened:
            opened.write(part)


def renamed_before_it_is_written(file: Path, text: str) -> None:
    with file.with_suffix(".tmp").open("w") as opened:
        for number, part in enumerate(slowly(text)):
            opened.write(part)
            opened.flush()
            if number == 1:
                file.with_suffix(".tmp").rename(file)


def beside_another_writer(file: Path, text: str) -> None:
    with file.open("w") as opened:
        for part in slowly(text):
            opened.write(part)
            opened.flush()
            file.open("a").close()


def twice(file: Path, text: str) -> None:
    file.write_text(text.replace("<", "<almost "))
    file.write_text(text)


def broken_first(file: Path, text: str) -> None:
    file.write_text("{")
    time.sleep(PAUSE_S)
    file.write_text(text)


SAVES: tuple[Save, ...] = (
    in_place,
    by_rename,
    from_another_folder,
    after_taking_the_old_away,
    in_parts,
    closed_after_each_part,
    renamed_before_it_is_written,
    beside_another_writer,
    twice,
    broken_first,
)


class Seen:
    """Return the served revision and the last one."""

    def __init__(self) -> None:
        self.registry = Registry()
        self.faults: list[Finding] = []
        self.descriptions: list[str] = []

    def on_scan(self, seconds: float) -> None:
        """Ignore the duration of a scan."""

    def on_swap(self, swap: Swap) -> None:
        self.faults += swap.snapshot.refusals
        self.descriptions += [widget.description for widget in swap.snapshot.widgets.values()]

    async def says(self, description: str) -> None:
        """Wait until the only widget has this description."""
        now = self.registry.current
        with anyio.fail_after(SERVED_S):
            while [widget.description for widget in now.widgets.values()] != [description]:
                now = await self.registry.wait_for_newer(now)


@asynccontextmanager
async def follow_folder(root: Path) -> AsyncIterator[Seen]:
    """Follow a folder whose files must be quiet for a minute unless they are finished."""
    limits, hints, looked, watch = Limits(), Hints(), anyio.Event(), Seen()
    catalog = Catalog(root, partial(load, limits=limits), limit_bytes=10_000, quiet_ms=60_000)
    run = partial(reload, catalog, hints, watch.registry, on_scan=looked.set, observer=watch)
    async with (
        anyio.create_task_group() as tasks,
        watched(root, inotify_watcher.follow, hints) as watching,
    ):
        tasks.start_soon(run)
        await watching.went_through("native")
        await looked.wait()
        yield watch
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("save", SAVES, ids=lambda save: save.__name__)
async def test_finished_file_is_served_without_a_quiet_period(save: Save, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    async with follow_folder(root) as watch:
        for number in range(5):
            message = f"<{number}{'.' * 500}>"
            file = widget_file("A", description=message)
            await anyio.to_thread.run_sync(save, root / "a.widget", file)
            await watch.says(message)

    assert watch.faults == []
    assert [message for message in watch.descriptions if not is_whole(message)] == []


async def test_continuous_saves_are_swapped_at_intervals(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    async with follow_folder(root) as watch:
        started_s = time.monotonic()
        for number in range(50):
            file = widget_file("A", description=f"<{number}>")
            await anyio.to_thread.run_sync(in_place, root / "a.widget", file)
            await anyio.sleep(0.002)  # plays a busy writer
        await watch.says("<49>")
        took_s = time.monotonic() - started_s

    assert len(watch.descriptions) <= 1 + took_s / LIMITS.swap_gap_s


def is_whole(text: str) -> bool:
    return text.startswith("<") and text.endswith(">")


def slowly(text: str) -> Iterator[str]:
    """Yield the parts of a text, with time for a reader between them."""
    for start in range(0, len(text), 200):
        yield text[start : start + 200]
        time.sleep(PAUSE_S)
