"""Filters do what Jinja's do, or what the design says instead."""

# ruff: noqa: E501, ISC004, RUF005 - a table reads best with one case to a line

from __future__ import annotations

import jinja2.filters
import pytest
from jinja2 import Environment

from widgetd.base.errors import CallError, WidgetError
from widgetd.base.limits import Limits
from widgetd.core.template import compile_text
from widgetd.core.template.builtins import FILTERS
from widgetd.core.template.vocabulary import REFUSED_FILTERS

JINJA = Environment()

ARGUMENTS = {
    "text": "Hello big <World>",
    "lines": "one\ntwo\n\nthree",
    "number": -3.7,
    "none": None,
    "numbers": [3, 1, 2, 3],
    "words": ["b", "A", "a", "C"],
    "people": [
        {"name": "Ada", "age": 36, "city": {"name": "London"}, "active": True},
        {"name": "bob", "age": 25, "city": {"name": "Paris"}, "active": False},
        {"name": "Cy", "age": 36, "city": {"name": "london"}},
    ],
    "entry": {"b": 1, "a": 2, "C": 0},
}


def render(source: str) -> str:
    return compile_text(source, limits=Limits()).render(ARGUMENTS)


CASES = {
    "abs": {"{{ number|abs }}": "3.7"},
    "batch": {
        "{{ numbers|batch(3)|list }}": "[[3, 1, 2], [3]]",
        "{{ numbers|batch(3, 'x')|list }}": "[[3, 1, 2], [3, 'x', 'x']]",
        "{{ []|batch(3, 'x')|list }}": "[]",
    },
    "capitalize": {"{{ 'hELLO wORLD'|capitalize }}": "Hello world"},
    "center": {"{{ '[' ~ 'ab'|center(7) ~ ']' }}": "[   ab  ]"},
    "count": {"{{ numbers|count }} {{ text|count }} {{ entry|count }}": "4 17 3"},
    "d": {"{{ missing|d('x') }}": "x"},
    "default": {
        "{{ missing|default('x') }} {{ none|default('x') }}": "x None",
        "{{ ''|default('x', true) }} {{ ''|default('x', boolean=true) }}": "x x",
        "{{ missing|default }}|{{ none|default('x', true) }}": "|x",
    },
    "dictsort": {
        "{{ entry|dictsort }}": "[('a', 2), ('b', 1), ('C', 0)]",
        "{{ entry|dictsort(true) }}": "[('C', 0), ('a', 2), ('b', 1)]",
        "{{ entry|dictsort(by='value') }}": "[('C', 0), ('b', 1), ('a', 2)]",
        "{{ entry|dictsort(reverse=true) }}": "[('C', 0), ('b', 1), ('a', 2)]",
    },
    "e": {"{{ '<\"&\\'>'|e }}": "&lt;&#34;&amp;&#39;&gt;"},
    "escape": {"{{ 5|escape }}": "5"},
    "filesizeformat": {
        "{{ 1|filesizeformat }} {{ 999|filesizeformat }}": "1 Byte 999 Bytes",
        "{{ 13000|filesizeformat }} {{ 5e6|filesizeformat(true) }}": "13.0 kB 4.8 MiB",
        "{{ 1e27|filesizeformat }}": "1000.0 YB",
    },
    "first": {"{{ numbers|first }} {{ 'abc'|first }} {{ []|first }}.": "3 a ."},
    "float": {"{{ '2.5'|float }} {{ 'x'|float(1.5) }} {{ none|float }}": "2.5 1.5 0"},
    "forceescape": {"{{ '<'|forceescape }}": "&lt;"},
    "format": {
        "{{ '%s is %d, %5.1f%%'|format('x', 3, 2.25) }}": "x is 3,   2.2%",
        "{{ '%(a)s-%(b)03d'|format(a=1, b=2) }}": "1-002",
        "{{ '%c%3c%X'|format('a', 66, 255) }}": "a  BFF",
    },
    "groupby": {
        "{{ people|groupby('age')|map('first')|list }}": "[25, 36]",
        "{% for g in people|groupby('city.name') %}{{ g.grouper }}:{{ g.list|length }} {% endfor %}": "London:2 Paris:1 ",
        "{% for k, v in people|groupby('city.name', case_sensitive=true) %}{{ k }} {% endfor %}": "London Paris london ",
        "{{ people|groupby('x', default='-')|map('first')|list }}": "['-']",
    },
    "indent": {
        "{{ lines|indent(2) }}": "one\n  two\n\n  three",
        "{{ lines|indent('> ', first=true, blank=true) }}": "> one\n> two\n> \n> three",
    },
    "int": {
        "{{ '42'|int }} {{ '4.9'|int }} {{ 'x'|int(7) }} {{ 3.9|int }}": "42 4 7 3",
        "{{ 'inf'|int }} {{ ' -nan'|int(2) }} {{ ('x' * 5000)|int }} {{ '1e3'|int }}": "0 2 0 1000",
        "{{ '0x1f'|int(0, 16) }} {{ 'ff'|int(base=16) }} {{ none|int }}": "31 255 0",
    },
    "items": {
        "{% for k, v in entry|items %}{{ k }}={{ v }};{% endfor %}": "b=1;a=2;C=0;",
        "{{ missing|items|list }}": "[]",
    },
    "join": {
        "{{ numbers|join }} {{ numbers|join(', ') }}": "3123 3, 1, 2, 3",
        "{{ people|join('/', attribute='name') }} {{ 'abc'|join('.') }}": "Ada/bob/Cy a.b.c",
    },
    "last": {"{{ numbers|last }} {{ 'abc'|last }} {{ []|last }}.": "3 c ."},
    "length": {"{{ people|length }} {{ missing|length }}": "3 0"},
    "list": {"{{ 'abc'|list }} {{ entry|list }}": "['a', 'b', 'c'] ['b', 'a', 'C']"},
    "lower": {"{{ text|lower }} {{ true|lower }}": "hello big <world> true"},
    "map": {
        "{{ people|map(attribute='name')|list }}": "['Ada', 'bob', 'Cy']",
        "{{ people|map(attribute='active', default='?')|list }}": "[True, False, '?']",
        "{{ words|map('upper')|join }} {{ words|map('replace', 'a', 'z')|join }}": "BAAC bAzC",
    },
    "max": {
        "{{ numbers|max }} {{ words|max }} {{ []|max }}.": "3 C .",
        "{{ (people|max(attribute='age')).name }}": "Ada",
    },
    "min": {"{{ numbers|min }} {{ words|min }} {{ words|min(true) }}": "1 A A"},
    "reject": {"{{ numbers|reject('odd')|list }}": "[2]"},
    "rejectattr": {"{{ people|rejectattr('active')|map(attribute='name')|list }}": "['bob', 'Cy']"},
    "replace": {
        "{{ text|replace('l', 'L') }} {{ 'aaa'|replace('a', 'b', 2) }}": "HeLLo big <WorLd> bba",
        "{{ 'ab'|replace('', '-') }} {{ 101|replace(1, 2) }}": "-a-b- 202",
    },
    "reverse": {"{{ numbers|reverse|list }} {{ 'abc'|reverse }}": "[3, 2, 1, 3] cba"},
    "round": {
        "{{ 42.55|round(1) }} {{ 42.5|round(0, 'ceil') }} {{ 42.55|round(1, 'floor') }}": "42.5 43 42.5",
        "{{ 42.4|round|int }} {{ 7|round }}": "42 7",
    },
    "safe": {"{{ '<b>'|safe }}": "<b>"},
    "select": {
        "{{ numbers|select('odd')|list }} {{ [0, 1]|select|list }}": "[3, 1, 3] [1]",
        "{{ numbers|select('divisibleby', 3)|list }}": "[3, 3]",
    },
    "selectattr": {
        "{{ people|selectattr('active')|map(attribute='name')|list }}": "['Ada']",
        "{{ people|selectattr('age', '>', 30)|map(attribute='name')|list }}": "['Ada', 'Cy']",
        "{{ people|selectattr('city.name', 'eq', 'Paris')|list|length }}": "1",
    },
    "slice": {
        "{{ [1, 2, 3, 4, 5]|slice(3)|list }}": "[[1, 2], [3, 4], [5]]",
        "{{ [1, 2, 3, 4]|slice(3, 'x')|list }}": "[[1, 2], [3, 'x'], [4, 'x']]",
    },
    "sort": {
        "{{ numbers|sort }} {{ words|sort }}": "[1, 2, 3, 3] ['A', 'a', 'b', 'C']",
        "{{ words|sort(case_sensitive=true) }}": "['A', 'C', 'a', 'b']",
        "{{ numbers|sort(reverse=true) }}": "[3, 3, 2, 1]",
        "{{ people|sort(attribute='age,name')|map(attribute='name')|list }}": "['bob', 'Ada', 'Cy']",
    },
    "string": {"{{ 5|string|length }} {{ numbers|string }}": "1 [3, 1, 2, 3]"},
    "striptags": {"{{ '<p>a &amp;\n <!-- x -->b</p>'|striptags }}": "a & b"},
    "sum": {"{{ numbers|sum }} {{ people|sum(attribute='age') }} {{ []|sum(start=5) }}": "9 97 5"},
    "title": {'{{ "o\'neill (the) first-born"|title }}': "O'neill (The) First-Born"},
    "tojson": {
        "{{ entry|tojson }}": '{"b":1,"a":2,"C":0}',
        "{{ ['<é>', 1.0, none, true, missing]|tojson }}": '["<é>",1.0,null,true,null]',
        "{{ [1, {'a': 2}]|tojson(indent=1) }}": '[\n 1,\n {\n  "a": 2\n }\n]',
    },
    "trim": {"{{ '  x '|trim }} {{ '--x-'|trim('-') }}": "x x"},
    "truncate": {
        "{{ 'foo bar baz qux'|truncate(9) }} {{ 'foo bar baz qux'|truncate(9, true) }}": "foo... foo ba...",
        "{{ 'foo bar baz qux'|truncate(11) }}": "foo bar baz qux",
        "{{ 'foo bar baz qux'|truncate(11, false, '…', 0) }}": "foo bar…",
    },
    "unique": {
        "{{ words|unique|list }} {{ words|unique(true)|list }}": "['b', 'A', 'C'] ['b', 'A', 'a', 'C']",
        "{{ people|unique(attribute='age')|map(attribute='name')|list }}": "['Ada', 'bob']",
    },
    "upper": {"{{ text|upper }} {{ 'ß'|upper }}": "HELLO BIG <WORLD> SS"},
    "urlencode": {
        "{{ 'a b/ü&'|urlencode }}": "a%20b/%C3%BC%26",
        "{{ {'a b': 1, 'c': 'd/e'}|urlencode }}": "a+b=1&c=d%2Fe",
    },
    "wordcount": {"{{ 'a bc, d-e'|wordcount }}": "4"},
    "wordwrap": {
        "{{ 'foo bar baz'|wordwrap(7) }}": "foo bar\nbaz",
        "{{ 'abcdefgh ij'|wordwrap(4, true, '|') }}": "abcd|efgh|ij",
    },
}

