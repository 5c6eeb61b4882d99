"""Everything of Jinja that stays within the data is there, and means what it means in Jinja."""

# ruff: noqa: E501, ISC004 - a table reads best with one case to a line

from __future__ import annotations

import pytest
from jinja2 import Environment

from widgetd.base.errors import CallError, WidgetError
from widgetd.base.limits import Limits
from widgetd.core.template import Expression, compile_text

JINJA = Environment()

ARGUMENTS = {
    "items": [{"name": "a", "n": 1}, {"name": "b", "n": 2}, {"name": "c", "n": 3}],
    "cart": {"items": [1, 2], "keys": "K", "total": 5},
    "tree": [{"v": 1, "kids": [{"v": 2, "kids": []}, {"v": 3, "kids": [{"v": 4}]}]}, {"v": 5}],
    "text": "héllo",
    "n": 7,
    "yes": True,
    "none": None,
}


def render(source: str) -> str:
    return compile_text(source, limits=Limits()).render(ARGUMENTS)


SAME = [
    "{% for x in items %}{{ x.name }}{{ loop.index }}{{ loop.index0 }},{% endfor %}",
    "{% for x in items %}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.length }};{% endfor %}",
    "{% for x in items %}{{ loop.first }}{{ loop.last }};{% endfor %}",
    "{% for x in items %}{{ (loop.previtem or {}).n }}<{{ (loop.nextitem or {}).n }};{% endfor %}",
    "{% for x in items %}{{ loop.cycle('odd', 'even') }} {% endfor %}",
    "{% for x in [1, 1, 2] %}{% if loop.changed(x) %}{{ x }}{% endif %}{% endfor %}",
    "{% for x in items if x.n != 2 %}{{ loop.index }}{{ x.name }}{% endfor %}",
    "{% for x in [] %}x{% else %}none{% endfor %}",
    "{% for x in items if x.n > 9 %}x{% else %}none{% endfor %}",
    "{% for k, v in cart['total'] and {'a': 1, 'b': 2}.items() %}{{ k }}{{ v }}{% endfor %}",
    "{% for (a, b), c in [((1, 2), 3)] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
    "{% for c in text %}{{ c }}.{% endfor %}",
    "{% for k in cart %}{{ k }}.{% endfor %}",
    "{% for x in tree recursive %}{{ x.v }}{% if x.kids %}({{ loop(x.kids) }}){% endif %}"
    "{{ loop.depth }}{% endfor %}",
    "{% for a in items %}{% for b in items %}{{ loop.index }}{% endfor %}{{ loop.index }}{% endfor %}",
    "{% for a in items %}{% set outer = loop %}{% for b in [1] %}{{ outer.index }}{% endfor %}{% endfor %}",
    "{% for x in range(3) %}{{ x }}{% endfor %}{% for x in range(5, 1, -2) %}{{ x }}{% endfor %}",
    "{% if n > 5 %}a{% elif n > 3 %}b{% else %}c{% endif %}",
    "{% if n > 9 %}a{% elif n > 3 %}b{% elif n > 2 %}c{% else %}d{% endif %}",
    "{% if n > 9 %}a{% endif %}{% if none %}b{% else %}e{% endif %}",
    "{% set x = 1 %}{% for i in items %}{% set x = x + 1 %}{{ x }}{% endfor %}{{ x }}",
    "{% for i in [1, 2] %}{{ y }}{% set y = i %}{% endfor %}{{ y }}",
    "{% if yes %}{% set z = 1 %}{% endif %}{{ z }}",
    "{% set n = n + 1 %}{{ n }}",
    "{% set a, b = 1, 2 %}{{ b }}{{ a }}",
    "{% set a %}<{{ n }}>{% endset %}{{ a }}{{ a|length }}",
    "{% set a | upper | replace('H', 'J') %}hi {{ text }}{% endset %}{{ a }}",
    "{% set x = 1 %}{% set a %}{% set x = 2 %}{{ x }}{% endset %}{{ a }}{{ x }}",
    "{% set ns = namespace(x=0, y='a') %}{% for i in items %}{% set ns.x = ns.x + i.n %}{% endfor %}"
    "{{ ns.x }}{{ ns.y }}{{ ns.z }}",
    "{% set xs = [] %}{% for i in items %}{% set _ = xs.append(i.n) %}{% endfor %}{{ xs }}",
    "{% with a = 1, b = n %}{{ a }}{{ b }}{% endwith %}{{ a }}",
    "{% with %}{% set q = 5 %}{{ q }}{% endwith %}{{ q }}",
    "{% macro m(a, b=2) %}{{ a }}-{{ b }};{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(b=4, a=n) }}",
    "{% macro m() %}{{ varargs }}{{ kwargs.k }}{% endmacro %}{{ m(1, 2, k=3) }}",
    "{% macro m(x) %}<{{ caller(x) }}>{% endmacro %}{% call(y) m(4) %}{{ y }}{{ n }}{% endcall %}",
    "{% macro f(k) %}{% if k > 0 %}{{ k }}{{ f(k - 1) }}{% endif %}{% endmacro %}{{ f(5) }}",
    "{% macro m(x) %}{{ n }}{{ x.name }}{% endmacro %}{% for i in items %}{{ m(i) }}{% endfor %}",
    "{% macro m(x) %}[{{ x }}]{% endmacro %}{{ items|map(attribute='n')|join }}{{ m(m(1)) }}",
    "{% filter upper %}a{{ text }}{% endfilter %}",
    "{% raw %}{{ x }}{% endraw %}{# a comment #}{{ '{{' }}",
    "a {%- if yes %} b {%- endif -%} c\n {{- n -}} \n d",
    "{% autoescape false %}{{ '<' ~ n }}{% endautoescape %}",
    "{% print n %}",
    "{{ cycler('a', 'b').next() }}{% set c = cycler(1, 2) %}{{ c.next() }}{{ c.current }}{{ c.next() }}"
    "{{ c.next() }}",
    "{% set j = joiner('|') %}{% for i in items %}{{ j() }}{{ i.n }}{% endfor %}",
    "{{ dict(a=1, b=n) }} {{ dict({'x': 1}, y=2).y }}",
    "{{ 1 < 2 < 3 }}{{ 1 < 2 > 5 }}{{ 1 == 1 != 2 }}",
    "{{ n in [7] }}{{ n not in [7] }}{{ 'é' in text }}{{ 'a' in {'a': 1} }}",
    "{{ 'a' if yes else 'b' }}{{ 'a' if none else 'b' }}{{ 'a' if none }}",
    "{{ 7 // 2 }}{{ 7 % 3 }}{{ 2 ** 5 }}{{ 7 / 2 }}{{ -n }}{{ +n }}{{ 1.5 + 1 }}{{ 2 ** -1 }}",
    "{{ 'ab' * 2 }}{{ [1] * 2 }}{{ [1] + [2] }}{{ 'a' + 'b' }}{{ 'a' ~ 1 ~ none ~ 2.5 }}",
    "{{ '%s=%d' % ('a', 5) }}{{ '%s' % text }}",
    "{{ text[1:3] }}{{ text[::-1] }}{{ items[0].name }}{{ items[-1]['name'] }}{{ [1, 2, 3][1:] }}",
    "{{ text[99] }}{{ items[99] }}",
    "{{ not yes }}{{ yes and n }}{{ none or n }}{{ yes or x.y.z }}",
    "{{ [1, 'a', none, true, {'k': [1]}] }}{{ (1,) }}{{ () }}{{ {'a': 1, 'b': 'c'} }}",
    "{{ {'a': 1, 'a': n} }}{{ {1: 2, n: 3} }}",
    "{{ text.upper() }}{{ ' x '.strip() }}{{ 'a,b'.split(',') }}{{ 'a'.replace('a', 'b') }}",
    "{{ 'abc'.startswith('a') }}{{ 'abc'.endswith('x') }}{{ ','.join(['a', 'b']) }}",
    "{{ 'aXb'.lower().title() }}{{ 'abca'.count('a') }}{{ 'abc'.find('c') }}{{ 'x'.center(3) }}|",
    "{{ {'a': 1}.get('a') }}{{ {'a': 1}.get('b', 2) }}{{ {'a': 1}.keys()|list }}{{ {'a': 1}.values()|list }}",
    "{% set d = {'a': 1} %}{% set _ = d.update({'b': 2}) %}{{ d }}",
    "{% set x = [1, 2] %}{{ x.pop() }}{{ x }}{% set _ = x.extend([5, 6]) %}{% set _ = x.insert(0, 9) %}{{ x }}",
    "{{ 1_000 }}{{ 0x1f }}{{ 1e3|int }}{{ 'a\\n\\u00e9\\'' }}",
    "{% set x = 5 %}{% macro m() %}{{ x }}{% set x = 6 %}{{ x }}{% endmacro %}{{ m() }}{{ x }}",
    "{% for x in [1, 2] %}{% set x = x + n %}{{ x }}{% endfor %}{{ x }}",
    "{% with x = n %}{% if yes %}{% set x = x + 1 %}{% endif %}{{ x }}{% endwith %}{{ x }}",
    "{% set y = 9 %}{% macro m(x, y=2) %}{% set y %}<{{ y }}>{% endset %}{{ y }}{{ x }}{% endmacro %}"
    "{{ m(1) }}{{ m(1, 3) }}{{ y }}",
    "{% macro m() %}{{ caller(4) }}{% endmacro %}{% call(y) m() %}{% set y = y + n %}{{ y }}{% endcall %}",
]


