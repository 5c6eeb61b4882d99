"""An unusable state folder costs its own content and no served widget."""

from __future__ import annotations

import os
import resource
import shutil
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from pathlib import Path

import anyio
import pytest

from tests.support.clients import Connection, connect_client
from tests.support.daemons import serving
from tests.support.logs import Events, captured_logs
from tests.support.widgets import greeting, source, widget_file
from tests.unit.base.files.privilege import stopped_by_permissions
from widgetd.server.catalog.crash_journal import CrashJournal
from widgetd.server.catalog.entries import key_of, load_entry
from widgetd.server.catalog.loader import Loader
from widgetd.server.catalog.proof_cache import ProofCache
from widgetd.server.catalog.snapshot import Entry, Snapshot
from widgetd.server.catalog.state import StateFolder
from widgetd.server.catalog.versions import Versions
from widgetd.server.render.entry import tool_entry

WHO = {"who": "Ada"}
COPY, GENERATIONS = "versions/*-*", "versions.jsonl"
PROOFS, DRAWS = "proofs.jsonl", "draws"

Harm = Callable[[Path], None]


@asynccontextmanager
async def serve_client(widgets: Path, state: Path) -> AsyncIterator[Connection]:
    async with serving(widgets, state_dir=state) as url, connect_client(url, "modern") as client:
        yield client


@pytest.fixture(scope="module", autouse=True)
def imported(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Import what a daemon imports late, while the files are still readable."""
    widgets, state = tmp_path_factory.mktemp("widgets"), tmp_path_factory.mktemp("state")
    (widgets / "A.widget").write_text(widget_file("A"))

    async def once() -> None:
        async with serve_client(widgets, state) as client:
            await client.call("a", **WHO)

    anyio.run(once)


@pytest.fixture
def home() -> Iterator[Path]:
    """Yield a folder, and run the test as its owner, who is not root."""
    with stopped_by_permissions() as full_folder:
        yield full_folder
        with as_root():
            remove(full_folder / "state")


def remove(path: Path) -> None:
    """Remove `path`."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def as_root() -> Iterator[None]:
    """Become root again if root started the tests."""
    before = os.geteuid()
    os.seteuid(os.getuid())
    try:
        yield
    finally:
        os.seteuid(before)


def everywhere(change: Callable[[Path], None]) -> Harm:
    """Apply a change to everything in the state folder, the innermost first, and to itself."""

    def harm(state: Path) -> None:
        for path in (*sorted(state.rglob("*"), reverse=True), state):
            change(path)

    return harm


def read_only(path: Path) -> None:
    path.chmod(0o500 if path.is_dir() else 0o400)


def deny_access(path: Path) -> None:
    path.chmod(0)


def foreign(path: Path) -> None:
    """Give the folder to another user, without permissions for others."""
    if os.getuid() != 0:
        pytest.skip("only root can give a file to somebody else")
    with as_root():
        path.chmod(0o700)
        os.chown(path, 1, 1)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def full_folder(path: Path) -> None:
    (path / "in" / "the way").mkdir(parents=True)


def link_to_itself(path: Path) -> None:
    path.symlink_to(path)


def link_to_an_endless_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def bound_socket(path: Path) -> None:
    there = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
    finally:
        os.chdir(there)


def large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 38)


def rubbish(path: Path) -> None:
    path.write_bytes(b"\xff\x00{]" * 100)


def in_place_of(pattern: str, make: Callable[[Path], None]) -> Harm:
    """Return a harm that replaces the files of that name."""

    def harm(state: Path) -> None:
        targets = [state] if pattern == "" else sorted(state.rglob(pattern))
        assert targets
        for path in targets:
            remove(path)
            make(path)

    return harm


def where_it_is_written_aside(make: Callable[[Path], None]) -> Harm:
    """Return a harm in the place of the temporary files for the journal and the generations."""

    def harm(state: Path) -> None:
        for path in (*state.rglob(DRAWS), *state.rglob(GENERATIONS)):
            make(path.with_name(path.name + ".new"))

    return harm


def nothing(_state: Path) -> None:
    """Harm nothing on the disk."""


KINDS = (pipe, full_folder, link_to_itself, link_to_an_endless_device, bound_socket, large, rubbish)
FOLDERS = {"the state folder": "", "the folder's own": "[0-9a-f]" * 16, "the copies": "versions"}
FILES = {"copies": COPY, "generations": GENERATIONS, "proofs": PROOFS}

HARMS: dict[str, Harm] = {
    "read-only": everywhere(read_only),
    "closed": everywhere(deny_access),
    "foreign": everywhere(foreign),
    "full": nothing,
    **{
        f"{kind.__name__} for {name}": in_place_of(pattern, kind)
        for kind in KINDS
        for name, pattern in FOLDERS.items()
        if kind is not full_folder
    },
    **{
        f"{kind.__name__} for each of the {name}": in_place_of(pattern, kind)
        for kind in KINDS
        for name, pattern in FILES.items()
    },
    **{f"{kind.__name__} aside": where_it_is_written_aside(kind) for kind in KINDS},
}

