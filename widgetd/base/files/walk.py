"""Listing of a folder and the folders below it, safe from loops and from links that lead outside.

Real folders come first, then linked ones in the order of their names, and each folder once: so a
loop of links ends, and the path of a file does not depend on the order in which the file system
lists. Names that start with `.` or `~` (editors' temporary files, `.git`, a ConfigMap's `..data`)
are skipped; a link from beside them may still lead there. No file is opened.
"""

from __future__ import annotations

import os
from bisect import insort
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from widgetd.base.errors import WidgetError
from widgetd.base.files.folder import OPEN_FOLDER, Folder
from widgetd.base.files.source import outside_error, unreadable_error
from widgetd.base.files.stamp import Stamp, is_racy, stamp_of

HIDDEN = (".", "~")


@dataclass(slots=True, kw_only=True)
class Listing:
    """The result of a walk.

    Attributes:
        files: Status by path of the files with one of the suffixes, links followed; None if the
            system does not report it.
        unlisted: Fault by path of folders that could not be entered; their content is unknown.
        linked: Whether a folder was, or would have been, entered through a link.
        empty: Stamps by path of folders that hold nothing of interest.
    """

    files: dict[str, os.stat_result | None] = field(default_factory=dict)
    unlisted: dict[str, WidgetError] = field(default_factory=dict)
    linked: bool = False
    empty: dict[str, Stamp] = field(default_factory=dict)


def walk(
    folder: Folder,
    start: str,
    suffixes: tuple[str, ...],
    known_empty: Mapping[str, Stamp] = MappingProxyType({}),
) -> Listing:
    """List the files with one of `suffixes` below `start` in `folder`; empty stands for all of it.

    Args:
        folder: The folder, held open.
        start: A path in it.
        suffixes: Endings of file names.
        known_empty: Folders that were empty, which are listed again only if their stamp has
            changed: a listing takes seven system calls, a stamp one.

    Raises:
        OSError: `folder` itself cannot be listed.
    """
    walker = _Walker(folder, suffixes, known_empty)
    walker.folders.append(start)
    walker.run()
    return walker.listing


@dataclass(slots=True)
class _Walker:
    root: Folder
    suffixes: tuple[str, ...]
    known_empty: Mapping[str, Stamp]
    listing: Listing = field(default_factory=Listing)
    folders: deque[str] = field(default_factory=deque)
    links: list[str] = field(default_factory=list)
    entered: set[tuple[int, int]] = field(default_factory=set)

    def run(self) -> None:
        while self.folders or self.links:
            is_link = not self.folders
            path = self.links.pop(0) if is_link else self.folders.popleft()
            try:
                if is_link or not self._is_still_empty(path):
                    self._open(path)
            except WidgetError as fault:
                self.listing.unlisted[path] = fault
            except (FileNotFoundError, NotADirectoryError):
                if not path:
                    raise
            except OSError as error:
                if not path:
                    raise
                self.listing.unlisted[path] = unreadable_error(path, error)

    def _is_still_empty(self, path: str) -> bool:
        stamp = self.known_empty.get(path)
        if stamp is None:
            return False
        status = self.root.system.disk.stat(
            path or ".", dir_fd=self.root.descriptor, follow_symlinks=False
        )
        if stamp != stamp_of(status):
            return False
        self.entered.add((status.st_dev, status.st_ino))
        self.listing.empty[path] = stamp
        return True

    def _open(self, path: str) -> None:
        disk = self.root.system.disk
        descriptor = disk.open(path or ".", OPEN_FOLDER, dir_fd=self.root.descriptor)
        try:
            if not self.root.holds(descriptor, path):
                raise outside_error(path)
            status = disk.fstat(descriptor)
            if (which := (status.st_dev, status.st_ino)) not in self.entered:
                self.entered.add(which)
                # A folder changed just now may change again under the same stamp.
                if self._list(descriptor, path + "/" if path else "") and not is_racy(
                    status, self.root.system.clock
                ):
                    self.listing.empty[path] = stamp_of(status)
        finally:
            disk.close(descriptor)

    def _list(self, descriptor: int, prefix: str) -> bool:
        """List one folder; return whether it holds no folder, no link and none of the files."""
        is_empty = True
        with self.root.system.disk.scandir(descriptor) as entries:
            for entry in entries:
                name = entry.name
                if name.startswith(HIDDEN):
                    continue
                is_link = entry.is_symlink()
                is_empty = is_empty and not is_link
                if _is_folder(entry, through_links=False):
                    is_empty = False
                    self.folders.append(prefix + name)
                elif is_link and _is_folder(entry, through_links=True):
                    self.listing.linked = True
                    insort(self.links, prefix + name)
                elif name.endswith(self.suffixes):
                    is_empty = False
                    try:
                        self.listing.files[prefix + name] = entry.stat()
                    except OSError:
                        self.listing.files[prefix + name] = None
        return is_empty


def _is_folder(entry: os.DirEntry[str], *, through_links: bool) -> bool:
    try:
        return entry.is_dir(follow_symlinks=through_links)
    except OSError:
        return through_links  # opening it reports the error