@pytest.mark.parametrize("source", SAME)
def test_evaluator_agrees_with_jinja(source: str) -> None:
    assert render(source) == JINJA.from_string(source).render(ARGUMENTS)


def test_keys_come_before_methods() -> None:
    assert render("{{ cart.items }}{{ cart.keys }}{{ cart.values }}") == "[1, 2]K"
    assert render("{{ cart.items()|length }}") == "3"


def test_integral_float_prints_as_an_integer() -> None:
    assert render("{{ 2.0 }} {{ 6 / 2 }} {{ 1e15 }} {{ [1.0] }}") == "2 3 1000000000000000 [1]"
    assert render("{{ 1e300 }} {{ 0.1 + 0.2 }}") == "1e+300 0.30000000000000004"


def test_argument_is_never_changed_by_a_template() -> None:
    with pytest.raises(CallError) as caught:
        render("\n{{ cart['items'].append(3) }}")

    assert str(caught.value) == (
        "line 2: append works on a list the template made; copy this one with |list first"
    )
    assert render("{% set c = cart['items']|list %}{% set _ = c.append(3) %}{{ c }}") == "[1, 2, 3]"
    assert ARGUMENTS["cart"] == {"items": [1, 2], "keys": "K", "total": 5}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{% include 'x' %}", "includes are not available; put the text into this template"),
        ("{% import 'x' as y %}", "imports are not available; put the macros into this template"),
        ("{% from 'x' import y %}", "imports are not available; put the macros into this template"),
        ("{% extends 'x' %}", "inheritance is not available; put the text into this template"),
        (
            "{% block a %}{% endblock %}",
            "blocks are not available; write their text, or make it a macro",
        ),
        ("{{ lipsum() }}", "lipsum() is not available; write the text out"),
        ("{{ super() }}", "super() is not available; templates do not inherit; write the text out"),
        ("{{ rnge(3) }}", "there is no function 'rnge'; did you mean 'range'?"),
        ("{{ 'a'.format(1) }}", "the method 'format' is not available; use a filter"),
        ("{{ x.__class__() }}", "the method '__class__' is not available; use a filter"),
        ("{{ f(*items) }}", "arguments cannot be unpacked with * or **; write them out one by one"),
        ("{{ 99999999999999999999 }}", "a number is too large; write it as text"),
        ("{{ x && y }}", "unexpected char '&'; write 'and'"),
        ("{{ x || y }}", "expected token 'name', got '|'; write 'or'"),
        ("{{ not x and !y }}", "unexpected char '!'; write 'not'"),
        ("{{ x ? 1 : 2 }}", "unexpected char '?'; write 'yes if condition else no'"),
        (
            "{% if %}",
            "Expected an expression, got 'end of statement block'; write it as Jinja reads it",
        ),
        ("{% do x %}", "Encountered unknown tag 'do'; write it as Jinja reads it"),
        (
            "{{ x",
            "unexpected end of template, expected 'end of print statement'; write it as Jinja reads it",
        ),
    ],
)
def test_forbidden_syntax_is_a_fault_that_names_it(source: str, message: str) -> None:
    with pytest.raises(WidgetError) as caught:
        render(f"\n{source}")

    assert str(caught.value) == f"line 2: {message}"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{{ [1] + 2 }}", "cannot add a list and a number"),
        ("{{ {} - 1 }}", "cannot subtract an object and a number"),
        ("{{ 1 / 0 }}", "cannot divide by zero"),
        ("{{ 1 % 0 }}", "cannot divide by zero"),
        ("{{ 'a' < 1 }}", "cannot order a text and a number"),
        ("{{ -text }}", "cannot negate a text"),
        ("{{ 1 in 5 }}", "cannot look into a number"),
        ("{{ 1 in 'a' }}", "cannot look for a number in a text"),
        ("{{ n[1:2] }}", "cannot take a slice of a number"),
        ("{{ text['a':] }}", "a slice cannot start, stop or step at a text"),
        ("{{ text[::0] }}", "a slice cannot have steps of zero"),
        ("{{ {[]: 1} }}", "a list cannot be the key of an object"),
        ("{% for x in 5 %}{% endfor %}", "cannot loop over a number"),
        ("{% for a, b in [1] %}{% endfor %}", "cannot loop over a number"),
        ("{% for a, b in [[1]] %}{% endfor %}", "cannot take 2 values from 1"),
        ("{% set x = 1 %}{% set x.y = 2 %}", "cannot set 'y' on a number, only on a namespace"),
        ("{% set f = 1 %}{{ f() }}", "a number cannot be called"),
        ("{{ n.upper() }}", "a number has no method 'upper'"),
        ("{{ range('a') }}", "range takes whole numbers, not a text"),
        ("{{ range(1, 2, 0) }}", "range cannot have steps of zero"),
        ("{{ range() }}", "range takes one to three whole numbers"),
        ("{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", "the macro 'm' takes at most 1 arguments"),
        ("{% macro m(a) %}{% endmacro %}{{ m(b=2) }}", "the macro 'm' takes no argument 'b'"),
        ("{% macro m(a) %}{% endmacro %}{{ m }}", "cannot show a function as text"),
        ("{% macro m(a) %}{% endmacro %}{{ [m]|tojson }}", "this value cannot be shown as JSON"),
        (
            "{{ text.split() and text.split(1, 2, 3) }}",
            "this cannot be called with these arguments",
        ),
        ("{{ (-8) ** 0.5 }}", "a negative number has no such root"),
        ("{{ 1e308 * 10 }}", "a number is too large to compute with"),
    ],
)
def test_failing_template_names_the_place_and_the_reason(source: str, message: str) -> None:
    with pytest.raises(CallError) as caught:
        render(f"\n\n{source}")

    assert (str(caught.value), caught.value.code) == (f"line 3: {message}", "W2004")


