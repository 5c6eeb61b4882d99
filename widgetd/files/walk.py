"""List a folder and those below it, without being led round or led out.

Real folders come first, then linked ones in the order of their names, and each
folder once: so a loop of links ends, and which path a file is found under does
not depend on the order in which the file system lists. Names that start with
`.` or `~` (editors' temporary files, `.git`, a ConfigMap's `..data`) are not
looked into; a link from beside them may still lead there. No file is opened.
"""

from __future__ import annotations

import os
from bisect import insort
from collections import deque
from dataclasses import dataclass, field

from widgetd.errors import WidgetError
from widgetd.files.folder import Folder
from widgetd.files.source import leads_out, unreadable

HIDDEN = (".", "~")
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass(slots=True, kw_only=True)
class Listing:
    """What a walk met.

    Attributes:
        files: By path, the status of what carries one of the suffixes, links followed; None where
            the system would not tell.
        unlisted: By path, why a folder could not be entered: nothing is known of what is in it.
        linked: Whether a folder was entered, or would have been, through a link.
    """

    files: dict[str, os.stat_result | None] = field(default_factory=dict)
    unlisted: dict[str, WidgetError] = field(default_factory=dict)
    linked: bool = False


def walk(folder: Folder, start: str, suffixes: tuple[str, ...]) -> Listing:
    """The files with one of `suffixes` below `start` in `folder`, or, if that is empty, in it all.

    Raises:
        OSError: `folder` itself cannot be listed.
    """
    steps = _Walk(folder, suffixes)
    steps.go(start)
    return steps.listing


class _Walk:
    def __init__(self, folder: Folder, suffixes: tuple[str, ...]) -> None:
        self.listing = Listing()
        self._root = folder
        self._suffixes = suffixes
        self._folders: deque[str] = deque()
        self._links: list[str] = []
        self._entered: set[tuple[int, int]] = set()

    def go(self, start: str) -> None:
        self._folders.append(start)
        while self._folders or self._links:
            path = self._folders.popleft() if self._folders else self._links.pop(0)
            try:
                self._open(path)
            except WidgetError as fault:
                self.listing.unlisted[path] = fault
            except (FileNotFoundError, NotADirectoryError):
                if not path:
                    raise
            except OSError as error:
                if not path:
                    raise
                self.listing.unlisted[path] = unreadable(path, error)

    def _open(self, path: str) -> None:
        descriptor = os.open(path or ".", _OPEN, dir_fd=self._root.descriptor)
        try:
            if not self._root.holds(descriptor, path):
                raise leads_out(path)
            status = os.fstat(descriptor)
            if (which := (status.st_dev, status.st_ino)) not in self._entered:
                self._entered.add(which)
                self._list(descriptor, path + "/" if path else "")
        finally:
            os.close(descriptor)

    def _list(self, descriptor: int, prefix: str) -> None:
        with os.scandir(descriptor) as entries:
            for entry in entries:
                name = entry.name
                if name.startswith(HIDDEN):
                    continue
                if _is_folder(entry, through_links=False):
                    self._folders.append(prefix + name)
                elif entry.is_symlink() and _is_folder(entry, through_links=True):
                    self.listing.linked = True
                    insort(self._links, prefix + name)
                elif name.endswith(self._suffixes):
                    try:
                        self.listing.files[prefix + name] = entry.stat()
                    except OSError:
                        self.listing.files[prefix + name] = None


def _is_folder(entry: os.DirEntry[str], *, through_links: bool) -> bool:
    try:
        return entry.is_dir(follow_symlinks=through_links)
    except OSError:
        return through_links  # opening it will say what is wrong with it
