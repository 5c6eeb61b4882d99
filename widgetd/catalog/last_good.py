"""Keep a copy of each file that is served, for the day it is broken when widgetd starts.

The copies may be deleted at any time. Each is written aside and moved into its
place, so that a crash leaves the old one or the new one; and it is believed only
if it is whole, and from the same version of widgetd.
"""

from __future__ import annotations

from collections.abc import Collection
from hashlib import blake2b
from pathlib import Path

import orjson
import structlog

from widgetd.files.source import Source
from widgetd.widget.sidecar import SUFFIX

FOLDER = "last-good"

_ANY_BYTES = "latin-1"
"""Any bytes are text in it, and come back the same."""

_log = structlog.get_logger()


class Copies:
    """The last good content of each file.

    Args:
        folder: What outlives the process; the copies lie in a folder of their own in it.
        version: Of widgetd, and of whatever else decides what can be served.
    """

    def __init__(self, folder: Path, version: str) -> None:
        self._folder = folder / FOLDER
        self._version = version
        self._keys = dict(_split(path.name) for path in self._folder.glob("*-*"))

    def put(self, source: Source, sidecar: Source | None) -> None:
        """Keep a copy; a disk that refuses is no reason to fail."""
        mark, key = _hash(source.path), self._key(source, sidecar)
        if self._keys.get(mark) == key:
            return
        said = orjson.dumps(
            {
                "version": self._version,
                "path": source.path,
                "widget": source.content.decode(_ANY_BYTES),
                "sidecar": None if sidecar is None else sidecar.content.decode(_ANY_BYTES),
            }
        )
        aside = self._folder / f"{mark}.new"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            aside.write_bytes(_hash(said).encode() + b"\n" + said)
            aside.replace(self._folder / f"{mark}-{key}")
        except OSError as error:
            _log.warning("copy.lost", path=source.path, error=error.strerror)
            return
        self._drop(mark)
        self._keys[mark] = key

    def recall(self, path: str) -> tuple[Source, Source | None] | None:
        """The copy of the file at `path` and of its sidecar; None if there is none to believe."""
        mark = _hash(path)
        if mark not in self._keys:
            return None
        try:
            checksum, _, said = self._at(mark).read_bytes().partition(b"\n")
        except OSError:
            return None
        if checksum != _hash(said).encode():
            return None
        copy = orjson.loads(said)
        if copy["version"] != self._version or copy["path"] != path:
            return None
        sidecar = copy["sidecar"]
        return (
            _source(path, copy["widget"]),
            None if sidecar is None else _source(path + SUFFIX, sidecar),
        )

    def keep_only(self, paths: Collection[str]) -> None:
        """Drop the copies of all files but these."""
        for mark in self._keys.keys() - {_hash(path) for path in paths}:
            self._drop(mark)

    def _drop(self, mark: str) -> None:
        if mark in self._keys:
            self._at(mark).unlink(missing_ok=True)
            del self._keys[mark]

    def _at(self, mark: str) -> Path:
        return self._folder / f"{mark}-{self._keys[mark]}"

    def _key(self, source: Source, sidecar: Source | None) -> str:
        digests = (self._version, source.digest, "" if sidecar is None else sidecar.digest)
        return _hash("+".join(digests))


def _source(path: str, said: str) -> Source:
    content = said.encode(_ANY_BYTES)
    return Source(path=path, content=content, digest=_hash(content))


def _split(name: str) -> tuple[str, str]:
    mark, _, key = name.partition("-")
    return mark, key


def _hash(said: str | bytes) -> str:
    content = said.encode() if isinstance(said, str) else said
    return blake2b(content, digest_size=16).hexdigest()
