"""Spellings of Studio's exporter and of hasty authors that Jinja reads otherwise."""
# ruff: noqa: E501, ISC004 - a table reads best with one case to a line

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgetd.base.errors import WidgetError
from widgetd.base.limits import Limits
from widgetd.core.template import Expression, compile_template, compile_text
from widgetd.core.template.dialect import commas

NASTY = [
    'say "hi"',
    "back\\slash",
    "new\nline",
    "tab\t",
    "</script>",
    "{{ x }} {% if %}",
    "\u2028\u2029",
    "🦆",
    "שלום",
    "",
    "null",
    "\x00\x1f",
    ", ] } {",
]


def tree(source: str, **arguments: object) -> object:
    return json.loads(compile_template(source, limits=Limits()).render(arguments))


def text(source: str, **arguments: object) -> str:
    return compile_template(source, limits=Limits()).render(arguments)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a === 1", True),
        ("a === '1'", False),
        ("a !== 2", True),
        ("a !== 1", False),
        ("'===' ~ a", "===1"),
        ("'!==' == '!=='", True),
        ("a === 1 and b !== 1", True),
    ],
)
def test_javascript_comparisons_have_their_javascript_meaning(
    source: str, expected: object
) -> None:
    assert Expression(source, limits=Limits()).evaluate({"a": 1, "b": 2}) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("'a' + n", "a3"),
        ("n + 'a'", "3a"),
        ("'a' + n ~ 'b'", "a3b"),
        ("'a' + 2.0", "a2"),
        ("'a' + true", "aTrue"),
        ("'a' + missing", "a"),
        ("n + n", 6),
    ],
)
def test_text_and_a_number_are_joined(source: str, expected: object) -> None:
    assert Expression(source, limits=Limits()).evaluate({"n": 3}) == expected


def test_unbound_index_counts_the_turns() -> None:
    source = "[{% for x in xs %}{% if not loop.first %},{% endif %}{{ i + 1 }}{% endfor %}]"
    assert tree(source, xs="abc") == [1, 2, 3]
    assert tree("[{% for x in xs %}{{ index }}{% endfor %}]", xs=[1]) == [0]


def test_index_bound_or_passed_as_an_argument_is_unchanged() -> None:
    loop = "[{% for x in xs %}{{ index }}{% endfor %}]"
    assert tree(loop, xs=[1], index=7) == [7]
    assert tree("{% set index = 5 %}" + loop, xs=[1]) == [5]
    assert tree("[{% for index in xs %}{{ index }}{% endfor %}]", xs=[9]) == [9]
    assert tree('"{{ index }}"') == ""


def test_length_of_a_list_is_available_as_in_javascript() -> None:
    assert tree(
        "[{{ xs.length }},{{ s.length }},{{ o.length }}]", xs=[1, 2], s="abc", o={"length": 9}
    ) == [2, 3, 9]


@pytest.mark.parametrize("value", NASTY)
@pytest.mark.parametrize(
    "source",
    [
        '{"v": "{{ x }}"}',
        '{"v": "{{ (x) | tojson }}"}',
        '{"v": {{ x | tojson }}}',
        '{% set y = x %}{"v": "{{ y }}"}',
        '{"v": "{% if true %}{{ x }}{% else %}-{% endif %}"}',
        '{"v": "{% for c in [x] %}{{ c }}{% endfor %}"}',
        '{"v": "{% filter trim("") %}{{ x }}{% endfilter %}"}',
        '{% macro m(v) %}{"v": "{{ v }}"}{% endmacro %}{{ m(x) }}',
        '{% macro m(v) %}{{ v }}{% endmacro %}{"v": "{{ m(x) }}"}',
        '{% macro m() %}{"v": "{{ caller() }}"}{% endmacro %}{% call m() %}{{ x }}{% endcall %}',
        '{% set v %}{{ x }}{% endset %}{"v": "{{ v }}"}',
        '{% set v %}{{ x }}{% endset %}{"v": {{ v | tojson }}}',
        '{% set v %}{"v": "{{ x }}"}{% endset %}{{ v }}',
        '{% with y = x %}{"v": "{{ y }}"}{% endwith %}',
        '{{ "{" }}"v": "{{ x }}"}',
    ],
)
def test_text_comes_out_exactly_as_it_went_in(source: str, value: str) -> None:
    assert tree(source, x=value) == {"v": value}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('"{{ n }}|{{ f }}|{{ t }}|{{ z }}|{{ xs }}"', "3|2.5|True|None|['a', 1]"),
        ('"{{ n | tojson }}|{{ z | tojson }}|{{ xs | tojson }}"', '3|null|["a",1]'),
        ('"{{ whole }}"', "4"),
        ('"{{ missing }}"', ""),
    ],
)
def test_non_text_inside_a_string_is_written_as_printed(source: str, expected: str) -> None:
    arguments = {"n": 3, "f": 2.5, "t": True, "z": None, "xs": ["a", 1], "whole": 4.0}

    assert tree(source, **arguments) == expected


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("\"{{ x | replace('\\\"', '\\\\\\\"') }}\"", 'say "hi"'),
        ('"{{ (x | tojson)[1:-1] }}"', 'say "hi" \\ \n'),
        ("\"{{ x | replace('\\n', '\\\\n') }}\"", 'a\nb "c"'),
    ],
)
def test_self_escaping_template_is_not_escaped_twice(source: str, value: str) -> None:
    assert tree(source, x=value) == value


