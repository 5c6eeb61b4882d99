"""The documentation of codes is the table that the code itself uses."""

from __future__ import annotations

import re
from pathlib import Path

from widgetd.checks.report import codes_as_markdown
from widgetd.errors import CODES

ROOT = Path(__file__).parents[3]


def test_the_documented_codes_are_those_of_the_table() -> None:
    documented = (ROOT / "docs" / "codes.md").read_text(encoding="utf-8")

    assert documented.endswith(codes_as_markdown() + "\n"), "widgetd codes prints the table"


def test_every_code_that_is_said_is_in_the_table_and_every_one_in_it_is_said() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "widgetd").rglob("*.py")]
    said = {code for text in sources for code in re.findall(r'"(W\d{4})"', text)}

    assert said == set(CODES)
    once = {code for code in CODES if sum(text.count(f'"{code}"') for text in sources) == 1}
    assert once == set()
