"""The architecture page names existing modules."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
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
    "server": 17_651,  # 17_000
    "shell": 4_492,  # 4_300
    "upstreams": 4_128,  # 3_900
    "author": 13_155,  # 10_300
    "chat": 2_420,  # 2_300
}
"""Most lines of each wing, without comments. A cap may only fall; beside it stands its aim.

A change that needs more lines removes others first, in its own wing or in a feature that is not
worth them. The aim of the package is 63,000.
"""

PACKAGE_CAP = 67_150


def test_no_wing_grows_beyond_its_cap(package_modules: list[Module]) -> None:
    wings = count_wings(package_modules)

    assert {wing: lines for wing, lines in wings.items() if lines > CAPS[wing]} == {}
    assert wings.total() <= PACKAGE_CAP


TEST_CAPS = {"tests": 62_293, "stress": 1_325, "benchmarks": 4_539, "simulation": 3_300}
"""Most lines of all Python files in each folder. A cap may only fall; the aim is 58,000."""


def test_no_folder_of_tests_grows_beyond_its_cap() -> None:
    lines = {
        folder: sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files(folder))
        for folder in TEST_CAPS
    }

    assert {folder: count for folder, count in lines.items() if count > TEST_CAPS[folder]} == {}


def test_no_three_files_define_a_helper_of_the_same_name() -> None:
    """Two may agree by chance; a third takes the helper from `tests/support`."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in files("tests"):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                places[statement.name].append(path.relative_to(ROOT).as_posix())
    del places["main"]  # what a program begins with

    assert {name: paths for name, paths in places.items() if len(paths) > 2} == {}


def test_no_wait_of_a_few_seconds_decides_about_failure() -> None:
    """A busy machine takes longer; a deadline that is promised has a name."""
    waits = {
        f"{path.relative_to(ROOT)}: {wait}"
        for path in files("tests")
        for wait in re.findall(r"fail_after\(\d{1,2}(?:\.\d+)?\)", path.read_text(encoding="utf-8"))
        if float(wait[11:-1]) < 60
    }

    assert waits == set()


def files(folder: str) -> list[Path]:
    paths = (ROOT / folder).rglob("*.py")
    return [path for path in paths if {"node_modules", ".cache"}.isdisjoint(path.parts)]


def test_no_modules_import_each_other_in_a_circle(package_modules: list[Module]) -> None:
    """Imports for type checking count: a circle of them is two modules that are one."""
    assert circles(package_modules) == []


def test_no_room_imports_a_later_one(package_modules: list[Module]) -> None:
    assert upward(package_modules) == []
