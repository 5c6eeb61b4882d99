"""The snippets in README.md and docs work with the bundled widgets."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.field.author.testing.running import widgetd_test
from tests.field.deploy.documents import ROOT
from tests.field.server.web.browsing import needs_browser
from tests.support.typescript import compile_typescript, needs_tsc
from tests.support.widgets import bundled_widgets, snapshot_of
from widgetd.author.declarations.module import declarations
from widgetd.base.files.folder import bundled_folder
from widgetd.cli.check import check_paths
from widgetd.upstreams.declarations import read_file

ENVIRONMENT = {"FLIGHTS_TOKEN": "of-flights", "AIRLINE_TOKEN": "of-airline"}
CSV_FILES = ("test_cases.csv", "modules.csv", "elements.csv")
NEEDS_A_SERVER = "from mcp import Client"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """A fenced block of a page."""

    place: str
    language: str
    text: str


def list_snippets() -> list[Snippet]:
    pages = (
        ROOT / "README.md",
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs/operations").glob("*"),
    )
    return [
        Snippet(
            place=f"{page.stem}:{text.count(chr(10), 0, block.start()) + 1}",
            language=block[1],
            text=block[2],
        )
        for page in sorted(pages)
        for text in (page.read_text(encoding="utf-8"),)
        for block in re.finditer(r"^```(\w+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    ]


SNIPPETS = list_snippets()
BY_PLACE = {snippet.place: snippet for snippet in SNIPPETS}


def places(language: str, pattern: str = "") -> list[str]:
    """Return the places of snippets in a language whose text matches a pattern."""
    return [s.place for s in SNIPPETS if s.language == language and re.search(pattern, s.text)]


def copy_bundled(folder: Path, name: str = "*") -> None:
    for path in bundled_folder().glob(f"{name}.widget*"):
        shutil.copy(path, folder)


@pytest.mark.parametrize("place", places("toml", r"^# .*\.widget\.toml"))
def test_sidecar_fits_the_bundled_widget(place: str, tmp_path: Path) -> None:
    name = BY_PLACE[place].text.partition("\n")[0].removeprefix("# ")
    copy_bundled(tmp_path, name.removesuffix(".widget.toml"))
    (tmp_path / name).write_text(BY_PLACE[place].text, encoding="utf-8")

    codes = {finding.code for finding in check_paths([tmp_path]).findings}
    assert "W1211" not in codes, "an example does not fit the schema"


@pytest.mark.parametrize("place", places("jsx"))
def test_jsx_can_be_served(place: str, tmp_path: Path) -> None:
    (tmp_path / "Team.widget.jsx").write_text(BY_PLACE[place].text, encoding="utf-8")

    report = check_paths([tmp_path])

    assert [finding.code for finding in report.findings if finding.level == "fault"] == []


@pytest.mark.parametrize("place", places("toml"))
def test_toml_is_toml(place: str) -> None:
    assert tomllib.loads(BY_PLACE[place].text)


@pytest.mark.parametrize("place", places("json"))
def test_json_is_json(place: str) -> None:
    assert json.loads(BY_PLACE[place].text)


@pytest.mark.parametrize("place", places("toml", r"(?m)^(url|command) = "))
def test_upstreams_file_can_be_used(place: str, tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "token").write_text("of-the-program")
    document = {"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "paths": {}}
    (tmp_path / "shop.json").write_text(json.dumps(document))
    file = tmp_path / "upstreams.toml"
    file.write_text(BY_PLACE[place].text, encoding="utf-8")

    read_file(file, ENVIRONMENT)


@pytest.mark.parametrize("place", places("python"))
def test_python_runs(place: str) -> None:
    if NEEDS_A_SERVER in BY_PLACE[place].text:
        compile(BY_PLACE[place].text, place, "exec")
        return
    ended = subprocess.run(
        [sys.executable, "-c", BY_PLACE[place].text],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr


@needs_browser
@pytest.mark.timeout(120)
def test_test_files_pass(tmp_path: Path) -> None:
    copy_bundled(tmp_path)
    files = places("yaml", r"^widget: ")
    for place in files:
        (tmp_path / f"{place.replace(':', '-')}.test.yaml").write_text(BY_PLACE[place].text)
    for name, place in zip(CSV_FILES, places("csv"), strict=True):
        (tmp_path / name).write_text(BY_PLACE[place].text)

    paths = [path.name for path in tmp_path.glob("*.test.yaml")]
    ended = widgetd_test(tmp_path, *paths, "--update")

    assert len(paths) >= 2
    assert ended.returncode == 0, ended.stdout


DECLARED = """
declare const result: import("./widgets").Response;
declare const token: string;
declare const agent: { use(middleware: MCPAppsMiddleware): void };
declare class MCPAppsMiddleware { constructor(options: { mcpServers: Record<string, string>[] }) }
type Fetch = (url: string, options: RequestInit) => Promise<unknown>;
declare const chatkit: {
  setOptions(options: { api: { url: string; domainKey: string; fetch: Fetch } }): void;
};
"""


@needs_tsc
@pytest.mark.parametrize("place", [*places("ts"), *places("js")])
def test_typescript_compiles(place: str, tmp_path: Path) -> None:
    types = declarations(snapshot_of(*bundled_widgets()), "ts")
    (tmp_path / "widgets.ts").write_text(types)
    (tmp_path / "snippet.ts").write_text(BY_PLACE[place].text + DECLARED)

    assert compile_typescript(tmp_path, "snippet.ts") == ""


YAML_KINDS = {"widget", "labels", "jobs", "repos"}
"""A key of each kind of YAML: a test file, Traefik's labels, a workflow, pre-commit's hooks."""


@pytest.mark.parametrize("place", places("yaml"))
def test_yaml_is_of_a_known_kind(place: str) -> None:
    assert YAML_KINDS & yaml.safe_load(BY_PLACE[place].text).keys()
