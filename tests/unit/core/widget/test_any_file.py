"""Whatever is in a file, it is served with what can be said about it, or refused with its name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from tests.support.examples import examples
from tests.support.spoiling import spoilt_files
from tests.unit.core.widget.judging import Judge
from widgetd.base.files.source import Source
from widgetd.core.checks.rules import check_widget
from widgetd.server.catalog.loader import load

FOLDER = Path(__file__).parents[4] / "widgets"
BUNDLED = [path.read_bytes() for path in sorted(FOLDER.glob("*.widget"))]
JUDGE = Judge(BUNDLED[0])
BOUNDS_S = {"load": 0.25, "call": 0.25, "check": 5.0}
"""Processor time. A check is for authors, and tries a widget with dozens of arguments."""

MOST_BYTES = 64 * 1024 * 1024


@examples(50)
@given(spoilt_files(BUNDLED))
def test_damaged_widget_is_checked_or_refused_with_the_name_of_its_file(content: bytes) -> None:
    verdict = JUDGE.judge(content)
    if verdict.exceeds(BOUNDS_S):  # perhaps by the garbage collector
        verdict = JUDGE.judge(content)

    assert not verdict.exceeds(BOUNDS_S), verdict.took_s
    assert verdict.grown_bytes <= MOST_BYTES
    assert verdict.served or [finding.level for finding in verdict.found] == ["fault"]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.widget")), ids=lambda path: path.stem)
def test_bundled_widget_has_no_findings(path: Path) -> None:
    sidecar = path.with_name(path.name + ".toml")
    widget = load(
        Source(path=path.name, content=path.read_bytes(), digest=""),
        Source(path=sidecar.name, content=sidecar.read_bytes(), digest=""),
    )

    assert [str(finding) for finding in check_widget(widget)] == []
