"""Every process has a place, with an owner and limits."""

from __future__ import annotations

import re
import signal
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import cast

import anyio
import pytest
from anyio.abc import ByteReceiveStream

from widgetd.base.processes import LIMITS, Kind, ProcessGate, find_tree, resident_bytes

PACKAGE = Path(__file__).parents[3] / "widgetd"

STARTS = re.compile(
    r"\b(Popen|open_process|run_process|os\.fork|async_playwright|execv)\(|\bsubprocess\.run\b"
)
"""Calls that start a process."""

COMMANDS = {
    "daemon/parallel_proof.py": "forks within the parser's limits, as many as the daemon's allow",
    "cli/serve.py": "replaces the process",
    "cli/check.py": "a command, which serves nobody",
    "author/testing/command.py": "a command, which serves nobody",
}
"""Modules that start processes without a place, with the reason."""

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="looks at memory in /proc")

FILL = "import subprocess, sys, time; held = b'x' * 2**26; "
PARENT = f"{FILL}subprocess.Popen([sys.executable, '-c', sys.argv[1]]).wait()"
CHILD = f"{FILL}print('held', end='', flush=True); time.sleep(600)"


def try_to_hold(held: ExitStack, gate: ProcessGate, kind: Kind, owner: str | None) -> bool:
    try:
        held.enter_context(gate.hold(kind, owner))
    except BlockingIOError:
        return False
    return True


@pytest.mark.parametrize("owner", [None, "", "ada"])
@pytest.mark.parametrize("kind", LIMITS)
def test_owner_holds_no_more_than_its_share_and_takes_none_of_another(
    kind: Kind, owner: str | None
) -> None:
    gate, limits = ProcessGate(), LIMITS[kind]
    share = limits.most if owner is None else limits.share or limits.most
    with ExitStack() as held:
        allowed = [try_to_hold(held, gate, kind, owner) for _ in range(limits.most + 1)]
        assert sum(allowed) == share
        assert try_to_hold(held, gate, kind, "other") is (share < limits.most)
    with gate.hold(kind, owner):
        pass


@pytest.mark.parametrize("kind", LIMITS)
def test_owners_together_hold_no_more_than_the_number(kind: Kind) -> None:
    gate = ProcessGate()
    with ExitStack() as held:
        allowed = [try_to_hold(held, gate, kind, f"owner {n}") for n in range(200)]
    assert sum(allowed) == LIMITS[kind].most


def test_each_kind_has_a_limit_of_memory() -> None:
    assert all(row.memory_bytes or row.resident_bytes for row in LIMITS.values())


def test_each_module_that_starts_a_process_holds_a_place() -> None:
    missing = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if STARTS.search(text := path.read_text(encoding="utf-8")) and "PROCESSES.hold(" not in text
    }
    assert missing == COMMANDS.keys()


@needs_proc
async def test_tree_above_its_memory_is_ended_with_all_that_it_started() -> None:
    limits = replace(LIMITS["program"], resident_bytes=100 * 2**20)
    gate = ProcessGate({**LIMITS, "program": limits})
    command = [sys.executable, "-c", PARENT, CHILD]
    async with await anyio.open_process(command, stderr=None) as process:
        stdout = cast("ByteReceiveStream", process.stdout)
        with anyio.fail_after(60):
            assert await stdout.receive() == b"held"
            assert resident_bytes(process.pid) > 128 * 2**20
            assert len(list(find_tree(process.pid))) == 2
            await gate.watch("program", process.pid)
            # The pipe is closed once the child, too, has ended.
            with pytest.raises(anyio.EndOfStream):
                await stdout.receive()
            assert await process.wait() == -signal.SIGKILL
