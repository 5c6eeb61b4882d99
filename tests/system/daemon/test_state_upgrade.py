"""What is in a state folder survives an upgrade of widgetd, and the way back.

`tests/states/` has the folders that earlier versions wrote: they served A, B and C with the text
"One", then A with "Two", and then B was broken.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from hashlib import blake2b
from pathlib import Path

import anyio
import pytest

from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.processes import daemon_process
from tests.support.widgets import greeting, widget_file
from widgetd.server.catalog.state import StateFolder
from widgetd.server.catalog.versions import Versions

ROOT = Path(__file__).parents[3]
STATES = ROOT / "tests" / "states"
COMMITS = {"0.2.0": "85751f24", "0.3.0": "0b714105"}
READ = {"draws", "proofs.jsonl", "versions.jsonl", "versions"}
TOKEN = "a-token-of-the-time-before"
WHO = {"who": "Ada"}


def write_widgets(widgets: Path) -> None:
    widgets.mkdir()
    for name, text in {"A": "Two", "C": "One"}.items():
        (widgets / f"{name}.widget").write_text(widget_file(name, text=text))
    (widgets / "B.widget").write_text("{")


def state_of(state: Path, widgets: Path) -> Path:
    return state / blake2b(os.fsencode(widgets.resolve()), digest_size=8).hexdigest()


@pytest.mark.parametrize("version", COMMITS)
async def test_state_of_an_earlier_version_is_used(tmp_path: Path, version: str) -> None:
    widgets, state, tokens = tmp_path / "widgets", tmp_path / "state", tmp_path / "tokens"
    write_widgets(widgets)
    tokens.write_text(f"ada {TOKEN}\n")
    tokens.chmod(0o600)
    folder = state_of(state, widgets)
    shutil.copytree(STATES / version, folder)
    before = [each.generation for each in Versions(StateFolder(folder)).latest()]
    async with (
        serving(widgets, state_dir=state, token_file=tokens) as url,
        connect_client(url, "modern", TOKEN) as client,
    ):
        await client.answers("a", WHO, greeting("Two", "Ada"))
        # Of 0.2 no last good version is read.
        assert ("b" in await client.tools()) == (version != "0.2.0")
        if version != "0.2.0":
            await client.answers("b", WHO, greeting("One", "Ada"))

    after = [each.generation for each in Versions(StateFolder(folder)).latest()]
    assert len(before) == (0 if version == "0.2.0" else 2)
    assert after[: len(before)] == before


def test_upgrade_notes_list_what_is_no_longer_read() -> None:
    notes = (ROOT / "docs/operations/install.md").read_text().partition("## Upgrade")[2]
    unread = {path.name for folder in STATES.iterdir() for path in folder.iterdir()} - READ
    assert unread == {"last-good", "verdicts.jsonl"}
    assert all(f"`{name}`" in notes for name in unread)


@pytest.mark.parametrize("version", COMMITS)
async def test_earlier_version_runs_on_the_state_of_this_one_and_back(
    tmp_path: Path, version: str
) -> None:
    code, widgets, state = tmp_path / "code", tmp_path / "widgets", tmp_path / "state"
    code.mkdir()
    archive = await anyio.run_process(
        ["git", "-C", str(ROOT), "archive", COMMITS[version], "widgetd"], check=False
    )
    if archive.returncode:
        pytest.skip(f"needs the commit of {version}, which a shallow clone does not have")
    subprocess.run(["tar", "-x", "-C", str(code)], input=archive.stdout, check=True)  # noqa: ASYNC221 - a second at most
    write_widgets(widgets)
    (widgets / "B.widget").write_text(widget_file("B", text="One"))
    async with serving(widgets, state_dir=state):
        with anyio.fail_after(PATIENCE_S):
            while not Versions(StateFolder(state_of(state, widgets))).latest():  # noqa: ASYNC110 - nothing tells of it
                await anyio.sleep(0.01)
    (widgets / "B.widget").write_text("{")

    earlier = (
        "env",
        "-u",
        "WIDGETD_LINKS",
        "-C",
        str(code),
        f"PYTHONPATH={code}",
        sys.executable,
        "-m",
        "widgetd",
    )
    flags = ("--state-dir", str(state))
    async with (
        daemon_process(widgets, *flags, program=earlier) as served,
        connect_client(served.url, "modern") as client,
    ):
        await client.answers("a", WHO, greeting("Two", "Ada"))

    async with serving(widgets, state_dir=state) as url, connect_client(url, "modern") as client:
        await client.answers("a", WHO, greeting("Two", "Ada"))
        # 0.3.0 replaces the list of generations by its own.
        assert ("b" in await client.tools()) == (version == "0.2.0")
