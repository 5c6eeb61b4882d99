"""JMESPath as its specification has it, and never more than its budget allows."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from widgetd.base.errors import CallError, WidgetError
from widgetd.core.widget.limits import LIMITS
from widgetd.core.widget.query import compile_query


def test_query_returns_a_copy() -> None:
    value = compile_query("list").find(GIVEN)
    value.append(6)

    assert GIVEN["list"] == [0, 1, 2, 3, 4, 5]


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


GIVEN: dict[str, Any] = {
    "a": {"b": {"c": "deep"}, "n": 3, "e": [], "z": None},
    "with space": {"é": "accent", '"': "quote"},
    "list": [0, 1, 2, 3, 4, 5],
    "nested": [[0, 1], [2, [3]], [], 4],
    "people": [
        {"name": "Ada", "age": 36, "tags": ["x", "y"], "of": {"city": "London"}},
        {"name": "Bob", "age": 25, "tags": [], "of": {"city": "Berlin"}},
        {"name": "Cyd", "age": 36, "tags": ["z"]},
        {"name": "Dee"},
    ],
    "ops": {"f": {"n": 1}, "g": {"n": 2}, "h": {"m": 3}},
    "words": ["pear", "fig", "apple"],
    "numbers": [3, 1.5, -2],
    "t": True,
    "f": False,
    "empty": "",
    "text": "a-b-c",
}

FOUND: dict[str, Any] = {
    # Identifiers, sub-expressions, the current node.
    "a.b.c": "deep",
    "a . b\n.c": "deep",
    "a.none.c": None,
    "none": None,
    "list.b": None,
    '"with space"."é"': "accent",
    '"with space"."\\""': "quote",
    '"with space"."\\u00e9"': "accent",
    "@.a.n": 3,
    # Indices and slices.
    "list[0]": 0,
    "list[-1]": 5,
    "list[6]": None,
    "list[-7]": None,
    "a[0]": None,
    "list[1:3]": [1, 2],
    "list[:2]": [0, 1],
    "list[4:]": [4, 5],
    "list[::2]": [0, 2, 4],
    "list[::-1]": [5, 4, 3, 2, 1, 0],
    "list[-2:]": [4, 5],
    "list[3:1]": [],
    "list[5:0:-2]": [5, 3, 1],
    "list[:100]": [0, 1, 2, 3, 4, 5],
    "text[0:1]": None,
    "people[:2].name": ["Ada", "Bob"],
    # Projections stop what is missing, and each `|` ends them.
    "people[*].name": ["Ada", "Bob", "Cyd", "Dee"],
    "people[*].of.city": ["London", "Berlin"],
    "people[*].tags[0]": ["x", "z"],
    "people[*].tags | [0]": ["x", "y"],
    "a[*]": None,
    "ops.*.n": [1, 2],
    "ops.* | length(@)": 3,
    "list.*": None,
    "a.e[*].x": [],
    "nested[]": [0, 1, 2, [3], 4],
    "nested[][]": [0, 1, 2, 3, 4],
    "people[].tags[]": ["x", "y", "z"],
    "a[]": None,
    # Filters and comparisons.
    "people[?age == `36`].name": ["Ada", "Cyd"],
    "people[?age != `36`].name": ["Bob", "Dee"],
    "people[?age > `25`].name": ["Ada", "Cyd"],
    "people[?age >= `25` && of].name": ["Ada", "Bob"],
    "people[?age < `30` || !age].name": ["Bob", "Dee"],
    "people[?!tags].name": ["Bob", "Dee"],
    "people[?of.city == 'Berlin'] | [0].name": "Bob",
    "people[?tags == `[]`].name": ["Bob"],
    "a[?n]": None,
    "list[?@ > `3`]": [4, 5],
    "`1` == `1.0`": True,
    "t == `true`": True,
    "t == `1`": False,
    "a.z == none": True,
    "t && f": False,
    "f || empty || a.e || 'last'": "last",
    "t && a.n": 3,
    "!empty": True,
    "!`0`": False,
    "(f || t) && a.n": 3,
    # Multi-selects and literals.
    "a.[n, b.c]": [3, "deep"],
    "a.{n: n, deep: b.c, none: q}": {"n": 3, "deep": "deep", "none": None},
    "none.{n: n}": None,
    "none.[n]": None,
    "people[*].{who: name, city: of.city} | [0]": {"who": "Ada", "city": "London"},
    "people[0].[name, tags[]]": ["Ada", ["x", "y"]],
    "'it\\'s'": "it's",
    "'\\n'": "\\n",
    '`{"x": [1, null]}`': {"x": [1, None]},
    '`"a\\`b"`': "a`b",
    "`1e2`": 100.0,
    "a.*": [{"c": "deep"}, 3, []],
    '`[1, {"x": 2}]`[1].x': 2,
    # Functions.
    "abs(`-3`)": 3,
    "avg(list)": 2.5,
    "avg(a.e)": None,
    "ceil(`1.2`)": 2,
    "floor(`-1.2`)": -2,
    "contains(text, 'b-')": True,
    "contains(list, `9`)": False,
    "starts_with(text, 'a-')": True,
    "ends_with(text, 'c')": True,
    "join('+', words)": "pear+fig+apple",
    "keys(ops)": ["f", "g", "h"],
    "values(a.b)": ["deep"],
    "length('né')": 2,
    "length(ops)": 3,
    "map(&age, people)": [36, 25, 36, None],
    "max(numbers)": 3,
    "min(numbers)": -2,
    "max(words)": "pear",
    "max(a.e)": None,
    "max_by(people[:3], &age).name": "Ada",
    "min_by(people[:3], &age).name": "Bob",
    'merge(`{"x": 1, "y": 1}`, `{"y": 2}`)': {"x": 1, "y": 2},
    "not_null(none, a.z, a.n)": 3,
    "reverse(list)": [5, 4, 3, 2, 1, 0],
    "reverse(text)": "c-b-a",
    "sort(words)": ["apple", "fig", "pear"],
    "sort(numbers)": [-2, 1.5, 3],
    "sort_by(people[:3], &age)[*].name": ["Bob", "Ada", "Cyd"],
    "sum(list)": 15,
    "sum(a.e)": 0,
    "to_array(t)": [True],
    "to_array(list) == list": True,
    "to_number('1.5')": 1.5,
    "to_number('x')": None,
    "to_string('as it is')": "as it is",
    "to_string(list)": "[0,1,2,3,4,5]",
    "type(a.z)": "null",
    "type(a)": "object",
    "text && a.n && `0`": 0,
    "type(t)": "boolean",
    "type(`1`)": "number",
    "people[*].not_null(of.city, '–')": ["London", "Berlin", "–", "–"],
}

TAKES_ANOTHER = (
    "abs('a')",
    "abs(list)",
    "avg(words)",
    "join(',', list)",
    "keys(list)",
    "length(t)",
    "max(people)",
    "sort(nested)",
    "sort_by(people, &age)",
    "sum(words)",
    "contains(t, `1`)",
)

NOT_JMESPATH = {
    "": 1,
    "a.": 3,
    ".a": 1,
    "a..b": 3,
    "a[": 3,
    "a]": 2,
    "[0": 3,
    "a[1:2:3:4]": 8,
    "a[b]": 3,
    "a.{}": 4,
    "a.[]": 3,
    "{a}": 3,
    "'open": 1,
    '"open': 1,
    "`open": 1,
    "a b": 3,
    "a |": 4,
    "a ||": 5,
    "&&": 1,
    "a = b": 3,
    "a[?b": 5,
    "#": 1,
    "f(": 3,
    "f(a,)": 1,
    "nobody(a)": 1,
    "list[::0]": 1,
    "abs()": 1,
    "people[].abs(age, name)": 1,
    "not_null()": 1,
}
"""What is refused, and the column that is told of it."""


@pytest.mark.parametrize("text", FOUND)
def test_expression_has_the_value_of_the_specification(text: str) -> None:
    value = compile_query(text).find(GIVEN)

    assert orjson.dumps(value) == orjson.dumps(FOUND[text])


@pytest.mark.parametrize("text", TAKES_ANOTHER)
def test_function_of_another_kind_of_value_fails_with_a_sentence(text: str) -> None:
    with pytest.raises(CallError) as raised:
        compile_query(text).find(GIVEN)

    assert raised.value.code == "W5007"
    assert str(raised.value) == (
        f"the expression '{text}' cannot be used: it takes another kind of value here"
    )


@pytest.mark.parametrize("text", NOT_JMESPATH)
def test_invalid_expression_is_refused_with_its_column(text: str) -> None:
    with pytest.raises(WidgetError) as raised:
        compile_query(text)

    finding = raised.value.finding
    assert (finding.code, finding.line, finding.column) == ("W1602", 1, NOT_JMESPATH[text])
