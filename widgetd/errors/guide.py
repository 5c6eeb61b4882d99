"""The codes of whoever writes widgets and operates the daemon by tools."""

from __future__ import annotations

from widgetd.errors.code import Code

CODES = (
    # W31xx: what the daemon did
    Code("W3101", "fault", "a pattern cannot be matched in linear time"),
    Code("W3102", "fault", "a cursor is unknown"),
    Code("W3103", "fault", "nothing is recorded"),
)
