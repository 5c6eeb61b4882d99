"""A process that keeps its interpreter is ended; the input that kept it is not rendered again.

The fault is put in on purpose: a filter that never returns and never lets go of the
interpreter's lock. The processor time that is allowed is shortened with it.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.support.clients import connect_client
from tests.support.daemons import needs_wings, serving
from tests.support.forked_daemons import ForkedProcess, forked_daemon
from tests.support.patience import PATIENCE_S
from tests.support.processes import Served
from tests.support.widgets import source, widget_file
from tests.system.daemon.test_parallel_proof import needs_forks
from widgetd.core.template.template import Expression, Template
from widgetd.daemon.limits import LIMITS
from widgetd.daemon.loading import settings_version
from widgetd.server.catalog.crash_journal import PAGE_FILE, CrashJournal
from widgetd.server.catalog.state import StateFolder
from widgetd.settings import Settings

STUCK = """
import os, re

def stuck():
    os.write(1, b"stuck\\n")
    re.match("(a+)+$", "a" * 64 + "b")
"""

STALLING_FILTER = (
    STUCK
    + """
from widgetd.core.template.builtins import text

charge_text = text.charge_text

def stalling(budget, value, *args):
    if value == "stall":
        stuck()
    return charge_text(budget, value, *args)

text.charge_text = stalling
"""
)
"""Makes the filter `upper` never return from one word."""

LIMIT = """
from dataclasses import replace
from widgetd.daemon import watchdog

limits = {{"watchdog_beat_s": 0.05, "watchdog_cpu_s": {}}}
watchdog.LIMITS = replace(watchdog.LIMITS, **limits)
"""
"""Sets the time that is allowed."""

ENDS_S = 1.2

VERSION = settings_version(Settings())

TEMPLATE = '{"type":"Card","children":[{"type":"Text","value":{{ SHOWN | upper | tojson }}}]}'


STALLING = STALLING_FILTER + LIMIT.format(ENDS_S)


def write_shout(folder: Path, expression: str) -> None:
    """Write a widget that shows the expression in capitals, and one that does not."""
    folder.mkdir(exist_ok=True)
    template = TEMPLATE.replace("SHOWN", expression)
    (folder / "Shout.widget").write_text(widget_file("Shout", template=template))
    (folder / "Quiet.widget").write_text(widget_file("Quiet"))


async def shout(url: str, who: str) -> httpx2.Response:
    async with httpx2.AsyncClient(timeout=PATIENCE_S) as client:
        return await client.post(f"{url.removesuffix('/mcp')}/render/shout", json={"who": who})


async def until_stuck(served: Served) -> None:
    """Call, and return once the call has the interpreter."""
    process = served.process
    assert isinstance(process, ForkedProcess)

    async def call() -> None:
        with pytest.raises(httpx2.HTTPError):
            await shout(served.url, "stall")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        with anyio.fail_after(PATIENCE_S):
            while b"stuck" not in await process.receive():
                pass
        tasks.cancel_scope.cancel()


async def tools(served: Served) -> set[str]:
    async with connect_client(served.url, "modern") as client:
        return await client.tools() & {"quiet", "shout"}


def logged_events(log: Path, event: str) -> list[dict[str, object]]:
    events = [json.loads(line) for line in log.read_text().splitlines()]
    return [each for each in events if each["event"] == event]


async def test_arguments_that_ended_the_daemon_are_refused_and_their_widget_is_served(
    tmp_path: Path,
) -> None:
    folder, log, state = tmp_path / "widgets", tmp_path / "log", str(tmp_path / "state")
    write_shout(folder, "who")
    async with forked_daemon(folder, "--state-dir", state, before=STALLING) as served:
        assert await tools(served) == {"quiet", "shout"}
        await until_stuck(served)
        assert await served.wait_for_end() == 26

    async with forked_daemon(folder, "--state-dir", state, before=STALLING, log=log) as served:
        assert await tools(served) == {"quiet", "shout"}
        refused = await shout(served.url, "stall")
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "W1014")
        assert (await shout(served.url, "Ada")).status_code == 201

    assert logged_events(log, "widget.refused") == []
    assert [event["remembers"] for event in logged_events(log, "watchdog.armed")] == [True]


async def test_journal_of_a_crash_refuses_the_arguments_for_all_and_no_widget(
    tmp_path: Path,
) -> None:
    folder, state = tmp_path / "widgets", tmp_path / "state"
    write_shout(folder, "who")
    content = source("Shout.widget", (folder / "Shout.widget").read_text()).digest
    started_s = time.time() - 60
    journal = CrashJournal(StateFolder.of(state, folder), VERSION, now=lambda: started_s)
    journal.open()
    amid = journal.rendering(content, journal.digest({"who": "Bob"}))
    amid.__enter__()

    async with forked_daemon(folder, "--state-dir", str(state)) as served:
        assert await tools(served) == {"quiet", "shout"}
        answers = {who: (await shout(served.url, who)).status_code for who in ("Bob", "Ada")}

    assert answers == {"Bob": 422, "Ada": 201}
    amid.__exit__(None, None, None)


async def test_file_whose_sample_never_returns_ends_no_start_and_no_save(tmp_path: Path) -> None:
    folder, state, log = tmp_path / "widgets", tmp_path / "state", tmp_path / "log"
    write_shout(folder, "'stall'")
    # The process that draws first imports it as it starts.
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(STALLING_FILTER)
    program = f"{STALLING}\nimport sys\nsys.path.append({str(site)!r})\n"
    flags = ("--state-dir", str(state))

    async with forked_daemon(folder, *flags, before=program, log=log) as served:
        assert await tools(served) == {"quiet"}
        async with connect_client(served.url, "modern") as client:
            stuck = (folder / "Shout.widget").read_text()
            (folder / "Shout.widget").write_text(widget_file("Shout"))
            await client.lists("shout")
            (folder / "Second.widget").write_text(stuck.replace("Shout", "Second"))
            (folder / "Third.widget").write_text(widget_file("Third"))
            await client.lists("third")
            assert await tools(served) == {"quiet", "shout"}
        with anyio.fail_after(PATIENCE_S):
            while len(refused := logged_events(log, "widget.refused")) < 2:
                await tools(served)
        assert served.process.returncode is None

    assert [event["code"] for event in refused] == ["W1013", "W1013"]


async def test_kill_during_a_render_takes_nothing_away(tmp_path: Path) -> None:
    folder, state = tmp_path / "widgets", str(tmp_path / "state")
    write_shout(folder, "who")
    async with forked_daemon(folder, "--state-dir", state, before=STALLING_FILTER) as served:
        await until_stuck(served)
        served.send(signal.SIGKILL)
        assert await served.wait_for_end() == -signal.SIGKILL

    async with forked_daemon(folder, "--state-dir", state, before=STALLING) as served:
        assert await tools(served) == {"quiet", "shout"}
        assert (await shout(served.url, "Ada")).status_code == 201


async def test_start_without_a_state_folder_logs_once_that_nothing_is_remembered(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    async with forked_daemon(tmp_path, log=log):
        pass

    assert [event["remembers"] for event in logged_events(log, "watchdog.armed")] == [False]


async def test_daemon_in_a_process_of_others_does_not_end_it(tmp_path: Path) -> None:
    async with serving(tmp_path):
        assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)


@needs_wings
async def test_every_call_is_journalled_while_it_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, state = tmp_path / "widgets", tmp_path / "state"
    write_shout(folder, "who")
    (folder / "Shout.widget.toml").write_text("summary = '{{ who }}'\nsummary_data = {a = 'who'}\n")
    standing: list[bool] = []

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            (page,) = state.rglob(PAGE_FILE)
            standing.append(any(page.read_bytes()[:4096:64]))
            return function(*args)

        return call

    monkeypatch.setattr(Template, "rendering", watched(Template.rendering))
    monkeypatch.setattr(Expression, "evaluate", watched(Expression.evaluate))
    async with serving(folder, state_dir=state) as url, connect_client(url, "modern") as client:
        assert standing == [], "the first scan draws in another process"
        await client.call("shout", who="Ada")
        assert standing
        calls = len(standing)
        assert (await shout(url, "Bob")).status_code == 201
        assert len(standing) > calls

    assert all(standing)


def outcome(script: str, *before: str) -> int:
    """Run a script with 0.3 s of processor time between two beats and return its exit code."""
    head = (
        "from dataclasses import replace\nfrom widgetd.daemon import watchdog\n"
        "limits = {'watchdog_cpu_s': 0.3, 'watchdog_beat_s': 0.02}\n"
        "watchdog.LIMITS = replace(watchdog.LIMITS, **limits)\n"
    )
    command = [*before, sys.executable, "-c", STUCK + head + script]
    return subprocess.run(command, capture_output=True, timeout=60, check=False).returncode


BUSY = """
import time
def busy(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
"""

OUTCOMES = {
    "a lock that is never let go": ("with watchdog.arm(): stuck()", 26),
    "memory that may not be both written and run, as under systemd": (
        """
import ctypes
ctypes.CDLL(None).prctl(PR_SET_MDWE := 65, 1, 0, 0, 0)
with watchdog.arm(): stuck()
""",
        26,
    ),
    "a loop that does not turn": (BUSY + "with watchdog.arm(): busy(60)", 26),
    "a fork that has a timer of its own": (
        """
with watchdog.arm():
    child = os.fork()
    if child == 0:
        watchdog.renew()
        stuck()
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status) + 100)
""",
        126,
    ),
    "a machine that sleeps": ("import time\nwith watchdog.arm(): time.sleep(1)", 0),
    "work after it was disarmed": (BUSY + "with watchdog.arm(): pass\nbusy(0.6)", 0),
    "a thread that works while the loop turns": (
        BUSY
        + """
