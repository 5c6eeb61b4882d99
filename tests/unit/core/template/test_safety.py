"""Attacks by templates are refused on load, or stopped by the budget.

No clock is asserted: what an attack may do is counted. Memory is limited.
"""
# ruff: noqa: E501 - a table reads best with one case to a line

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.limits import BAR_BYTES, limit_memory
from widgetd.base.errors import CallError, WidgetError
from widgetd.base.limits import Limits
from widgetd.core.template import Expression, compile_template, compile_text

LIMITS = Limits()

ESCAPES = [
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ x.__class__.__init__.__globals__['__builtins__'].eval('1') }}",
    "{{ self._TemplateReference__context.cycler.__init__.__globals__ }}",
    "{{ joiner.__init__.__globals__ }}",
    "{{ namespace.__init__ }}",
    "{{ range.__self__ }}",
    "{{ dict.__base__ }}",
    "{{ x|attr('__class__') }}",
    "{{ [x]|map(attribute='__class__')|list }}",
    "{{ [x]|map('attr', '__class__')|list }}",
    "{{ [x]|selectattr('__class__')|list }}",
    "{{ [x]|groupby('__class__') }}",
    "{{ [x]|sum(attribute='__class__') }}",
    "{{ [x]|sort(attribute='__class__.__name__')|list }}",
    "{{ '{0.__class__}'.format(x) }}",
    "{{ '{0.__class__}'.format_map({'0': x}) }}",
    "{% set f = '{0.__class__}'.format %}{{ f(x) }}",
    "{{ '%(x)s'|format(x=x.__class__) }}",
    "{{ x.__getattribute__('__class__') }}",
    "{{ ().__class__.__bases__ }}",
    "{% macro m() %}{% endmacro %}{{ m.__globals__ }}{{ m.blueprint }}{{ m.frame }}",
    "{% for a in [1] %}{{ loop.__class__ }}{{ loop.items }}{{ loop.recurse }}{% endfor %}",
    "{% set ns = namespace(a=1) %}{{ ns.__class__ }}{{ ns.values }}{{ ns['__init__'] }}",
    "{% set c = cycler(1) %}{{ c.values }}{{ c.__class__ }}",
    "{{ x.__class__ }}{{ x['__class__'] }}{{ y.mro }}{{ 5 .real }}{{ 5 .__class__ }}",
    "{% include '/etc/passwd' %}",
    "{% import 'os' as os %}",
    "{% extends 'x' %}",
    "{{ config }}{{ request }}{{ environment }}{{ _ }}{{ gettext }}{{ undefined.__class__ }}",
    "{{ (none).__class__ }}{{ true.__class__ }}",
    "{{ caller }}{{ varargs }}{{ kwargs }}",
]


@pytest.mark.parametrize("source", ESCAPES)
def test_python_is_out_of_reach(source: str) -> None:
    """Assert that the escape is refused, or finds nothing of Python."""
    try:
        output = compile_text(source, limits=LIMITS).render({"x": "text", "y": {}})
    except (WidgetError, CallError):
        return
    assert output in {"", "0", "[]", "[]text", "[(, ['text'])]", "['text']"}


