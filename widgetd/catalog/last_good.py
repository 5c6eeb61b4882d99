"""Keep a copy of each file that is served, for the day it is broken when widgetd starts.

The copies may be deleted at any time. Each is written aside and moved into its place,
and then the older one is removed; a crash in between leaves both, and the one that is
newer by its own record is believed: if it is whole, and from the same version of widgetd.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from hashlib import blake2b

import orjson

from widgetd.catalog.state import StateFolder
from widgetd.files.source import Source
from widgetd.widget.sidecar import SUFFIX

FOLDER = "last-good"

MOST_BYTES = 1 << 24
"""Many times what a widget and its sidecar can come to."""

_MOST_NUMBER = 1 << 53

_ANY_BYTES = "latin-1"
"""Any bytes are text in it, and come back the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Copy:
    """What a copy records.

    Attributes:
        number: Of two copies of one file, the newer has the higher.
    """

    number: int
    version: str
    path: str
    widget: Source
    sidecar: Source | None


class LastGood:
    """The last good content of each file, in a folder of its own of `state`.

    A copy is good for one `version` of widgetd, and of whatever else decides what can be served.
    """

    def __init__(self, state: StateFolder, version: str) -> None:
        self._state = state
        self._version = version
        # Of each path, by what stands for it: the contents of its copies, by what stands for them.
        self._keys: dict[str, list[str]] = {}
        for name in state.names(FOLDER):
            mark, hyphen, key = name.partition("-")
            if hyphen:
                self._keys.setdefault(mark, []).append(key)

    def put(self, source: Source, sidecar: Source | None) -> bool:
        """Keep a copy, and no older one; whether it is so. A full disk is no reason to fail."""
        digests = (self._version, source.digest, "" if sidecar is None else sidecar.digest)
        mark, key = _hash(source.path), _hash("+".join(digests))
        before = self._keys.get(mark, [])
        if before == [key]:
            return True
        said = orjson.dumps(
            {
                "version": self._version,
                "number": 1 + max((copy.number for copy in self._copies(mark)), default=0),
                "path": source.path,
                "widget": source.content.decode(_ANY_BYTES),
                "sidecar": None if sidecar is None else sidecar.content.decode(_ANY_BYTES),
            }
        )
        content = _hash(said).encode() + b"\n" + said
        if not self._state.write(_name(mark, key), content):
            return False
        return self._drop(mark, [each for each in before if each != key], kept=[key])

    def recall(self, path: str) -> tuple[Source, Source | None] | None:
        """The copy of the file at `path` and of its sidecar; None if there is none to believe."""
        newest = max(self._copies(_hash(path)), key=lambda copy: copy.number, default=None)
        if newest is None or (newest.version, newest.path) != (self._version, path):
            return None
        return newest.widget, newest.sidecar

    def keep_only(self, paths: Collection[str]) -> bool:
        """Drop the copies of all files but these, until one cannot be; whether they are gone."""
        gone = self._keys.keys() - {_hash(path) for path in paths}
        return all(self._drop(mark, self._keys[mark]) for mark in gone)

    def well(self) -> None:
        """Say that every copy that there should be is there, and no other."""
        self._state.well(FOLDER)

    def _copies(self, mark: str) -> Iterator[_Copy]:
        """The copies of a path that are whole."""
        for key in self._keys.get(mark, ()):
            content = self._state.read(_name(mark, key), most_bytes=MOST_BYTES)
            copy = None if content is None else _read(content)
            if copy is not None:
                yield copy

    def _drop(self, mark: str, keys: Collection[str], kept: Collection[str] = ()) -> bool:
        left = [key for key in keys if not self._state.remove(_name(mark, key))]
        self._keys[mark] = [*kept, *left]
        if not self._keys[mark]:
            del self._keys[mark]
        return not left


def _read(content: bytes) -> _Copy | None:
    checksum, _, said = content.partition(b"\n")
    if checksum != _hash(said).encode():
        return None
    # Whole it may be, and still written by something else than this.
    try:
        match orjson.loads(said):
            case {
                "version": str(version),
                "number": int(number),
                "path": str(path),
                "widget": str(widget),
                "sidecar": str() | None as sidecar,
            } if 0 < number < _MOST_NUMBER:
                return _Copy(
                    number=number,
                    version=version,
                    path=path,
                    widget=Source.of(path, widget.encode(_ANY_BYTES)),
                    sidecar=None
                    if sidecar is None
                    else Source.of(path + SUFFIX, sidecar.encode(_ANY_BYTES)),
                )
    except ValueError:
        pass
    return None


def _name(mark: str, key: str) -> str:
    return f"{FOLDER}/{mark}-{key}"


def _hash(said: str | bytes) -> str:
    content = said.encode() if isinstance(said, str) else said
    return blake2b(content, digest_size=16).hexdigest()
