"""The documentation of codes is the table that the code itself uses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from widgetd.base.errors import CODES
from widgetd.base.errors.codes import TABLES
from widgetd.cli import main

ROOT = Path(__file__).parents[3]


def test_documentation_of_codes_equals_the_output_of_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["guide", "codes"]) == 0

    documented = (ROOT / "docs" / "codes.md").read_text(encoding="utf-8")
    assert documented == capsys.readouterr().out, "widgetd guide codes > docs/codes.md"


def test_each_table_holds_the_codes_of_one_thousand_in_order() -> None:
    for thousand, table in enumerate(TABLES):
        codes = [row.code for row in table]

        assert codes == sorted(set(codes))
        assert {code[:2] for code in codes} == {f"W{thousand}"}


def test_codes_of_the_table_and_of_the_source_are_the_same() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "widgetd").rglob("*.py")]
    codes = {code for text in sources for code in re.findall(r'"(W\d{4})"', text)}

    assert codes == set(CODES)
    once = {code for code in CODES if sum(text.count(f'"{code}"') for text in sources) == 1}
    assert once == set()
