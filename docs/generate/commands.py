"""The commands of a page, run in order as a reader would in a clone."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterable
from pathlib import Path

RUNNING = "leave it running"
LAST_LINE = "Connect a client"
USUAL = "127.0.0.1:8787"
PATIENCE_S = 300
_NOT_A_READERS = ("WIDGETD_", "VIRTUAL", "MAKE", "MFLAGS")
"""Beginnings of variables that a test has and a reader does not."""


def list_commands(text: str) -> list[str]:
    """Return the commands of a page's console blocks, in order."""
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    return [
        command for block in blocks for command in re.findall(r"^\$ (.+)$", block, re.MULTILINE)
    ]


def run_commands(
    commands: Iterable[str], folder: Path, port: int, *, also_running: str = ""
) -> tuple[str, list[subprocess.Popen[str]]]:
    """Run commands in `folder`, and return what they print and those that are left running.

    Args:
        commands: In order; one whose remark says so is left running.
        folder: The clone.
        port: Takes the place of the usual one.
        also_running: The beginning of commands that are left running without a remark.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith(_NOT_A_READERS)}
    environment |= {"WIDGETD_PORT": str(port)}
    lines: list[str] = []
    remaining: list[subprocess.Popen[str]] = []
    for command in commands:
        lines.append(f"$ {command}\n")
        ran = subprocess.Popen(
            command.replace(USUAL, f"127.0.0.1:{port}"),
            shell=True,
            cwd=folder,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            start_new_session=True,  # so that all that it starts can be ended
        )
        assert ran.stdout is not None
        if RUNNING in command or (also_running and command.startswith(also_running)):
            remaining.append(ran)
            for line in ran.stdout:
                lines.append(line)
                if line.startswith(LAST_LINE):
                    break
        elif not command.startswith("cd "):
            lines.append(ran.communicate(timeout=PATIENCE_S)[0])
            assert ran.returncode == 0, (command, lines[-1])
    return "".join(lines).replace(f"127.0.0.1:{port}", USUAL), remaining


def end_all(running: Iterable[subprocess.Popen[str]]) -> None:
    """End the remaining processes and their descendants."""
    for one in running:
        os.killpg(one.pid, signal.SIGTERM)
        one.communicate(timeout=30)
