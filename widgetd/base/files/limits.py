"""The limits and times of reading and watching files, in one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderLimits:
    """Times after which a file is read, and after which a folder is looked at again.

    Attributes:
        quiet_ms: Time since its last write after which a file is read; writers pause for less. A
            file that is known to be finished is read at once.
        empty_ns: Time for which a file found empty is not believed to be empty. A save in place
            truncates the file first, and the kernel dates the truncation when it completes: until
            then (300 ms were measured on a busy ext4) the file is empty and has its old date.
        racy_ns: Time in which two writes may have one ctime, as the coarsest file systems count in
            2 s (FAT). Source: Documentation/technical/racy-git.txt in git.
        tick_pause_s: Pause between two looks at the clock that dates writes.
        poll_s: Pause between two scans, whatever the events report.
        poll_share: Share of a processor that these scans take while events arrive.
        poll_max_s: Maximum pause between them, however long a scan takes.
        hinted_paths: Paths that one hint names; a scan of everything costs no more than that many.
        absent_s: Time until a folder that appears is noticed.
        restart_s: Pause before a follower of events that failed starts again, at first; it doubles.
        restart_max_s: Maximum of that pause, and time after which a follower counts as working.
        replaced_s: Time until inotify follows a folder that was replaced under its name; a scan
            sees it anyway.
        finish_s: Time in which most writes finish once begun; an unfinished write is no reason to
            scan.
        events_bytes: Events that are read from inotify at once.
        watchfiles_step_ms: Time without events after which watchfiles passes them on; twice that at
            most.
        watchfiles_debounce_ms: The same under constant change.
        watchfiles_replaced_ms: Time until watchfiles follows a folder that was replaced.
    """

    quiet_ms: int = 20
    empty_ns: int = 1_000_000_000
    racy_ns: int = 2_000_000_000
    tick_pause_s: float = 0.0005
    poll_s: float = 2.0
    poll_share: float = 0.0075
    poll_max_s: float = 10.0
    hinted_paths: int = 64
    absent_s: float = 0.25
    restart_s: float = 0.1
    restart_max_s: float = 5.0
    replaced_s: float = 1.0
    finish_s: float = 0.005
    events_bytes: int = 16 * 1024
    watchfiles_step_ms: int = 10
    watchfiles_debounce_ms: int = 50
    watchfiles_replaced_ms: int = 250


LIMITS: Final = FolderLimits()
