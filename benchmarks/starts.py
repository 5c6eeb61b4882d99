"""From exec to the first answer: with many widgets against few, and against stock FastMCP."""

from __future__ import annotations

import http.client
import json
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path

from benchmarks.children import Child, child, daemon_command, python
from benchmarks.folders import BUNDLED, folder, real
from benchmarks.ratios import Timed, alternate
from benchmarks.table import Row, at_most, compare_arms

PATIENCE_S = 600
_BEAT_S = 0.005

_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
_INITIALIZE = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "benchmarks", "version": "1"},
        },
    }
)


def measure_rows(most: int) -> Iterator[Row]:
    """Measure the rows of this family."""
    pairs = min(most, 12)
    bundled, plain = partial(start_s, BUNDLED), partial(_took_s, start_plain)
    stock = alternate(bundled, plain, pairs=min(most, 20), warm_up=1)
    yield compare_arms(
        "start, 27 widgets, FastMCP with one tool", at_most(1.1), stock, remark=_STOCK
    )
    wingless = partial(_took_s, partial(start_daemon, BUNDLED, code=WINGLESS))
    alone = alternate(bundled, wingless, pairs=min(most, 20), warm_up=1)
    yield compare_arms("start, every wing, none", at_most(1.05), alone, remark=_WINGLESS)
    with_chat = partial(_took_s, partial(start_daemon, BUNDLED, command="chat"))
    chat = alternate(with_chat, bundled, pairs=min(most, 20), warm_up=1)
    yield compare_arms("start, the chat, serve", at_most(1.5), chat, remark=_CHAT)
    with ExitStack() as stack:
        many, few = (real(stack.enter_context(folder()), size) for size in (1000, 16))
        fresh = alternate(partial(start_s, many), partial(start_s, few), pairs=pairs, warm_up=1)
        undrawn = partial(_took_s, partial(start_daemon, many, code=UNDRAWN))
        timings = alternate(partial(start_s, many), undrawn, pairs=pairs, warm_up=1)
        known, other = (_known(at, stack.enter_context(folder())) for at in (many, few))
        again = alternate(known, other, pairs=pairs, warm_up=1)
    yield compare_arms("start, 1,000 widgets, 16", at_most(3), fresh, remark=_REMARK)
    yield compare_arms("start, 1,000 widgets, none drawn", at_most(1.15), timings, remark=_UNDRAWN)
    yield compare_arms("start, 1,000 known widgets, 16", at_most(1.3), again, remark=_KNOWN)
    yield _on_every_processor(min(most, 3))


def _on_every_processor(pairs: int) -> Row:
    what, bar = "start, 10,000 widgets, on one processor", at_most(0.65)
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    if processors < 2:
        return Row(what=what, bar=bar, remark="There is but one processor.")
    with folder() as into:
        widgets = real(into, 10_000)
        alone = partial(start_daemon, widgets, within=("taskset", "--cpu-list", _first()))
        timings = alternate(
            partial(start_s, widgets), partial(_took_s, alone), pairs=pairs, warm_up=0
        )
    remark = f"Widgets that nobody has proven, on {processors} processors and on the first of them."
    return compare_arms(what, bar, timings, remark=remark)


def _first() -> str:
    return str(min(os.sched_getaffinity(0)))


_STOCK = (
    "The bundled widgets, to the first `/readyz` that says 200, against `from fastmcp import "
    "FastMCP` and a constant tool, to the first answer to `initialize`."
)
_WINGLESS = "The second daemon has neither authors' tools nor upstreams nor chat, and imports none."
_CHAT = "The bundled widgets, to the first `/chat` that says 200, against `/readyz` of `serve`."
_REMARK = "Copies of the bundled widgets, without sidecars, as Studio exports them."
_UNDRAWN = "The same files; the second daemon admits without drawing what it admits."
_KNOWN = "The same, both with the state folder of an earlier start."


UNDRAWN = (
    "import runpy; import widgetd.core.checks.renders as checks; "
    "checks.explain_undrawable = lambda _: None; "
    "runpy.run_module('widgetd', None, '__main__')"
)


WINGLESS = (
    "import runpy, sys, types; "
    "sys.modules['widgetd.daemon.wings'] = types.SimpleNamespace(WINGS=()); "
    "runpy.run_module('widgetd', None, '__main__')"
)


def start_s(widgets: Path, state: Path | None = None) -> float:
    """Start a daemon, end it once it is ready, and return the duration.

    Args:
        widgets: The folder.
        state: The state folder; None for none.
    """
    return _took_s(partial(start_daemon, widgets, state))


def known_start_s(widgets: Path) -> float:
    """Time a start after an earlier one has checked every widget."""
    with folder() as state:
        return _known(widgets, state)()


def _known(widgets: Path, state: Path) -> Timed:
    """Return a timer of starts with the state folder of a daemon ended by SIGTERM."""
    with start_daemon(widgets, state) as (earlier, _):
        earlier.process.terminate()
        earlier.process.wait(PATIENCE_S)
    return partial(start_s, widgets, state)


Started = AbstractContextManager[tuple[Child, float]]
"""A server that answers, and how long it took to."""


def _took_s(started: Callable[[], Started]) -> float:
    with started() as (_, took_s):
        return took_s


def start_daemon(
    widgets: Path,
    state: Path | None = None,
    *,
    within: Sequence[str] = (),
    code: str = "",
    command: str = "serve",
) -> Started:
    """Start a daemon and wait until it is ready.

    Args:
        widgets: The folder.
        state: The state folder; None for none.
        within: The command that runs the command.
        code: What Python runs in the place of `-m widgetd`.
        command: Of widgetd; a chat answers with its page.
    """
    flags = () if state is None else ("--state-dir", str(state))
    port = _free_port()
    whole = daemon_command(widgets, *flags, port=port, command=command)
    if code:
        interpreter, _, _, *arguments = whole
        whole = (interpreter, "-c", code, *arguments)
    page = "/chat" if command == "chat" else "/readyz"
    return _started((*within, *whole), partial(_answers, port, "GET", page))


def start_plain() -> Started:
    """Start a FastMCP server of one tool and wait until it is ready."""
    port = _free_port()
    answers = partial(_answers, port, "POST", "/mcp", _INITIALIZE, _HEADERS)
    return _started(python("benchmarks.plain", str(port)), answers)


@contextmanager
def _started(command: Sequence[str], answers: Callable[[], bool]) -> Iterator[tuple[Child, float]]:
    started_s = time.perf_counter()
    with child(command) as running:
        while not answers():
            assert running.process.poll() is None, running.last_words()
            assert time.perf_counter() - started_s < PATIENCE_S
            time.sleep(_BEAT_S)
        yield running, time.perf_counter() - started_s


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _answers(
    port: int,
    method: str,
    path: str,
    body: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> bool:
    asking = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        asking.request(method, path, body, headers or {})
        return asking.getresponse().status == 200
    except ConnectionError:
        return False
    finally:
        asking.close()
