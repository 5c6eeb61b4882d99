"""The last good version of a file outlives the process, in the latest generation."""

from __future__ import annotations

from pathlib import Path

import anyio

from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import greeting, widget_file
from tests.system.server.web.asking import ask
from tests.unit.base.files.privilege import stopped_by_permissions
from widgetd.base.files.source import Source
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.catalog import Catalog
from widgetd.server.catalog.loader import Load, load
from widgetd.server.catalog.rollback import Rollback
from widgetd.server.catalog.state import StateFolder
from widgetd.server.catalog.versions import Versions


def folders(tmp_path: Path) -> tuple[Path, Path]:
    widgets, state = tmp_path / "widgets", tmp_path / "state"
    widgets.mkdir()
    state.mkdir()
    return widgets, state


def catalog_of(widgets: Path, state: Path, load: Load, *, quiet_ms: int = 0) -> Catalog:
    return Catalog(widgets, load, rollback=Rollback(StateFolder(state), load), quiet_ms=quiet_ms)


def scan_and_store(catalog: Catalog) -> None:
    catalog.scan()
    catalog.copies()()


def fail_on_a(file: Source, sidecar: Source | None) -> Widget:
    if file.path == "A.widget" and file.content != b"{":
        raise RuntimeError("a defect")
    return load(file, sidecar)


def copies_in(state: Path) -> list[str]:
    """Return the files of the latest generation of each folder that shares `state`."""
    each = [Versions(StateFolder(folder)) for folder in state.iterdir()]
    return [
        path for one in each for last in one.latest()[-1:] for path in one.files(last.generation)
    ]


async def wait_for_copy(state: Path, count: int) -> None:
    """Wait until so many copies are in place."""
    with anyio.fail_after(PATIENCE_S):
        while len(copies_in(state)) != count:  # noqa: ASYNC110 - nothing tells of a copy
            await anyio.sleep(0.01)


async def test_file_broken_while_the_daemon_was_down_serves_its_last_good_version(
    tmp_path: Path,
) -> None:
    widgets, state = folders(tmp_path)
    (widgets / "A.widget").write_text(widget_file("A"))
    (widgets / "A.widget.toml").write_text('title = "The first"\n')
    async with serving(widgets, state_dir=state):
        await wait_for_copy(state, 1)
    (widgets / "A.widget").write_text("{")

    async with serving(widgets, state_dir=state) as url, connect_client(url, "modern") as client:
        result = await client.call("a", who="Ada")
        report = (await ask(url, "/status")).json()
        [tool] = [each for each in (await client.client.list_tools()).tools if each.name == "a"]

    assert result.structured_content == greeting("Hello", "Ada")
    assert tool.title == "The first"
    assert [(fault["path"], fault["state"]) for fault in report["faults"]] == [
        ("A.widget", "stale")
    ]


def test_failure_of_widgetd_on_a_copy_costs_that_copy_alone(tmp_path: Path) -> None:
    widgets, state = folders(tmp_path)

    for name in "AB":
        (widgets / f"{name}.widget").write_text(widget_file(name))
    scan_and_store(catalog_of(widgets, state, load))
    for name in "AB":
        (widgets / f"{name}.widget").write_text("{")

    assert list(catalog_of(widgets, state, fail_on_a).scan().widgets) == ["b"]


def test_file_being_written_at_a_start_is_no_removed_file(tmp_path: Path) -> None:
    widgets, state = folders(tmp_path)

    for name in "AB":
        (widgets / f"{name}.widget").write_text(widget_file(name))
    scan_and_store(catalog_of(widgets, state, load))
    (widgets / "A.widget").write_text("")
    scan_and_store(catalog_of(widgets, state, fail_on_a, quiet_ms=1))
    (widgets / "A.widget").write_text("{")

    assert list(catalog_of(widgets, state, load).scan().widgets) == ["a", "b"]


def test_folder_that_cannot_be_listed_at_a_start_costs_no_widget_below_it() -> None:
    with stopped_by_permissions() as folder:
        widgets, state = folders(folder)
        (widgets / "sub").mkdir()
        (widgets / "sub/A.widget").write_text(widget_file("A"))
        scan_and_store(catalog_of(widgets, state, load))
        (widgets / "sub").chmod(0)

        after = catalog_of(widgets, state, load)
        served = [list(after.scan(confirmed=confirmed).widgets) for confirmed in (False, True)]
        (widgets / "sub").chmod(0o700)

    assert served == [["a"], ["a"]]


async def test_two_folders_on_one_state_folder_keep_apart(tmp_path: Path) -> None:
    widgets, state = folders(tmp_path)
    other, link = tmp_path / "other", tmp_path / "link"
    other.mkdir()
    link.symlink_to(widgets)
    (widgets / "A.widget").write_text(widget_file("A", text="Mine"))
    (other / "A.widget").write_text(widget_file("A", text="Theirs"))
    (other / "B.widget").write_text(widget_file("B"))
    for each in (widgets, other):
        async with serving(each, state_dir=state):
            pass
    assert len(copies_in(state)) == 3
    (widgets / "A.widget").write_text("{")
    (widgets / "B.widget").write_text("{")

    for name in (widgets, link):
        async with serving(name, state_dir=state) as url, connect_client(url, "modern") as client:
            result = await client.call("a", who="Ada")
            assert result.structured_content == greeting("Mine", "Ada")
            assert "b" not in await client.tools()
    assert len(copies_in(state)) == 3
