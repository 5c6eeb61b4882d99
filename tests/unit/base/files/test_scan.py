from __future__ import annotations

import cProfile
import mmap
import os
import pstats
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.unit.base.files.deep import LONGEST, STEP, deep
from tests.unit.base.files.privilege import stopped_by_permissions
from widgetd.base.files.limits import LIMITS
from widgetd.base.files.scan import UNKNOWN, Scan, scan
from widgetd.base.files.source import Source
from widgetd.base.files.stamp import stamp_of, time_to_quiet_s

DENIED = "it cannot be read (Permission denied); let the user who runs widgetd read it"
look = partial(scan, suffixes=(".widget",), beside=".toml", limit_bytes=1_000, quiet_ms=0)


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    with stopped_by_permissions() as folder:
        yield folder


def write(file: Path, text: str = "") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def texts(scanned: Scan) -> dict[str, str]:
    return {path: source.content.decode() for path, source in scanned.sources.items()}


def faults(scanned: Scan) -> list[str]:
    return [f"{fault.finding.code} {fault}" for fault in scanned.faults.values()]


def test_scan_finds_the_served_files_of_every_folder_in_order(tmp_path: Path) -> None:
    for path in ("b.widget", "a.widget", "a.widget.toml", "z/y/x.widget", "z/w.widget"):
        write(tmp_path / path, path)
    for path in ("readme.md", "a.widget.crdownload", "a.widget~", "widget"):
        write(tmp_path / path)

    scanned = look(tmp_path)

    assert list(texts(scanned).items()) == [
        (path, path)
        for path in ("a.widget", "a.widget.toml", "b.widget", "z/w.widget", "z/y/x.widget")
    ]
    assert faults(scanned) == []


@pytest.mark.parametrize(
    "length", [LONGEST - 300, LONGEST - 1, LONGEST, LONGEST + 300, 3 * LONGEST]
)
def test_too_long_path_is_reported_and_affects_no_other_file(tmp_path: Path, length: int) -> None:
    (tmp_path / "a.widget").write_text("here")
    with deep(tmp_path, length) as path:
        full, hinted = look(tmp_path), look(tmp_path, [STEP], known=look(tmp_path))
        named = len(f"{tmp_path}/{path}") < LONGEST

        for each in (full, hinted):
            assert [*texts(each)] == (["a.widget", path] if named else ["a.widget"])
            problems = [fault.finding.problem for fault in each.faults.values()]
            assert problems == ([] if named else ["it cannot be read (File name too long)"])


def test_hidden_files_and_folders_are_not_looked_into(tmp_path: Path) -> None:
    for path in (".a.widget", "~a.widget", ".git/a.widget", "..data/a.widget", "~old/a.widget"):
        write(tmp_path / path)

    assert texts(look(tmp_path)) == {}


def test_root_may_be_a_link(tmp_path: Path) -> None:
    write(tmp_path / "root/a.widget", "here")
    (tmp_path / "link").symlink_to("root")

    assert texts(look(tmp_path / "link")) == {"a.widget": "here"}
    assert look(tmp_path / "link").root == look(tmp_path / "root").root


def test_folder_is_found_under_its_own_name_before_any_link(tmp_path: Path) -> None:
    write(tmp_path / "v1/a.widget")
    for link in ("current", "zzz"):
        (tmp_path / link).symlink_to("v1")

    assert list(texts(look(tmp_path))) == ["v1/a.widget"]


def test_hidden_folder_is_found_under_the_first_of_its_links(tmp_path: Path) -> None:
    write(tmp_path / ".v1/below/a.widget")
    for number in range(50, 90):
        (tmp_path / str(number)).symlink_to(".v1")

    assert list(texts(look(tmp_path))) == ["50/below/a.widget"]


def test_circular_links_are_followed_once(tmp_path: Path) -> None:
    write(tmp_path / "a/x.widget")
    (tmp_path / "a/up").symlink_to("..")
    (tmp_path / "a/here").symlink_to(".")

    scanned = look(tmp_path)

    assert list(texts(scanned)) == ["a/x.widget"]
    assert faults(scanned) == []