@pytest.mark.parametrize(
    "value", [*NASTY, 0, 2.5, True, False, None, ["a", {"b": None}], {"k": 'q"'}, -1]
)
def test_unquoted_value_is_written_as_json(value: object) -> None:
    expected = None if value == "null" else value
    assert tree('{"v": {{ x }}}', x=value) == {"v": expected}


def test_json_fragment_is_written_unchanged() -> None:
    source = '{% set part %}{"a": [1]}{% endset %}{"v": {{ part }}, "w": [{{ part }}]}'
    assert tree(source) == {"v": {"a": [1]}, "w": [{"a": [1]}]}


COMMAS = [
    ("[{% for x in xs %}{{ x }},{% endfor %}]", False),
    ("[{% for x in xs %},{{ x }}{% endfor %}]", False),
    ('[{% for x in xs %}{"v": {{ x }}}{% endfor %}]', True),
    ("[0{% for x in xs %},{{ x }},{% endfor %}]", False),
    (
        '[{"a": 1},{% for x in xs %}{"v": {{ x }}}{% if not loop.last %},{% endif %}{% endfor %}]',
        False,
    ),
    (
        '{"a": 1,{% for x in xs %}"k{{ x }}": {{ x }}{% if not loop.last %},{% endif %}{% endfor %}}',
        False,
    ),
    ('{ {% for x in xs %}"k{{ x }}": "v" {% endfor %} }', True),
    ('[{% for x in xs %}"{{ x }}"{% endfor %}]', True),
    ("[{% for x in xs %}[{{ x }}]{% endfor %}, 7]", True),
]


@pytest.mark.parametrize(("source", "missing"), COMMAS)
@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_stray_commas_make_valid_json_of_none_one_and_two(
    source: str, missing: bool, count: int
) -> None:
    template = compile_template(source, limits=Limits())
    output = template.rendering({"xs": list(range(1, count + 1))})

    assert isinstance(json.loads(output.text), list | dict)
    assert {warning.code for warning in template.warnings} == {"W1309"}
    assert any("missing" in warning.problem for warning in template.warnings) is missing


@pytest.mark.parametrize(
    "source",
    [
        '[{% for x in xs %}{"v": {{ x }}}{% if not loop.last %},{% endif %}{% endfor %}]',
        '[{% for x in xs %}{% if not loop.first %},{% endif %}{"v": {{ x }}}{% endfor %}]',
        '[{% for x in xs %}{{ "," if not loop.first }}{"v": {{ x }}}{% endfor %}]',
        '[{% for x in xs %}{"v": {{ x }}}{{ "" if loop.last else "," }}{% endfor %}]',
        '[{% for x in xs %}{"v": {{ x }}}{% if loop.index < loop.length %},{% endif %}{% endfor %}]',
        '[{% for x in xs %}{"v": {{ x }}}{% if loop.revindex0 %},{% endif %}{% endfor %}]',
        '[{% for x in xs %}{% if loop.index0 > 0 %},{% endif %}{"v": {{ x }}}{% endfor %}]',
        "[{%- set _c -%}{%-for x in xs -%},{\"v\": {{ x }}}{%-endfor-%}{%- endset -%}{{- (_c[1:] if _c and _c[0] == ',' else _c) -}}]",
        '[{"v": 0}{% for x in xs %},{"v": {{ x }}}{% endfor %}]',
        "{{ xs | tojson }}",
    ],
)
def test_correct_commas_need_no_repair_and_no_warning(source: str) -> None:
    template = compile_template(source, limits=Limits())

    assert template.warnings == ()
    for count in range(4):
        output = template.rendering({"xs": list(range(count))})
        assert not output.repaired
        assert len(json.loads(output.text)) in {count, count + 1}


