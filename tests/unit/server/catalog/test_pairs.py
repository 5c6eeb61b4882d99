"""A file and its sidecar are one unit, also under odd names and after a rename.

That each served pair stood on the disk is a law of the simulation.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from widgetd.base.files import scan
from widgetd.base.files.limits import LIMITS
from widgetd.server.catalog import deletion, limits
from widgetd.server.catalog.catalog import Catalog
from widgetd.server.catalog.loader import load
from widgetd.server.catalog.rollback import Rollback
from widgetd.server.catalog.state import StateFolder

NAME = "A.widget"


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Believe an empty file after 5 ms, and a deletion after two scans."""
    monkeypatch.setattr(scan, "LIMITS", replace(LIMITS, empty_ns=5_000_000))
    hurried = replace(limits.LIMITS, deletion_grace_s=1e-6)
    monkeypatch.setattr(deletion, "LIMITS", hurried)


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
