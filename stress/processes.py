"""What a process holds and has used, as the kernel counts it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """What a process holds at one moment.

    Attributes:
        rss_bytes: Memory.
        descriptors: Open files and sockets.
        threads: Threads.
    """

    rss_bytes: int
    descriptors: int
    threads: int


def holdings(pid: int) -> Holdings:
    """What the process `pid` holds now."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return Holdings(
        rss_bytes=_field(status, "VmRSS") * 1024,
        descriptors=sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir()),
        threads=_field(status, "Threads"),
    )


def cpu_s(pid: int) -> float:
    """How much processor time the process `pid` has used, its children not counted."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    fields = stat.rpartition(")")[2].split()  # what stands before may hold anything
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def running(mark: str) -> list[int]:
    """The processes whose command line holds `mark`."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in place.read_bytes():
                found.append(int(place.parent.name))
        except OSError:
            continue
    return sorted(found)


def _field(status: str, name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+)", status, re.MULTILINE)
    assert found is not None, status
    return int(found.group(1))
