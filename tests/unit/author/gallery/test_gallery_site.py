"""`widgetd build` writes the gallery as files, and every address in them leads to one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.widgets import widget_file
from widgetd.cli import main

_ADDRESS = re.compile(r'(?:href|src|action)="([^"#?]+)')


def build(site_folder: Path, *more: str) -> Path:
    widgets, site = site_folder / "widgets", site_folder / "site"
    assert main(["build", str(widgets), "--output", str(site), *more]) == 0
    return site


@pytest.fixture
def site_folder(tmp_path: Path) -> Path:
    widgets = tmp_path / "widgets"
    widgets.mkdir()
    (widgets / "A.widget").write_text(widget_file("A"))
    (widgets / "Broken.widget").write_text("{")
    return tmp_path


@pytest.mark.parametrize("base", ["/", "/deep/sub/"])
def test_every_link_leads_to_a_file_at_any_base_path(site_folder: Path, base: str) -> None:
    site = build(site_folder, "--base", base)

    pages = sorted(site.rglob("*.html"))
    addresses = {one for page in pages for one in _ADDRESS.findall(page.read_text())}
    local = {one for one in addresses if one.startswith("/")}
    assert len(pages) > 5
    for one in local:
        assert one.startswith(base)
        place = site / one.removeprefix(base)
        assert place.is_file() or (place / "index.html").is_file(), one


def test_each_state_is_drawn_and_broken_files_are_named(site_folder: Path) -> None:
    site = build(site_folder)

    document = json.loads((site / "w/a/states/sample.json").read_text())
    keys = {state["key"] for state in document["states"]}
    assert {file.stem for file in (site / "w/a/states").iterdir()} == keys
    assert document["result"]["_meta"]["widgetd/widget"]["type"] == "Card"
    assert document["renderId"] == ""
    index = (site / "index.html").read_text()
    assert "Broken.widget" in index
    assert str(site_folder) not in index


def test_site_is_rewritten_and_overwrites_nothing_else(
    site_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = build(site_folder)
    (site_folder / "widgets/A.widget").unlink()
    (site_folder / "widgets/B.widget").write_text(widget_file("B"))
    build(site_folder)
    other = site_folder / "other"
    other.mkdir()
    (other / "mine").write_text("mine")
    refused = main(["build", str(site_folder / "widgets"), "--output", str(other)])

    assert [each.name for each in (site / "w").iterdir()] == ["b"]
    assert refused == 2
    assert "there is something else in" in capsys.readouterr().err
    assert [each.name for each in other.iterdir()] == ["mine"]


@pytest.mark.parametrize("base", ["sub/", 'https://a.example/"', "/a b/"])
def test_site_works_below_a_path(site_folder: Path, base: str) -> None:
    site = site_folder / "site"

    assert main(["build", str(site_folder / "widgets"), "-o", str(site), "--base", base]) == 2
    assert not site.exists()
