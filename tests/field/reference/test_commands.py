"""The commands in the documentation work in a fresh clone as described."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from docs.generate.commands import end_all, list_commands, run_commands
from tests.field.deploy.documents import ROOT
from widgetd.cli import app

LEFT_OUT = {
    "chat.md": "models that are not here",
    "designers.md": "an export of one's own",
    "developers.md": "hosts that are not here",
    "recover.md": "generations of one's own; secure.md has its rollback",
    "scale.md": "clusters of one's own",
    "upstreams.md": "renders of one's own",
    "start.md": "`python -m docs.generate.start` walks it and writes down what is printed",
    "testing.md": "its commands are run by tests/field/author/testing",
}
"""Pages whose commands are not run here, and what they need."""


WRITTEN = (*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "operations").glob("*.md"))
CALL = re.compile(r"(?:[A-Z_]+=\S+ )?(?:\.venv/bin/|uvx )?widgetd ([a-z].*?)(?: \|\| true)?")


def pages() -> dict[str, list[str]]:
    commands = {page.name: list_commands(page.read_text()) for page in WRITTEN}
    return {name: listed for name, listed in commands.items() if listed}


def list_calls() -> list[str]:
    """Return the calls of widgetd in README.md and all pages: `["check widgets", ...]`."""
    lines: list[str] = []
    for page in (ROOT / "README.md", *WRITTEN):
        text = page.read_text().replace("\\\n", " ")
        scripts = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
        lines += [*list_commands(text), *scripts.splitlines()]
    return sorted({call[1] for line in lines if (call := CALL.fullmatch(line))})


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a clone whose `.venv` runs its own code with this environment's packages."""
    folder = tmp_path / "widgetd"
    subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, folder], check=True)
    places = (folder / ".venv" / "bin", tmp_path / "bin")
    for place in places:
        place.mkdir(parents=True)
        script = place / "widgetd"
        run = f'PYTHONPATH="{folder}" exec "{sys.executable}" -m widgetd "$@"'
        script.write_text(f"#!/bin/sh\n{run}\n")
        script.chmod(0o755)
        (place / "fastmcp").symlink_to(Path(sys.executable).parent / "fastmcp")
    return folder


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number: int = free.getsockname()[1]
    return number


def test_commands_of_every_page_are_run_or_have_a_stated_need() -> None:
    assert pages().keys() == LEFT_OUT.keys() | {"hosts.md", "releasing.md", "secure.md"}


@pytest.mark.parametrize("call", list_calls())
def test_command_line_accepts_every_documented_call(call: str) -> None:
    app.parse_args(shlex.split(call, comments=True), exit_on_error=False, print_error=False)


@pytest.mark.timeout(120)
def test_day_with_two_teams(clone: Path, port: int) -> None:
    output, running = run_commands(pages()["secure.md"], clone, port)
    end_all(running)

    outputs = [part.partition("\n")[2] for part in output.split("$ ")]
    shop, travel = (part for part in outputs if "search_widgets" in part)
    [checked] = [part for part in outputs if "Crad" in part]
    [history] = [part for part in outputs if part.startswith("* ")]
    assert "basket" in shop
    assert "flights" not in shop
    assert "flights" in travel
    assert "basket" not in travel
    assert "Basket.widget.jsx" in checked
    assert [line[:2] for line in history.splitlines()] == ["* ", "  "]
    assert "~basket" in history.splitlines()[0]
    assert "is served, until the next change in the folder" in output


@pytest.mark.timeout(120)
def test_chat_that_replaces_agent_builder_starts(
    clone: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join([str(clone.parent / "bin"), os.environ["PATH"]]))
    commands = pages()["hosts.md"]

    output, running = run_commands(commands, clone, port, also_running="widgetd chat")
    end_all(running)

    assert "Talk to an agent:" in output


def test_release_commands_are_make_targets(clone: Path) -> None:
    """Each takes minutes, so only what it would do is asked here."""
    for command in pages()["releasing.md"]:
        assert command.startswith("make ")
        done = subprocess.run(
            ["make", "--dry-run", *command.split()[1:]], cwd=clone, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
