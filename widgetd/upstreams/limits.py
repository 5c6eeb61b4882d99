"""Limits on what an upstream may send: its output is as untrusted as a dropped file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamLimits:
    """What one upstream may send, and what is kept of it.

    Attributes:
        answer_bytes: Size of one response, decompressed. An event stream has no end, so no size.
        piece_bytes: Decompressed bytes that are handled in one turn of the event loop.
    """

    answer_bytes: int = 8 * 1024 * 1024
    piece_bytes: int = 64 * 1024


LIMITS = UpstreamLimits()
