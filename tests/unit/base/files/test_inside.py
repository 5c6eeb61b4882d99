"""Paths in a designer's file lead to regular, bounded files below it, and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from widgetd.base.errors import WidgetError
from widgetd.base.files.folder import open_folder
from widgetd.base.files.inside import read_inside, write_inside
from widgetd.base.files.write import write_atomically

OUT = "it leads outside the folder"


def refusal_code(folder: Path, name: str, limit_bytes: int = 100) -> str:
    with pytest.raises(WidgetError) as raised:
        read_inside(folder, name, limit_bytes=limit_bytes)
    return raised.value.finding.code


def test_file_below_the_folder_is_read_and_written(tmp_path: Path) -> None:
    write_inside(tmp_path, "pictures/A/b.png", b"content")

    assert read_inside(tmp_path, "pictures/A/b.png", limit_bytes=7) == b"content"
    with pytest.raises(FileNotFoundError):
        read_inside(tmp_path, "pictures/c.png", limit_bytes=7)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "/etc/passwd", "../inside/a", "a/../../b", "/proc/self/environ", "a\0b"]
)
def test_special_name_is_refused_for_reading_and_writing(name: str, tmp_path: Path) -> None:
    home = tmp_path / "inside"
    home.mkdir()
    (home / "a").write_bytes(b"x")

    assert refusal_code(home, name) == "W1003"
    with pytest.raises(WidgetError, match=OUT):
        write_inside(home, name, b"")
    assert [one.name for one in tmp_path.rglob("*")] == ["inside", "a"]


def test_link_leading_out_is_neither_read_nor_followed_to_write(tmp_path: Path) -> None:
    outside, home = tmp_path / "outside", tmp_path / "home"
    outside.mkdir()
    home.mkdir()
    (outside / "secret").write_bytes(b"secret")
    (home / "file").symlink_to(outside / "secret")
    (home / "folder").symlink_to(outside)

    assert refusal_code(home, "file") == "W1003"
    assert refusal_code(home, "folder/secret") == "W1003"
    for name in ("folder/new", "folder/deeper/new"):
        with pytest.raises(WidgetError, match=OUT):
            write_inside(home, name, b"x")
    write_inside(home, "file", b"mine")
    assert (outside / "secret").read_bytes() == b"secret"
    assert [one.name for one in outside.iterdir()] == ["secret"]


def test_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/rows.csv").write_bytes(b"a,b")
    (tmp_path / "rows.csv").symlink_to("data/rows.csv")

    assert read_inside(tmp_path, "rows.csv", limit_bytes=100) == b"a,b"


def test_irregular_or_too_long_file_is_refused_unread(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "long").write_bytes(bytes(101))

    assert [refusal_code(tmp_path, name) for name in ("pipe", "folder", "long")] == [
        "W1001",
        "W1001",
        "W1002",
    ]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_new_file_holds_all_of_its_content(tmp_path: Path) -> None:
    with open_folder(tmp_path) as folder:
        write_atomically(folder, "A.widget", b"content", replace=False)

    assert (tmp_path / "A.widget").read_bytes() == b"content"
    assert names(tmp_path) == ["A.widget"]


def test_existing_file_is_replaced_only_on_request(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_bytes(b"old")
    with open_folder(tmp_path) as folder, pytest.raises(FileExistsError):
        write_atomically(folder, "A.widget", b"new", replace=False)
    content = (tmp_path / "A.widget").read_bytes()
    with open_folder(tmp_path) as folder:
        write_atomically(folder, "A.widget", b"new", replace=True)

    assert content == b"old"
    assert (tmp_path / "A.widget").read_bytes() == b"new"
    assert names(tmp_path) == ["A.widget"]


def test_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    inside.mkdir()
    outside.write_bytes(b"mine")
    (inside / "A.widget").symlink_to(outside)
    with open_folder(inside) as folder:
        write_atomically(folder, "A.widget", b"new", replace=True)

    assert outside.read_bytes() == b"mine"
    assert not (inside / "A.widget").is_symlink()


def test_failed_write_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "A.widget").mkdir()
    with open_folder(tmp_path) as folder, pytest.raises(OSError, match="directory"):
        write_atomically(folder, "A.widget", b"new", replace=True)

    assert names(tmp_path) == ["A.widget"]
