"""Which contents are being drawn, on a page of memory that the end of the process leaves as it is.

A draw that keeps the interpreter can tell nobody, and whoever ends the process cannot ask.
So each draw takes a place on a page that is mapped to a file, and leaves it when it is done;
what the next start finds there was being drawn at the end. What it finds at two ends in a
row is drawn no more: once can be a power cut in the middle of an innocent draw.

    64 places: digest, when it began | {"version", "suspected", "refused"}
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from struct import Struct
from typing import TYPE_CHECKING

import orjson

from widgetd.catalog.state import StateFolder

if TYPE_CHECKING:
    from mmap import mmap

FILE = "draws"

LEAST_S = 1.0
"""What began less than this before the start after it cannot have taken long enough to end it."""

MOST_BYTES = 1 << 20
"""Some 30,000 contents that were refused; a larger file holds something else."""

_PLACE = Struct("<32sd24x")
"""The digest, as it is in hex, and the seconds since the epoch; zeros where nothing is drawn."""

_PAGE_BYTES = 64 * _PLACE.size
"""A place for each thread that draws, and for many more."""


class Draws:
    """What is being drawn now, and what must not be drawn again.

    Attributes:
        refused: Digests of contents that were being drawn at two ends in a row; they stay refused
            until widgetd is another version.

    Args:
        state: Where the page is kept; None to remember nothing.
        version: Of widgetd, and of whatever else decides what can be served.
    """

    def __init__(
        self,
        state: StateFolder | None = None,
        version: str = "",
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.refused: frozenset[str] = frozenset()
        self._state = state
        self._version = version
        self._now = now
        self._page: mmap | bytearray = bytearray(_PAGE_BYTES)
        self._free = list(range(0, _PAGE_BYTES, _PLACE.size))

    def open(self) -> None:
        """Learn what earlier processes left, and begin to remember; once, before any draw.

        Whoever starts and does not get as far leaves what there is to the next.
        """
        if self._state is None:
            return
        content = self._state.read(FILE, most_bytes=MOST_BYTES) or b""
        places = content[: min(len(content), _PAGE_BYTES) // _PLACE.size * _PLACE.size]
        # Of what was being drawn, only what had begun a while before.
        before = self._now() - LEAST_S
        stood = {
            digest.decode()
            for digest, began in _PLACE.iter_unpack(places)
            if digest[0] and began < before and digest.isalnum()
        }
        suspected, refused = _kept(content[_PAGE_BYTES:], self._version)
        self.refused = frozenset(refused | (stood & suspected))
        known = {"suspected": sorted(stood), "refused": sorted(self.refused)}
        content = bytes(_PAGE_BYTES) + orjson.dumps({"version": self._version, **known})
        page = self._state.mapped(FILE, content, _PAGE_BYTES)
        if page is not None:
            self._page = page
            self._state.well(FILE)

    @contextmanager
    def of(self, digest: str) -> Iterator[None]:
        """Within the block, the content with this digest is being drawn."""
        try:
            place = self._free.pop()
        except IndexError:  # more threads than places
            yield
            return
        _PLACE.pack_into(self._page, place, digest.encode(), self._now())
        try:
            yield
        finally:
            self._page[place] = 0
            self._free.append(place)


def _kept(content: bytes, version: str) -> tuple[set[str], set[str]]:
    """What was being drawn at the end before the last one, and what is refused."""
    # It may be cut short, written by another version, or by something else than this.
    try:
        match orjson.loads(content):
            case {"version": str(of), "suspected": [*suspected], "refused": [*refused]} if (
                of == version
            ):
                return set(filter(_is_text, suspected)), set(filter(_is_text, refused))
    except ValueError:
        pass
    return set(), set()


def _is_text(value: object) -> bool:
    return isinstance(value, str)
