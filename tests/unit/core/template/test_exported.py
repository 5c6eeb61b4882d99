"""The exporter's parentheses and wrappers identify the JSX in the template alone."""
# ruff: noqa: E501 - a table reads best with one case to a line

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgetd.base.errors import CallError
from widgetd.base.limits import Limits
from widgetd.core.template import Template, compile_template
from widgetd.core.template.dialect.exporter import find_converted, unwrap_data

ARGUMENTS = {
    "n": 3,
    "f": 2.5,
    "t": True,
    "z": None,
    "xs": ["a", 1, None, [2]],
    "o": {"a": 7},
    "s": 'a "b"',
    "tiny": 1e-7,
    "huge": 1e21,
}


def compile_text(source: str, *, to_the_letter: bool = False) -> Template:
    return compile_template(source, limits=Limits(), to_the_letter=to_the_letter)


def draw(source: str, *, to_the_letter: bool = False) -> Any:
    return json.loads(compile_text(source, to_the_letter=to_the_letter).render(ARGUMENTS))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("{{ ((n)) | tojson }}", "3"),
        ("{{ ((o.a)) | tojson }}", "7"),
        ("{{ ((xs[0])) | tojson }}", "a"),
        ("{{ ((o['a'])) | tojson }}", "7"),
        ("{{- ( ( n ) )|tojson -}}", "3"),
        ("{{ (((n + 1))) | tojson }}", "4"),
        ("{{ (((n * (n + 1)))) | tojson }}", "12"),
        ("{{ (((n))) | tojson }}", "3"),
        ("{{ ((t)) | tojson }}", "true"),
        ("{{ ((z)) | tojson }}", "null"),
        ("{{ ((missing)) | tojson }}", ""),
        ("{{ ((o)) | tojson }}", "[object Object]"),
        ("{{ ((xs)) | tojson }}", "a,1,,2"),
        ("{{ ((s)) | tojson }}", 'a "b"'),
        ("{{ ((f)) | tojson }}", "2.5"),
        ("{{ ((tiny)) | tojson }}", "1e-7"),
        ("{{ ((huge)) | tojson }}", "1e+21"),
    ],
)
def test_sole_value_of_a_template_literal_is_text(value: str, expected: object) -> None:
    assert draw(f'{{"v": {value}}}') == {"v": expected}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("{{ (n) | tojson }}", 3),
        ("{{ n | tojson }}", 3),
        ("{{ ((n + 1)) | tojson }}", 4),
        ("{{ ((n == 3)) | tojson }}", True),
        ("{{ ((9 / 3)) | tojson }}", 3),
        ("{{ ((n > 1) and (not z)) | tojson }}", True),
        ("{{ ((n) + (n)) | tojson }}", 6),
        ("{{ ((not z)) | tojson }}", True),
        ("{{ ((n if n is not none else 1)) | tojson }}", 3),
        ("{{ ((none)) | tojson }}", None),
        ("{{ (((none))) | tojson }}", None),
        ("{{ ((undefined)) | tojson }}", None),
        ("{{ ((5)) | tojson }}", 5),
        ("{{ ((n)) }}", 3),
        ("{{ ((n)) | abs | tojson }}", 3),
        ("{{ ((o)).a | tojson }}", 7),
    ],
)
def test_other_parentheses_change_nothing(value: str, expected: object) -> None:
    assert draw(f'{{"v": {value}}}') == {"v": expected}


def test_value_becomes_text_in_every_position() -> None:
    assert draw('{"v": "no {{ ((n)) | tojson }}"}') == {"v": "no 3"}
    assert draw("{% set b %}{{ ((n)) | tojson }}{% endset %}[{{ b }}]") == ["3"]
    assert draw(
        "[{% for x in [1, 2] %}{{ ',' if not loop.first }}{{ ((x)) | tojson }}{% endfor %}]"
    ) == ["1", "2"]


def test_rules_apply_across_line_ends_of_any_kind() -> None:
    assert draw('{\r\n"a": 1,\r\n\r"v": {{ ((n)) | tojson }}}') == {"a": 1, "v": "3"}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            '{"series":[{"type":"Text","value":{"type":"bar"}},{"type":"Text","value":{"type":"line"}}]}',
            {"series": [{"type": "bar"}, {"type": "line"}]},
        ),
        (
            '{"children":[{"type":"Chart","series":[{ "type" : "Text" , "value" : {"type":"bar","k":{{ (n) | tojson }}} }]}]}',
            {"children": [{"type": "Chart", "series": [{"type": "bar", "k": 3}]}]},
        ),
        ('{"one":{"type":"Text","value":{"type":"a","b":[{},[1]]}}}', {"one": {"type": "a", "b": [{}, [1]]}}),
        (
            '{"o":[{% for x in [1, 2] %}{"type":"Text","value":{"type":"{{ x }}"}}{{ "," if not loop.last }}{% endfor %}]}',
            {"o": [{"type": "1"}, {"type": "2"}]},
        ),
        (
            '{"o":[{"type":"Text","value":{"in":[{"type":"Text","value":{"type":"b"}}]}}]}',
            {"o": [{"in": [{"type": "b"}]}]},
        ),
    ],
)  # fmt: skip
def test_object_mistaken_for_a_component_is_data(source: str, expected: object) -> None:
    assert draw(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        '{"children":[{"type":"Text","value":{"type":"a"}}]}',
        '{"type":"Text","value":{"type":"a"}}',
        '{"o":[{"type":"Text","value":"a"}]}',
        '{"o":[{"type":"Text","value":{"type":"a"},"size":"sm"}]}',
        '{"o":[{"type":"Title","value":{"type":"a"}}]}',
        '{"o":["{\\"type\\":\\"Text\\",\\"value\\":{\\"type\\":1}}"]}',
    ],
)
def test_component_stays_a_component(source: str) -> None:
    assert draw(source) == json.loads(source)


def test_mistake_behind_a_wrapper_keeps_its_place() -> None:
    source = '{"o":[\n{"type":"Text","value":{"type":"a"}}], "v":\n  {{ n | int(z=[]) }}}'

    with pytest.raises(Exception, match="line 3") as caught:
        draw(source)
    with pytest.raises(type(caught.value), match="line 3") as other:
        draw(source, to_the_letter=True)
    assert str(caught.value) == str(other.value)


def test_template_can_be_read_literally() -> None:
    source = '{"v":{{ ((n)) | tojson }},"o":[{"type":"Text","value":{"type":"a"}}]}'

    assert draw(source, to_the_letter=True) == {
        "v": 3,
        "o": [{"type": "Text", "value": {"type": "a"}}],
    }


def test_concatenated_text_is_charged() -> None:
    source = "[{% for x in range(2000) %}{{ ((xs)) | tojson }}{% endfor %}]"

    with pytest.raises(CallError, match=r"rendering (takes|makes) more than"):
        compile_text(source).render({"xs": ["x" * 1000]})


PIECES = st.sampled_from(["{{", "}}", "(", ")", " ", "x", ".a", "| tojson", "{", "}", "[", "]", '"o":', ",", '{"type":"Text","value":{', "{% if x %}", "{# ", "none", "+ 1", "'"])  # fmt: skip


@given(st.lists(PIECES, max_size=40).map("".join))
def test_no_text_is_too_strange_to_be_looked_at(text: str) -> None:
    blanked = unwrap_data(text)

    assert len(blanked) == len(text)
    assert all(after in {before, " "} for before, after in zip(text, blanked, strict=True))
    assert all(text[at:].startswith("tojson") for at in find_converted(text))