DOUBLING_BLOCKS = "{% set a0 %}xxxxxxxx{% endset %}" + "".join(
    f"{{% set a{n + 1} %}}{{{{ a{n} }}}}{{{{ a{n} }}}}{{% endset %}}" for n in range(40)
)
DOUBLING_TEXT = "{% set a = 'xxxxxxxx' %}" + "{% set a = a ~ a %}" * 40
DOUBLING_SUM = "{% set a = 'xxxxxxxx' %}" + "{% set a = a + a %}" * 40
DOUBLING_LISTS = "{% set a = [1, 2] %}" + "{% set a = a + a %}" * 40
SHARED_LISTS = "{% set a = [1] %}" + "{% set a = [a, a] %}" * 40
SHARED_DICTS = "{% set a = {'k': 1} %}" + "{% set a = {'l': a, 'r': a} %}" * 40
TWO_SHARED = SHARED_LISTS + SHARED_LISTS.replace("a ", "b ").replace("[a, a]", "[b, b]")
CYCLE = "{% set a = [] %}{% set _ = a.append(a) %}"
MACROS = "".join(
    f"{{% macro m{n}() %}}{{{{ m{n - 1}() }}}}{{{{ m{n - 1}() }}}}{{% endmacro %}}"
    for n in range(1, 40)
)
DOUBLING_NAMESPACE = "{% set ns = namespace(a=[1]) %}{% for i in range(40) %}{% set ns.a = [ns.a, ns.a] %}{% endfor %}"
LIST_ASKED_OFTEN = "{% set ns = namespace(a=range(30000)) %}{% for i in range(1000) %}"
ASKING = [
    *(
        f"'a'.{method}(ns.a)"
        for method in (
            "startswith",
            "endswith",
            "count",
            "find",
            "split",
            "strip",
            "lstrip",
            "rstrip",
        )
    ),
    "'a'|trim(ns.a)",
    "'a'|replace(ns.a, 'b')",
    "'abc def'|truncate(5, false, ns.a)",
]