@pytest.mark.parametrize("empty", ["[]", "''"])
def test_repetition_of_an_empty_value_is_empty(empty: str) -> None:
    text = compile_text(f"{{{{ ({empty} * 9223372036854775808)|length }}}}", limits=Limits())

    assert text.render({}) == "0"


def test_failure_inside_a_long_statement_names_its_own_line() -> None:
    source = "{% set x = {\n 'a': 1,\n 'b': [1] + 2,\n} %}"

    with pytest.raises(CallError, match=r"^line 3: cannot add a list and a number$"):
        render(source)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("items | length", 3),
        ("items[0]", {"name": "a", "n": 1}),
        ("items | map(attribute='n') | list", [1, 2, 3]),
        ("items | sum(attribute='n')", 6),
        ("text ~ '!'", "héllo!"),
        ("missing", None),
        ("{'a': (1, missing), 'b': 2.5}", {"a": [1, None], "b": 2.5}),
        ("n > 5", True),
    ],
)
def test_expression_evaluates_to_a_json_value(source: str, expected: object) -> None:
    assert Expression(source, limits=Limits()).evaluate(ARGUMENTS) == expected


def test_expression_followed_by_more_is_a_fault() -> None:
    with pytest.raises(WidgetError, match=r"^line 1: the expression ends before this; "):
        Expression("items items", limits=Limits())
