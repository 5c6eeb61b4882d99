"""A client that lists all tools without pause on command; runs in its own process.

`go`, `stop`: begin, end. `count`: how many lists it took.
"""

from __future__ import annotations

import select
import sys

from benchmarks.wire import Wire, modern


def main(url: str) -> None:
    """Obey the lines on stdin."""
    wire, request = Wire(url), modern(url, "tools/list")
    count, going = 0, False
    print("ready", flush=True)
    while True:
        if going and not select.select([sys.stdin], [], [], 0)[0]:
            wire.timed(request)
            count += 1
            continue
        line = sys.stdin.readline().strip()
        if not line:
            return
        going = line == "go"
        print(count if line == "count" else line, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
