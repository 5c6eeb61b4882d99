"""The last good version of a file outlives the process, and is never believed blindly."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from random import Random

import anyio
import pytest

from storms.churn import WHO, Churn, revision_of
from tests.process import daemon_process
from tests.serving import PATIENCE_S, connected, greeting, serving, widget_file
from tests.system.web.asking import ask
from widgetd.catalog.last_good import FOLDER, Copies
from widgetd.files.source import Source


def folders(tmp_path: Path) -> tuple[Path, Path]:
    widgets, state = tmp_path / "widgets", tmp_path / "state"
    widgets.mkdir()
    state.mkdir()
    return widgets, state


def source(path: str = "A.widget", content: bytes = b"{}", digest: str = "d") -> Source:
    return Source(path=path, content=content, digest=digest)


async def until_copied(state: Path, count: int) -> None:
    """Wait until so many copies are in place."""
    with anyio.fail_after(PATIENCE_S):
        while len(list((state / FOLDER).glob("*-*"))) != count:  # noqa: ASYNC110 - nothing tells of a copy
            await anyio.sleep(0.01)


async def test_a_file_that_was_broken_while_the_daemon_was_down_serves_its_last_good_version(
    tmp_path: Path,
) -> None:
    widgets, state = folders(tmp_path)
    (widgets / "A.widget").write_text(widget_file("A"))
    (widgets / "A.widget.toml").write_text('title = "The first"\n')
    async with serving(widgets, state_dir=state):
        await until_copied(state, 1)
    (widgets / "A.widget").write_text("{")

    async with serving(widgets, state_dir=state) as url, connected(url, "modern") as client:
        result = await client.call("a", who="Ada")
        said = (await ask(url, "/status")).json()
        [tool] = [each for each in (await client.client.list_tools()).tools if each.name == "a"]

    assert result.structured_content == greeting("Hello", "Ada")
    assert tool.title == "The first"
    assert [(fault["path"], fault["state"]) for fault in said["faults"]] == [("A.widget", "stale")]


async def test_a_file_that_was_deleted_leaves_no_copy(tmp_path: Path) -> None:
    widgets, state = folders(tmp_path)
    for name in ("A", "B"):
        (widgets / f"{name}.widget").write_text(widget_file(name))
    async with serving(widgets, state_dir=state):
        await until_copied(state, 2)
        (widgets / "A.widget").unlink()
        await until_copied(state, 1)


async def test_an_empty_folder_takes_no_copies_with_it(tmp_path: Path) -> None:
    widgets, state = folders(tmp_path)
    (widgets / "A.widget").write_text(widget_file("A"))
    async with serving(widgets, state_dir=state):
        await until_copied(state, 1)
    (widgets / "A.widget").unlink()
    async with serving(widgets, state_dir=state):
        pass

    await until_copied(state, 1)


@pytest.mark.parametrize("harm", ["cut", "changed", "version", "path"])
def test_a_copy_is_believed_only_whole_and_from_the_same_version(tmp_path: Path, harm: str) -> None:
    Copies(tmp_path, "1").put(source(content=b'{"a":"\xff"}'), source("A.widget.toml", b"x = 1"))
    [file] = (tmp_path / FOLDER).iterdir()
    content = file.read_bytes()
    if harm == "cut":
        file.write_bytes(content[:-3])
    if harm == "changed":
        file.write_bytes(content.replace(b"x = 1", b"x = 2"))
    version, path = "2" if harm == "version" else "1", "B.widget" if harm == "path" else "A.widget"

    assert Copies(tmp_path, version).recall(path) is None

    file.write_bytes(content)
    recalled = Copies(tmp_path, "1").recall("A.widget")
    assert recalled is not None
    assert recalled[0].content == b'{"a":"\xff"}'
    assert recalled[1] is not None
    assert recalled[1].content == b"x = 1"


async def test_kill_9_at_any_moment_loses_nothing_that_is_on_the_disk(tmp_path: Path) -> None:
    widgets, state = folders(tmp_path)
    churn, random = Churn(widgets, widgets=8), Random(1)
    for _ in range(3):
        async with daemon_process(widgets, "--state-dir", str(state)) as served:
            saving = threading.Thread(target=churn.blow, args=(40, 0.005))
            saving.start()
            await anyio.sleep(random.uniform(0, 0.3))  # any moment
            served.send(signal.SIGKILL)
            assert await served.ended(within_s=5) == -signal.SIGKILL
        saving.join()

    async with serving(widgets, state_dir=state) as url, connected(url, "modern") as client:
        for name, revision in churn.revisions.items():
            result = await client.call(name, who=WHO)
            assert result.structured_content is not None
            assert revision_of(result.structured_content) == revision
