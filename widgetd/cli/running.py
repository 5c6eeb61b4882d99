"""The daemons of this user on this machine, in files locked by their processes."""

from __future__ import annotations

import fcntl
import os
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from stat import S_ISDIR
from tempfile import gettempdir

import orjson

from widgetd.cli.limits import LIMITS


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningDaemon:
    """A listening daemon on this machine.

    Attributes:
        url: Its address for clients here, without a path.
        folder: The folder to serve, now or once it exists.
        gallery: Whether it shows a page of each widget.
    """

    url: str
    folder: str
    gallery: bool


def record_daemon(daemon: RunningDaemon) -> ExitStack:
    """Record a daemon until the stack is closed or the process ends.

    Where no file can be written it is not recorded, and served all the same.
    """
    held = ExitStack()
    with suppress(OSError):
        place = _place()
        place.mkdir(mode=0o700, exist_ok=True)
        if _is_own(place):
            path = place / f"{os.getpid()}.json"
            file = held.enter_context(path.open("wb"))
            held.callback(path.unlink, missing_ok=True)
            # The kernel releases the lock however the process ends.
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.write(orjson.dumps(asdict(daemon)))
            file.flush()
    return held


def list_daemons() -> list[RunningDaemon]:
    """Return the running daemons, and remove the files of the ended."""
    daemons: list[RunningDaemon] = []
    place = _place()
    for path in sorted(place.glob("*.json")) if _is_own(place) else ():
        with suppress(OSError, orjson.JSONDecodeError, TypeError), path.open("rb") as file:
            daemon = RunningDaemon(**orjson.loads(file.read(LIMITS.record_bytes)))
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                daemons.append(daemon)
            else:
                path.unlink()
    return daemons


def _place() -> Path:
    return Path(os.environ.get("XDG_RUNTIME_DIR") or gettempdir()) / f"widgetd-{os.geteuid()}"


def _is_own(place: Path) -> bool:
    try:
        status = place.lstat()
    except OSError:
        return False
    return S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022
