"""The process that parses untrusted content first: its limits, its end, its next start."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import ANY

import anyio
import pytest

from tests.support.clients import connect_client
from tests.support.forked_daemons import forked_daemon
from tests.support.patience import PATIENCE_S
from tests.support.widgets import source, widget_file
from tests.system.server.web.asking import put
from widgetd.base.errors import WidgetError
from widgetd.daemon.parser_process import LIMITS, ParserProcess
from widgetd.server.catalog.loader import load

needs_memory_limits = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux limits the memory of a process"
)

WIDE = "<A b={[" + "1," * 4_900 + "]}/>"
"""JSX whose syntax tree takes more than the memory that a process has at hand."""


@pytest.fixture
def parser() -> Iterator[ParserProcess]:
    process = ParserProcess()
    yield process
    process.close()


def test_starts_with_the_first_request_and_serves_all(parser: ParserProcess) -> None:
    assert parser.pid is None
    parser.check_jsx("<Card/>")
    first = parser.pid
    parser.check_jsx("<Card")
    parser.check_jsx("\ud800")
    file, sidecar = source("A.widget", widget_file()), source("A.widget.toml", "title = 'A'")
    assert parser.prove(file, sidecar) == replace(load(file, sidecar).prove(), entry=ANY)
    assert parser.prove(source("A.widget", "{"), None) is None
    parser.prove(file, sidecar, {"who": 10**30})

    assert parser.pid == first is not None


@needs_memory_limits
@pytest.mark.parametrize("is_warm", [False, True])
def test_content_above_the_memory_limit_is_refused_and_the_next_is_parsed(is_warm: bool) -> None:
    parser = ParserProcess(replace(LIMITS, memory_bytes=2**20))
    try:
        if is_warm:
            parser.check_jsx("<Card/>")
        with pytest.raises(WidgetError) as refused:
            parser.check_jsx(WIDE)
        parser.check_jsx("<Card/>")
    finally:
        parser.close()

    assert refused.value.finding.code == "W1013"
    assert str(refused.value) == (
        "drawing it takes more than 2 s of processor time or 1 MB of memory; "
        "make it shorter, and close every comment, string and tag"
    )


@needs_memory_limits
def test_refused_file_is_named_in_the_finding() -> None:
    parser = ParserProcess(replace(LIMITS, memory_bytes=2**20))
    try:
        with pytest.raises(WidgetError, match=r"^Wide\.widget\.jsx: drawing it takes more than"):
            parser.prove(source("Wide.widget.jsx", WIDE), None)
    finally:
        parser.close()


@needs_memory_limits
def test_each_request_resets_the_limits(parser: ParserProcess) -> None:
    parser.check_jsx(WIDE)
    limits = Path(f"/proc/{parser.pid}/limits").read_text()
    size = int(Path(f"/proc/{parser.pid}/statm").read_text().split()[0]) * os.sysconf("SC_PAGESIZE")
    soft = {line[:26].strip(): line[26:].split()[0] for line in limits.splitlines()[1:]}

    assert 1 <= int(soft["Max cpu time"]) <= 1 + LIMITS.cpu_s + 1
    assert size <= int(soft["Max address space"]) <= size + LIMITS.memory_bytes
    assert soft["Max core file size"] == "0"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGABRT])
def test_next_request_replaces_a_killed_process(
    parser: ParserProcess, number: signal.Signals
) -> None:
    parser.check_jsx("<Card/>")
    first = parser.pid
    assert first is not None
    os.kill(first, number)
    parser.check_jsx(WIDE)

    assert parser.pid not in (None, first)


def test_content_is_parsed_by_the_daemon_where_no_process_starts(
    parser: ParserProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    for executable in ("/nowhere/python", "/bin/false"):
        monkeypatch.setattr(sys, "executable", executable)
        parser.check_jsx("<Card/>")

    assert parser.pid is None


def children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


@needs_memory_limits
async def test_daemon_starts_it_for_the_first_save_and_again_after_it_was_killed(
    tmp_path: Path,
) -> None:
    (tmp_path / "Plain.widget").write_text(widget_file("Plain"))
    async with forked_daemon(tmp_path) as served, connect_client(served.url, "modern") as client:
        assert children(served.process.pid) == []
        pids = []
        for name in ("one", "two"):
            (tmp_path / f"{name}.widget").write_text(widget_file(name))
            with anyio.fail_after(PATIENCE_S):
                await client.lists(name)
            (pid,) = children(served.process.pid)
            pids.append(pid)
            os.kill(pid, signal.SIGKILL)

    assert len(set(pids)) == 2


@needs_memory_limits
async def test_drafts_and_uploads_are_parsed_there_first(tmp_path: Path) -> None:
    arguments = ("--toolset", "author", "--gallery", "--allow-upload")
    async with forked_daemon(tmp_path, *arguments) as served:
        async with connect_client(served.url, "modern") as client:
            await client.call("try_widget", widget=json.loads(widget_file("Draft")))
        (first,) = children(served.process.pid)
        os.kill(first, signal.SIGKILL)
        uploaded = await put(served.url, {"Sent.widget": widget_file("Sent")})
        (second,) = children(served.process.pid)

    assert uploaded.status_code < 300
    assert second != first
