"""Takes a picture under the system calls that a unit allows, and prints its size.

Run as a program, with the names of the calls and of the address families as JSON; libseccomp,
which systemd uses, makes a filter of them.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import socket
import sys

import anyio

from widgetd.author.browser.camera import Camera
from widgetd.author.browser.chromium import NICENESS, Chromium
from widgetd.author.browser.picture import Screenshot

ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
EQUAL = 4
NO_NEW_PRIVS = 38


class Comparison(ctypes.Structure):
    """`struct scmp_arg_cmp`: an argument of a call, and what it must be."""

    _fields_ = (
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("datum_a", ctypes.c_uint64),
        ("datum_b", ctypes.c_uint64),
    )


def confine(calls: list[str], families: list[str]) -> None:
    """Make no other call from now on, nor any socket of another family."""
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(REFUSE)))
    for name in calls:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number >= 0 and name != "socket":
            library.seccomp_rule_add_array(rules, ctypes.c_uint32(ALLOW), number, 0, None)
    number = library.seccomp_syscall_resolve_name(b"socket")
    for family in families:
        only = Comparison(arg=0, op=EQUAL, datum_a=getattr(socket, family))
        library.seccomp_rule_add_array(rules, ctypes.c_uint32(ALLOW), number, 1, ctypes.byref(only))
    ctypes.CDLL(None).prctl(NO_NEW_PRIVS, 1, 0, 0, 0)
    if library.seccomp_load(rules) != 0:
        raise OSError("the filter cannot be loaded")


async def take_once() -> None:
    """Take it as a daemon does."""
    chromium = Chromium(niceness=NICENESS)
    tree = {"type": "Card", "children": [{"type": "Title", "value": "Confined"}]}
    try:
        with anyio.fail_after(90):
            picture = await Camera(chromium).take(Screenshot(tree=tree, title="Confined"), owner="")
    finally:
        await chromium.close()
    sys.stdout.write(f"{picture.width} x {picture.height}\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        confine(*json.loads(sys.argv[1]))
    os.environ["HOME"] = "/tmp"
    anyio.run(take_once)
