"""Call a daemon at a steady pace until killed: `python -m stress.load URL`."""

from __future__ import annotations

import sys
import time
from itertools import cycle

from benchmarks.calls import caller

CLIENTS = 8
_PAUSE_S = 0.003


def main(url: str) -> None:
    """Print a line after the first answers, and continue to call."""
    clients = [caller(url) for _ in range(CLIENTS)]
    for call in clients:
        call()
    print("calling", flush=True)
    for call in cycle(clients):
        call()
        time.sleep(_PAUSE_S)  # the pace


if __name__ == "__main__":
    main(*sys.argv[1:])