def test_comma_depending_on_arguments_is_repaired_without_a_warning() -> None:
    source = "[{% if a %}1,{% endif %}{% if b %}2{% endif %}]"
    template = compile_template(source, limits=Limits())

    assert template.warnings == ()
    assert json.loads(template.render({"a": True})) == [1]
    assert json.loads(template.render({"a": True, "b": True})) == [1, 2]


def test_exporters_comma_stripping_costs_its_text_once() -> None:
    level = "{}"
    for _ in range(6):
        level = (
            "[{%- set _c -%},"
            + level
            + "{%- endset -%}{{- (_c[1:] if _c and _c[0] == ',' else _c) -}}]"
        )
    template = compile_template(level, limits=Limits(output_bytes=60))

    assert json.loads(template.render({})) == [[[[[[{}]]]]]]


def test_name_read_elsewhere_keeps_its_comma() -> None:
    strip = "{{ (_c[1:] if _c and _c[0] == ',' else _c) }}"
    source = "{% set _c %},1{% endset %}" + strip + "|{{ _c }}"

    assert compile_text(source, limits=Limits()).render({}) == "1|,1"
    assert compile_template(source, limits=Limits()).render({}) == "1|,1"


@pytest.mark.parametrize(
    ("broken", "repaired"),
    [
        ("[1,,2]", "[1,2]"),
        ("[,1]", "[1]"),
        ("[1,]", "[1]"),
        ("[,]", "[]"),
        ('{"a":1,}', '{"a":1}'),
        ('{,"a":1 "b":2,,}', '{"a":1,"b":2}'),
        ('[{}{}[]"x" 1]', '[{},{},[],"x",1]'),
        ('["a,,b" "c],}"]', '["a,,b","c],}"]'),
        ('["\\",,\\\\" ,, "]"]', '["\\",,\\\\","]"]'),
        ("[1,2]", "[1,2]"),
        ("[1,", None),
        ("nonsense", None),
        ('[1,,2"]', None),
        ('{"a": }', None),
        ("", None),
    ],
)
def test_repair_touches_only_commas(broken: str, repaired: str | None) -> None:
    assert commas.repair(broken) == repaired


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(value=JSON, doubled=st.booleans())
def test_mending_keeps_every_value(value: object, *, doubled: bool) -> None:
    shown = json.dumps([value, value], separators=(",,", ":") if doubled else (",", ":"))

    assert json.loads(commas.repair(shown) or "") == [value, value]


@given(text=st.text(), other=st.text())
def test_any_text_comes_through_a_raw_interpolation(text: str, other: str) -> None:
    assert tree('["{{ a }} and {{ b }}"]', a=text, b=other) == [f"{text} and {other}"]


def test_summary_is_plain_text() -> None:
    template = compile_text('{{ a }} "{{ b }}": {{ n }}', limits=Limits())

    assert template.render({"a": "x\ny", "b": 'q"', "n": 2.0}) == 'x\ny "q"": 2'
    assert template.warnings == ()


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ('{"a": {{ (none) | tojson }}}', [1]),
        ('{"a":\n{{ ("x" ~ (none)) | tojson }}}', [2]),
        ('{"a": {% if x %}{{ (none) | tojson }}{% else %}1{% endif %}}', []),
        ('{"a": {{ (x or none) | tojson }}}', []),
        ('{"a": {{ (x is not none) | tojson }}}', []),
        ('{"a": {{ (x if x else none) | tojson }}}', []),
    ],
)
def test_value_lost_by_the_exporter_is_a_warning(source: str, lines: list[int]) -> None:
    warnings = [
        each for each in compile_template(source, limits=Limits()).warnings if each.code == "W1307"
    ]

    assert [each.line for each in warnings] == lines


def test_unbound_index_and_a_wrong_comma_are_warnings_with_their_lines() -> None:
    source = "[\n{% for x in xs %}\n{{ index | tojson }},\n{% endfor %}\n]"

    assert [str(each) for each in compile_template(source, limits=Limits()).warnings] == [
        "line 3: 'index' is read in a loop that does not bind it; it counts the turns from 0 unless "
        "it is an argument; write {% set index = loop.index0 %}",
        'line 5: a comma too many; widgetd sets it right; write {{ "," if not loop.last }} '
        "to be understood by others",
    ]


def test_assignment_in_an_output_is_a_fault() -> None:
    with pytest.raises(WidgetError):
        compile_template("{{ a = 1 }}", limits=Limits())
