"""A file is placed whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from widgetd.base.files.folder import open_folder
from widgetd.base.files.write import write_atomically


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
