"""A journal of the renders in progress, in memory beyond the end of the process.

A render cannot be interrupted while it keeps the interpreter, and the watchdog runs no Python when
it ends the process. So each render takes a slot in a page mapped to a file, and clears it
afterwards. The next start finds the renders of the crash in the slots.

Each content was drawn in a child process with limits before it was served. So the caller's
arguments are to blame, and they alone are *quarantined*: no caller can take a widget away from the
others. A power cut in the middle of an innocent render looks the same, so a quarantine ends after
an hour.

    draws       64 slots: digest of the content, start, digest of the arguments
    quarantine  {"version", "arguments": {"CONTENT+ARGUMENTS": until}}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from struct import Struct
from typing import TYPE_CHECKING, Any, Final

import orjson

from widgetd.base.errors import CallError
from widgetd.base.system import SYSTEM
from widgetd.core.schema.json_values import to_json
from widgetd.server.catalog.limits import LIMITS
from widgetd.server.catalog.state import StateFolder

if TYPE_CHECKING:
    from mmap import mmap

PAGE_FILE = "draws"
QUARANTINE_FILE = "quarantine"

_SLOT: Final = Struct("<32sd16s8x")
"""Hexadecimal digest of the content, seconds since the epoch, hexadecimal digest of the
arguments. Zeros in a free slot."""


_PAGE_BYTES: Final = LIMITS.journal_slots * _SLOT.size


@dataclass(eq=False)
class CrashJournal:
    """The renders in progress, and the quarantined arguments.

    Attributes:
        state: The folder of the journal. None to remember nothing.
        version: The version of widgetd, its settings and everything else behind the served content.
        now: Returns the seconds since the epoch.
    """

    state: StateFolder | None = None
    version: str = ""
    now: Callable[[], float] = SYSTEM.clock.wall_s
    _arguments: Mapping[str, float] = field(default_factory=dict)
    _page: mmap | bytearray = field(default_factory=lambda: bytearray(_PAGE_BYTES))
    _free: list[int] = field(default_factory=lambda: [*range(0, _PAGE_BYTES, _SLOT.size)])

    def open(self) -> None:
        """Read the slots of earlier processes, and begin to record. Call it before any render.

        If a process ends earlier, the files stay unchanged.
        """
        if self.state is None:
            return
        page = self.state.read(PAGE_FILE, most_bytes=_PAGE_BYTES) or b""
        slots = list(_read_slots(page, began_before=self.now() - LIMITS.crash_render_s))
        self._load(self.state.read(QUARANTINE_FILE, most_bytes=LIMITS.quarantine_bytes) or b"")
        until = self.now() + LIMITS.quarantine_s
        suspects = {f"{content}+{arguments}": until for content, arguments in slots}
        self._arguments = {**self._arguments, **suspects}
        # Before the page is cleared: a crash in between must not lose what it says.
        if slots:
            self._save()
        mapped = self.state.map_file(PAGE_FILE, bytes(_PAGE_BYTES), _PAGE_BYTES)
        if mapped is not None:
            self._page = mapped
            self.state.report_recovery(PAGE_FILE)

    def digest(self, arguments: Mapping[str, Any]) -> str:
        """Return the digest of a call's arguments for `rendering`, empty if nothing is kept."""
        if self.state is None:
            return ""
        # The order of keys counts: callers who vary it can vary anything else as well.
        return blake2b(to_json(arguments), digest_size=8).hexdigest()

    @contextmanager
    def rendering(self, content: str, arguments: str) -> Iterator[None]:
        """Record a render for the duration of the block.

        Raises:
            CallError: The arguments are quarantined for this content (W1014).
        """
        if self._arguments:
            self._check(f"{content}+{arguments}")
        if not (arguments and self._free):  # there may be more threads than slots
            yield
            return
        slot = self._free.pop()
        _SLOT.pack_into(self._page, slot, content.encode(), self.now(), arguments.encode())
        try:
            yield
        finally:
            self._page[slot] = 0
            self._free.append(slot)

    def _check(self, key: str) -> None:
        left_s = self._arguments.get(key, 0.0) - self.now()
        if left_s > 0:
            problem = "widgetd was ended while it rendered these arguments"
            raise CallError(
                "W1014",
                f"{problem}; send other ones, or these again in {left_s / 60:.0f} minutes",
                recoverable=True,
                retry_after_s=left_s,
            )

    def _load(self, content: bytes) -> None:
        # It may be cut short, written by another version, or not by widgetd at all.
        try:
            record = orjson.loads(content)
        except ValueError:
            return
        match record:
            case {"version": self.version, "arguments": dict(arguments)}:
                now = self.now()
                self._arguments = {
                    key: until
                    for key, until in arguments.items()
                    if isinstance(until, float) and now < until <= now + LIMITS.quarantine_s
                }

    def _save(self) -> None:
        if self.state is None:
            return
        content = {"version": self.version, "arguments": self._arguments}
        if self.state.write(QUARANTINE_FILE, orjson.dumps(content)):
            self.state.report_recovery(QUARANTINE_FILE)


def _read_slots(page: bytes, *, began_before: float) -> Iterator[tuple[str, str]]:
    slots = page[: len(page) // _SLOT.size * _SLOT.size]
    for content, began, arguments in _SLOT.iter_unpack(slots):
        if content[0] and began < began_before and content.isalnum() and arguments.isalnum():
            yield content.decode(), arguments.decode()
