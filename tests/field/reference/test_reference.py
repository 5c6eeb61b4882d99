"""The reference agrees with the code; `make reference` regenerates it."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest

from docs.generate.hosts import PAGE, hosts_page
from docs.generate.pages import FOLDER, LIMITS, handler_of, pages
from tests.field.deploy.documents import ROOT
from widgetd.base.errors.codes import TABLES
from widgetd.daemon.wings import ROWS


async def test_every_reference_page_equals_generated_text() -> None:
    generated = await pages()

    stale = [
        name
        for name, text in generated.items()
        if not (FOLDER / name).exists() or (FOLDER / name).read_text(encoding="utf-8") != text
    ]
    assert stale == [], "make reference"
    assert {path.name for path in FOLDER.glob("*.md")} == generated.keys()


def test_page_of_hosts_equals_the_profiles() -> None:
    assert PAGE.read_text(encoding="utf-8") == hosts_page(), "make reference"


COMMON = {"W2002", "W2003", "W2201", "W2202", "W2301"}
"""Codes that any tool can answer with; the page names them once."""


def test_reference_of_tools_names_the_codes_raised_by_their_handlers() -> None:
    documented: dict[str, set[str]] = {}
    for tool in ROWS:
        handler = handler_of(tool)
        named = documented.setdefault(handler.__module__, set())
        named.update(re.findall(r"W\d{4}", inspect.getdoc(handler) or ""))
    known = {row.code for table in TABLES for row in table}

    for module, codes in documented.items():
        source = inspect.getsource(sys.modules[module])
        raised = set(re.findall(r"CallError\(\s*\"(W\d{4})\"", source))
        assert raised - codes - COMMON == set(), f"{module}: name them under Raises"
        assert codes <= known, module


def test_every_built_in_tool_describes_its_answer() -> None:
    descriptions = {tool.name: inspect.getdoc(handler_of(tool)) or "" for tool in ROWS}

    silent = [name for name, text in descriptions.items() if not re.search(r"\b[Rr]eturn\b", text)]
    assert silent == []


def test_table_of_limits_stays_short() -> None:
    assert sum(map(len, LIMITS.values())) <= 30


@pytest.mark.parametrize(
    ("patterns", "most"),
    [
        (("README.md", "docs/*.md", ":!docs/reference", ":!docs/codes.md"), 18_000),
        (("docs/reference/*.md", "docs/codes.md"), 22_000),
    ],
    ids=["by hand", "generated"],
)
def test_documents_stay_short(patterns: tuple[str, ...], most: int) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, capture_output=True, check=True
    ).stdout
    paths = [ROOT / name for name in listed.decode().split("\0") if name]

    assert sum(len(path.read_text(encoding="utf-8").split()) for path in paths) <= most
