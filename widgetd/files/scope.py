"""Tell which hinted paths concern only themselves, so that a glance at them will do.

A hint names what an event named. That is exact for plain files and folders; but
a link may change what is seen under other names, and a change below a hidden
folder may show wherever a link leads there (a ConfigMap swaps `..data`, and all
its files change). It refuses to read or list anything.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from widgetd.files.folder import Folder
from widgetd.files.persistent_map import beginning
from widgetd.files.walk import HIDDEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where to look.

    Attributes:
        files: To be read, if they are there.
        folders: To be walked, if they are there and folders; else nothing is in them any more.
    """

    files: frozenset[str]
    folders: frozenset[str]

    def paths_of(self, known: Mapping[str, object]) -> Iterator[str]:
        """The paths looked at, and those of `known` that lay in one when that was a folder."""
        looked_at = self.files | self.folders
        yield from looked_at
        # What was known as a file had nothing in it.
        for path in looked_at:
            if path not in known:
                yield from beginning(known, f"{path}/")


def scope(folder: Folder, paths: Iterable[str], suffixes: tuple[str, ...]) -> Scope | None:
    """Where to look for what `paths` may have changed; None for everywhere."""
    files, folders = set(), set()
    for path in paths:
        served = path.endswith(suffixes)
        mode = _mode(folder, path)
        if _is_hidden(path):
            if served or path.startswith("..") or not _is_file_or_gone(mode):
                return None
        elif _is_under_link(folder, path) or (stat.S_ISLNK(mode) and not served):
            return None
        elif served and not stat.S_ISDIR(mode):
            files.add(path)
        else:
            folders.add(path)
    return Scope(files=frozenset(files), folders=frozenset(folders))


def _mode(folder: Folder, path: str) -> int:
    try:
        return os.stat(path, dir_fd=folder.descriptor, follow_symlinks=False).st_mode
    except OSError:
        return 0


def _is_hidden(path: str) -> bool:
    return any(part.startswith(HIDDEN) for part in path.split("/"))


def _is_file_or_gone(mode: int) -> bool:
    return mode == 0 or stat.S_ISREG(mode)


def _is_under_link(folder: Folder, path: str) -> bool:
    return any(stat.S_ISLNK(_mode(folder, parent)) for parent in _parents(path))


def _parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
