"""Absent values: falsy, empty, null, equal to null, and never an error."""

# ruff: noqa: RUF005 - a table reads best with one case to a line

from __future__ import annotations

import pytest

from widgetd.base.limits import Limits
from widgetd.core.template import Expression, compile_template

ARGUMENTS = {"there": {"number": 3, "text": "x", "list": [1], "none": None}}


def evaluate(source: str) -> object:
    return Expression(source, limits=Limits()).evaluate(ARGUMENTS)


@pytest.mark.parametrize(
    "absent",
    ["missing", "there.missing", "there['missing']", "there.list[5]", "missing.deeper[0].x"]
    + ["undefined", "there.none.deeper", "there.number.deeper", "null", "there.text['x']"],
)
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{} or 'else'", "else"),
        ("not {}", True),
        ("{} == none", True),
        ("{} != none", False),
        ("none == {}", True),
        ("{} is none", True),
        ("{} is defined", False),
        ("{} is undefined", True),
        ("{}", None),
        ("[{}]", [None]),
        ("{} | tojson", "null"),
        ("{} | default('d')", "d"),
        ("{} | length", 0),
        ("{} | list", []),
        ("{} + 1", None),
        ("1 - {}", None),
        ("{} * {}", None),
        ("{} / 2", None),
        ("{} // 2", None),
        ("{} % 2", None),
        ("{} ** 2", None),
        ("-({})", None),
        ("+({})", None),
        ("{} < 1", False),
        ("1 >= {}", False),
        ("1 in {}", False),
        ("{} in [1]", False),
        ("{} in [none]", True),
        ("{} in 'text'", False),
        ("'a' ~ {} ~ 'b'", "ab"),
        ("'a' + {}", "a"),
        ("{}[1:2]", None),
        ("{}.upper()", None),
        ("{} == 0", False),
        ("{} == ''", False),
    ],
)
def test_absent_values_behave_as_undefined(absent: str, source: str, expected: object) -> None:
    assert evaluate(source.format(*[f"({absent})"] * source.count("{}"))) == expected


def test_absent_values_print_nothing_and_loop_zero_times() -> None:
    source = (
        '["{{ missing }}",{{ missing|tojson }}{% for x in missing.y %},1{% else %},0{% endfor %}]'
    )
    template = compile_template(source, limits=Limits())

    assert template.render({}) == '["",null,0]'


@pytest.mark.parametrize("source", ["none + 1", "none * 2", "-none", "none < 1", "none[0:1]"])
def test_null_in_arithmetic_counts_as_absent(source: str) -> None:
    assert evaluate(source) in {None, False}


def test_loop_over_null_has_no_turns() -> None:
    template = compile_template("[{% for x in x %}1{% endfor %}]", limits=Limits())

    assert template.render({"x": None}) == "[]"
