"""Resources of processes, as the kernel counts them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The resources of a process at one moment.

    Attributes:
        rss_bytes: Memory.
        descriptors: Open files and sockets.
        threads: Threads.
    """

    rss_bytes: int
    descriptors: int
    threads: int


def read_usage(pid: int) -> Usage:
    """Return the resources of the process `pid`."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return Usage(
        rss_bytes=_field(status, "VmRSS") * 1024,
        descriptors=sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir()),
        threads=_field(status, "Threads"),
    )


def read_cpu_s(pid: int) -> float:
    """Return the processor time of the process `pid` without its children."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    fields = stat.rpartition(")")[2].split()  # the name before may contain anything
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def find_processes(mark: str) -> list[int]:
    """Return the processes with `mark` in their command line."""
    processes = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in place.read_bytes():
                processes.append(int(place.parent.name))
        except OSError:
            continue
    return sorted(processes)


def _field(status: str, name: str) -> int:
    match = re.search(rf"^{name}:\s+(\d+)", status, re.MULTILINE)
    assert match is not None, status
    return int(match.group(1))