BOMBS = [
    "{{ 'a' * 10**9 }}",
    "{{ 10**9 * 'a' }}",
    "{{ ['a'] * 10**9 }}",
    "{{ [0] * 3 * 3000000 }}",
    "{{ 7 ** 20000000 }}",
    "{{ 7 ** 7 ** 7 ** 7 }}",
    "{{ 2.0 ** 100000 }}",
    "{{ 10**18 * 10**18 * 10**18 * 10**18 }}",
    "{% set n = 3 %}" + "{% set n = n * n %}" * 40 + "{{ n }}",
    "{{ 'a'|center(10**9) }}",
    "{{ 'a'.center(10**9) }}",
    "{{ 'a'.ljust(10**9) }}{{ 'a'.rjust(10**9) }}",
    "{{ '1'.zfill(10**9) }}",
    "{{ '%1000000000d' % 5 }}",
    "{{ '%1000000000d'|format(5) }}",
    "{{ '%.1000000000f'|format(5) }}",
    "{{ '%*d'|format(1000000000, 5) }}",
    "{{ '{:>1000000000}'.format(5) }}",
    "{{ ('a' * 1000)|replace('a', 'b' * 100000) }}",
    "{{ ('a' * 1000000)|replace('', 'bbbbbbbb') }}",
    "{{ ('a' * 1000000)|list }}",
    "{{ ('a ' * 500000).split() }}",
    "{{ ('a\\n' * 500000).splitlines() }}",
    "{{ range(10**6)|join('a' * 1000) }}",
    "{{ ('a' * 100000).join('b' * 1000) }}",
    "{{ ('a\\n' * 100000)|indent(10**6) }}",
    "{{ 'a'|indent(10**9, first=true) }}",
    "{{ [1]|batch(10**9, 'x')|list }}",
    "{{ [1]|slice(10**8)|list }}",
    "{{ [1]|tojson(indent=10**9) }}",
    "{{ range(99999)|list|tojson(indent=100) }}",
    "{{ ('a' * 100000)|wordwrap(1) }}",
    "{{ ('-' * 100000)|wordwrap(3) }}",
    "{{ ('a-' * 50000)|wordwrap(2) }}",
    "{{ ('a ' * 400000)|title }}",
    "{{ ('ab' * 400000)|urlencode }}",
    "{{ ('ß' * 400000)|upper }}",
    "{{ ('<' * 400000)|escape }}",
    "{{ ('<' * 900000)|striptags }}",
    "{{ ('<!--' * 200000)|striptags }}",
    "{{ ('%(' * 400000)|format }}",
    "{{ ('%0' * 400000)|format }}",
    "{{ '%' ~ '0' * 400000 }}{{ ('%' ~ '0' * 400000)|format(1) }}",
    "{{ ('9' * 100000)|int }}{{ ('9' * 900000)|int }}{{ ('f' * 900000)|int(0, 16) }}",
    "{{ 5|round(-10**9) }}",
    "{{ 5.5|round(10**9) }}",
    "{{ 1|round(400, 'ceil') }}",
    "{{ (10**18)|filesizeformat }}{{ 1e308|filesizeformat }}{{ range(10**9)|sum }}",
    "{{ range(10**12) }}",
    "{{ range(99999)|sort|sort|sort }}",
    "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "{% for a in 'x' * 1000000 %}{% endfor %}",
    "{% set xs = [1] %}{% for x in xs %}{% set _ = xs.append(x) %}{% endfor %}" * 2
    + "{% for a in range(99999) %}{% set _ = xs.extend(xs) %}{% endfor %}",
    "{% set xs = [1] %}" + "{% set _ = xs.extend(xs) %}" * 40,
    DOUBLING_BLOCKS,
    DOUBLING_TEXT,
    DOUBLING_SUM,
    DOUBLING_LISTS,
    SHARED_LISTS + "{{ a|tojson }}",
    SHARED_LISTS + "{{ a }}",
    SHARED_LISTS + "{{ a|tojson(indent=1) }}",
    SHARED_LISTS + "{{ a ~ '' }}",
    SHARED_LISTS + "{{ a|string|length }}",
    SHARED_LISTS + "{{ [a]|unique|list|length }}",
    SHARED_LISTS + "{{ [a, a]|sort|length }}",
    SHARED_LISTS + "{{ [{'k': a}, {'k': a}]|groupby('k')|length }}",
    SHARED_LISTS + "{{ 7 in a }}",
    SHARED_DICTS + "{{ a|tojson }}",
    SHARED_DICTS + "{{ a }}",
    TWO_SHARED + "{{ a == b }}",
    TWO_SHARED + "{{ a != b }}{{ a < b }}",
    TWO_SHARED + "{{ a in [b] }}",
    TWO_SHARED + "{{ [a]|select('==', b)|list|length }}",
    TWO_SHARED + "{% for x in [a, b] %}{{ loop.changed(x) }}{% endfor %}",
    CYCLE + "{{ a|tojson }}",
    CYCLE + "{{ a }}",
    CYCLE + "{{ a == [a] }}",
    CYCLE + "{{ [a, a]|sort }}",
    "{% set a = [] %}{% for i in range(90000) %}{% set a = [a] %}{{ a }}{% endfor %}",
    "{% set ns = namespace(a=[]) %}{% for i in range(90000) %}{% set ns.a = [ns.a] %}{% endfor %}{{ ns.a|tojson }}",
    "{% set ns = namespace(a=[]) %}{% for i in range(40000) %}{% set ns.a = [ns.a] %}{% endfor %}{{ ns.a|tojson }}",
    "{% set ns = namespace(a=[]) %}{% for i in range(40000) %}{% set ns.a = [ns.a] %}{% endfor %}{{ ns.a }}",
    "{% set ns = namespace(a=[], b=[]) %}{% for i in range(9000) %}{% set ns.a = [ns.a] %}{% set ns.b = [ns.b] %}{% endfor %}{{ ns.a == ns.b }}",
    MACROS + "{% macro m0() %}x{% endmacro %}{{ m39() }}",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
    "{% macro m(x) %}{{ caller() }}{% call m() %}{{ caller() }}{% endcall %}{% endmacro %}{% call m() %}y{% endcall %}",
    "{% for x in [[[[]]]] recursive %}{{ loop([[x]]) }}{% endfor %}",
    "{% for x in [1] recursive %}{{ loop([1, 1]) }}{% endfor %}",
    "{% set big = 'x' * 900000 %}{% for a in range(99999) %}{% if 'y' in big %}{% endif %}{% endfor %}",
    "{% set big = 'x' * 400000 %}{% set huge = big ~ 'y' %}{% for a in range(99999) %}{% if big == huge %}{% endif %}{% endfor %}",
    "{% set big = 'x' * 900000 %}{% for a in range(99999) %}{{ big.count('y') }}{{ big.find('y') }}{% endfor %}",
    "{% set big = 'x' * 900000 %}{% for a in range(99999) %}{{ big|wordcount }}{% endfor %}",
    "{% set big = 'x' * 900000 %}{% for a in range(99999) %}{{ big is lower }}{% endfor %}",
    "{% for a in range(99999) %}" + "{{ 'xxxxxxxxxxxxxxxxxxxx' }}" * 20 + "{% endfor %}",
    "[" + "{% for a in range(90000) %}{},{% endfor %}",
    *(DOUBLING_NAMESPACE + "{% if " + asks + " %}{% endif %}" for asks in ASKING),
    *(LIST_ASKED_OFTEN + "{% if " + asks + " %}{% endif %}{% endfor %}" for asks in ASKING),
    (
        "{% set c = 'abcdefghij' * 20000 %}{% for a in range(99) %}{{ ('z' * 1000)|trim(c)|length }}{% endfor %}"
        "{{ ('j' * 100000)|trim(c)|length }}"
    ),
]


