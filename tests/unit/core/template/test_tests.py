"""Jinja's tests answer as in Jinja, except that absence counts as null."""

from __future__ import annotations

import jinja2.tests
import pytest
from jinja2 import Environment

from widgetd.base.errors import CallError, WidgetError
from widgetd.base.limits import Limits
from widgetd.core.template import Expression
from widgetd.core.template.builtins import TESTS

JINJA = Environment()

ARGUMENTS = {
    "text": "abc",
    "seven": 7,
    "eight": 8,
    "half": 0.5,
    "yes": True,
    "no": False,
    "none": None,
    "list": [1, 2],
    "entry": {"a": 1},
}


def evaluate(source: str) -> object:
    return Expression(source, limits=Limits()).evaluate(ARGUMENTS)


CASES = [
    ("!=", "[7, 8]|select('!=', 7)|list", [8]),
    ("<", "[7, 8]|select('<', 8)|list", [7]),
    ("<=", "[7, 8, 9]|select('<=', 8)|list", [7, 8]),
    ("==", "[7, 8]|select('==', 7)|list", [7]),
    (">", "[7, 8]|select('>', 7)|list", [8]),
    (">=", "[7, 8]|select('>=', 7)|list", [7, 8]),
    ("boolean", "[yes is boolean, no is boolean, seven is boolean]", [True, True, False]),
    ("callable", "[text is callable, joiner() is callable]", [False, True]),
    ("defined", "[text is defined, missing is defined, none is defined]", [True, False, True]),
    ("divisibleby", "[eight is divisibleby 4, seven is divisibleby(4)]", [True, False]),
    ("eq", "[seven is eq 7, seven is eq 8]", [True, False]),
    ("equalto", "[text is equalto 'abc', text is equalto 'x']", [True, False]),
    ("escaped", "text is escaped", False),
    ("even", "[eight is even, seven is even]", [True, False]),
    ("false", "[no is false, seven is false]", [True, False]),
    ("filter", "['upper' is filter, 'nope' is filter]", [True, False]),
    ("float", "[half is float, seven is float]", [True, False]),
    ("ge", "[seven is ge 7, seven is ge 8]", [True, False]),
    ("greaterthan", "[seven is greaterthan 6, seven is greaterthan 7]", [True, False]),
    ("gt", "[seven is gt 6, seven is gt 7]", [True, False]),
    (
        "in",
        "[1 is in list, 3 is in list, 'b' is in text, 'a' is in entry]",
        [True, False, True, True],
    ),
    ("integer", "[seven is integer, half is integer, yes is integer]", [True, False, False]),
    ("iterable", "[list is iterable, text is iterable, seven is iterable]", [True, True, False]),
    ("le", "[seven is le 7, seven is le 6]", [True, False]),
    ("lessthan", "[seven is lessthan 8, seven is lessthan 7]", [True, False]),
    ("lower", "[text is lower, 'ABC' is lower]", [True, False]),
    ("lt", "[seven is lt 8, seven is lt 7]", [True, False]),
    ("mapping", "[entry is mapping, list is mapping]", [True, False]),
    ("ne", "[seven is ne 8, seven is ne 7]", [True, False]),
    ("none", "[none is none, seven is none]", [True, False]),
    ("number", "[seven is number, half is number, text is number]", [True, True, False]),
    ("odd", "[seven is odd, eight is odd]", [True, False]),
    ("sameas", "[yes is sameas true, seven is sameas true]", [True, False]),
    ("sequence", "[list is sequence, text is sequence, seven is sequence]", [True, True, False]),
    ("string", "[text is string, seven is string]", [True, False]),
    ("test", "['odd' is test, 'nope' is test]", [True, False]),
    ("true", "[yes is true, seven is true]", [True, False]),
    ("undefined", "[missing is undefined, none is undefined]", [True, False]),
    ("upper", "['ABC' is upper, text is upper]", [True, False]),
]


@pytest.mark.parametrize(("name", "source", "expected"), CASES)
def test_test_returns_the_result_of_its_table(name: str, source: str, expected: object) -> None:
    assert name in TESTS
    assert evaluate(source) == expected
    assert JINJA.compile_expression(source, undefined_to_none=False)(ARGUMENTS) == expected


def test_every_test_of_jinja_is_in_the_table() -> None:
    assert {name for name, _, _ in CASES} == set(TESTS) == set(jinja2.tests.TESTS)


@pytest.mark.parametrize("name", sorted(set(TESTS) - {"in", "divisibleby"}))
def test_test_without_arguments_does_not_fail_on_absent_values(name: str) -> None:
    argument = "" if name not in COMPARING else " 1"
    for value in ("missing", "none", "entry.a.b"):
        assert evaluate(f"{value} is {name}{argument}") in {True, False} if name.isalpha() else True


COMPARING = {"eq", "equalto", "ne", "gt", "greaterthan", "ge", "lt", "lessthan", "le", "sameas"}


def test_absence_counts_as_null_but_not_as_defined() -> None:
    source = "[missing is none, entry.a.b is none, missing is defined, missing is not none]"
    assert evaluate(source) == [True, True, False, False]


def test_unknown_test_is_a_fault_with_the_nearest_name() -> None:
    with pytest.raises(WidgetError) as caught:
        evaluate("text is strin")

    assert str(caught.value) == "line 1: there is no test 'strin'; did you mean 'string'?"


def test_failing_test_is_explained() -> None:
    with pytest.raises(CallError, match=r"^line 1: cannot order a text and a number$"):
        evaluate("text is gt 5")