def test_linked_folder_elsewhere_is_one_fault(tmp_path: Path) -> None:
    write(tmp_path / "outside/a.widget")
    write(tmp_path / "root/b.widget")
    (tmp_path / "root/folder").symlink_to("../outside")

    scanned = look(tmp_path / "root")

    assert list(texts(scanned)) == ["b.widget"]
    assert faults(scanned) == [
        "W1003 folder: it leads outside the folder; put a copy into the folder"
    ]


def test_each_unreadable_file_is_a_fault_of_its_own(tmp_path: Path) -> None:
    write(tmp_path / "fine.widget", "fine")
    os.mkfifo(tmp_path / "pipe.widget")
    (tmp_path / "dangling.widget").symlink_to("nowhere")
    write(tmp_path / "long.widget", "." * 1_001)
    write(tmp_path / os.fsdecode(b"folder \xe9/\xff.widget"))

    scanned = look(tmp_path)

    assert texts(scanned) == {"fine.widget": "fine"}
    assert faults(scanned) == [
        "W1001 dangling.widget: the link leads nowhere; point it at a file, or remove it",
        r"W1004 folder \xe9/\xff.widget: the name is not UTF-8; rename the file",
        "W1002 long.widget: it is longer than 1,000 bytes; leave out what it does not need",
        "W1001 pipe.widget: it is a named pipe; put a regular file there",
    ]


def test_folder_named_like_a_file_is_a_folder(tmp_path: Path) -> None:
    write(tmp_path / "a.widget/b.widget")

    assert list(texts(look(tmp_path))) == ["a.widget/b.widget"]
    assert faults(look(tmp_path)) == []


def test_unreadable_file_is_a_fault(unprivileged: Path) -> None:
    write(unprivileged / "a.widget").chmod(0)

    scanned = look(unprivileged)

    assert texts(scanned) == {}
    assert faults(scanned) == [f"W1001 a.widget: {DENIED}"]


def test_files_of_an_unreadable_folder_keep_their_last_state(unprivileged: Path) -> None:
    write(unprivileged / "folder/a.widget", "known")
    write(unprivileged / "b.widget")
    before = look(unprivileged)
    (unprivileged / "folder").chmod(0)
    (unprivileged / "b.widget").unlink()

    scanned = look(unprivileged, known=before)
    glimpse = look(unprivileged, ["folder", "b.widget"], known=before)
    (unprivileged / "folder").chmod(0o700)

    assert faults(scanned) == faults(glimpse)
    assert faults(scanned) == [f"W1001 folder: {DENIED}"]
    assert texts(scanned) == texts(glimpse) == {"folder/a.widget": "known"}


def test_files_of_an_unreadable_folder_are_faults(unprivileged: Path) -> None:
    write(unprivileged / "folder/a.widget")
    (unprivileged / "folder").chmod(0o400)

    scanned = look(unprivileged)
    (unprivileged / "folder").chmod(0o700)

    assert faults(scanned) == [f"W1001 folder/a.widget: {DENIED}"]


def test_unlistable_root_is_a_failure_and_keeps_all_files(unprivileged: Path) -> None:
    write(unprivileged / "root/a.widget", "known")
    before = look(unprivileged / "root")
    (unprivileged / "root").chmod(0)

    scanned = look(unprivileged / "root", known=before)
    (unprivileged / "root").chmod(0o700)

    assert scanned.root is not None
    assert isinstance(scanned.failure, PermissionError)
    assert texts(scanned) == {"a.widget": "known"}


@pytest.mark.parametrize("instead", ["nothing", "a file"])
def test_missing_root_is_reported_and_keeps_all_files(instead: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root / "a.widget", "known")
    before = look(root)
    root.rename(tmp_path / "away")
    if instead == "a file":
        root.touch()

    scanned = look(root, known=before)

    assert scanned.root is None
    assert isinstance(scanned.failure, FileNotFoundError | NotADirectoryError)
    assert texts(scanned) == {"a.widget": "known"}


def test_missing_root_holds_nothing(tmp_path: Path) -> None:
    scanned = look(tmp_path / "root")

    assert (scanned.root, texts(scanned)) == (None, {})


