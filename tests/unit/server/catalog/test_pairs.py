"""A file and its sidecar are one unit: each served and stored pair stood on the disk at once."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from types import FrameType

import pytest

from tests.support.widgets import widget_file
from widgetd.base.files import scan
from widgetd.base.files.limits import LIMITS
from widgetd.base.files.source import Source
from widgetd.base.files.stamp import time_to_quiet_s
from widgetd.core.widget.definition import join_digests
from widgetd.server.catalog import deletion, limits
from widgetd.server.catalog.catalog import Catalog
from widgetd.server.catalog.entries import key_of
from widgetd.server.catalog.loader import load
from widgetd.server.catalog.rollback import Rollback
from widgetd.server.catalog.state import StateFolder
from widgetd.server.catalog.versions import Versions

NAME = "A.widget"
OPERATIONS = 150
PATIENCE_S = 20


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Believe an empty file after 5 ms, and a deletion after two scans."""
    monkeypatch.setattr(scan, "LIMITS", replace(LIMITS, empty_ns=5_000_000))
    hurried = replace(limits.LIMITS, deletion_grace_s=1e-6)
    monkeypatch.setattr(deletion, "LIMITS", hurried)


class Writer:
    """Writes to a file and its sidecar, and remembers each pair that the disk had.

    Attributes:
        pairs: The keys of those pairs in generations, by those of their widgets.
    """

    def __init__(self, root: Path, random: Random) -> None:
        self.pairs: dict[str, str] = {}
        self._file, self._sidecar = root / NAME, root / f"{NAME}.toml"
        self._random = random
        self._revision = 0
        self._steps: Iterator[None] = iter(())
        for write in (self._save_file, self._save_sidecar):
            for _ in write():
                self._record()

    def step(self) -> None:
        """Do the next write."""
        if next(self._steps, self) is self:
            operation = self._random.choice(
                [self._save_file, self._save_sidecar, self._save_both, self._spoil]
            )
            self._steps = operation()
            next(self._steps)
        self._record()

    def interfere(self, _frame: FrameType, event: str, function: object) -> None:
        """Write between the system calls of a scan."""
        is_system_call = event == "c_call" and getattr(function, "__module__", "") == "posix"
        if is_system_call and self._random.random() < 0.05:
            self.step()

    def repair(self) -> str:
        """Leave a whole pair; return the key of its widget."""
        for _ in self._save_both():
            self._record()
        return list(self.pairs)[-1]

    def _save_both(self) -> Iterator[None]:
        saves = [self._save_file, self._save_sidecar]
        self._random.shuffle(saves)
        for save in saves:
            yield from save()

    def _save_file(self) -> Iterator[None]:
        return self._save(self._file, widget_file("A", description=self._next()))

    def _save_sidecar(self) -> Iterator[None]:
        return self._save(self._sidecar, f'title = "{self._next()}"\n')

    def _spoil(self) -> Iterator[None]:
        match self._random.randrange(4):
            case 0:
                self._sidecar.unlink(missing_ok=True)
            case 1:
                self._sidecar.write_text("nonsense = [")
            case 2:
                self._sidecar.write_text("")
            case _:
                self._file.write_text(self._random.choice(["", "{"]))
        yield

    def _save(self, path: Path, text: str) -> Iterator[None]:
        """Rename a file into place, or truncate it and write two parts."""
        if self._random.random() < 0.5:
            path.with_suffix(".tmp").write_text(text)
            path.with_suffix(".tmp").rename(path)
            yield
            return
        for size in (0, len(text) // 2, len(text)):
            path.write_text(text[:size])
            yield

    def _next(self) -> str:
        self._revision += 1
        return f"<{self._revision}>"

    def _record(self) -> None:
        if not self._file.exists():
            return
        file, sidecar = Source.of(NAME, self._file.read_bytes()), None
        if self._sidecar.exists():
            sidecar = Source.of(self._sidecar.name, self._sidecar.read_bytes())
        key = join_digests(file.digest, sidecar.digest if sidecar else "")
        self.pairs[key] = key_of(file, sidecar)


def catalog_of(root: Path, state: Path) -> Catalog:
    return Catalog(root, load, rollback=Rollback(StateFolder(state), load), quiet_ms=1)


def served_key(catalog: Catalog) -> str:
    return catalog.current.widgets["a"].key


def settle(catalog: Catalog) -> Catalog:
    """Scan until nothing is being written."""
    ends_s = time.monotonic() + PATIENCE_S
    catalog.scan()
    while catalog.unsettled_files:
        assert time.monotonic() < ends_s
        catalog.scan(catalog.unsettled_files)
    catalog.copies()()
    return catalog


def wait_until_quiet(file: Path) -> None:
    while time_to_quiet_s(file.stat(), 1):
        pass


@pytest.mark.parametrize("seed", range(4))
def test_served_pairs_existed_on_the_disk_at_one_moment(seed: int, tmp_path: Path) -> None:
    random, root, state = Random(seed), tmp_path / "widgets", tmp_path / "state"
    root.mkdir()
    writer = Writer(root, random)
    catalog = settle(catalog_of(root, state))
    for _ in range(OPERATIONS):
        hinted = random.choice([(), (NAME,), (f"{NAME}.toml",), ("other",)])
        sys.setprofile(writer.interfere)
        try:
            catalog.scan(hinted, random.choice([(), hinted]))
        finally:
            sys.setprofile(None)
        catalog.copies()()
        assert served_key(catalog) in writer.pairs
        if random.random() < 0.05:
            catalog = catalog_of(root, state)
            catalog.scan()
            assert served_key(catalog) in writer.pairs
        if random.random() < 0.3:
            writer.step()
    newest, ends_s = writer.repair(), time.monotonic() + PATIENCE_S
    while served_key(catalog) != newest:
        assert time.monotonic() < ends_s
        settle(catalog)
    versions = Versions(StateFolder(state))
    kept = {versions.files(version.generation)[NAME] for version in versions.latest()}
    assert len(kept) > 1
    assert kept <= set(writer.pairs.values())


def test_emptied_file_is_not_served_with_the_next_sidecar(tmp_path: Path) -> None:
    root, state = write_two(tmp_path)
    catalog = settle(catalog_of(root, state))
    before = served_key(catalog)
    (root / NAME).write_text("")
    (root / f"{NAME}.toml").write_text('title = "Second"\n')
    settle(catalog)
    assert served_key(catalog) == before


def test_file_that_is_empty_at_starts_serves_its_last_good_version(tmp_path: Path) -> None:
    root, state = write_two(tmp_path)
    before = served_key(settle(catalog_of(root, state)))
    (root / NAME).write_text("")
    wait_until_quiet(root / NAME)
    for _ in range(2):
        catalog = catalog_of(root, state)
        catalog.scan()
        catalog.copies()()
        assert served_key(catalog) == before
        assert settle(catalog).current.stale == ("a",)


def test_file_deleted_and_created_again_empty_keeps_its_last_good_version(tmp_path: Path) -> None:
    root, state = write_two(tmp_path)
    catalog = settle(catalog_of(root, state))
    (root / NAME).unlink()
    catalog.scan()
    (root / NAME).touch()
    wait_until_quiet(root / NAME)
    for _ in range(2):
        catalog.scan()
    assert "a" in catalog.current.widgets


def test_only_a_scan_that_looked_at_a_path_confirms_its_deletion(tmp_path: Path) -> None:
    root, state = write_two(tmp_path)
    catalog = settle(catalog_of(root, state))
    (root / NAME).rename(root / ".aside")
    catalog.scan()
    (root / ".aside").rename(root / NAME)
    assert "a" in catalog.scan(["B.widget"]).widgets


def test_folder_named_like_a_sidecar_leaves_its_file_served(tmp_path: Path) -> None:
    root, state = write_two(tmp_path)
    (root / "B.widget.toml").mkdir()
    catalog = settle(catalog_of(root, state))
    (root / "B.widget").write_text(widget_file("B", text="Second"))
    settle(catalog)
    assert list(catalog.current.widgets) == ["a", "b"]


def test_file_whose_sidecar_would_have_too_long_a_name_is_served(tmp_path: Path) -> None:
    root, state = write_two(tmp_path)
    name = "c" * 248 + ".widget"
    (root / name).write_text(widget_file("C"))
    catalog = settle(catalog_of(root, state))
    (root / name).write_text(widget_file("C", text="Second"))
    catalog.scan([name])
    settle(catalog)
    assert "c" in catalog.current.widgets
    assert not catalog.current.faults


def write_two(tmp_path: Path) -> tuple[Path, Path]:
    """Write two widgets, the first with a sidecar; return the folders of widgets and state."""
    root = tmp_path / "widgets"
    root.mkdir()
    for name in "AB":
        (root / f"{name}.widget").write_text(widget_file(name))
    (root / f"{NAME}.toml").write_text('title = "First"\n')
    return root, tmp_path / "state"


@pytest.mark.parametrize("name", ["Renamed.widget", "folder/A.widget"])
@pytest.mark.parametrize("is_down", [False, True])
def test_renamed_broken_file_serves_its_last_good_version(
    name: str, is_down: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The new name is read before the old one counts as deleted, as in a daemon.
    monkeypatch.setattr(deletion, "LIMITS", limits.LIMITS)
    if is_down and not name.endswith(NAME):
        pytest.skip("a broken file of another name may be any")
    root, state = write_two(tmp_path)
    catalog = settle(catalog_of(root, state))
    before = served_key(catalog)
    (root / f"{NAME}.toml").unlink()
    (root / NAME).write_text("{")
    settle(catalog)
    (root / name).parent.mkdir(exist_ok=True)
    (root / NAME).rename(root / name)
    if is_down:
        catalog = catalog_of(root, state)
    ends_s = time.monotonic() + PATIENCE_S
    while list(settle(catalog).current.entries) != sorted(["B.widget", name]):
        assert time.monotonic() < ends_s
    assert served_key(catalog) == before
    assert served_key(settle(catalog_of(root, state))) == before
