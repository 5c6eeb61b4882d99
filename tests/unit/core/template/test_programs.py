"""The server's evaluator against the table of cases that the page's evaluator is held to."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tests.programs.record import TABLE, compiled, program_json, rendered
from widgetd.core.template.vocabulary import VOCABULARY

CASES: list[dict[str, Any]] = orjson.loads(TABLE.read_bytes())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["source"])
def test_source_becomes_the_program_and_the_texts_of_the_table(case: dict[str, Any]) -> None:
    template = compiled(case["kind"], case["source"])

    assert orjson.loads(orjson.dumps(program_json(template.program()))) == case["program"], (
        "run python -m tests.programs.record"
    )
    for row in case["rows"]:
        assert rendered(template, row["arguments"]) == row["text"], row["arguments"]


def words(operand: Any) -> set[str]:
    """Return the operators of a program, and the names that they are applied to."""
    if isinstance(operand, dict):
        return {word for each in operand.values() for word in words(each)}
    if not isinstance(operand, list) or not operand:
        return set()
    named = {"fn": 2, "m": 2, "jsfn": 2, "jsm": 2, "jsloop": 2, "loop": 3}.get(str(operand[0]), 1)
    texts = {each for each in operand[:named] if isinstance(each, str)}
    if operand[0] == "|select" and len(operand) > 2:
        texts.add(f"?{operand[2]}")
    return texts | {word for each in operand for word in words(each)}


def test_table_has_every_word_of_the_page() -> None:
    words_used = {
        word for case in CASES for key in "be" for word in words(case["program"].get(key))
    }
    signs = {"filters": "|", "tests": "?"}
    wanted = {
        signs.get(sort, "") + name
        for sort, rows in VOCABULARY.items()
        for name, row in rows.items()
        if row["page"]
    }

    # Studio's exporter alone writes what becomes these: `make bench-page` draws its files.
    assert wanted - words_used <= {"copy", "strip", "value"}


def test_known_differences_are_few_and_have_reasons() -> None:
    different = [row for case in CASES for row in case["rows"] if "page" in row]

    assert len(different) <= 12
    assert all(row["because"] and row["page"] != row["text"] for row in different)
