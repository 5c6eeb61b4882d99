"""The last good version of a file outlives the process, and is never believed blindly."""

from __future__ import annotations

import signal
import threading
from hashlib import blake2b
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import anyio
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stress.churn import WHO, Churn, revision_of
from tests.support.clients import connected
from tests.support.daemons import PATIENCE_S, serving
from tests.support.processes import daemon_process
from tests.support.widgets import greeting, widget_file
from tests.system.web.asking import ask
from widgetd.catalog.catalog import Catalog
from widgetd.catalog.last_good import FOLDER, LastGood
from widgetd.catalog.loader import load
from widgetd.catalog.state import StateFolder
from widgetd.files.source import Source
from widgetd.limits import Limits
from widgetd.widget.widget import Widget


def folders(tmp_path: Path) -> tuple[Path, Path]:
    widgets, state = tmp_path / "widgets", tmp_path / "state"
    widgets.mkdir()
    state.mkdir()
    return widgets, state


def source(path: str = "A.widget", content: bytes = b"{}", digest: str = "d") -> Source:
    return Source(path=path, content=content, digest=digest)


def copies_in(state: Path) -> list[Path]:
    """The copies of all folders that share `state`."""
    return sorted(state.glob(f"*/{FOLDER}/*-*"))


async def until_copied(state: Path, count: int) -> None:
    """Wait until so many copies are in place."""
    with anyio.fail_after(PATIENCE_S):
        while len(copies_in(state)) != count:  # noqa: ASYNC110 - nothing tells of a copy
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
    LastGood(StateFolder(tmp_path), "1").put(
        source(content=b'{"a":"\xff"}'), source("A.widget.toml", b"x = 1")
    )
    [file] = (tmp_path / FOLDER).iterdir()
    content = file.read_bytes()
    if harm == "cut":
        file.write_bytes(content[:-3])
    if harm == "changed":
        file.write_bytes(content.replace(b"x = 1", b"x = 2"))
    version, path = "2" if harm == "version" else "1", "B.widget" if harm == "path" else "A.widget"

    assert LastGood(StateFolder(tmp_path), version).recall(path) is None

    file.write_bytes(content)
    recalled = LastGood(StateFolder(tmp_path), "1").recall("A.widget")
    assert recalled is not None
    assert recalled[0].content == b'{"a":"\xff"}'
    assert recalled[1] is not None
    assert recalled[1].content == b"x = 1"


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(min_value=-(2**63), max_value=2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)


def checksummed(said: bytes) -> bytes:
    """A copy that is whole, whatever it says."""
    return blake2b(said, digest_size=16).hexdigest().encode() + b"\n" + said


