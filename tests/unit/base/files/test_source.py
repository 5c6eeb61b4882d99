from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import pytest

from widgetd.base.errors import WidgetError
from widgetd.base.files.folder import Folder, open_folder
from widgetd.base.files.limits import LIMITS
from widgetd.base.files.source import Source, Unsettled, read
from widgetd.base.files.stamp import is_racy, stamp_of, time_to_quiet_s, wait_for_tick

LIMIT_BYTES = 1_000


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    (tmp_path / "root").mkdir()
    with open_folder(tmp_path / "root") as folder:
        yield folder


def source_of(folder: Folder, path: str) -> Source:
    return read(folder, path, limit_bytes=LIMIT_BYTES, quiet_ms=0)


def fault_of(folder: Folder, path: str) -> str:
    with pytest.raises(WidgetError) as caught:
        source_of(folder, path)
    return f"{caught.value.finding.code} {caught.value}"


def test_source_is_all_bytes_and_their_digest(folder: Folder) -> None:
    Path(folder.path, "a.widget").write_bytes(b"\x00\xff")

    assert source_of(folder, "a.widget") == Source(
        path="a.widget",
        content=b"\x00\xff",
        digest=blake2b(b"\x00\xff", digest_size=16).hexdigest(),
    )


def test_file_of_exactly_the_permitted_length_is_read(folder: Folder) -> None:
    Path(folder.path, "a.widget").write_bytes(bytes(LIMIT_BYTES))

    assert len(source_of(folder, "a.widget").content) == LIMIT_BYTES


def test_oversized_file_is_refused(folder: Folder) -> None:
    Path(folder.path, "a.widget").write_bytes(bytes(LIMIT_BYTES + 1))

    assert fault_of(folder, "a.widget") == (
        "W1002 a.widget: it is longer than 1,000 bytes; leave out what it does not need"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="needs the clock by which Linux dates writes")
def test_finished_file_is_read_right_after_its_write(folder: Folder) -> None:
    Path(folder.path, "a.widget").write_text("whole")

    source = read(folder, "a.widget", limit_bytes=LIMIT_BYTES, quiet_ms=60_000, finished=True)

    assert source.content == b"whole"


def test_recently_written_file_is_unsettled_for_the_rest_of_its_tick(folder: Folder) -> None:
    file = Path(folder.path, "a.widget")
    file.touch()
    written_s = file.stat().st_ctime

    with pytest.raises(Unsettled) as raised:
        read(folder, "a.widget", limit_bytes=LIMIT_BYTES, quiet_ms=60_000)

    assert raised.value.settles_s <= 60
    assert written_s + 60 <= time.time() + raised.value.settles_s


def test_mtime_in_the_future_does_not_unsettle_a_file(folder: Folder) -> None:
    file = Path(folder.path, "a.widget")
    file.touch()
    os.utime(file, (4_000_000_000, 4_000_000_000))

    assert source_of(folder, "a.widget").content == b""


def test_source_read_right_after_a_write_has_no_stamp(folder: Folder) -> None:
    Path(folder.path, "a.widget").touch()

    assert source_of(folder, "a.widget").stamp is None


def test_missing_file_has_no_source(folder: Folder) -> None:
    Path(folder.path, "file").touch()

    for path in ("a.widget", "folder/a.widget", "file/a.widget"):
        with pytest.raises(FileNotFoundError):
            source_of(folder, path)


def test_named_pipe_is_refused_without_waiting_for_a_writer(folder: Folder) -> None:
    os.mkfifo(Path(folder.path, "a.widget"))

    assert fault_of(folder, "a.widget") == (
        "W1001 a.widget: it is a named pipe; put a regular file there"
    )


