"""JMESPath does what its specification says, and never more than its budget allows."""

from __future__ import annotations

from typing import Any

import pytest

from widgetd.base.errors import CallError, WidgetError
from widgetd.core.widget.limits import LIMITS
from widgetd.core.widget.query import compile_query

DATA: dict[str, Any] = {
    "a": {"b": [1, 2, 3], "c": None, "d-e": True},
    "list": [{"n": "x", "v": 3}, {"n": "y", "v": 1}, {"n": "z"}],
    "nested": [[1, 2], [3, [4]]],
    "text": "abc",
    "empty": [],
    "zero": 0,
}

FOUND: dict[str, Any] = {
    "a.b": [1, 2, 3],
    "a.b[0]": 1,
    "a.b[-1]": 3,
    "a.b[:2]": [1, 2],
    "a.b[::-1]": [3, 2, 1],
    'a."d-e"': True,
    "a.nothing": None,
    "missing.b": None,
    "list[*].n": ["x", "y", "z"],
    "list[].v": [3, 1],
    "list[?v > `1`].n": ["x"],
    "list[?n == 'y'] | [0].v": 1,
    "list[0].[n, v]": ["x", 3],
    "list[].{name: n, value: v}": [
        {"name": "x", "value": 3},
        {"name": "y", "value": 1},
        {"name": "z", "value": None},
    ],
    "nested[]": [1, 2, 3, [4]],
    "nested[][]": [1, 2, 3, 4],
    "length(list)": 3,
    "length(text)": 3,
    "keys(a)": ["b", "c", "d-e"],
    "sum(a.b)": 6,
    "max(a.b)": 3,
    "join(', ', list[].n)": "x, y, z",
    "sort_by(list[?v], &v)[].n": ["y", "x"],
    "max_by(list[?v], &v).n": "x",
    "map(&v, list)": [3, 1, None],
    "not_null(a.c, text)": "abc",
    "a.*": [[1, 2, 3], True],
    "a.c || text": "abc",
    "zero && text": "abc",
    "empty && text": [],
    "!empty": True,
    "contains(a.b, `2`)": True,
    "starts_with(text, 'ab')": True,
    "to_string(a.b)": "[1,2,3]",
    "to_number('7')": 7,
    "type(a)": "object",
    "reverse(a.b)": [3, 2, 1],
    "merge(a, {c: `1`}).c": 1,
    "@.text": "abc",
    '`[1, {"x": 2}]`[1].x': 2,
}


@pytest.mark.parametrize("text", FOUND)
def test_expression_has_the_value_of_the_specification(text: str) -> None:
    assert compile_query(text).find(DATA) == FOUND[text]


def test_query_returns_a_copy() -> None:
    value = compile_query("a.b").find(DATA)
    value.append(4)

    assert DATA["a"]["b"] == [1, 2, 3]


UNUSABLE = {
    "a b": "line 1: the expression cannot be parsed as JMESPath: a b; mend it here",
    "foo(@)": "line 1: JMESPath has no function 'foo'; use one that it has",
    "|".join(["a"] * 80): "line 1: the expression nests deeper than 64 levels; nest less",
    "a" * 5000: "line 1: the expression is longer than 4,096 characters; write a shorter one",
}


@pytest.mark.parametrize("text", UNUSABLE, ids=["words", "function", "deep", "long"])
def test_unusable_expression_is_reported_with_its_place(text: str) -> None:
    with pytest.raises(WidgetError) as raised:
        compile_query(text)

    assert raised.value.finding.code == "W1602"
    assert str(raised.value) == UNUSABLE[text]


@pytest.mark.parametrize(
    "text",
    ["(" * 4000, "!" * 4000, "[" * 4000, "&" * 4000, "`1", 'a."', "[@,@]|" * 170_000],
    ids=lambda text: text[:3],
)
def test_any_expression_works_or_is_refused_with_a_widget_error(text: str) -> None:
    with pytest.raises(WidgetError) as raised:
        compile_query(text)

    assert raised.value.finding.code == "W1602"


def test_syntax_error_names_its_column() -> None:
    with pytest.raises(WidgetError) as raised:
        compile_query("a.b\n.c d")

    assert (raised.value.finding.line, raised.value.finding.column) == (2, 4)


DOUBLING = "|".join(["[@,@]"] * 40)
GREEDY = {
    "shared": (DOUBLING, 1),
    "written": (f"{DOUBLING}|to_string(@)", 1),
    "compared": ("|".join(["[@,@]"] * 30) + "|[0] == [`1`]", 1),
    "flattened": ("|".join(["[@,@][]"] * 40), [1, 2]),
    "joined": ("join(',', @)", ["x" * 10_000] * 1000),
    "mapped": ("map(&to_string(@), @)", [[1] * 300] * 300),
    "within": ("max_by(@, &to_string(" + "|".join(["[@,@]"] * 30) + "))", [1, 2]),
    "sliced": ("[].[@[::-1], @[::-1]]", [[[1] * 300] * 300]),
}


@pytest.mark.parametrize("case", GREEDY)
def test_expression_that_would_fill_memory_is_refused(case: str) -> None:
    text, value = GREEDY[case]
    query = compile_query(text)

    with pytest.raises(CallError) as raised:
        query.find(value)

    assert raised.value.code == "W5007"


def test_longest_displayable_list_is_within_the_budget() -> None:
    rows = [{"a": n, "b": {"c": str(n)}} for n in range(2000)]

    value = compile_query("[].{a: a, c: b.c}").find(rows)

    assert len(value) == 2000
    assert len(value) * 3 < LIMITS.query_values
