"""A hash of a set of lines that is brought up to date, not made anew.

The sum of the lines' own hashes, so their order does not matter, and a line comes
and goes at the price of that line. It tells whether two replicas see the same; it
is no proof against somebody who makes lines up.

    Source: Bellare and Micciancio, "A New Paradigm for Collision-Free Hashing" (AdHash).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import blake2b

_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class SetHash:
    """The hash of a set of lines.

    Attributes:
        settings: Part of the hash besides the lines, and never changed.
        total: The sum of the lines' hashes.
    """

    settings: str = ""
    total: int = 0

    def changed(self, *, added: Iterable[str], taken: Iterable[str]) -> SetHash:
        """The hash with some lines more, and without some that it has."""
        total = self.total + sum(map(_hash, added)) - sum(map(_hash, taken))
        return replace(self, total=total % (1 << 8 * _BYTES))

    def __str__(self) -> str:
        said = self.settings.encode() + self.total.to_bytes(_BYTES, "big")
        return blake2b(said, digest_size=8).hexdigest()


def _hash(line: str) -> int:
    return int.from_bytes(blake2b(line.encode(), digest_size=_BYTES).digest(), "big")
