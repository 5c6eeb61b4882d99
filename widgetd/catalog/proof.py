"""The proof of a widget, as a line of text.

A line can be cut short by a crash, or changed by somebody: it begins with a hash
of the rest, and one that is not whole is as good as none.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from hashlib import blake2b

import orjson

from widgetd.widget.definition import Names
from widgetd.widget.widget import Proof

_BETWEEN = b"\t"
"""Stands in no JSON but between its tokens, and orjson writes none there."""


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
    head = orjson.dumps((*about, astuple(proof.names), (proof.description, proof.listing)))
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
                    [str(description), str(listing)],
                ],
                {"name": str(listed), "inputSchema": dict()},
            ) if listed == tool:
                proof = Proof(
                    names=Names(name=name, tool=tool, title=title, description=told),
                    description=description,
                    listing=listing,
                    entry=entry,
                )
                return Proven(version=version, path=path, digest=digest, proof=proof)
    except ValueError:
        pass
    return None


def _hash(said: bytes) -> bytes:
    return blake2b(said, digest_size=8).hexdigest().encode()
