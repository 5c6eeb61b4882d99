"""Copies of the files that are served, for a start at which a file is broken.

The copies may be deleted at any time. A new copy is renamed into place before the older one
is removed; after a crash in between, the one with the higher number counts, if it is whole
and from the same version of widgetd.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from hashlib import blake2b

import orjson

from widgetd.catalog.limits import LIMITS
from widgetd.catalog.state import StateFolder
from widgetd.files.source import Source
from widgetd.widget.sidecar import SUFFIX

FOLDER = "last-good"

_MOST_NUMBER = 1 << 53

_ANY_BYTES = "latin-1"
"""Decodes any bytes and encodes the text to the same bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Copy:
    """The content of a copy.

    Attributes:
        number: The newer of two copies of one file has the higher number.
        version: The version of widgetd that served it.
        path: The file, relative to the widgets folder.
        widget: The file.
        sidecar: Its sidecar; None if it had none.
    """

    number: int
    version: str
    path: str
    widget: Source
    sidecar: Source | None


class LastGood:
    """The last good content of each file, in a folder of its own in `state`.

    A copy counts for one `version` of widgetd and of everything else that decides what is served.
    """

    def __init__(self, state: StateFolder, version: str) -> None:
        self._state = state
        self._version = version
        # By the hash of a path: the hashes of its copies' contents.
        self._keys: dict[str, list[str]] = {}
        for name in state.names(FOLDER):
            mark, hyphen, key = name.partition("-")
            if hyphen:
                self._keys.setdefault(mark, []).append(key)

    def put(self, source: Source, sidecar: Source | None) -> bool:
        """Replace the copy of a file; return False if the disk refused to write or delete."""
        digests = (self._version, source.digest, "" if sidecar is None else sidecar.digest)
        mark, key = _hash(source.path), _hash("+".join(digests))
        before = self._keys.get(mark, [])
        if before == [key]:
            return True
        body = orjson.dumps(
            {
                "version": self._version,
                "number": 1 + max((copy.number for copy in self._copies(mark)), default=0),
                "path": source.path,
                "widget": source.content.decode(_ANY_BYTES),
                "sidecar": None if sidecar is None else sidecar.content.decode(_ANY_BYTES),
            }
        )
        content = _hash(body).encode() + b"\n" + body
        if not self._state.write(_name(mark, key), content):
            return False
        return self._drop(mark, [each for each in before if each != key], keep=[key])

    def recall(self, path: str) -> tuple[Source, Source | None] | None:
        """Return the copies of a file and its sidecar; None if there is no valid one."""
        newest = max(self._copies(_hash(path)), key=lambda copy: copy.number, default=None)
        if newest is None or (newest.version, newest.path) != (self._version, path):
            return None
        return newest.widget, newest.sidecar

    def keep_only(self, paths: Collection[str]) -> bool:
        """Delete the copies of all other files, until the disk refuses; return False then."""
        deleted = self._keys.keys() - {_hash(path) for path in paths}
        return all(self._drop(mark, self._keys[mark]) for mark in deleted)

    def report_recovery(self) -> None:
        """Log that the copies are complete again, if they were not."""
        self._state.report_recovery(FOLDER)

    def _copies(self, mark: str) -> Iterator[_Copy]:
        """Yield the undamaged copies of a path."""
        for key in self._keys.get(mark, ()):
            content = self._state.read(_name(mark, key), most_bytes=LIMITS.copy_bytes)
            copy = None if content is None else _read(content)
            if copy is not None:
                yield copy

    def _drop(self, mark: str, keys: Collection[str], keep: Collection[str] = ()) -> bool:
        left = [key for key in keys if not self._state.remove(_name(mark, key))]
        self._keys[mark] = [*keep, *left]
        if not self._keys[mark]:
            del self._keys[mark]
        return not left


def _read(content: bytes) -> _Copy | None:
    checksum, _, body = content.partition(b"\n")
    if checksum != _hash(body).encode():
        return None
    # The checksum of a file that another program wrote may be right.
    try:
        match orjson.loads(body):
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


def _hash(text: str | bytes) -> str:
    content = text.encode() if isinstance(text, str) else text
    return blake2b(content, digest_size=16).hexdigest()
