"""An earlier generation is served under load, survives a restart and ends with the next save."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from tests.support.clients import Connection, connect_client
from tests.support.daemons import serving
from tests.support.load import under_load
from tests.support.patience import PATIENCE_S
from tests.support.widgets import greeting, widget_file
from tests.system.server.web.asking import status
from widgetd.cli import main
from widgetd.server.catalog.rollback import FILE

WHO = {"who": "Ada"}


class Folder:
    """A folder of widgets with its state, and the commands about it."""

    def __init__(self, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.widgets, self.state = place / "widgets", place / "state"
        self.widgets.mkdir()
        self._capsys = capsys

    def save(self, name: str, text: str = "", content: str = "") -> None:
        """Replace a widget by renaming a new file."""
        new = self.widgets / f".{name}.new"
        new.write_text(content or widget_file(name, text=text))
        new.replace(self.widgets / f"{name}.widget")

    async def run(self, *command: str) -> tuple[int, str]:
        """Run a command and return its exit code and all that it prints."""
        flags = ("--dir", str(self.widgets), "--state-dir", str(self.state))
        self._capsys.readouterr()
        code = await anyio.to_thread.run_sync(partial(main, [*command, *flags]))
        captured = self._capsys.readouterr()
        return code, captured.out + captured.err

    async def history(self) -> list[dict[str, Any]]:
        code, output = await self.run("rollback", "--list", "--json")
        return json.loads(output) if code == 0 else []

    async def recorded(self, url: str) -> list[str]:
        """Wait until what is served is listed, and return all generations, the newest first."""
        with anyio.fail_after(PATIENCE_S):
            while True:
                rows = await self.history()
                if rows and rows[0]["generation"] == (await status(url))["generation"]:
                    return [row["generation"] for row in rows]
                await anyio.sleep(0.01)


@pytest.fixture
def served(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Folder:
    return Folder(tmp_path, capsys)


@asynccontextmanager
async def serve_folder(served: Folder) -> AsyncIterator[tuple[str, Connection]]:
    async with (
        serving(served.widgets, state_dir=served.state, toolset=("operate",)) as url,
        connect_client(url, "modern") as client,
    ):
        yield url, client


async def test_rollback_fails_no_call_survives_a_restart_and_ends_with_the_next_save(
    served: Folder,
) -> None:
    served.save("A", "Good")
    async with serve_folder(served) as (url, client):
        [good] = await served.recorded(url)
        served.save("A", "Bad")
        served.save("B", "New")
        await client.answers("a", WHO, greeting("Bad", "Ada"))
        await client.lists("b")
        bad, *_ = await served.recorded(url)
        async with under_load(url, "a", **WHO) as failures:
            code, output = await served.run("rollback", "--to", good[:6])
            after = await client.call("a", **WHO)
            await client.lists("b", present=False)
        during, answer = await status(url), (await client.call("get_status")).structured_content
        listed = await served.history()

    assert (code, output) == (0, f"{good} is served, until the next change in the folder\n")
    assert after.structured_content == greeting("Good", "Ada")
    assert failures == []
    assert during["generation"] == good
    assert during["rollback"]["generation"] == good
    assert answer is not None
    assert answer["rollback"] == during["rollback"]
    assert [row["generation"] for row in listed if row["served"]] == [good]

    async with serve_folder(served) as (url, client):
        assert (await client.call("a", **WHO)).structured_content == greeting("Good", "Ada")
        assert (await status(url))["rollback"] == during["rollback"]
        served.save("C", "Fixed")
        await client.answers("a", WHO, greeting("Bad", "Ada"))
        await client.lists("c")
        assert (await status(url))["rollback"] is None
        newest = await served.recorded(url)
        listed = await served.history()

    assert newest[-1] == good
    assert bad in newest
    assert [row["served"] for row in listed] == [True, *[False] * (len(listed) - 1)]
    assert listed[0]["changes"] == ["+c"]
    assert not any(served.state.glob(f"*/{FILE}"))


async def test_rollback_waits_for_the_next_start_and_takes_the_generation_before(
    served: Folder,
) -> None:
    served.save("A", "Good")
    async with serve_folder(served) as (url, client):
        await served.recorded(url)
        served.save("A", "Bad")
        await client.answers("a", WHO, greeting("Bad", "Ada"))
        _, good = await served.recorded(url)

    code, output = await served.run("rollback")

    assert (code, output) == (
        0,
        f"{good} is served from the next start on: no running daemon took it up\n",
    )
    async with serve_folder(served) as (url, client):
        assert (await client.call("a", **WHO)).structured_content == greeting("Good", "Ada")


async def test_rollback_outlasts_a_broken_save_and_ends_with_a_save_while_the_daemon_is_down(
    served: Folder,
) -> None:
    served.save("A", "Good")
    async with serve_folder(served) as (url, client):
        [good] = await served.recorded(url)
        served.save("A", "Bad")
        await client.answers("a", WHO, greeting("Bad", "Ada"))
        await served.recorded(url)
        await served.run("rollback", "--to", good)
        served.save("A", content="{")
        served.save("Broken", content="{")
        with anyio.fail_after(PATIENCE_S):
            while len((report := await status(url))["faults"]) < 2:  # noqa: ASYNC110 - no event reports a refused file
                await anyio.sleep(0.01)
        assert (await client.call("a", **WHO)).structured_content == greeting("Good", "Ada")
    assert report["rollback"]["generation"] == good
    assert [(fault["path"], fault["state"]) for fault in report["faults"]] == [
        ("A.widget", "stale"),
        ("Broken.widget", "refused"),
    ]

    served.save("A", "Fixed")
    async with serve_folder(served) as (url, client):
        assert (await client.call("a", **WHO)).structured_content == greeting("Fixed", "Ada")
        assert (await status(url))["rollback"] is None


async def test_rollback_to_the_newest_generation_ends_it(served: Folder) -> None:
    served.save("A", "Good")
    async with serve_folder(served) as (url, client):
        await served.recorded(url)
        served.save("A", "Other")
        await client.answers("a", WHO, greeting("Other", "Ada"))
        other, _ = await served.recorded(url)
        await served.run("rollback")
        await client.answers("a", WHO, greeting("Good", "Ada"))

        code, output = await served.run("rollback", "--to", other)

        assert (code, output) == (0, f"{other} is served, as the folder has it\n")
        assert (await client.call("a", **WHO)).structured_content == greeting("Other", "Ada")
        assert (await status(url))["rollback"] is None


async def test_rollback_names_the_problem(served: Folder) -> None:
    nothing = await served.run("rollback", "--list")
    served.save("A", "Good")
    async with serve_folder(served) as (url, _):
        [good] = await served.recorded(url)
        unknown, first = await served.run("rollback", "--to", "zz"), await served.run("rollback")
        for content in served.state.glob("*/versions/*"):
            content.unlink()
        outcome = await served.run("rollback", "--to", good)

    assert nothing[0] == 2
    assert nothing[1].endswith(" name the folders that `serve` has [W0032]\n")
    assert unknown == (
        2,
        "widgetd: no generations begin with zz; `widgetd rollback --list` names them [W0032]\n",
    )
    assert first[1].startswith("widgetd: there is no generation before the one that is served;")
    assert outcome[1] == (
        f"widgetd: the content of A.widget as it was in {good} is lost; "
        "`widgetd rollback --list` names other generations [W0033]\n"
    )