SPECIAL = tuple(kind for kind in KINDS if kind not in (large, rubbish))
"""Kinds that cannot be opened as a file."""

UNNOTICED = {
    *(f"{kind.__name__} for each of the {name}" for kind in (large, rubbish) for name in FILES),
    *(f"{kind.__name__} aside" for kind in KINDS if kind is not full_folder),
}
"""Damaged files count as absent, and obstacles beside a file are removed before it is written."""

REPLACED = {
    *(f"{kind.__name__} for each of the copies" for kind in SPECIAL),
    *(
        f"{kind.__name__} for each of the generations"
        for kind in SPECIAL
        if kind is not full_folder
    ),
}
"""The next generation takes the place of the obstacles: new contents, and a new list."""


@contextmanager
def no_room() -> Iterator[None]:
    """Limit the size of files to that of a widget."""
    most, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(widget_file("A", text="Other")) + 20, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))


@contextmanager
def harm_state(state: Path, name: str) -> Iterator[Events]:
    """Harm the state folder, and yield the events that are logged."""
    HARMS[name](state)
    with no_room() if name == "full" else nullcontext(), captured_logs() as events:
        yield events


def use(state: Path, text: str) -> int:
    """Store everything that a daemon stores; return the number of known proofs and copies."""
    full_folder = StateFolder.of(state, Path("widgets"))
    versions, proofs = Versions(full_folder), ProofCache(full_folder, "1")
    journal = CrashJournal(full_folder, "1")
    journal.open()
    loader = Loader(tool_entry, proofs=proofs)
    paths = ("A.widget", "B.widget", "C.widget")
    known = len(proofs) + sum(versions.recall(path) is not None for path in paths)
    sources = {path: source(path, widget_file(path[0], text=text)) for path in paths}
    entries: dict[str, Entry | None] = {
        path: load_entry(None, key_of(file, None), file, None, loader.load)
        for path, file in sources.items()
    }
    every = Snapshot.empty().with_changes(entries)
    versions.record(every, sources)
    versions.record(every.with_changes({"B.widget": None}), sources)
    return known


@pytest.mark.parametrize("name", HARMS)
def test_fault_anywhere_in_the_state_folder_is_logged_once(home: Path, name: str) -> None:
    state = home / "state"
    use(state, "Hello")
    assert use(state, "Hello") == 5, "three proofs and two copies"

    with harm_state(state, name) as events:
        use(state, "Other")
        first = events.names()
        use(state, "Again")

    if name in UNNOTICED:
        assert events.names() == []
    elif name in REPLACED:
        assert first == events.names() == ["state.failed", "state.recovered"]
    else:
        assert first == ["state.failed"]
        assert events.names() == ["state.failed"] * 2, "once for each process"
    failures = [event for event in events.all if event["event"] == "state.failed"]
    assert all(event["level"] == "warning" and event["problem"] for event in failures)


@pytest.mark.parametrize("kind", KINDS)
def test_obstacle_in_place_of_the_crash_journal_is_replaced_if_possible(
    home: Path, kind: Callable[[Path], None]
) -> None:
    state = home / "state"
    use(state, "Hello")
    in_place_of(DRAWS, kind)(state)

    with captured_logs() as events:
        use(state, "Other")
        use(state, "Again")

    # Each use is another process; nothing is moved into a folder's place, at either.
    expected = {"full_folder": ["state.failed"] * 2, "large": [], "rubbish": []}
    assert events.names() == expected.get(kind.__name__, ["state.failed", "state.recovered"])


@pytest.mark.parametrize(
    "name", [name for name in HARMS if " " not in name or name.endswith("for the state folder")]
)
async def test_daemon_keeps_serving_with_any_state_folder(home: Path, name: str) -> None:
    widgets, state = home / "widgets", home / "state"
    widgets.mkdir()
    for each in ("A", "B"):
        (widgets / f"{each}.widget").write_text(widget_file(each))
    async with serve_client(widgets, state):
        pass

    with harm_state(state, name) as events:
        async with serve_client(widgets, state) as client:
            (widgets / "B.widget").write_text(widget_file("B", text="Other"))
            await client.answers("b", WHO, greeting("Other", "Ada"))
            (widgets / "A.widget").unlink()
            await client.lists("a", present=False)
            (widgets / "A.widget").write_text(widget_file("A", text="Other"))
            await client.lists("a")
            (widgets / "A.widget").write_text("{")
            await client.answers("a", WHO, greeting("Other", "Ada"))
        async with serve_client(widgets, state) as client:
            await client.answers("b", WHO, greeting("Other", "Ada"))

    failures = [event for event in events.all if event["event"] == "state.failed"]
    assert len(failures) == 2, "once for each start"
    assert all(str(state) in event["path"] for event in failures)
    warned = {event["event"] for event in events.all if event["level"] in ("warning", "error")}
    # The user without rights of these tests may not run our Python.
    assert warned - {"parser.failed"} == {"state.failed", "widget.refused"}
