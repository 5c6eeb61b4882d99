"""From exec to the first `/readyz` that says 200, with many widgets against few."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from benchmarks.children import Child, child, daemon_command
from benchmarks.folders import folder, real
from benchmarks.measuring import Timed, alternate
from benchmarks.table import Row, at_most, compared

PATIENCE_S = 600
_BEAT_S = 0.005


def rows(most: int) -> Iterator[Row]:
    """The rows of this family, from at most so many pairs each."""
    pairs = min(most, 12)
    with ExitStack() as stack:
        many, few = (real(stack.enter_context(folder()), size) for size in (1000, 16))
        fresh = alternate(partial(start_s, many), partial(start_s, few), pairs=pairs, warm_up=1)
        known, other = (_known(at, stack.enter_context(folder())) for at in (many, few))
        again = alternate(known, other, pairs=pairs, warm_up=1)
    yield compared("start, 1,000 widgets, 16", at_most(3), fresh, remark=_REMARK)
    yield compared("start, 1,000 known widgets, 16", at_most(1.3), again, remark=_KNOWN)


_REMARK = "Copies of the bundled widgets, without sidecars, as Studio exports them."
_KNOWN = "The same, both with the state folder of an earlier start."


def start_s(widgets: Path, state: Path | None = None) -> float:
    """How long a daemon takes to be ready; it is ended at once.

    Args:
        widgets: The folder.
        state: Where it remembers what it proved; None for nowhere.
    """
    with _started(widgets, state) as (_, took_s):
        return took_s


def known_start_s(widgets: Path) -> float:
    """The same, where an earlier start has proven every widget."""
    with folder() as state:
        return _known(widgets, state)()


def _known(widgets: Path, state: Path) -> Timed:
    """A start with the state folder of a daemon that was ended as a service manager ends it."""
    with _started(widgets, state) as (earlier, _):
        earlier.process.terminate()
        earlier.process.wait(PATIENCE_S)
    return partial(start_s, widgets, state)


@contextmanager
def _started(widgets: Path, state: Path | None) -> Iterator[tuple[Child, float]]:
    port = _free_port()
    flags = () if state is None else ("--state-dir", str(state))
    started_s = time.perf_counter()
    with child(daemon_command(widgets, *flags, port=port)) as running:
        while not _is_ready(port):
            assert time.perf_counter() - started_s < PATIENCE_S
            time.sleep(_BEAT_S)
        yield running, time.perf_counter() - started_s


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _is_ready(port: int) -> bool:
    asking = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        asking.request("GET", "/readyz")
        return asking.getresponse().status == 200
    except ConnectionError:
        return False
    finally:
        asking.close()