import anyio, anyio.to_thread
async def main():
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watchdog.beat)
        await anyio.to_thread.run_sync(busy, 0.6)
        tasks.cancel_scope.cancel()
with watchdog.arm(): anyio.run(main)
""",
        0,
    ),
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_process_ends_exactly_after_processor_time_without_a_beat(name: str) -> None:
    script, status = OUTCOMES[name]

    assert outcome(script) == status


def test_it_ends_as_process_1_of_a_container() -> None:
    apart = ("unshare", "--pid", "--fork", "--kill-child")
    try:
        subprocess.run([*apart, "true"], check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("nobody here may make a process the first of its kind: it takes unshare -pf")

    assert outcome("assert os.getpid() == 1\nwith watchdog.arm(): stuck()", *apart) == 26


@needs_forks
def test_other_process_of_a_start_is_ended_as_well_without_a_wait(tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / f"w{number:03}.widget").write_text(widget_file(f"Widget {number}"))
    script = f"""
from pathlib import Path
from widgetd.daemon.parallel_proof import proving_in_parallel

def prove(source, sidecar):
    stuck()

root = Path({str(tmp_path)!r})
with watchdog.arm(), proving_in_parallel(root, prove, proof_count=0):
    ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
os._exit(ended.si_status + 100)
"""

    assert outcome(script) == 126


def test_five_seconds_of_processor_time_are_allowed() -> None:
    assert LIMITS.watchdog_cpu_s == 5
    assert int(signal.SIGVTALRM) == 26