def harmed(file: Path) -> st.SearchStrategy[bytes]:
    """What may stand in a copy instead of what was written."""
    written = orjson.loads(file.read_bytes().partition(b"\n")[2])
    parts = st.dictionaries(st.sampled_from(sorted(written)), JSON, min_size=1)
    lacking = st.sets(st.sampled_from(sorted(written)), min_size=1).map(
        lambda names: {key: said for key, said in written.items() if key not in names}
    )
    wholes = st.one_of(JSON, lacking, parts.map(lambda others: written | others))
    return st.one_of(
        st.binary(), st.binary().map(checksummed), wholes.map(orjson.dumps).map(checksummed)
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_a_copy_holds_it_is_a_copy_or_none_and_the_next_takes_its_place(
    tmp_path: Path, data: st.DataObject
) -> None:
    with TemporaryDirectory(dir=tmp_path) as state:
        LastGood(StateFolder(Path(state)), "1").put(source(), source("A.widget.toml", b"x = 1"))
        [file] = (Path(state) / FOLDER).iterdir()
        file.write_bytes(data.draw(harmed(file)))
        copies = LastGood(StateFolder(Path(state)), "1")

        for recalled in copies.recall("A.widget") or ():
            assert recalled is None or isinstance(recalled.content, bytes)
        assert copies.put(source(content=b"{1}", digest="e"), None)
        recalled_again = LastGood(StateFolder(Path(state)), "1").recall("A.widget")
        assert recalled_again is not None
        assert recalled_again[0].content == b"{1}"


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("listed_last", [False, True])
@pytest.mark.parametrize("older", range(3))
def test_of_two_copies_that_a_crash_left_the_newer_is_believed_however_they_are_listed(
    tmp_path: Path, older: int, *, listed_last: bool, restart: bool
) -> None:
    for content in range(16):
        state = tmp_path / str(content)
        saves = [
            source(content=b"%d.%d" % (content, save), digest=f"{content}.{save}")
            for save in range(4)
        ]
        copies, left = LastGood(StateFolder(state), "1"), {}
        for save in saves:
            if restart:
                copies = LastGood(StateFolder(state), "1")
            copies.put(save, None)
            [file] = (state / FOLDER).iterdir()
            left[save.content] = (file, file.read_bytes())
        both = [left[saves[older].content], left[saves[-1].content]]
        both[1][0].unlink()
        for file, written in reversed(both) if listed_last else both:
            file.write_bytes(written)

        found = LastGood(StateFolder(state), "1")
        recalled = found.recall("A.widget")
        assert recalled is not None
        assert recalled[0].content == saves[-1].content

        found.put(saves[older], None)
        recalled = LastGood(StateFolder(state), "1").recall("A.widget")
        assert recalled is not None
        assert recalled[0].content == saves[older].content
        assert len(list((state / FOLDER).iterdir())) == 1


def test_a_copy_that_is_not_whole_is_no_newer_one(tmp_path: Path) -> None:
    copies, folder = LastGood(StateFolder(tmp_path), "1"), tmp_path / FOLDER
    copies.put(source(content=b"1", digest="1"), None)
    [file] = folder.iterdir()
    written = file.read_bytes()
    copies.put(source(content=b"2", digest="2"), None)
    [newer] = folder.iterdir()
    newer.write_bytes(newer.read_bytes()[:-1])
    file.write_bytes(written)

    recalled = LastGood(StateFolder(tmp_path), "1").recall("A.widget")

    assert recalled is not None
    assert recalled[0].content == b"1"


def test_a_copy_that_widgetd_itself_fails_on_costs_that_copy_alone(tmp_path: Path) -> None:
    widgets, state = folders(tmp_path)
    copies = LastGood(StateFolder(state), "1")
    for name in "AB":
        (widgets / f"{name}.widget").write_text("{")
        copies.put(source(f"{name}.widget", widget_file(name).encode()), None)

    def make(file: Source, sidecar: Source | None) -> Widget:
        if file.path == "A.widget" and file.content != b"{":
            raise RuntimeError("a defect")
        return load(file, sidecar, limits=Limits())

    catalog = Catalog(widgets, make, limit_bytes=1000, last_good=copies, quiet_ms=0)

    assert list(catalog.scan().widgets) == ["b"]


async def test_two_folders_on_one_state_folder_keep_apart(tmp_path: Path) -> None:
    widgets, state = folders(tmp_path)
    other, link = tmp_path / "other", tmp_path / "link"
    other.mkdir()
    link.symlink_to(widgets)
    (widgets / "A.widget").write_text(widget_file("A", text="Mine"))
    (other / "A.widget").write_text(widget_file("A", text="Theirs"))
    (other / "B.widget").write_text(widget_file("B"))
    for each in (widgets, other):
        async with serving(each, state_dir=state):
            pass
    assert len(copies_in(state)) == 3
    (widgets / "A.widget").write_text("{")
    (widgets / "B.widget").write_text("{")

    for name in (widgets, link):
        async with serving(name, state_dir=state) as url, connected(url, "modern") as client:
            result = await client.call("a", who="Ada")
            assert result.structured_content == greeting("Mine", "Ada")
            assert "b" not in await client.tools()
    assert len(copies_in(state)) == 3


async def test_kill_9_at_any_moment_loses_nothing_that_is_on_the_disk(tmp_path: Path) -> None:
    widgets, state = folders(tmp_path)
    churn, random = Churn(widgets, widgets=8), Random(1)
    for _ in range(3):
        async with daemon_process(widgets, "--state-dir", str(state)) as served:
            saving = threading.Thread(target=churn.run, args=(40, 0.005))
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
