"""The codes of whoever acts in a widget in a browser, and of whoever writes tests of one."""

from __future__ import annotations

from widgetd.errors.code import Code

CODES = (
    # W40xx: the session
    Code("W4001", "fault", "there is no such session"),
    Code("W4002", "fault", "there are too many sessions"),
    Code("W4003", "fault", "the browser ended"),
    # W41xx: what is to be done
    Code("W4101", "fault", "there is no such keyword"),
    Code("W4102", "fault", "a keyword's arguments do not fit"),
    # W42xx: where it is to be done
    Code("W4201", "fault", "nothing is where a target leads"),
    Code("W4202", "fault", "a target leads to several elements"),
    Code("W4203", "fault", "something cannot be done in time"),
    # W43xx: what came of it
    Code("W4301", "fault", "something is not as expected"),
    Code("W4302", "fault", "there is no picture to compare with"),
    # W44xx: files of tests
    Code("W4401", "fault", "a test file cannot be read"),
    Code("W4402", "fault", "a test uses a name that is unknown"),
)
