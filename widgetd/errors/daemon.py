"""The codes of the daemon and its settings: for the operator."""

from __future__ import annotations

from widgetd.errors.code import Code

CODES = (
    Code("W0001", "fault", "a setting is unknown"),
    Code("W0002", "fault", "a setting has a value that cannot be used"),
    Code("W0003", "fault", "the widgets folder does not exist"),
    Code("W0004", "fault", "the widgets folder is not a folder"),
    Code("W0005", "fault", "the address is in use or not ours"),
    Code("W0006", "fault", "a permission is missing"),
    Code("W0007", "fault", "an installed library is not the one widgetd was tested with"),
    Code("W0008", "fault", "the widgets folder has vanished or was emptied as a whole"),
    Code("W0009", "fault", "an address that other machines reach has no token"),
    Code("W0010", "fault", "the token file cannot be used"),
    Code("W0011", "fault", "a program that the command needs is missing"),
    Code("W0012", "fault", "the chat's model cannot be used"),
    Code("W0030", "fault", "a server of somebody else's has widgets already"),
    Code("W0031", "fault", "two built-in tools have the same name"),
)
