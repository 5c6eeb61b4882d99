"""What is known of a proven widget, as a value and as a line of text.

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
class Verdict:
    """What is known of a proven widget; enough to list it without looking into its file.

    Attributes:
        names: What it is called.
        proof: What its parts came to.
        entries: How it stands in a list of tools, as JSON: for legacy clients, for modern ones.
    """

    names: Names
    proof: Proof
    entries: tuple[bytes, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """A verdict, and what it is about.

    Attributes:
        version: Of whatever decided.
        path: The file, relative to the widgets folder.
        digest: Of the file and its sidecar.
        verdict: What was found.
    """

    version: str
    path: str
    digest: str
    verdict: Verdict


def line(proven: Proven) -> bytes:
    """The verdict as a line, its end included."""
    verdict = proven.verdict
    about = (proven.version, proven.path, proven.digest)
    head = orjson.dumps((*about, astuple(verdict.names), astuple(verdict.proof)))
    legacy, modern = verdict.entries
    said = _BETWEEN.join((head, legacy, b"" if modern == legacy else modern))
    return _BETWEEN.join((_hash(said), said)) + b"\n"


def read(text: bytes) -> Proven | None:
    """The verdict that a line holds, without its end; None if the line is not whole."""
    hashed, _, said = text.partition(_BETWEEN)
    if hashed != _hash(said):
        return None
    head, legacy, modern = said.split(_BETWEEN)
    version, path, digest, (name, tool, title, told), (description, listing) = orjson.loads(head)
    verdict = Verdict(
        names=Names(name=name, tool=tool, title=title, description=told),
        proof=Proof(description=description, listing=listing),
        entries=(legacy, modern or legacy),
    )
    return Proven(version=version, path=path, digest=digest, verdict=verdict)


def _hash(said: bytes) -> bytes:
    return blake2b(said, digest_size=8).hexdigest().encode()
