"""Pairs of a file and its sidecar."""

from __future__ import annotations

import re

Pair = tuple[bytes | None, bytes | None]
"""A file and its sidecar, or None for a missing half."""


def show(pair: Pair | None) -> object:
    """Shorten a pair for a message."""
    if pair is None:
        return None
    return tuple(_name(part) for part in pair)


def _name(part: bytes | None) -> str:
    """Return the revision in a text, or the length of a partial text."""
    if part is None:
        return "none"
    revision = re.search(rb"\d{6}", part)
    whole = revision is not None and part.endswith((b"}", b"\n"))
    return revision.group().decode() if revision and whole else f"{len(part)} bytes"
