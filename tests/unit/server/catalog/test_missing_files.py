"""A folder that comes back empty is not a deletion, and a deletion that was seen counts at once."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from tests.support.forked_daemons import forked_daemon
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from tests.system.server.web.asking import ask
from widgetd.base.files import folder
from widgetd.server.catalog import deletion, limits
from widgetd.server.catalog.catalog import Catalog
from widgetd.server.catalog.loader import load
from widgetd.server.catalog.rollback import Rollback
from widgetd.server.catalog.state import StateFolder

FILES = ("A.widget", "B.widget", "C.widget")
TOOLS = ["a", "b", "c"]
SOON_S, LATE_S = 1e-6, 60.0


@pytest.fixture
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Believe a deletion after two scans."""
    hurried = replace(limits.LIMITS, deletion_grace_s=SOON_S)
    monkeypatch.setattr(deletion, "LIMITS", hurried)


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[[], Path]]:
    """Yield a function that mounts an empty folder, in place of the one that it mounted before."""
    root = tmp_path / "mounted"
    root.mkdir()

    def mount() -> Path:
        with suppress(subprocess.CalledProcessError):
            subprocess.run(["umount", root], check=True, capture_output=True)
        try:
            subprocess.run(["mount", "-t", "tmpfs", "tmpfs", root], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("only root may mount a folder")
        return root

    yield mount
    subprocess.run(["umount", root], check=False, capture_output=True)


def serve(root: Path) -> Catalog:
    for name in FILES:
        (root / name).write_text(widget_file(name.removesuffix(".widget")))
    catalog = Catalog(root, load, quiet_ms=0)
    catalog.scan()
    return catalog


def tools(catalog: Catalog) -> list[str]:
    return list(catalog.current.widgets)


def remove(root: Path, *names: str) -> None:
    for name in names:
        (root / name).unlink()


@pytest.mark.usefixtures("_soon")
def test_folder_that_is_mounted_again_empty_keeps_its_widgets(mounted: Callable[[], Path]) -> None:
    root = mounted()
    catalog, before = serve(root), root.stat()
    mounted()
    assert (root.stat().st_dev, root.stat().st_ino) == (before.st_dev, before.st_ino)
    if folder.identify(root)[-1] == 0:
        pytest.skip("this kernel does not number mounts")
    for _ in range(3):
        catalog.scan()
    assert tools(catalog) == TOOLS
    assert str(catalog.current.degraded) == (
        "the widgets folder was replaced by an empty one; "
        "put the files back; they are served for 60 s, or until widgetd gets SIGHUP"
    )

    (root / "A.widget").write_text(widget_file("A"))
    mounted()
    (root / "B.widget").write_text(widget_file("B"))
    catalog.scan()
    catalog.scan()
    assert tools(catalog) == TOOLS
    assert str(catalog.current.degraded).startswith("the widgets folder was mounted again;")

    catalog.scan(confirmed=True)
    assert tools(catalog) == ["b"]
    assert catalog.current.degraded is None


@pytest.mark.usefixtures("_soon")
def test_files_that_vanish_without_an_event_are_served_on(tmp_path: Path) -> None:
    catalog = serve(tmp_path)
    remove(tmp_path, *FILES)
    for _ in range(3):
        catalog.scan()
    assert tools(catalog) == TOOLS
    assert str(catalog.current.degraded).startswith("3 files vanished without an event; ")
    assert 50 < (catalog.due_s or 0) <= LATE_S

    for name in FILES:
        (tmp_path / name).write_text(widget_file(name.removesuffix(".widget")))
    catalog.scan()
    assert catalog.current.degraded is None
    assert catalog.due_s is None


def test_files_that_stay_away_are_removed_after_the_grace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion, "LIMITS", replace(limits.LIMITS, empty_grace_s=SOON_S))
    catalog = serve(tmp_path)
    remove(tmp_path, *FILES)
    catalog.scan()
    assert tools(catalog) == TOOLS
    catalog.scan()
    assert tools(catalog) == []
    assert catalog.current.degraded is None


@pytest.mark.usefixtures("_soon")
@pytest.mark.parametrize("count", [2, 3])
def test_deletions_that_events_reported_count_at_once(tmp_path: Path, count: int) -> None:
    catalog = serve(tmp_path)
    remove(tmp_path, *FILES[:count])
    catalog.scan(deleted=count > 2)
    catalog.scan()
    assert tools(catalog) == TOOLS[count:]
    assert catalog.current.degraded is None


@pytest.mark.usefixtures("_soon")
def test_event_that_follows_the_scan_ends_the_doubt_about_its_file(tmp_path: Path) -> None:
    catalog = serve(tmp_path)
    remove(tmp_path, *FILES)
    catalog.scan()
    catalog.scan(["A.widget"], deleted=True)
    catalog.scan()
    assert tools(catalog) == ["b", "c"]
    catalog.scan(["B.widget", "C.widget"], deleted=True)
    catalog.scan()
    assert (tools(catalog), catalog.current.degraded) == ([], None)


