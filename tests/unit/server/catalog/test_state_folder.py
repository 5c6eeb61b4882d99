"""One module opens files in the state folder, and only their owner reads them."""

from __future__ import annotations

import ast
import inspect
import os
import stat
from pathlib import Path
from sqlite3 import Connection

from tests.support.sources import parse_package
from widgetd.server.catalog.state import StateFolder

STATE = "server/catalog/state.py"
CHECKS = "cli/serve.py"
"""`widgetd serve --check` looks whether the folder can be written, and opens nothing in it."""


def is_passed_on(tree: ast.Module, name: ast.Attribute) -> bool:
    """Return whether a path is compared to None or handed to `StateFolder.of`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and node.left is name:
            return True
        if isinstance(node, ast.Call) and node.args and node.args[0] is name:
            return ast.unparse(node.func) == "StateFolder.of"
    return False


def test_no_other_module_gets_a_path_in_the_state_folder() -> None:
    uses = [
        f"{module}:{node.lineno}"
        for module, tree in parse_package("state_dir")
        if module != CHECKS
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr == "state_dir"
        and not is_passed_on(tree, node)
    ]
    public = [value for name, value in vars(StateFolder).items() if name[0] != "_"]
    returned = [each.__annotations__["return"] for each in public if inspect.isfunction(each)]

    assert uses == []
    assert returned
    assert "Path" not in " ".join(returned)


def test_no_other_module_opens_a_database_file() -> None:
    opened = {
        (module, ast.unparse(node.args[0]))
        for module, tree in parse_package("sqlite3")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("sqlite3.connect")
    }

    assert {where for where in opened if where[1] != "':memory:'"} == {(STATE, "path")}


def create_table(database: Connection) -> None:
    database.execute("CREATE TABLE t (x)")


def test_files_and_folders_are_private_with_any_umask_and_any_creator(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        old = tmp_path / "state" / "old"
        old.mkdir(parents=True)
        (old / "log").write_bytes(b"")
        for folder in (StateFolder(old), StateFolder(tmp_path / "new" / "er")):
            folder.write("copies/a", b"a")
            folder.append("log", b"line\n")
            memory = folder.map_file("draws", b"a" * 10, 10)
            assert memory is not None
            memory.close()
            database = folder.database("db", create_table)
            assert database is not None
            database.close()
    finally:
        os.umask(before)
    paths = [tmp_path / "new", *(tmp_path / "new").rglob("*"), old, *old.rglob("*")]
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in paths}

    assert {path: 0o700 if path.is_dir() else 0o600 for path in paths} == modes
