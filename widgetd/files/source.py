"""Read one file whole, or say why not.

A name that someone else chose may lead anywhere: to a pipe that blocks for ever,
to a device, out of the folder, to a file that is being written this moment. Each
is refused before its bytes are believed.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from hashlib import blake2b

from widgetd.errors import Finding, WidgetError
from widgetd.files.folder import Folder
from widgetd.files.stamp import QUIET_MS, Stamp, is_racy, outlast, quiet_in_s

_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class Unsettled(Exception):  # noqa: N818 no error: the file is fine, the moment is not
    """The file was written a moment ago or while it was read; what it holds may be half a file.

    Attributes:
        settles_s: How long until it is quiet, if nobody writes meanwhile.
    """

    def __init__(self, settles_s: float) -> None:
        super().__init__(settles_s)
        self.settles_s = settles_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The bytes of one file.

    Attributes:
        path: Relative to the folder, with `/` between parts.
        content: All of it.
        digest: blake2b-128 of the content, in hex.
        stamp: While the file bears it, it holds this content; None where that cannot be said,
            because it was read so soon after a write that a second one might not show.
    """

    path: str
    content: bytes
    digest: str
    stamp: Stamp | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, path: str, content: bytes, stamp: Stamp | None = None) -> Source:
        """The source at `path` with this content."""
        digest = blake2b(content, digest_size=16).hexdigest()
        return cls(path=path, content=content, digest=digest, stamp=stamp)


def read(
    folder: Folder,
    path: str,
    *,
    limit_bytes: int,
    quiet_ms: int = QUIET_MS,
    finished: bool = False,
) -> Source:
    """The file at `path` as it stands, whole.

    Args:
        folder: Held open by the caller; the file must truly lie in it, links followed.
        path: Relative to `folder`.
        limit_bytes: A longer file is refused.
        quiet_ms: How long the file must not have been written; 0 reads at once.
        finished: Whoever wrote it has closed it or moved it into place: read it as soon as a
            further write would be noticed, however lately it was written.

    Raises:
        WidgetError: The file cannot be served (W1001 to W1004).
        Unsettled: It can soon.
        FileNotFoundError: There is no such file.
    """
    if printable(path) != path:
        raise _fault(path, "W1004", "the name is not UTF-8", "rename the file")
    try:
        _demand_regular(path, os.stat(path, dir_fd=folder.descriptor))
        descriptor = os.open(path, _OPEN, dir_fd=folder.descriptor)
    except (FileNotFoundError, NotADirectoryError) as error:
        try:
            os.readlink(path, dir_fd=folder.descriptor)
        except OSError:
            raise FileNotFoundError(path) from error
        problem = "it is a link that leads nowhere"
        raise _fault(path, "W1001", problem, "point it at a file, or remove it") from error
    except OSError as error:
        raise unreadable(path, error) from error
    try:
        return _read(folder, path, descriptor, limit_bytes, quiet_ms, finished=finished)
    except OSError as error:
        raise unreadable(path, error) from error
    finally:
        os.close(descriptor)


def printable(path: str) -> str:
    r"""`path` with what is not UTF-8 in it as escapes: `\xff.widget`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def unreadable(path: str, error: OSError) -> WidgetError:
    """The fault of a file or folder that the system will not let us read."""
    problem = f"it cannot be read ({error.strerror})"
    return _fault(path, "W1001", problem, "let the user who runs widgetd read it")


def leads_out(path: str) -> WidgetError:
    """The fault of a file or folder that truly lies elsewhere."""
    return _fault(path, "W1003", "it leads out of the folder", "put a copy into the folder")


def _read(
    folder: Folder,
    path: str,
    descriptor: int,
    limit_bytes: int,
    quiet_ms: int,
    *,
    finished: bool,
) -> Source:
    before = os.fstat(descriptor)
    _demand_regular(path, before)
    if not folder.holds(descriptor, path):
        raise leads_out(path)
    if (settles_s := quiet_in_s(before, quiet_ms)) and not (finished and outlast(before)):
        raise Unsettled(settles_s)
    racy = is_racy(before)
    parts, room = [], limit_bytes + 1
    while room and (part := os.read(descriptor, room)):
        parts.append(part)
        room -= len(part)
    content = b"".join(parts)
    if len(content) > limit_bytes:
        problem = f"it is longer than {limit_bytes:,} bytes"
        raise _fault(path, "W1002", problem, "leave out what it does not need")
    stamp = Stamp.of(before)
    if not stamp.marks(os.fstat(descriptor)):
        raise Unsettled(quiet_ms / 1000)
    return Source.of(path, content, None if racy else stamp)


def _demand_regular(path: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "no file")
        raise _fault(path, "W1001", f"it is {kind}", "put a regular file there")


def _fault(path: str, code: str, problem: str, advice: str) -> WidgetError:
    return WidgetError(Finding(code=code, path=printable(path), problem=problem, advice=advice))
