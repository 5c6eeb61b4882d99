"""Findings, failures and output of a template have a place: the line, and the column in it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgetd import WidgetError
from widgetd.base.limits import Limits
from widgetd.core.template import Expression, compile_template

# How the exporter separates what a loop writes.
STRIPPED = (
    "{% set _c %}{% for x in xs %}…{% endfor %}{% endset %}"
    "{{ (_c[1:] if _c and _c[0] == ',' else _c) }}"
)


@pytest.mark.parametrize(
    ("source", "code", "place"),
    [
        ("{}\n{{ a ? b : c }}", "W1301", (2, 6)),
        ("{}\n  {% fro x in xs %}", "W1301", (2, 6)),
        ("{%  raw %}{{%  endraw %}\r\n{{ a b }}", "W1301", (2, 6)),
        ("{{ é\n && b }}", "W1301", (2, 2)),
        ("{# a\n{{ b", "W1301", (1, 3)),
        ("{\n{{ a|filtre }}", "W1302", (2, 6)),
        ("{\n{{ a is odd2 }}", "W1302", (2, 6)),
        ("{\n{{ 1 + raneg(3) }}", "W1302", (2, 8)),
        ("{\n{{ a.uper() }}", "W1302", (2, 5)),
        ("{\n {% include 'b' %}", "W1302", (2, 5)),
        ("{\n {{ 99999999999999999999999 }}", "W1302", (2, 5)),
        ("{{ a }}\n{{ " + "(" * 40 + "a" + ")" * 40 + "}}", "W1303", (2, 36)),
    ],
)
def test_refused_template_has_its_place(source: str, code: str, place: tuple[int, int]) -> None:
    with pytest.raises(WidgetError) as raised:
        compile_template(source, limits=Limits())

    finding = raised.value.finding
    assert (finding.code, (finding.line, finding.column)) == (code, place)


def test_refused_expression_has_its_place() -> None:
    with pytest.raises(WidgetError) as raised:
        Expression("a\n ~ b|filtre", limits=Limits())

    assert (raised.value.finding.line, raised.value.finding.column) == (2, 6)


@pytest.mark.parametrize(
    ("source", "code", "place"),
    [
        ('[1,\n 2, {{ (none)|tojson }}, {{ "a" ~ (none) }}]', "W1307", (2, 9)),
        ("[{% for x in xs %}\n{{ x }} {{ i }}{% endfor %}]", "W1308", (2, 12)),
        ("[1,\n 2,, 3]", "W1309", (2, 4)),
        ("[1, [2]\n  {{ a|tojson }}]", "W1309", (2, 6)),
        ('[1, {{ "[[]\n,,7]" }}]', "W1309", (2, 2)),
    ],
)
def test_warning_has_its_place(source: str, code: str, place: tuple[int, int]) -> None:
    warning = compile_template(source, limits=Limits()).warnings[0]

    assert (warning.code, (warning.line, warning.column)) == (code, place)


@pytest.mark.parametrize(
    ("source", "arguments", "offset", "place"),
    [
        ("[1,\n x]", {}, 5, (2, 2)),
        ("[1,\n x]", {}, 99, (2, 4)),
        ("[{{ a }},\n {{ b }}, x]", {"a": 10, "b": 200}, 2, (1, 5)),
        ("[{{ a }},\n {{ b }}, x]", {"a": 10, "b": 200}, 7, (2, 5)),
        ("[{{ a }},\n {{ b }}, x]", {"a": 10, "b": 200}, 11, (2, 11)),
        ("[{% for x in xs %}{{ x }},\n{% endfor %}y]", {"xs": [7, 8, 9]}, 10, (2, 13)),
        ("[" + STRIPPED.replace("…", ",{{ x }}\n") + "]", {"xs": [7, 8]}, 3, (1, 31)),
        ("[{% macro m() %}1 2{% endmacro %}\n{{ m() }}]", {}, 4, (2, 4)),
        ("[{# a #}1{# b #} 2]", {}, 3, (1, 18)),
    ],
)
def test_each_character_of_the_output_has_its_place_in_the_template(
    source: str, arguments: dict[str, Any], offset: int, place: tuple[int, int]
) -> None:
    template = compile_template(source, limits=Limits())

    assert template.place(arguments, offset) == place


CONSTANTS = st.text("[],: 12}\n", min_size=1, max_size=5)
PIECES = st.recursive(
    st.one_of(CONSTANTS, st.sampled_from(["{{ x }}", "{# 1 #}", "{{- x -}}", "{{ m(x) }}"])),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=4).map("".join),
        inner.map(lambda within: "{% for x in xs -%}" + within + "{% endfor %}"),
        inner.map(lambda within: "{%- if x %}" + within + "{% endif %}"),
        inner.map(lambda within: STRIPPED.replace("…", within)),
    ),
    max_leaves=8,
)


@given(PIECES)
def test_each_constant_character_is_found_at_its_offset(said: str) -> None:
    source = "{% macro m(x) %}{{ x }}{% endmacro %}" + said
    template, arguments = compile_template(source, limits=Limits()), {"x": "éé", "xs": ["é", "ü"]}
    rendering = template.rendering(arguments)
    if rendering.repaired:
        return
    lines = source.split("\n")
    for offset, character in enumerate(rendering.text):
        line, column = template.place(arguments, offset)
        there = (lines[line - 1] + "\n")[column - 1]
        assert there == character if character in "[],: 12}\n" else there in {"x", "m"}
