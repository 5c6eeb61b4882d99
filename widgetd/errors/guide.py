"""The codes of whoever writes widgets and operates the daemon by tools."""

from __future__ import annotations

from widgetd.errors.code import Code

CODES = (
    # W30xx: the guide, drafts and what is saved
    Code("W3001", "fault", "the guide has no such page"),
    Code("W3002", "fault", "there is no such component or property"),
    Code("W3003", "fault", "too much is asked for at once"),
    Code("W3004", "fault", "nothing may be saved here"),
    Code("W3005", "fault", "the file to be replaced is another by now"),
    Code("W3006", "fault", "the user was asked, and did not agree"),
    # W31xx: what the daemon did
    Code("W3101", "fault", "a pattern cannot be matched in linear time"),
    Code("W3102", "fault", "a cursor is unknown"),
    Code("W3103", "fault", "nothing is recorded"),
    # W32xx: pictures
    Code("W3201", "fault", "there is no browser to draw in"),
    Code("W3202", "fault", "a picture was not drawn in time"),
    Code("W3203", "fault", "a picture is too large"),
    Code("W3204", "fault", "all places in the browser are taken"),
)
