from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from widgetd.base.files.scan import Scan, scan

look = partial(scan, suffixes=(".widget",), beside=".toml", limit_bytes=1_000, quiet_ms=0)


def messages_of(scanned: Scan) -> tuple[list[tuple[str, bytes]], list[str]]:
    """Return the sources and faults of a scan in its order."""
    sources = [(path, source.content) for path, source in scanned.sources.items()]
    return sources, [str(fault) for fault in scanned.faults.values()]


@pytest.mark.parametrize(
    ("hinted", "visited"),
    [
        (["a.widget"], {"a.widget"}),
        (["one"], {"one/b.widget", "one/more/c.widget"}),
        (["one/more"], {"one/more/c.widget"}),
        (["a.widget", "one/more"], {"a.widget", "one/more/c.widget"}),
        (["a.widget.tmp", "4913", ".a.widget.swp"], set()),
        (["nowhere/a.widget", "nowhere"], set()),
    ],
)
def test_partial_scan_reads_only_the_hinted_places(
    hinted: list[str], visited: set[str], tmp_path: Path
) -> None:
    paths = ("a.widget", "b.widget", "one/b.widget", "one/more/c.widget")
    write_all(tmp_path, paths, "old")
    known = look(tmp_path)
    write_all(tmp_path, (*paths, "a.widget.tmp", ".a.widget.swp"), "new")

    scanned = look(tmp_path, hinted, known=known)

    assert {path for path in paths if scanned.sources[path].content == b"new"} == visited


@pytest.mark.parametrize(
    "hint",
    ["..data", "..data/a.widget", "..gone", ".store", ".store/a.widget", "link", "link/a.widget"],
)
def test_hint_about_unknown_names_scans_everything(hint: str, tmp_path: Path) -> None:
    write_all(tmp_path, ("..2026/a.widget", ".store/a.widget"), "linked")
    (tmp_path / "..data").symlink_to("..2026")
    (tmp_path / "link").symlink_to(".store")
    known = look(tmp_path)
    write_all(tmp_path, ("b.widget",), "new")

    assert "b.widget" in look(tmp_path, [hint], known=known).sources


def test_no_path_at_all_is_a_look_at_everything(tmp_path: Path) -> None:
    known = look(tmp_path)
    write_all(tmp_path, ("a.widget",), "new")

    assert list(look(tmp_path, (), known=known).sources) == ["a.widget"]


def test_another_folder_is_scanned_completely(tmp_path: Path) -> None:
    write_all(tmp_path / "root", ("a.widget", "b.widget"), "old")
    known = look(tmp_path / "root")
    (tmp_path / "root").rename(tmp_path / "away")
    write_all(tmp_path / "root", ("a.widget",), "new")

    scanned = look(tmp_path / "root", ["a.widget"], known=known)

    assert messages_of(scanned) == ([("a.widget", b"new")], [])


def test_after_a_failure_everything_is_looked_at(tmp_path: Path) -> None:
    known = replace(look(tmp_path), failure=PermissionError())
    write_all(tmp_path, ("a.widget", "b.widget"), "new")

    scanned = look(tmp_path, ["a.widget"], known=known)

    assert list(scanned.sources) == ["a.widget", "b.widget"]
    assert scanned.failure is None


def test_folder_with_links_is_scanned_completely(tmp_path: Path) -> None:
    write_all(tmp_path, ("v1/a.widget",), "real")
    known = look(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/current").symlink_to("../v1")

    assert list(look(tmp_path, ["folder"], known=known).sources) == ["v1/a.widget"]


def test_unsettled_files_are_scanned_again(tmp_path: Path) -> None:
    write_all(tmp_path, ("a.widget", "b.widget"), "new")
    known = look(tmp_path, quiet_ms=60_000)
    assert known.unsettled == {"a.widget", "b.widget"}

    scanned = look(tmp_path, ["b.widget"], known=known)

    assert messages_of(scanned) == ([("a.widget", b"new"), ("b.widget", b"new")], [])
    assert scanned.unsettled == set()


@pytest.mark.skipif(sys.platform != "linux", reason="needs the clock by which Linux dates writes")
def test_only_finished_files_are_read_right_after_writing(tmp_path: Path) -> None:
    known = look(tmp_path)
    paths = ("a.widget", "b.widget")
    write_all(tmp_path, paths, "new")

    scanned = look(tmp_path, paths, known=known, quiet_ms=60_000, finished={"a.widget"})

    assert messages_of(scanned) == ([("a.widget", b"new")], [])
    assert scanned.unsettled == {"b.widget"}


NAMES = st.sampled_from(["a", "b", "b.widget", "c.widget", ".d", ".e.widget", "..data"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
DEEDS = st.lists(st.tuples(st.sampled_from(["write", "remove", "move"]), PATHS, PATHS))


@settings(deadline=None)  # how long a busy disk takes is no property of a partial scan
@given(deeds=DEEDS)
def test_partial_scan_equals_a_full_scan_without_links(deeds: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        known = look(root)
        for deed in deeds:
            touched = do(root, *deed)
            known = look(root, touched, known=known) if touched else known

            assert messages_of(known) == messages_of(look(root))


def do(root: Path, deed: str, path: str, other: str) -> Collection[str]:
    """Do one thing to a folder, if it can be done; the paths that events would name."""
    file = root / path
    try:
        match deed:
            case "write":
                folders = [
                    path for path in file.relative_to(root).parents if not (root / path).exists()
                ]
                write_all(root, [path], other)
                return {path, *map(str, folders)}
            case "move":
                file.rename(root / other)
                return {path, other}
            case _ if file.is_dir():
                shutil.rmtree(file)
            case _:
                file.unlink()
    except OSError:
        return ()
    return {path}


def write_all(root: Path, paths: Collection[str], text: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
