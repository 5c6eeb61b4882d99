"""Patterns and comparisons take time in proportion to a text, from any source."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.support.limits import run_attacks
from tests.support.sources import parse_package
from widgetd.base.text_search import (
    LIMITS,
    LinearPattern,
    did_you_mean,
    most_similar,
    nearest,
    unified_diff,
)

NOT_LINEAR = "is no regular expression that can be matched in linear time"
ADVICE = "write it without look-around and back references"
DOOR = "base/text_search.py"
ENGINES = {"re", "difflib", "sre_compile", "regex"}
SCANS = {"findall", "finditer", "scanner"}


def test_every_pattern_of_the_package_is_linear() -> None:
    lines = run_attacks("tests.unit.pattern_costs")

    assert [line for line in lines if line.startswith("SLOW")] == []
    assert len(lines) > 100


def test_pattern_of_quadratic_time_is_noticed() -> None:
    patterns = (
        r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?",
        r"\s*\n\s*",
        r"[\"“«„']([^\"”»“']{2,})[\"”»“']",
        r"(?m)^\s*Actual value: ?(.*)$",
        r"- +(?:(.* intercepts)|(.*not an? <?\w+>?.*element))",
        r'(?s)[\[\]{},:]|"(?:[^"\\]++|\\.)*+"|[^\s"\[\]{},:]++|"',
    )

    lines = run_attacks("tests.unit.pattern_costs", *patterns)

    assert len([line for line in lines if line.startswith("SLOW")]) == len(patterns)


def test_only_one_module_makes_patterns_and_compares_texts() -> None:
    breaches = [
        f"{module}:{breach}"
        for module, tree in parse_package(rf"\b({'|'.join(ENGINES | SCANS)}|compile_pattern)\b")
        if module != DOOR
        for breach in _breaches(tree)
    ]

    assert breaches == []


def _breaches(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = node.module if isinstance(node, ast.ImportFrom) else None
            modules = [module or ""] + [one.name for one in node.names]
            if ENGINES & {*modules}:
                yield f"{node.lineno} imports {modules}"
        # `read_tokens` is the scan that is measured.
        if isinstance(node, ast.Attribute) and node.attr in SCANS:
            yield f"{node.lineno} scans by {node.attr}"
        # A pattern made in a function is found by no test.
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name) and inner.id == "compile_pattern":
                    yield f"{inner.lineno} compiles a pattern in a function"


@pytest.mark.parametrize("pattern", ["^(a+)+$", "(a|a)*b", "(.*)*(.*)*x", "a?" * 40 + "b"])
def test_foreign_pattern_takes_linear_time(pattern: str) -> None:
    assert not LinearPattern(pattern).matches("a" * 1_000_000 + "!")


def test_foreign_pattern_accepts_flags_and_any_text() -> None:
    assert LinearPattern("^sa.e$", "ims").matches("x\nSA\nE\ny")
    assert LinearPattern("a.c").matches("\ud800abc")
    assert LinearPattern("").matches("")


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        (
            "(",
            "the pattern '(' is no regular expression that can be matched in linear time; "
            + ADVICE,
        ),
        (r"(a)\1", rf"the pattern '(a)\1' {NOT_LINEAR}; {ADVICE}"),
        ("a" * 1_001, "the pattern has 1,001 characters; write at most 1,000"),
    ],
)
def test_non_linear_pattern_is_refused(pattern: str, problem: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - its message is asserted
        LinearPattern(pattern)

    assert str(caught.value) == problem


def test_nearest_finds_a_long_name_that_differs_behind_the_compared_part() -> None:
    long = "name_" * 100

    assert nearest(f"{long}x", [f"{long}y", "other"]) == f"{long}y"
    assert did_you_mean("widht", ["height", "width"], "name one") == "did you mean 'width'?"
    assert did_you_mean("q", ["height", "width"], "name one") == "name one"


def test_most_similar_compares_words() -> None:
    others = ['role=button[name="Track flight"]', 'role=link[name="Help"]']

    assert most_similar('role=button[name="Track the flight"]', others, 1) == others[:1]
    assert len(most_similar("a" * 1_000_000, ["b" * 1_000_000] * 3, 2)) == 1


def test_diff_shows_changed_lines_in_their_context() -> None:
    before = [f"line {number}" for number in range(100)]
    after = [*before[:50], "new", *before[51:]]

    assert list(unified_diff(before, after, 1)) == [
        "@@ -50,3 +50,3 @@",
        " line 49",
        "-line 50",
        "+new",
        " line 51",
    ]
    assert list(unified_diff([], ["a"], 3)) == ["@@ -0,0 +1 @@", "+a"]
    assert list(unified_diff(before, before, 3)) == []


def test_diff_above_its_limit_compares_no_line() -> None:
    before, after = (["same", *[sign] * (LIMITS.compared_lines + 1)] for sign in "ab")

    lines = list(unified_diff(before, after, 0))

    assert lines[0] == "@@ -2,1001 +2,1001 @@"
    assert [line[0] for line in lines[1:]] == ["-"] * 1_001 + ["+"] * 1_001
