"""Progress of commands: a bar on a terminal, lines in a pipe, nothing with -q."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from tests.support.widgets import widget_file
from widgetd.base.system import Clock
from widgetd.cli import app, main
from widgetd.server import progress
from widgetd.server.progress import COUNTED, PROGRESS_LINE, Progress


class _SetClock(Clock):
    def __init__(self) -> None:
        self.now_s = 0.0

    def steady_s(self) -> float:
        return self.now_s


def _lines(*, quiet: bool = False) -> list[str]:
    """Return what a pipe gets of ten pictures, each of which takes 2 seconds."""
    clock, stream = _SetClock(), StringIO()
    with Progress("shot", 10, quiet=quiet, stream=stream, clock=clock) as shown:
        for _ in range(10):
            clock.now_s += 2
            shown.advance()
    return stream.getvalue().splitlines()


def test_pipe_gets_a_line_with_count_total_and_time_left_every_few_seconds() -> None:
    assert _lines() == [
        "1 of 10 pictures",
        "4 of 10 pictures, 12 s left",
        "7 of 10 pictures, 6 s left",
        "10 of 10 pictures, 0 s left",
    ]
    assert _lines(quiet=True) == []


def test_lines_about_tests_can_be_read_and_left_out() -> None:
    lines = "2 of 3 tests, 8 s left\n3 of 3 tests, 0 s left\n1 passed\n"

    assert PROGRESS_LINE.findall(lines) == [("2", "3"), ("3", "3")]
    assert PROGRESS_LINE.sub("", lines) == "1 passed\n"


def test_nothing_is_shown_within_the_first_second() -> None:
    stream = StringIO()
    with Progress("check", 2, stream=stream, clock=_SetClock()) as shown:
        shown.advance()
        shown.advance()

    assert stream.getvalue() == ""


def test_terminal_gets_a_bar_which_is_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    clock, (above, below) = _SetClock(), pty.openpty()
    with (
        os.fdopen(below, "w") as stream,
        Progress("test", 9, stream=stream, clock=clock) as shown,
    ):
        for _ in range(3):
            clock.now_s += 2
            shown.advance()
    drawn = b"".join(iter(lambda: _read(above), b"")).decode()
    os.close(above)

    assert "━━━━" in drawn
    assert "3 of 9 tests, 12 s left" in drawn
    assert drawn.endswith("\x1b[1A\x1b[2K")  # back to its line, and the line erased


@pytest.mark.parametrize("command", COUNTED)
def test_every_command_that_counts_can_be_quiet(command: str) -> None:
    flags = {name for row in app[command].assemble_argument_collection() for name in row.names}

    assert command == "test" or {"-q", "--quiet"} <= flags  # pytest has -q itself


def test_check_and_build_count_what_they_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "SILENT_S", 0.0)
    monkeypatch.setattr(progress, "LINE_S", 0.0)
    widgets = tmp_path / "widgets"
    widgets.mkdir()
    for name in ("First", "Second"):
        (widgets / f"{name}.widget").write_text(widget_file(name))
    check = ["check", str(widgets)]
    build = ["build", str(widgets), "-o", str(tmp_path / "site")]

    assert main(check) == main(build) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["1 of 2 files", "2 of 2 files, 0 s left"]
    done, _, total = lines[-1].removesuffix(" pages, 0 s left").partition(" of ")
    assert done == total == str(len(lines) - 2)
    assert main([*check, "-q"]) == main([*build, "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_ctrl_c_ends_a_check_on_a_terminal_and_says_how_far_it_came(tmp_path: Path) -> None:
    for number in range(3_000):
        (tmp_path / f"W{number}.widget").write_text(widget_file(f"W{number}"))
    terminal, below = pty.openpty()
    program = [sys.executable, "-m", "widgetd", "check", str(tmp_path)]
    environment = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(program, env=environment, stdout=below, stderr=below) as process:
        os.close(below)
        output = b""
        while chunk := _read(terminal):
            if b" of 3,000 files" in chunk and b" of 3,000 files" not in output:
                process.send_signal(signal.SIGINT)
            output += chunk
    os.close(terminal)

    assert process.returncode == 130
    assert output.rstrip().endswith(b" of 3,000 files are complete")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # its last writer has ended
        return b""
