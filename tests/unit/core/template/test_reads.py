"""A template says which of its arguments it reads, where, and whether it minds their absence."""

from __future__ import annotations

import pytest

from widgetd.base.limits import Limits
from widgetd.core.template import Expression, Read, compile_template
from widgetd.core.template.references import names


def reads(source: str) -> tuple[Read, ...]:
    return compile_template(source, limits=Limits()).reads


def paths(source: str) -> list[str]:
    return [read.path for read in reads(source)]


def unguarded_reads(source: str) -> list[str]:
    return [read.path for read in reads(source) if not read.guarded]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ a }}", ["a"]),
        ("{{ a.b.c }}", ["a.b.c"]),
        ("{{ a['b'][0].c }}", ["a.b[].c"]),
        ("{{ a[key] }}", ["a", "key"]),
        ("{{ a[1:].b }}", ["a.b"]),
        ("{{ xs.length }}", ["xs"]),
        ("{{ (xs | first).name }}", ["xs[].name"]),
        ("{% for x in xs %}{{ x.name }}{% endfor %}", ["xs", "xs[].name"]),
        ("{% for x in o.xs %}{% for y in x.ys %}{{ y }}{% endfor %}{% endfor %}",
         ["o.xs", "o.xs[].ys", "o.xs[].ys[]"]),
        ("{% for x in xs | default([]) %}{{ x.a }}{% endfor %}", ["xs", "xs[].a"]),
        ("{% for x in xs or [] %}{{ x.a }}{% endfor %}", ["xs", "xs[].a"]),
        ("{% for x in (xs if xs else []) %}{{ x.a }}{% endfor %}", ["xs", "xs", "xs[].a"]),
        ("{% for x in xs | sort(attribute='n') %}{{ x.a }}{% endfor %}", ["xs", "xs[].a"]),
        ("{% for k, v in o.items() %}{{ v.x }}{% endfor %}", ["o"]),
        ("{% set y = a.b %}{{ y.c }}", ["a.b", "a.b.c"]),
        ("{% set y = 5 %}{{ y.c }}", []),
        ("{% set y %}{{ a }}{% endset %}{{ y }}", ["a"]),
        ("{% set a = a.b %}{{ a.c }}", ["a.b", "a.b.c"]),
        ("{% if t %}{% set y = a %}{% else %}{% set y = b %}{% endif %}{{ y.c }}", ["t", "a", "b"]),
        ("{% if t %}{% set y = a %}{% else %}{% set y = a %}{% endif %}{{ y.c }}",
         ["t", "a", "a", "a.c"]),
        ("{% with y = a %}{{ y.b }}{% endwith %}{{ y }}", ["a", "a.b", "y"]),
        ("{% macro m(p) %}{{ p.x }}{{ q }}{% endmacro %}{{ m(a.b) }}", ["q", "a.b"]),
        ("{{ xs | map(attribute='n') | join }}", ["xs[].n", "xs"]),
        ("{{ undefined }}{{ null }}{{ range(n) }}{{ namespace(a=b) }}", ["n", "b"]),
        ("{% for x in xs %}{{ loop.index }}{% endfor %}{{ loop }}", ["xs", "loop"]),
        ("{% filter upper %}{{ a }}{% endfilter %}", ["a"]),
        ("{{ a.upper() }}{{ a.b.get('c', d) }}", ["a", "a.b", "d"]),
    ],
)  # fmt: skip
def test_read_is_traced_as_far_as_it_is_certain(source: str, expected: list[str]) -> None:
    assert paths(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ a }}", ["a"]),
        ("{{ a | default('x') }}", []),
        ("{{ a | d('x') | upper }}", []),
        ("{{ a if a is defined else b }}", ["b"]),
        ("{{ a if a is defined and a is not none else 'x' }}", []),
        ("{{ a or b }}", ["b"]),
        ("{{ a and a.b }}", ["a.b"]),
        ("{% if a %}{{ a }}{{ a.b }}{% endif %}{{ a }}", ["a.b", "a"]),
        ("{% if a.b %}{{ a }}{{ a.b }}{% endif %}", []),
        ("{% if not a %}x{% else %}{{ a }}{% endif %}", []),
        ("{% if a is none %}x{% else %}{{ a }}{% endif %}", []),
        ("{% if a is none or b %}{{ b }}{% endif %}", ["b"]),
        ("{% if a == 'x' %}{{ a }}{% endif %}", ["a"]),
        ("{% if a != none %}{{ a }}{% endif %}", ["a"]),
        ("{% for x in xs %}{{ x }}{{ xs }}{% endfor %}", ["xs"]),
    ],
)
def test_read_is_guarded_where_its_absence_is_handled(source: str, expected: list[str]) -> None:
    assert unguarded_reads(source) == expected


def test_read_has_its_place_and_the_names_certainly_present() -> None:
    source = "{% if a %}\n{% for x in xs %}\n{{ x.y }}{% endfor %}{% endif %}"

    assert reads(source)[-1] == Read(
        path="xs[].y", line=3, column=4, guarded=False, certain=frozenset({"a", "xs", "xs[]"})
    )


def test_free_names_come_only_from_arguments() -> None:
    source = (
        "{% set own = a.b %}{% for x in xs %}{{ x.y }}{{ own }}{{ index }}{% endfor %}"
        "{% macro m(p) %}{{ p }}{{ q }}{% endmacro %}{{ m(r) }}{{ undefined }}{{ range(3) }}"
    )

    assert compile_template(source, limits=Limits()).names == {"a", "xs", "q", "r"}


def test_index_is_a_name_outside_of_loops() -> None:
    assert compile_template("{{ index }}", limits=Limits()).names == {"index"}


def test_expression_lists_its_reads() -> None:
    expression = Expression("products | map(attribute='price') | sum", limits=Limits())

    assert names(expression.reads) == {"products"}
    assert [read.path for read in expression.reads] == ["products[].price", "products"]
