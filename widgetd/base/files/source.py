"""One file, read whole or refused with a reason.

A name that another party chose may lead to a pipe that blocks for ever, to a device, outside the
folder, or to a file that is being written. Each is refused before its bytes are used.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b

from widgetd.base.errors import Finding, WidgetError
from widgetd.base.files.folder import Folder
from widgetd.base.files.limits import LIMITS
from widgetd.base.files.stamp import Stamp, is_racy, stamp_of, time_to_quiet_s, wait_for_tick

_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class Unsettled(Exception):  # noqa: N818 no error: the file is fine, the moment is not
    """A file that was written a moment ago or during the read, so it may be incomplete.

    Attributes:
        settles_s: Seconds until it counts as quiet, without further writes.
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
        stamp: While the file has it, the content is unchanged; None if the read came so soon after
            a write that a second write might not show.
    """

    path: str
    content: bytes
    digest: str
    stamp: Stamp | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, path: str, content: bytes, stamp: Stamp | None = None) -> Source:
        digest = blake2b(content, digest_size=16).hexdigest()
        return cls(path=path, content=content, digest=digest, stamp=stamp)


def read(
    folder: Folder,
    path: str,
    *,
    limit_bytes: int,
    quiet_ms: int = LIMITS.quiet_ms,
    finished: bool = False,
) -> Source:
    """Read the file at `path` whole.

    Args:
        folder: Held open by the caller; the file must lie in it, links followed.
        path: Relative to `folder`.
        limit_bytes: A longer file is refused.
        quiet_ms: Time since the last write that the file must have; 0 reads at once.
        finished: The writer has closed the file or moved it into place: read it as soon as a
            further write would be noticed, however recent the last one is.

    Raises:
        WidgetError: The file cannot be served (W1001 to W1004).
        Unsettled: The file can be read soon.
        FileNotFoundError: There is no such file.
    """
    clock, disk = folder.system.clock, folder.system.disk
    with _open_regular(folder, path) as descriptor:
        before = disk.fstat(descriptor)
        _require_regular(path, before)
        if not folder.holds(descriptor, path):
            raise outside_error(path)
        settles_s = time_to_quiet_s(before, quiet_ms, clock)
        if settles_s and not (finished and wait_for_tick(before, clock)):
            raise Unsettled(settles_s)
        racy = is_racy(before, clock)
        parts, room = [], limit_bytes + 1
        while room and (part := disk.read(descriptor, room)):
            parts.append(part)
            room -= len(part)
        content = b"".join(parts)
        if len(content) > limit_bytes:
            problem = f"it is longer than {limit_bytes:,} bytes"
            raise _fault(path, "W1002", problem, "leave out what it does not need")
        stamp = stamp_of(before)
        if stamp != stamp_of(disk.fstat(descriptor)):
            raise Unsettled(quiet_ms / 1000)
        return Source.of(path, content, None if racy else stamp)


@contextmanager
def _open_regular(folder: Folder, path: str) -> Iterator[int]:
    disk = folder.system.disk
    if escape_path(path) != path:
        raise _fault(path, "W1004", "the name is not UTF-8", "rename the file")
    try:
        _require_regular(path, disk.stat(path, dir_fd=folder.descriptor))
        descriptor = disk.open(path, _OPEN, dir_fd=folder.descriptor)
    except (FileNotFoundError, NotADirectoryError) as error:
        try:
            disk.readlink(path, dir_fd=folder.descriptor)
        except OSError:
            raise FileNotFoundError(path) from error
        problem = "the link leads nowhere"
        raise _fault(path, "W1001", problem, "point it at a file, or remove it") from error
    except OSError as error:
        raise unreadable_error(path, error) from error
    try:
        yield descriptor
    except OSError as error:
        raise unreadable_error(path, error) from error
    finally:
        disk.close(descriptor)


def escape_path(path: str) -> str:
    r"""Return `path` with escapes for what is not UTF-8: `\xff.widget`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def unreadable_error(path: str, error: OSError) -> WidgetError:
    """Return the fault of a file or folder that the system does not let us read."""
    problem = f"it cannot be read ({error.strerror})"
    return _fault(path, "W1001", problem, "let the user who runs widgetd read it")


def outside_error(path: str) -> WidgetError:
    """Return the fault of a file or folder that lies outside the widgets folder."""
    return _fault(path, "W1003", "it leads outside the folder", "put a copy into the folder")


def _require_regular(path: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "no file")
        raise _fault(path, "W1001", f"it is {kind}", "put a regular file there")


def _fault(path: str, code: str, problem: str, advice: str) -> WidgetError:
    return WidgetError(Finding(code=code, path=escape_path(path), problem=problem, advice=advice))
