"""Pairs of a file and its sidecar."""

from __future__ import annotations

import re

Pair = tuple[bytes | None, bytes | None]
"""A file and its sidecar; None for a missing one."""


def show(pair: Pair | None) -> object:
    """Shorten a pair for a message."""
    if pair is None:
        return None
    return tuple(_name(part) for part in pair)


def _name(part: bytes | None) -> str:
    """Return the revision that a text shows; how long it is if it is not whole."""
    if part is None:
        return "none"
    revision = re.search(rb"\d{6}", part)
    whole = revision is not None and part.endswith((b"}", b"\n"))
    return revision.group().decode() if revision and whole else f"{len(part)} bytes"
