"""Remember which files were proven, so that the next start need not prove them again.

One line for each proven file, in a file that may be deleted at any time: a proof
is believed only for the same path and digest, from the same version of widgetd. A
line can be cut short by a crash, or changed by somebody: it begins with a hash of
the rest, and one that is not whole is as good as none. What it saves is the proof,
and looking into the file at all; a widget whose proof is remembered compiles its
parts when somebody first uses them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import astuple, dataclass
from hashlib import blake2b
from typing import get_args

import orjson

from widgetd.catalog.state import StateFolder
from widgetd.widget.definition import Names
from widgetd.widget.export import Source
from widgetd.widget.widget import Proof

FILE = "verdicts.jsonl"

ROOM = 1000
"""So many lines may be added, and two for each that was there, before the file is written anew."""

MOST_BYTES = 1 << 28
"""Several times what tens of thousands of files come to; a larger file holds something else."""

_SOURCES: tuple[list[str], ...] = ([], *([source] for source in get_args(Source)))
"""What a line says of the source that is drawn; nothing where the file holds no JSX."""

_BETWEEN = b"\t"
"""Stands in no JSON but between its tokens, and orjson writes none there."""


class ProofCache:
    """What was proven, by path; each is held in memory until it is asked for, once.

    Args:
        state: Where the file is kept.
        version: Of widgetd, and of whatever else decides what can be served.
    """

    def __init__(self, state: StateFolder, version: str) -> None:
        self._state = state
        self._version = version
        self._known = {proven.path: proven for proven in self._kept()}
        self._room = ROOM + 2 * len(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def take(self, path: str, digest: str) -> Proof | None:
        """The proof of the file at `path` with this content; None if there is none to believe."""
        proven = self._known.pop(path, None)
        return proven.proof if proven is not None and proven.digest == digest else None

    def add(self, path: str, digest: str, proof: Proof) -> None:
        """Remember that this content was proven; a disk that refuses is no reason to fail."""
        proven = Proven(version=self._version, path=path, digest=digest, proof=proof)
        if self._state.append(FILE, line(proven)):
            self._state.well(FILE)
            self._room -= 1
        if not self._room:
            kept = self._kept()
            self._state.write(FILE, b"".join(map(line, kept)))
            self._room = ROOM + 2 * len(kept)

    def _kept(self) -> Collection[Proven]:
        """The last proof of each file that the file of proofs holds."""
        lines = (self._state.read(FILE, most_bytes=MOST_BYTES) or b"").splitlines()
        believed = (proven for proven in map(read, lines) if proven is not None)
        return {p.path: p for p in believed if p.version == self._version}.values()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """A proof, and what it is about.

    Attributes:
        version: Of whatever decided.
        path: The file, relative to the widgets folder.
        digest: Of the file and its sidecar.
        proof: What was found.
    """

    version: str
    path: str
    digest: str
    proof: Proof


def line(proven: Proven) -> bytes:
    """The proof as a line, its end included."""
    proof = proven.proof
    about = (proven.version, proven.path, proven.digest)
    found = [proof.description, proof.listing, *filter(None, [proof.source])]
    head = orjson.dumps((*about, astuple(proof.names), found))
    said = _BETWEEN.join((head, proof.entry))
    return _BETWEEN.join((_hash(said), said)) + b"\n"


def read(text: bytes) -> Proven | None:
    """The proof that a line holds, without its end; None if it is not whole, or holds none."""
    hashed, _, said = text.partition(_BETWEEN)
    if hashed != _hash(said):
        return None
    # Whole it may be, and still written by something else than `line`.
    try:
        head, entry = said.split(_BETWEEN)
        match orjson.loads(head), orjson.loads(entry):
            case (
                [
                    str(version),
                    str(path),
                    str(digest),
                    [str(name), str(tool), str(title), str(told)],
                    [str(description), str(listing), *source],
                ],
                {"name": str(listed), "inputSchema": dict()},
            ) if listed == tool and source in _SOURCES:
                proof = Proof(
                    names=Names(name=name, tool=tool, title=title, description=told),
                    description=description,
                    listing=listing,
                    entry=entry,
                    source=source[0] if source else "",
                )
                return Proven(version=version, path=path, digest=digest, proof=proof)
    except ValueError:
        pass
    return None


def _hash(said: bytes) -> bytes:
    return blake2b(said, digest_size=8).hexdigest().encode()
