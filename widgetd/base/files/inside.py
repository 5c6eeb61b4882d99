"""Files that a designer's file names, read and written only below it.

Anyone who may edit the folder can write a test file. What its paths lead to ends up in a report or
is overwritten, so such a path is a plain name below that file, it leads to a regular file of a
bounded size, and links may not lead out. Paths that operators write (`--upstreams`, tokens,
`${file:...}`) are theirs to choose and are not read here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from widgetd.base.errors import Finding, WidgetError
from widgetd.base.files.folder import OPEN_FOLDER, Folder, open_folder
from widgetd.base.files.source import Unsettled, outside_error, read
from widgetd.base.files.write import write_atomically


def read_inside(home: Path, name: str, *, limit_bytes: int) -> bytes:
    """Return the content of the file `name` in the folder `home`.

    Raises:
        WidgetError: The name leads out (W1003), or the file cannot be read (W1001, W1002, W1004).
        FileNotFoundError: There is no such file.
    """
    _require_plain(name)
    with open_folder(home) as folder:
        try:
            return read(folder, name, limit_bytes=limit_bytes, quiet_ms=0).content
        except Unsettled:
            problem, advice = "it was written while it was read", "run this again"
            raise WidgetError(
                Finding(code="W1001", path=name, problem=problem, advice=advice)
            ) from None


def write_inside(home: Path, name: str, content: bytes) -> None:
    """Write the file `name` in the folder `home`, and make the folders on the way to it.

    A link of that name is replaced, never followed.

    Raises:
        WidgetError: The name leads out (W1003).
        OSError: The folder is not writable.
    """
    _require_plain(name)
    path = PurePosixPath(name)
    with open_folder(home) as root, _subfolder(root, path.parent) as folder:
        write_atomically(folder, path.name, content, replace=True)


def _require_plain(name: str) -> None:
    path = PurePosixPath(name)
    if not path.name or path.is_absolute() or ".." in path.parts or "\0" in name:
        raise outside_error(name)


@contextmanager
def _subfolder(home: Folder, path: PurePosixPath) -> Iterator[Folder]:
    """Open the folder at `path` in `home`, and make what is missing of it."""
    disk, below = home.system.disk, PurePosixPath()
    at = disk.dup(home.descriptor)
    try:
        for part in path.parts:
            below /= part
            with suppress(FileExistsError):
                disk.mkdir(part, dir_fd=at)
            inner = disk.open(part, OPEN_FOLDER, dir_fd=at)
            disk.close(at)
            at = inner
            # Checked at each step, so that nothing is created behind a link that leads outside.
            if not home.holds(at, str(below)):
                raise outside_error(str(below))
        yield Folder(path=str(Path(home.path) / path), descriptor=at, identity=home.identity)
    finally:
        disk.close(at)
