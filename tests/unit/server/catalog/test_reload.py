"""A folder's files become a snapshot, and only changed files are built again."""

from __future__ import annotations

import os
import sys
import threading
from functools import partial
from pathlib import Path

import anyio
import pytest

from tests.support.logs import captured_logs
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from widgetd.base.files.folder import bundled_folder
from widgetd.base.files.hints import Hints
from widgetd.base.files.source import Source
from widgetd.base.files.stamp import time_to_quiet_s
from widgetd.base.limits import Limits
from widgetd.base.system import Disk, System
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.catalog import Catalog
from widgetd.server.catalog.loader import load
from widgetd.server.catalog.registry import Registry
from widgetd.server.catalog.reload import reload
from widgetd.server.catalog.rollback import Rollback
from widgetd.server.catalog.state import StateFolder
from widgetd.server.catalog.versions import Versions


class Counting:
    """Makes widgets, and remembers of which files."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def __call__(self, source: Source, sidecar: Source | None) -> Widget:
        self.made.append(source.path)
        return load(source, sidecar, limits=Limits())


def counting_catalog(root: Path, *, quiet_ms: int = 0) -> tuple[Catalog, Counting]:
    counting = Counting()
    return Catalog(root, counting, quiet_ms=quiet_ms), counting


def write_greeting(root: Path, name: str, text: str = "Hello") -> None:
    (root / f"{name}.widget").write_text(widget_file(name, text=text))


def test_one_change_costs_one_build_among_any_number_of_widgets(tmp_path: Path) -> None:
    for number in range(50):
        write_greeting(tmp_path, f"Widget {number}")
    catalog, counting = counting_catalog(tmp_path)
    catalog.scan()
    counting.made.clear()

    write_greeting(tmp_path, "Widget 7", text="Goodbye")
    catalog.scan(["Widget 7.widget"])

    assert counting.made == ["Widget 7.widget"]


def test_changed_sidecar_builds_its_widget_again(tmp_path: Path) -> None:
    write_greeting(tmp_path, "Greeting")
    catalog, counting = counting_catalog(tmp_path)
    assert catalog.scan().widgets["greeting"].definition.sidecar.description is None

    (tmp_path / "Greeting.widget.toml").write_text('description = "Greet somebody."')
    after = catalog.scan()

    assert after.widgets["greeting"].description == "Greet somebody."
    assert counting.made == ["Greeting.widget"] * 2


def test_reload_without_changes_keeps_the_snapshot(tmp_path: Path) -> None:
    write_greeting(tmp_path, "Greeting")
    catalog, counting = counting_catalog(tmp_path)
    first = catalog.scan()

    (tmp_path / "Greeting.widget").touch()

    assert catalog.scan() is first
    assert counting.made == ["Greeting.widget"]


def test_broken_file_keeps_its_last_good_widget_with_its_fault(tmp_path: Path) -> None:
    write_greeting(tmp_path, "Greeting")
    catalog, _ = counting_catalog(tmp_path)
    good = catalog.scan()

    (tmp_path / "Greeting.widget").write_text("{")
    broken = catalog.scan()

    assert broken.widgets["greeting"] is good.widgets["greeting"]
    assert broken.stale == ("greeting",)
    assert list(broken.faults) == ["Greeting.widget"]


def test_file_on_which_widgetd_itself_fails_harms_no_other(tmp_path: Path) -> None:
    def failing(source: Source, sidecar: Source | None) -> Widget:
        if source.path == "Other.widget":
            raise ZeroDivisionError
        return load(source, sidecar, limits=Limits())

    write_greeting(tmp_path, "Greeting")
    write_greeting(tmp_path, "Other")
    snapshot = Catalog(tmp_path, failing, quiet_ms=0).scan()

    assert list(snapshot.widgets) == ["greeting"]
    assert [str(fault) for fault in snapshot.faults.values()] == [
        (
            "Other.widget: widgetd itself failed on it (ZeroDivisionError); "
            "this is a defect of widgetd; report it with this file"
        )
    ]


def test_broken_sidecar_keeps_the_last_good_widget_too(tmp_path: Path) -> None:
    write_greeting(tmp_path, "Greeting")
    catalog, _ = counting_catalog(tmp_path)
    catalog.scan()

    (tmp_path / "Greeting.widget.toml").write_text('descripton = "x"')
    broken = catalog.scan()

    assert broken.stale == ("greeting",)
    assert [str(fault) for fault in broken.faults.values()] == [
        "Greeting.widget.toml: line 1: the key 'descripton' is unknown; did you mean 'description'?"
    ]


def test_unsuccessful_scan_of_the_whole_folder_is_charged() -> None:
    # Files that were not written just now, for those are read once more.
    catalog, _ = counting_catalog(bundled_folder())
    catalog.scan()
    catalog.scan(["Flight Tracker.widget"])
    assert catalog.cost_s == 0

    catalog.scan()

    assert 0 < catalog.cost_s < 1


def test_emptied_file_is_read_again_without_the_timer(tmp_path: Path) -> None:
    catalog, _ = counting_catalog(tmp_path, quiet_ms=1)
    file = tmp_path / "Greeting.widget"
    for text in (widget_file(), ""):
        file.write_text(text)
        while time_to_quiet_s(file.stat(), 1):
            pass
        catalog.scan()

    assert catalog.current.widgets
    assert not catalog.current.faults
    assert 0 < (catalog.due_s or 0) <= 1


def test_file_absent_in_one_scan_is_still_served(tmp_path: Path) -> None:
    write_greeting(tmp_path, "Greeting")
    catalog, _ = counting_catalog(tmp_path)
    catalog.scan()

    (tmp_path / "Greeting.widget").unlink()

    assert "greeting" in catalog.scan().widgets
    assert 0 < (catalog.due_s or 0) <= 0.25


def test_vanished_folder_removes_nothing_and_degrades(tmp_path: Path) -> None:
    root = tmp_path / "widgets"
    root.mkdir()
    write_greeting(root, "Greeting")
    catalog, _ = counting_catalog(root)
    catalog.scan()

    root.rename(tmp_path / "elsewhere")
    result = catalog.scan()

    assert "greeting" in result.widgets
    assert str(result.degraded) == (
        "the widgets folder is not there; put it back; until then everything goes on serving"
    )

    root.mkdir()
    empty = catalog.scan()
    assert "greeting" in empty.widgets
    assert str(empty.degraded) == (
        "the widgets folder was replaced by an empty one; "
        "put the files back; they are served for 60 s, or until widgetd gets SIGHUP"
    )

    write_greeting(root, "Greeting")
    assert catalog.scan().degraded is None


@pytest.mark.skipif(sys.platform != "linux", reason="needs the clock by which Linux dates writes")
def test_finished_file_is_awaited_if_it_would_be_refused(tmp_path: Path) -> None:
    write_greeting(tmp_path, "Greeting")
    catalog, _ = counting_catalog(tmp_path, quiet_ms=60_000)
    good = catalog.scan(["Greeting.widget"], finished=["Greeting.widget"])

    (tmp_path / "Greeting.widget").write_text("{")

    assert catalog.scan(["Greeting.widget"], finished=["Greeting.widget"]) is good
    assert catalog.unsettled_files == {"Greeting.widget"}


async def test_swap_wakes_waiters_before_its_log_event_which_a_stop_does_not_lose(
    tmp_path: Path,
) -> None:
    write_greeting(tmp_path, "Greeting")
    hints, registry = Hints(), Registry()
    with captured_logs() as logged:
        async with anyio.create_task_group() as tasks:
            there = anyio.Event()
            catalog, _ = counting_catalog(tmp_path)
            tasks.start_soon(partial(reload, catalog, hints, registry, on_scan=there.set))
            with anyio.fail_after(PATIENCE_S):
                await there.wait()
                served = registry.current
                write_greeting(tmp_path, "Greeting", text="Goodbye")
                hints.add(["Greeting.widget"])
                await registry.wait_for_newer(served)
            swaps = [line.get("tools") for line in logged.all]
            tasks.cancel_scope.cancel()

    assert swaps == [["greeting"]]
    assert [line.get("added") for line in logged.all] == [1, None]
    assert [line.get("changed") for line in logged.all] == [None, 1]
    assert logged.all[1]["tools"] == ["greeting"]


class StuckDisk(Disk):
    """A disk that syncs nothing until it is released."""

    def __init__(self) -> None:
        self.released = threading.Event()

    def fsync(self, descriptor: int) -> None:  # type: ignore[override]  # a method here
        assert self.released.wait(PATIENCE_S)
        os.fsync(descriptor)


async def test_swaps_do_not_wait_for_the_disk_and_a_stop_saves_them_in_order(
    tmp_path: Path,
) -> None:
    widgets, state, disk = tmp_path / "widgets", tmp_path / "state", StuckDisk()
    widgets.mkdir()
    folder = StateFolder(state, System(disk=disk))
    catalog = Catalog(widgets, load, rollback=Rollback(folder, load), quiet_ms=0)
    hints, registry, generations = Hints(), Registry(), []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(reload, catalog, hints, registry, on_scan=lambda: None))
        with anyio.fail_after(PATIENCE_S):
            for text in ("One", "Two", "Three"):
                served = registry.current
                write_greeting(widgets, "Greeting", text=text)
                hints.add(["Greeting.widget"])
                await registry.wait_for_newer(served)
                generations.append(registry.current.generation)
        unsynced = Versions(StateFolder(state)).latest()
        tasks.cancel_scope.cancel()
        disk.released.set()

    assert unsynced == []
    kept = Versions(StateFolder(state)).latest()
    assert [version.generation for version in kept] == generations
