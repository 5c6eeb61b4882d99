"""A release is built of a clean tree that its changelog knows, and all its parts name it alike."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.field.deploy.documents import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def git(folder: Path, *arguments: str) -> None:
    person = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    subprocess.run(["git", *person, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a repository with only the files that a release checks."""
    (tmp_path / "deploy").mkdir()
    for name in ("deploy/release", "pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "--quiet", "-m", "All of it")
    return tmp_path


def refusal(folder: Path) -> str:
    ran = subprocess.run(
        [folder / "deploy" / "release"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert not (folder / "dist").exists()
    return ran.stderr


def test_dirty_tree_is_refused(checkout: Path) -> None:
    (checkout / "new").touch()

    assert refusal(checkout).startswith("refused: the tree is not clean;")


def test_version_missing_from_the_changelog_is_refused(checkout: Path) -> None:
    text = (checkout / "pyproject.toml").read_text()
    (checkout / "pyproject.toml").write_text(text.replace(PROJECT["version"], "9.9.9", 1))
    git(checkout, "commit", "--quiet", "-am", "Another version")

    assert refusal(checkout).startswith("refused: CHANGELOG.md has no section '## [9.9.9] - ")


def test_all_files_name_the_same_version() -> None:
    server = json.loads((ROOT / "server.json").read_text())
    manifest = json.loads((ROOT / "deploy" / "mcpb" / "manifest.json").read_text())
    image = re.search(r"^ARG VERSION=(.+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert image is not None

    packages = [package["version"] for package in server["packages"]]
    named = {server["version"], manifest["version"], image[1], *packages}
    assert named == {PROJECT["version"]}


def test_registry_entry_names_the_package_whose_readme_names_it() -> None:
    server = json.loads((ROOT / "server.json").read_text())

    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", server["name"])
    assert len(server["description"]) <= 100
    assert [package["identifier"] for package in server["packages"]] == [PROJECT["name"]]
    assert f"<!-- mcp-name: {server['name']} -->" in (ROOT / "README.md").read_text()
