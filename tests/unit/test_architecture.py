"""The architecture page names existing modules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.house import Module, circles, count_wings, modules, upward

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ROOMS = re.findall(r"^\| `([a-z_/]+)/` \|", PAGE, flags=re.MULTILINE)
CHANGES = re.findall(
    r"^\|([^|]+)\|([^|]+)\|([^|]*)\|$",
    PAGE.partition("## Where does")[2].partition("\n## ")[0],
    re.MULTILINE,
)[2:]


# Not for longer than these tests: the collector visits what they hold.
@pytest.fixture(scope="module")
def package_modules() -> list[Module]:
    return modules()


def test_every_folder_of_the_package_has_its_row() -> None:
    folders = {
        path.parent.relative_to(ROOT / "widgetd").as_posix()
        for path in (ROOT / "widgetd").rglob("__init__.py")
    }

    assert set(ROOMS) == folders - {"."}


def test_common_changes_have_their_place() -> None:
    assert len(CHANGES) >= 16


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change[0].strip())
def test_every_place_of_a_change_exists(change: tuple[str, str, str]) -> None:
    named = re.findall(r"`((?:[a-z_]+/)*[a-z_]*(?:/|\.py))`", change[1] + change[2])

    for path in named:
        places = [
            base / path
            for base in (
                ROOT / "widgetd",
                ROOT,
                ROOT / "widgetd/base",
                ROOT / "widgetd/server/mcp/builtin",
            )
        ]
        assert any(place.exists() for place in places), path


CAPS = {
    "base": 3_270,  # 3_200
    "core": 22_000,  # 22_000
    "server": 17_780,  # 17_000
    "shell": 4_515,  # 4_300
    "upstreams": 4_185,  # 3_900
    "author": 13_515,  # 10_300
    "chat": 2_430,  # 2_300
}
"""Most lines of each wing, without comments. A cap may only fall; beside it stands its aim.

A change that needs more lines removes others first, in its own wing or in a feature that is not
worth them. The aim of the package is 63,000.
"""

PACKAGE_CAP = 67_700


def test_no_wing_grows_beyond_its_cap(package_modules: list[Module]) -> None:
    wings = count_wings(package_modules)

    assert {wing: lines for wing, lines in wings.items() if lines > CAPS[wing]} == {}
    assert wings.total() <= PACKAGE_CAP


def test_no_modules_import_each_other_in_a_circle(package_modules: list[Module]) -> None:
    """Imports for type checking count: a circle of them is two modules that are one."""
    assert circles(package_modules) == []


def test_no_room_imports_a_later_one(package_modules: list[Module]) -> None:
    assert upward(package_modules) == []