# Where the design means something else than Jinja: plain JSON, and integral
# floats without a fraction.
DEVIATIONS = {"tojson", "float", "round", "filesizeformat"}


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [(name, *case) for name, cases in CASES.items() for case in cases.items()],
)
def test_filter_returns_the_result_of_its_table(name: str, source: str, expected: str) -> None:
    assert render(source) == expected
    if name not in DEVIATIONS and "none|" not in source:
        assert JINJA.from_string(source).render(ARGUMENTS) == expected


def test_every_filter_of_jinja_is_in_the_table_or_refused() -> None:
    assert CASES.keys() == FILTERS.keys()
    assert set(FILTERS) | set(REFUSED_FILTERS) == set(jinja2.filters.FILTERS)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "{{ x|attr('y') }}",
            "line 1: the filter 'attr' is not available; write value.key or value['key']",
        ),
        ("{{ x|pprint }}", "line 1: the filter 'pprint' is not available; use tojson(indent=2)"),
        (
            "{{ x|random }}",
            "line 1: the filter 'random' is not available; "
            "the same call shows the same widget; pass what is random as an argument",
        ),
        (
            "{{ x|urlize }}",
            "line 1: the filter 'urlize' is not available; "
            "use a Markdown component, or a Button with an action",
        ),
        (
            "{{ x|xmlattr }}",
            "line 1: the filter 'xmlattr' is not available; "
            "a widget is JSON; write its properties with tojson",
        ),
        ("\n{{ x|uper }}", "line 2: there is no filter 'uper'; did you mean 'upper'?"),
        ("{{ x|map('lowr') }}", "line 1: there is no filter 'lowr'; did you mean 'lower'?"),
        (
            "{{ x|map('attr', 'y') }}",
            "line 1: the filter 'attr' is not available; write value.key or value['key']",
        ),
        ("{{ x|select('od') }}", "line 1: there is no test 'od'; did you mean 'odd'?"),
        (
            "{{ x|round(1, 'ceil', 3) }}",
            "line 1: the filter 'round' cannot take these arguments; too many positional arguments",
        ),
        (
            "{{ x|replace('a') }}",
            "line 1: the filter 'replace' cannot take these arguments; "
            "missing a required argument: 'new'",
        ),
    ],
)
def test_unavailable_filter_is_a_fault_with_advice(source: str, message: str) -> None:
    with pytest.raises(WidgetError) as caught:
        render(source)

    assert str(caught.value) == message
    assert caught.value.finding.code == "W1302"