def test_folder_that_cannot_be_listed_is_scanned_again_soon(tmp_path: Path) -> None:
    root = tmp_path / "widgets"
    root.mkdir()
    catalog = serve(root)
    root.rename(tmp_path / "away")
    catalog.scan()
    assert catalog.current.degraded is not None
    assert (catalog.due_s or LATE_S) < 1
    (tmp_path / "away").rename(root)
    catalog.scan()
    assert catalog.current.degraded is None


def start(root: Path, state: Path) -> Catalog:
    """Return the catalog of a daemon after its first scan; it has kept what it serves."""
    catalog = Catalog(root, load, rollback=Rollback(StateFolder(state), load), quiet_ms=0)
    catalog.scan()
    catalog.copies()()
    return catalog


@pytest.mark.usefixtures("_soon")
@pytest.mark.parametrize("removed", [FILES, FILES[:1]])
def test_folder_that_is_empty_at_a_start_is_served_from_the_state_folder(
    tmp_path: Path, removed: tuple[str, ...]
) -> None:
    root, state = tmp_path / "widgets", tmp_path / "state"
    root.mkdir()
    serve(root)
    remove(root, *(set(FILES) - set(removed)))
    start(root, state)
    remove(root, *removed)
    for catalog in (start(root, state), start(root, state)):
        catalog.scan()
        assert tools(catalog) == TOOLS[: len(removed)]
        assert str(catalog.current.degraded) == (
            f"files vanished while widgetd was down ({len(removed)}); "
            "put the files back; they are served for 60 s, or until widgetd gets SIGHUP"
        )
        assert 50 < (catalog.due_s or 0) <= LATE_S

    catalog.scan(confirmed=True)
    catalog.copies()()
    again = start(root, state)
    for emptied in (catalog, again):
        assert (tools(emptied), emptied.current.degraded) == ([], None)


@pytest.mark.usefixtures("_soon")
@pytest.mark.parametrize(("count", "moved"), [(2, False), (3, False), (3, True)])
def test_start_misses_three_files_that_are_nowhere_else(
    tmp_path: Path, count: int, *, moved: bool
) -> None:
    root, state = tmp_path / "widgets", tmp_path / "state"
    root.mkdir()
    serve(root)
    (root / "D.widget").write_text(widget_file("D"))
    start(root, state)
    (root / "below").mkdir()
    for name in FILES[:count]:
        (root / name).rename(root / "below" / name)
        if not moved:
            (root / "below" / name).unlink()
    catalog = start(root, state)
    catalog.scan()
    is_missed = count > 2 and not moved
    assert (catalog.current.degraded is not None) is is_missed
    removed = 0 if is_missed or moved else count
    assert tools(catalog) == [*TOOLS, "d"][removed:]


def test_file_that_is_replaced_during_a_start_keeps_its_last_good_version(tmp_path: Path) -> None:
    root, state = tmp_path / "widgets", tmp_path / "state"
    root.mkdir()
    serve(root)
    start(root, state)
    remove(root, FILES[0])
    catalog = start(root, state)
    (root / FILES[0]).write_bytes(b"")
    catalog.scan()
    catalog.copies()()

    for later in (catalog, start(root, state)):
        assert tools(later) == TOOLS
        assert later.current.faults.keys() == {FILES[0]}


@pytest.mark.parametrize("is_running", [True, False])
def test_renamed_and_edited_file_is_not_refused_for_its_former_name(
    tmp_path: Path, *, is_running: bool
) -> None:
    root, state = tmp_path / "widgets", tmp_path / "state"
    root.mkdir()
    serve(root)
    catalog = start(root, state)
    remove(root, FILES[0])
    (root / "Z.widget").write_text(widget_file("A") + " ")
    if is_running:
        catalog.scan([FILES[0], "Z.widget"], ["Z.widget"], deleted=True)
    else:
        catalog = start(root, state)

    assert catalog.current.claims["a"] == ("Z.widget",)
    assert (tools(catalog), catalog.current.refusals) == (TOOLS, ())


async def test_daemon_removes_deleted_files_at_once_and_keeps_vanished_ones_until_sighup(
    tmp_path: Path,
) -> None:
    serve(tmp_path)
    async with forked_daemon(tmp_path) as served:
        # Files that vanish before the events are followed count as vanished.
        await wait_for(served.url, widgets=3, degraded="", watch="native")
        remove(tmp_path, *FILES)
        await wait_for(served.url, widgets=0, degraded="")

    serve(tmp_path)
    async with forked_daemon(tmp_path, "--poll", "0.1") as served:
        remove(tmp_path, *FILES)
        await wait_for(served.url, widgets=3, degraded="3 files vanished without an event")
        os.kill(served.process.pid, signal.SIGHUP)
        await wait_for(served.url, widgets=0, degraded="")


async def wait_for(url: str, *, widgets: int, degraded: str, watch: str = "") -> None:
    """Wait until `/readyz` counts so many widgets and gives this reason."""
    with anyio.fail_after(PATIENCE_S):
        while True:
            report = (await ask(url, "/readyz")).json()
            reason = (report["degraded"] or "").partition(";")[0]
            is_so = (report["widgets"], reason) == (widgets, degraded)
            if is_so and watch in ("", report["watch"]):
                return
            await anyio.sleep(0.02)