def test_socket_is_refused(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("a.widget")

        assert fault_of(folder, "a.widget") == (
            "W1001 a.widget: it is a socket; put a regular file there"
        )


def test_folder_and_a_device_are_refused(folder: Folder) -> None:
    Path(folder.path, "a.widget").mkdir()
    Path(folder.path, "b.widget").symlink_to("/dev/zero")

    assert fault_of(folder, "a.widget") == (
        "W1001 a.widget: it is a folder; put a regular file there"
    )
    assert fault_of(folder, "b.widget") == (
        "W1001 b.widget: it is a device; put a regular file there"
    )


def test_name_outside_utf_8_is_refused_with_a_printable_name(folder: Folder) -> None:
    name = os.fsdecode(b"\xff.widget")
    Path(folder.path, name).touch()

    assert fault_of(folder, name) == r"W1004 \xff.widget: the name is not UTF-8; rename the file"


def test_dangling_link_is_refused(folder: Folder) -> None:
    Path(folder.path, "a.widget").symlink_to("nowhere")

    assert fault_of(folder, "a.widget") == (
        "W1001 a.widget: the link leads nowhere; point it at a file, or remove it"
    )


def test_link_to_itself_is_refused(folder: Folder) -> None:
    Path(folder.path, "a.widget").symlink_to("a.widget")

    assert fault_of(folder, "a.widget") == (
        "W1001 a.widget: it cannot be read (Too many levels of symbolic links); "
        "let the user who runs widgetd read it"
    )


@pytest.mark.parametrize("path", ["link.widget", "folder/secret.widget", "../secret.widget"])
def test_files_outside_the_folder_are_not_read(folder: Folder, path: str) -> None:
    root = Path(folder.path)
    (root / "../secret.widget").write_text("secret")
    (root / "link.widget").symlink_to("../secret.widget")
    (root / "folder").symlink_to("..")

    assert fault_of(folder, path) == (
        f"W1003 {path}: it leads outside the folder; put a copy into the folder"
    )


def test_absolute_path_leads_out(folder: Folder) -> None:
    assert fault_of(folder, "/etc/passwd") == (
        "W1003 /etc/passwd: it leads outside the folder; put a copy into the folder"
    )


def test_links_within_the_folder_are_followed(folder: Folder) -> None:
    root = Path(folder.path)
    (root / "..2026").mkdir()
    (root / "..2026/a.widget").write_text("linked")
    (root / "..data").symlink_to("..2026")
    (root / "a.widget").symlink_to("..data/a.widget")

    assert source_of(folder, "a.widget").content == b"linked"


def test_folder_renamed_while_held_open_still_holds_its_files(folder: Folder) -> None:
    Path(folder.path, "a.widget").write_text("here")
    Path(folder.path).rename(Path(folder.path).with_name("renamed"))

    assert source_of(folder, "a.widget").content == b"here"


HOUR_MS = 3_600_000


def status(*, ctime_ms_ago: int) -> os.stat_result:
    return make_status(time.time_ns() - ctime_ms_ago * 1_000_000)


def make_status(ctime_ns: int) -> os.stat_result:
    return os.stat_result((0,) * 10, {"st_ctime_ns": ctime_ns, "st_mtime_ns": 0})


@pytest.mark.parametrize(
    ("ctime_ms_ago", "quiet", "racy"),
    [
        (0, False, True),
        (LIMITS.quiet_ms + 1, True, True),
        (2_001, True, False),
        (-HOUR_MS, True, False),
    ],
    ids=["now", "a moment ago", "a while ago", "by a clock that is ahead"],
)
def test_how_far_a_ctime_is_believed(ctime_ms_ago: int, quiet: bool, racy: bool) -> None:
    status_result = status(ctime_ms_ago=ctime_ms_ago)

    assert (not time_to_quiet_s(status_result, LIMITS.quiet_ms), is_racy(status_result)) == (
        quiet,
        racy,
    )


def test_stamp_matches_its_own_file_and_no_later_write() -> None:
    status_result = status(ctime_ms_ago=5)

    assert stamp_of(status_result) == stamp_of(make_status(status_result.st_ctime_ns))
    assert stamp_of(status_result) != stamp_of(status(ctime_ms_ago=0))


@pytest.mark.skipif(sys.platform != "linux", reason="needs the clock by which Linux dates writes")
def test_write_is_outlasted_after_the_next_clock_tick() -> None:
    ticking = 5  # CLOCK_REALTIME_COARSE, see clock_gettime(2)
    now_ns = time.clock_gettime_ns(ticking)

    assert wait_for_tick(make_status(now_ns))
    assert time.clock_gettime_ns(ticking) > now_ns


@pytest.mark.parametrize("step_ns", [10_000_000, 1_000_000_000, 2_000_000_000])
def test_write_with_a_coarse_timestamp_is_not_outlasted(step_ns: int) -> None:
    assert not wait_for_tick(make_status(time.time_ns() // step_ns * step_ns))