@pytest.mark.parametrize("source", BOMBS)
@pytest.mark.parametrize("compiled", [compile_template, compile_text])
def test_bomb_is_refused_or_stopped_within_little_memory(source: str, compiled: object) -> None:
    with pytest.raises((WidgetError, CallError)) as caught, limit_memory(BAR_BYTES):
        compiled(source, limits=LIMITS).render({})  # type: ignore[operator]  # both compile

    assert caught.value.__cause__ is None


@pytest.mark.parametrize("source", BOMBS)
def test_unreached_bomb_does_nothing(source: str) -> None:
    """Nothing is evaluated by loading: no constant is folded."""
    try:
        template = compile_text("{% if false %}" + source + "{% endif %}", limits=LIMITS)
    except WidgetError:
        return
    assert template.render({}) == ""


@pytest.mark.parametrize(
    ("source", "message", "code"),
    [
        (
            "\n{{ 'a' * 10**9 }}",
            "line 2: rendering makes more than 1,048,576 characters of text",
            "W2005",
        ),
        (
            "\n\n{% for a in range(10**6) %}{% endfor %}",
            "line 3: rendering takes more than 100,000 steps",
            "W2005",
        ),
        ("{{ 7 ** 20000000 }}", "line 1: a number is too large to compute with", "W2004"),
        (
            "{% macro m() %}\n{{ m() }}{% endmacro %}{{ m() }}",
            "line 2: macros call each other too deeply",
            "W2005",
        ),
        (
            "{% for a in range(40000) %}\n{{ 'x' * 100 }}{% endfor %}",
            "line 2: rendering makes more than 1,048,576 characters of text",
            "W2005",
        ),
        (
            "{% for a in range(9) %}\n{% set x = [1] * 20000 %}{% endfor %}",
            "line 2: rendering takes more than 100,000 steps",
            "W2005",
        ),
    ],
)
def test_budget_error_names_the_limit_and_the_place(source: str, message: str, code: str) -> None:
    with pytest.raises(CallError) as caught:
        compile_text(source, limits=LIMITS).render({})

    assert (str(caught.value), caught.value.code) == (message, code)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x" * 65_537, "the template has 65,537 bytes; at most 65,536 are allowed"),
        ("é" * 32_769, "the template has 65,538 bytes; at most 65,536 are allowed"),
        ("{{ 1 }}" * 5_000, "the template has more than 5,000 syntax nodes; make it shorter"),
        (
            "{{ " + "(" * 33 + "1" + ")" * 33 + " }}",
            "line 1: the template nests too deeply; split what is nested into macros",
        ),
        (
            "{{ " + "[" * 5_000,
            "line 1: the template nests too deeply; split what is nested into macros",
        ),
        (
            "{% if x %}" * 33 + "{% endif %}" * 33,
            "line 1: the template nests too deeply; split what is nested into macros",
        ),
        (
            "{% for x in y %}" * 33 + "{% endfor %}" * 33,
            "line 1: the template nests too deeply; split what is nested into macros",
        ),
        (
            "{{ " + "a|trim" + "|trim" * 200 + " }}",
            "line 1: the template nests too deeply; split what is nested into macros",
        ),
        ("{{ 9" + "9" * 5_000 + " }}", "a number is too large; write it as text"),
        ("{{ 0x" + "f" * 5_000 + " }}", "line 1: a number is too large; write it as text"),
    ],
)
def test_oversized_template_is_refused_before_anything_else(source: str, message: str) -> None:
    with pytest.raises(WidgetError) as caught:
        compile_template(source, limits=LIMITS)

    assert str(caught.value) == message


