"""Mutate a folder of widgets in every style that people and programs save files in.

Each widget says its revision twice, so that a result made of two revisions shows.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from tests.serving import widget_file

TEMPLATE = (
    '{"type":"Card","children":[{"type":"Text","value":"REV"},'
    '{"type":"Text","value":{{ (who ~ " REV") | tojson }}}]}'
)


def content(name: str, revision: int) -> bytes:
    """The file of the widget `name` at `revision`."""
    return widget_file(name, template=TEMPLATE.replace("REV", str(revision))).encode()


def revision_of(tree: Mapping[str, object], who: str) -> int | None:
    """Which revision a result shows; None if it shows two."""
    first, second = (child["value"] for child in tree["children"])  # type: ignore[attr-defined]  # a list of texts
    return int(first) if second == f"{who} {first}" else None


def in_place(path: Path, new: bytes) -> None:
    path.write_bytes(new)


def renamed(path: Path, new: bytes) -> None:
    aside = path.with_suffix(".tmp")
    aside.write_bytes(new)
    aside.replace(path)


def from_download(path: Path, new: bytes) -> None:
    aside = path.with_name(path.name + ".crdownload")
    aside.write_bytes(new)
    aside.replace(path)


def in_chunks(path: Path, new: bytes) -> None:
    with path.open("wb") as file:
        for start in range(0, len(new), 100):
            file.write(new[start : start + 100])
            file.flush()
            time.sleep(0.001)  # plays a slow writer


def backed_up(path: Path, new: bytes) -> None:
    backup = path.with_name(path.name + "~")
    path.replace(backup)
    path.write_bytes(new)
    backup.unlink()


def removed_first(path: Path, new: bytes) -> None:
    path.unlink()
    path.write_bytes(new)


def with_old_time(path: Path, new: bytes) -> None:
    renamed(path, new)
    os.utime(path, (1, 1))


def broken_before(path: Path, new: bytes) -> None:
    path.write_bytes(new[: len(new) // 2])
    path.write_bytes(new)


def appended(path: Path, new: bytes) -> None:
    path.write_bytes(b"")
    with path.open("ab") as file:
        file.write(new)


def overwritten(path: Path, new: bytes) -> None:
    with path.open("r+b") as file:
        file.write(new)
        file.truncate()


def touched(path: Path, new: bytes) -> None:
    path.touch()
    renamed(path, new)


STYLES: tuple[Callable[[Path, bytes], None], ...] = (
    in_place,
    renamed,
    from_download,
    in_chunks,
    backed_up,
    removed_first,
    with_old_time,
    broken_before,
    appended,
    overwritten,
    touched,
)


class Storm:
    """Some widgets, each rewritten again and again.

    Args:
        folder: Where they are.
        widgets: How many.
        seed: Decides what happens to which, in which order.
    """

    def __init__(self, folder: Path, *, widgets: int, seed: int = 0) -> None:
        self._folder = folder
        self._random = Random(seed)
        self.revisions = {f"w{number}": 0 for number in range(widgets)}
        for name in self.revisions:
            self._path(name).write_bytes(content(name, 0))

    def blow(self, mutations: int, pause_s: float) -> None:
        """Mutate so often, `pause_s` apart; blocks, so run it in a thread."""
        for _ in range(mutations):
            name = self._random.choice(list(self.revisions))
            self.revisions[name] += 1
            style = self._random.choice(STYLES)
            style(self._path(name), content(name, self.revisions[name]))
            time.sleep(pause_s)  # plays people who save files

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.widget"
