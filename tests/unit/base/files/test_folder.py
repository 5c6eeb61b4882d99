from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from widgetd.base.files.folder import Folder, identify, open_folder

Holds = Callable[[Folder, int, str], bool]


def test_recreated_folder_is_another_folder(tmp_path: Path) -> None:
    root = tmp_path / "root"
    met = set()
    for _ in range(5):
        root.mkdir()
        met.add(identify(root))
        root.rmdir()

    assert len(met) == 5


def test_folder_keeps_its_identity_while_its_content_changes(tmp_path: Path) -> None:
    before = identify(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "a").rename(tmp_path / "b")

    assert identify(tmp_path) == before


def test_link_to_a_folder_is_that_folder(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)

    assert identify(tmp_path / "link") == identify(tmp_path)


def test_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(NotADirectoryError):
        identify(tmp_path / "file")


@pytest.mark.parametrize("holds", [Folder.holds, Folder.resolves], ids=["asked", "resolved"])
@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("file", True),
        ("folder/file", True),
        ("folder/../file", True),
        ("link in", True),
        ("folder in/file", True),
        ("link out", False),
        ("folder out/file", False),
        ("../outside/file", False),
        ("../root beside/file", False),
    ],
)
def test_folder_contains_only_files_inside_it(
    path: str, inside: bool, holds: Holds, tmp_path: Path
) -> None:
    for place in ("root", "root/folder", "outside", "root beside"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "file").touch()
    (tmp_path / "root/link in").symlink_to("folder/file")
    (tmp_path / "root/folder in").symlink_to("folder")
    (tmp_path / "root/link out").symlink_to("../outside/file")
    (tmp_path / "root/folder out").symlink_to(tmp_path / "outside")
    (tmp_path / "named").symlink_to("root")

    with open_folder(tmp_path / "named") as folder:
        descriptor = os.open(path, os.O_RDONLY, dir_fd=folder.descriptor)
        try:
            assert holds(folder, descriptor, path) is inside
        finally:
            os.close(descriptor)