@pytest.mark.parametrize(
    "source",
    [
        "{{ " + "not " * 3_000 + "x }}",
        "{{ " + "-" * 3_000 + "1 }}",
        "{{ " + "1 if x else " * 3_000 + "1 }}",
        "{% set a %}" * 500,
    ],
)
def test_template_nested_by_words_is_refused(source: str) -> None:
    with pytest.raises(WidgetError) as caught:
        compile_template(source, limits=LIMITS)

    assert caught.value.finding.code in {"W1301", "W1303"}


def test_looking_through_nested_loops_and_conditions_stays_small() -> None:
    """The look at what surrounds each output goes along every way, but each only once."""
    nested = "{% for x in xs %}{% if x %},{% endif %}{% if loop.last %}]{% else %}[{% endif %}"
    source = nested * 15 + "{{ x }}" + "{% endfor %}" * 15

    assert compile_template(source, limits=LIMITS).render({"xs": []}) == ""


def test_shared_and_repeated_arguments_are_charged_by_their_printed_size() -> None:
    template = compile_template("[{% for x in xs %}{{ xs | tojson }},{% endfor %}]", limits=LIMITS)

    with pytest.raises(
        CallError, match=r"^line 1: rendering makes more than 1,048,576 characters of text$"
    ):
        template.render({"xs": list(range(2_000))})


def test_number_of_many_digits_is_not_shown() -> None:
    with pytest.raises(CallError, match=r"^line 1: a number is too large to show$"):
        compile_template("{{ n | tojson }}", limits=LIMITS).render({"n": 10**5000})
    with pytest.raises(CallError, match=r"^line 1: a number is too large to compute with$"):
        Expression("n * n", limits=LIMITS).evaluate({"n": 10**5000})


def test_same_call_has_the_same_end_every_time() -> None:
    template = compile_template("{% for x in xs %}{{ x * 1000 }}{% endfor %}", limits=LIMITS)

    def outcome() -> str:
        with pytest.raises(CallError) as caught:
            template.render({"xs": ["abc"] * 400})
        return str(caught.value)

    def deep(levels: int) -> str:
        return deep(levels - 1) if levels else outcome()

    assert {outcome(), deep(10), deep(200)} == {outcome()}
    assert template.render({"xs": ["abc"]}) == "abc" * 1000


WORDS = [
    "{{",
    "}}",
    "{%",
    "%}",
    "for",
    "in",
    "if",
    "endif",
    "endfor",
    "set",
    "x",
    "=",
    "(",
    ")",
    "[",
    "]",
]
WORDS += [
    "|",
    "tojson",
    "join",
    "'a'",
    "~",
    "+",
    "*",
    "1",
    "99999",
    "macro",
    "m",
    "endmacro",
    "loop",
    ".",
]
WORDS += [
    "range",
    ",",
    ":",
    "{",
    "}",
    '"',
    "\n",
    " ",
    "is",
    "not",
    "and",
    "else",
    "endset",
    "call",
    "endcall",
]


def verdict(source: str) -> str:
    limits = Limits(steps=2_000, output_bytes=20_000)
    try:
        compile_template(source, limits=limits).render({"x": [1, "a"]})
    except WidgetError as error:
        return error.finding.code
    except CallError as error:
        return error.code
    return "rendered"


@settings(max_examples=300)
@given(st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join))
def test_any_text_is_a_template_or_a_located_fault(source: str) -> None:
    assert verdict(source) in {"rendered", "W1301", "W1302", "W1303", "W2004", "W2005"}