CHARACTER = "line 1: a format writes one character, or the number of one, at '%c'"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{{ entry|abs }}", "line 1: an object has no absolute value"),
        ("{{ 5|length }}", "line 1: a number has no length"),
        ("{{ 5|list }}", "line 1: cannot loop over a number"),
        ("{{ ['a', 1]|sort }}", "line 1: cannot order a number and a text"),
        ("{{ 'x'|round }}", "line 1: cannot round a text"),
        ("{{ 5|items }}", "line 1: a number has no entries"),
        ("\n\n{{ [1]|slice(0) }}", "line 3: 'slices' must be at least 1"),
        ("{{ [1]|batch('x') }}", "line 1: 'linecount' must be a whole number"),
        ("{{ '%d'|format('x') }}", "line 1: a format cannot write a text as a number"),
        ("{{ '%x'|format(1.5) }}", "line 1: a format writes only whole numbers at '%x'"),
        ("{{ '%c'|format([1]) }}", CHARACTER),
        ("{{ '%c' % [1] }}", CHARACTER),
        ("{{ '%c' % 'ab' }}", CHARACTER),
        ("{{ '%c' % -1 }}", CHARACTER),
        ("{{ '%c' % 1114112 }}", CHARACTER),
        ("{{ ('9' * 4000)|int }}", "line 1: a number is too large to compute with"),
        ("{{ ('9' * 40000)|int }}", "line 1: a number is too large to compute with"),
        ("{{ '-1e400'|int }}", "line 1: a number is too large to compute with"),
        ("{{ '%s'|format }}", "line 1: a format has more places than values"),
        ("{{ 'x'|format(1) }}", "line 1: a format has more values than places"),
        ("{{ [1]|map }}", "line 1: map needs the name of a filter, or attribute='…'"),
        ("{{ 'x'|truncate(1) }}", "line 1: truncate needs a length at least as long as its ending"),
        (
            "{{ ['a']|filesizeformat }}",
            "line 1: the filter 'filesizeformat' cannot be applied to a list, "
            "or not with these arguments",
        ),
    ],
)
def test_failing_filter_is_explained_in_a_sentence(source: str, message: str) -> None:
    with pytest.raises(CallError) as caught:
        render(source)

    assert str(caught.value) == message
    assert caught.value.code == "W2004"


@pytest.mark.parametrize(
    "name",
    ["abs", "dictsort", "first", "items", "join", "last", "length", "list", "max", "min"]
    + ["reverse", "round", "sort", "sum", "unique", "filesizeformat"],
)
@pytest.mark.parametrize("value", ["none", "missing", "entry.a.b.c"])
def test_every_filter_accepts_empty_operands(name: str, value: str) -> None:
    assert render(f"{{{{ {value}|{name} }}}}") in {"", "[]", "0"}