def test_unchanged_file_is_not_read_again(tmp_path: Path) -> None:
    file = write(tmp_path / "a.widget", "on the disk")
    stamp = stamp_of(file.stat())
    remembered = Source(path="a.widget", content=b"remembered", digest="", stamp=stamp)
    known = replace(look(tmp_path), sources={"a.widget": remembered})

    assert texts(look(tmp_path, known=known)) == {"a.widget": "remembered"}
    os.utime(file, (1, 1))
    assert texts(look(tmp_path, known=known)) == {"a.widget": "on the disk"}


def test_file_read_right_after_a_write_is_read_once_more(tmp_path: Path) -> None:
    file = write(tmp_path / "a.widget", "old")
    with file.open("r+b") as opened, mmap.mmap(opened.fileno(), 0) as memory:
        memory[:] = b"one"
        before = look(tmp_path)
        stamped = file.stat()
        memory[:] = b"two"

        assert file.stat() == stamped
        assert texts(look(tmp_path, known=before)) == {"a.widget": "two"}


def test_file_just_written_is_unsettled_and_keeps_its_last_state(tmp_path: Path) -> None:
    file = write(tmp_path / "a.widget", "known")
    before = look(tmp_path)
    file.write_text("half")
    write(tmp_path / "b.widget", "half")

    scanned = look(tmp_path, known=before, quiet_ms=60_000)

    assert scanned.unsettled == {"a.widget", "b.widget"}
    assert texts(scanned) == {"a.widget": "known"}
    assert texts(look(tmp_path, known=scanned)) == {"a.widget": "half", "b.widget": "half"}


def test_empty_file_is_believed_once_it_stays_empty(tmp_path: Path) -> None:
    file = write(tmp_path / "a.widget", "known")
    before = look(tmp_path)
    file.write_text("")
    while time_to_quiet_s(file.stat(), 1):
        pass

    scanned = look(tmp_path, known=before, quiet_ms=1)

    assert texts(scanned) == {"a.widget": "known"}
    assert scanned.unsettled == {"a.widget"}
    assert 0 < scanned.settles_s <= LIMITS.empty_ns / 1e9
    long_ago_ns = scanned.empty_since_ns["a.widget"] - LIMITS.empty_ns
    known = replace(scanned, empty_since_ns={"a.widget": long_ago_ns})
    assert texts(look(tmp_path, known=known, quiet_ms=1)) == {"a.widget": ""}
    assert texts(look(tmp_path, ["a.widget"], known=known, quiet_ms=1)) == {"a.widget": ""}


def test_repaired_file_is_no_longer_a_fault(tmp_path: Path) -> None:
    file = tmp_path / "a.widget"
    os.mkfifo(file)
    before = look(tmp_path)
    file.unlink()
    write(file, "well")

    for scanned in (look(tmp_path, known=before), look(tmp_path, ["a.widget"], known=before)):
        assert (texts(scanned), faults(scanned)) == ({"a.widget": "well"}, [])


def test_faults_hold_no_frames(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.widget")

    fault = look(tmp_path).faults["a.widget"]

    assert (fault.__traceback__, fault.__context__) == (None, None)


def _calls(of: Callable[[], Scan]) -> tuple[Scan, dict[str, int]]:
    """Return what `of` does, and how often it called each built-in function."""
    profile = cProfile.Profile()
    scanned = profile.runcall(of)
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]  # typeshed lacks it
    return scanned, {name: counts[0] for (_, _, name), counts in stats.items()}


def test_empty_folder_is_listed_again_only_after_it_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widgetd.base.files.stamp.LIMITS", replace(LIMITS, racy_ns=50_000_000))
    for number in range(20):
        folder = tmp_path / f"d{number}" / "below"
        folder.mkdir(parents=True)
        (folder / "notes.txt").touch()
        os.utime(folder, (1, 1))
    known = UNKNOWN
    while len(known.empty_folders) < 20:  # until their last change lies far enough back
        known = look(tmp_path, known=known)
    again = partial(look, tmp_path, known=known)

    _, idle = _calls(again)
    (tmp_path / "d7/below/a.widget").write_text("{}")
    later, _ = _calls(again)

    assert idle["<built-in method posix.scandir>"] == 21  # the folder, and those above the empty
    assert list(later.sources) == ["d7/below/a.widget"]
    assert len(later.empty_folders) == 19
