"""Remember which files were proven, so that the next start need not prove them again.

One line for each proven content, in a file that may be deleted at any time: a
verdict is believed only for the same digest, from the same version of widgetd,
and only if its line is whole. What it saves is the proof; a widget whose proof
is remembered compiles its parts when somebody first uses them.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path

import orjson
import structlog

FILE = "verdicts.jsonl"

_log = structlog.get_logger()


class Verdicts:
    """What was proven, by the key of its content.

    Args:
        folder: Where the file is kept; it exists and may be written.
        version: Of widgetd, and of whatever else decides what can be served.
    """

    def __init__(self, folder: Path, version: str) -> None:
        self._path = folder / FILE
        self._version = version
        self._descriptions = dict(_read(self._path, version))

    def __len__(self) -> int:
        return len(self._descriptions)

    def description(self, key: str) -> str | None:
        """The description of the widget with this content, if it was proven; else None."""
        return self._descriptions.get(key)

    def add(self, key: str, description: str) -> None:
        """Remember that this content was proven; a disk that refuses is no reason to fail."""
        if key in self._descriptions:
            return
        self._descriptions[key] = description
        try:
            with self._path.open("ab") as file:
                file.write(_line(self._version, key, description))
        except OSError as error:
            _log.warning("verdict.lost", error=str(error))


def _line(version: str, key: str, description: str) -> bytes:
    said = orjson.dumps([version, key, description])
    return _checksum(said) + b" " + said + b"\n"


def _read(path: Path, version: str) -> Mapping[str, str]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return {}
    found: dict[str, str] = {}
    for line in lines:
        checksum, _, said = line.partition(b" ")
        if checksum == _checksum(said):
            of, key, description = orjson.loads(said)
            if of == version:
                found[key] = description
    return found


def _checksum(said: bytes) -> bytes:
    return blake2b(said, digest_size=8).hexdigest().encode()
