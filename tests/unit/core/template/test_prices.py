"""Nothing is made that weighs too much, and nothing is done that was not paid for.

Work is counted, never timed; what holds the interpreter is ended by the kernel, in
a process of its own.
"""
# ruff: noqa: E501 - a table reads best with one row to a line

from __future__ import annotations

import ast
import contextlib
import inspect
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import widgetd.core.template
from tests.support.examples import examples
from tests.support.limits import run_attacks
from tests.unit.core.template import matrix
from widgetd.base.errors import CallError, WidgetError
from widgetd.base.limits import Limits
from widgetd.core.template import Expression, compile_text
from widgetd.core.template.budget import CHARACTERS_PER_STEP, UNFIT, Budget, RenderError
from widgetd.core.template.builtins import DICT_METHODS, FILTERS, LIST_METHODS, TESTS, TEXT_METHODS
from widgetd.core.template.builtins.objects import CYCLER_METHODS, FUNCTIONS, LOOP_METHODS
from widgetd.core.template.builtins.operators import BINARY, COMPARISONS
from widgetd.core.template.parser import every, parse
from widgetd.core.template.scope import BUDGET
from widgetd.core.template.template import Template, frame_of
from widgetd.core.template.values import Namespace, TemplateDict, TemplateList, TemplateTuple

PACKAGE = Path(widgetd.core.template.__file__).parent

COMPARED = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "lteq": "<=",
    "gt": ">",
    "gteq": ">=",
    "in": "in",
    "notin": "not in",
}


@pytest.mark.parametrize(
    ("table", "called"),
    [
        (FILTERS, matrix.FILTER_CALLS),
        (TESTS, matrix.TEST_CALLS),
        (TEXT_METHODS, matrix.TEXT_CALLS),
        (LIST_METHODS, matrix.LIST_CALLS),
        (DICT_METHODS, matrix.DICT_CALLS),
        (LOOP_METHODS, matrix.LOOP_CALLS),
        (CYCLER_METHODS, matrix.CYCLER_CALLS),
        (FUNCTIONS, matrix.FUNCTION_CALLS),
    ],
    ids=["filters", "tests", "text", "list", "object", "loop", "cycler", "functions"],
)
def test_matrix_has_every_builtin_with_every_argument(
    table: Mapping[str, Any], called: Mapping[str, list[str]]
) -> None:
    assert table.keys() == called.keys()
    for name, function in table.items():
        parameters = list(inspect.signature(function).parameters.values())[1:]
        if (
            all(each.kind is each.POSITIONAL_OR_KEYWORD for each in parameters)
            and table is not FUNCTIONS
        ):
            assert len(called[name]) == len(parameters), name


def test_matrix_has_every_operator() -> None:
    operators = {*BINARY, *(COMPARED[name] for name in COMPARISONS)}

    assert operators | {"~", "and", "or"} == matrix.OPERATOR_CALLS.keys()


@pytest.mark.parametrize(("what", "source"), list(matrix.working()))
def test_builtin_of_the_matrix_works_on_ordinary_values(what: str, source: str) -> None:
    assert matrix.renders(source), what


def test_no_builtin_outruns_its_price_on_the_worst_in_any_place() -> None:
    """A timer of the kernel ends the child where one template takes ten times its bar."""
    assert len(run_attacks("tests.unit.core.template.matrix", "3", *matrix.COMMON)) > 3_000


# What asks for kinds, lengths and single elements only, or pays for itself as it goes.
FREE = {
    "filters": {
        "count",
        "d",
        "default",
        "first",
        "join",
        "last",
        "length",
        "reverse",
        "safe",
        "string",
        "tojson",
    },
    "tests": TESTS.keys() - {"filter", "lower", "test", "upper"},
    "text": set(),
    "list": {"append", "extend"},
    "object": {"get", "update"},
}

TABLES = {
    "filters": (FILTERS, matrix.FILTER_CALLS),
    "tests": (TESTS, matrix.TEST_CALLS),
    "text": (TEXT_METHODS, matrix.TEXT_CALLS),
    "list": (LIST_METHODS, matrix.LIST_CALLS),
    "object": (DICT_METHODS, matrix.DICT_CALLS),
}


@pytest.mark.parametrize("table", TABLES)
def test_builtin_has_a_price_unless_it_reads_nothing(table: str) -> None:
    functions, _ = TABLES[table]
    priced = {name for name, function in functions.items() if hasattr(function, "__wrapped__")}

    assert functions.keys() - priced == FREE[table]


PLENTY = Limits(steps=10**9, output_bytes=10**9)


@pytest.mark.parametrize(
    ("table", "name", "place"),
    [
        (table, name, place)
        for table, (functions, called) in TABLES.items()
        for name in sorted(functions.keys() - FREE[table])
        for place in range(len(called[name]))
    ],
)
def test_builtin_is_charged_for_each_argument_before_it_runs(
    table: str, name: str, place: int
) -> None:
    functions, called = TABLES[table]
    budget = Budget(PLENTY)
    given: list[Any] = [Expression(each, limits=PLENTY).evaluate({}) for each in called[name]]
    text = "x" * 65_000
    subjects = {"list": TemplateList(range(1_250)), "object": dict.fromkeys(range(1_250))}
    given[place] = subjects.get(table, text) if place == 0 else text
    with contextlib.suppress(RenderError, *UNFIT):
        functions[name](budget, *given)

    assert PLENTY.steps - budget.steps >= len(text) // CHARACTERS_PER_STEP


@pytest.mark.parametrize(
    ("source", "steps"),
    [
        # what is stripped, times what it is stripped of
        ("{{ ('j' * 10000)|trim('abcdefghij' * 100)|length }}", 10_000 * 1_000 // 64),
        ("{{ ('j' * 10000).lstrip('abcdefghij' * 100)|length }}", 10_000 * 1_000 // 64),
        # a path, for each element
        *(
            ("{{ (['0' * 9] * 30)|" + each + "|list|length }}", 30 * 20_000 // 64)
            for each in (
                "map(attribute='0.' * 9999 ~ '0')",
                "groupby('0.' * 9999 ~ '0')",
                "sort(attribute='0.' * 9999 ~ '0')",
                "unique(attribute='0.' * 9999 ~ '0')",
                "selectattr('0.' * 9999 ~ '0')",
            )
        ),
        ("{{ [[1]]|map('map', attribute='a.' * 9999 ~ 'a')|list|length }}", 20_000 // 64),
        ("{{ ([1] * 30)|sort(attribute=',' * 999)|length }}", 30 * 999),
        # the keys, as often as a sort compares them
        ("{{ [range(1000), range(1000), range(1000)]|sort|length }}", 3 * 2_000 * 2 // 64),
        ("{{ ([{'a': 1}] * 30)|groupby('k', 'x' * 9999)|length }}", 30 * 9_999 * 5 // 64),
        # a search that compares at every place
        ("{{ ('a' * 2400).count('a' * 600 ~ 'b' ~ 'a' * 600) }}", 2_400 * 1_200 // 2**14),
        ("{% if 'a' * 600 ~ 'b' ~ 'a' * 600 in 'a' * 2400 %}{% endif %}", 2_400 * 1_200 // 2**14),
        # a loop's turns and a macro's calls, by what there is in them
        (
            "{% for i in range(100) %}" + "{% if i == 1 %}{% endif %}" * 100 + "{% endfor %}",
            100 * 300 // 32,
        ),
        ("{% for i in range(100) if [" + "i == 1, " * 100 + "1] %}{% endfor %}", 100 * 300 // 32),
        (
            "{% macro m(i) %}"
            + "{% if i == 1 %}{% endif %}" * 100
            + "{% endmacro %}"
            + "{{ m(1) }}" * 100,
            100 * 300 // 32,
        ),
        # what came into a list after another held it
        (
            "{% set a, t = [], 'x' * 50000 %}{% set b = [a] %}{% for i in range(20) %}{% set _ = a.append(t) %}{% endfor %}{% if b == [[1]] %}{% endif %}",
            20 * 50_000 // 64,
        ),
        (
            "{% set d, t = {'a': []}, 'x' * 50000 %}{% for i in range(20) %}{% set _ = d.a.append(t) %}{% endfor %}{% if [d] == [1] %}{% endif %}",
            20 * 50_000 // 64,
        ),
        # a key is compared with the key that is there
        (
            "{% set a, b = 'x' * 50000 ~ 'y', 'x' * 50000 ~ 'y' %}{% set d = {a: 1} %}{{ d[b] }}{{ d.get(b) }}",
            3 * 50_000 // 64,
        ),
    ],
)
def test_work_that_grows_with_two_values_is_charged_for_both(source: str, steps: int) -> None:
    assert compile_text(source, limits=PLENTY).rendering({}).steps >= steps


# Where text is made of what is a number, or of the template's own words, or is no value's.
OTHER_TEXTS = {
    ("__init__", "__getattr__"),
    ("budget", "out_of_text"),
    ("builtins.text", "_fill_conversion"),
    ("builtins.text", "urlencode"),
    ("closures.expressions", ""),
    ("closures.expressions", "unfit"),
    ("closures.javascript", ""),
    ("jinja", "arguments"),
    *(("vocabulary", name) for name in ("", "_signature", "bind", "describe_operation", "require")),
    *(("builtins.javascript", name) for name in ("_sort", "list_entries")),
    ("lexer", "_next_token"),
    ("lexer", "_known_escape"),
    ("lexer", "_unescape"),
    ("dialect.exporter", ""),
    ("dialect.patterns", "_strip_tree"),
    ("parser", ""),
    ("parser", "_check_size"),
    ("parser", "_run_parser"),
    ("references", "_filter_path"),
    ("references", "_member"),
    ("references", "visit_For"),
    ("template", "with_call_errors"),
    ("template", "_indexes"),
}

TEXTS = {
    ("serialise", name)
    for name in (
        "text",
        "integer",
        "number",
        "javascript_number",
        "to_fixed",
        "_show",
        "tojson",
        "_slowly",
    )
}

# What a message may name: kinds, counts, limits, and what the template's author wrote.
NAMED = {
    "conversion",
    "count",
    "key",
    "len(values)",
    "MAX_PRECISION",
    "MAX_WIDTH",
    "method",
    "name",
    "next(iter(kwargs))",
    "self.limits.steps",
    "size",
    "sort",
    "' and '.join(kinds)",
}

MESSAGES = {"RenderError", "Fault"}
MAKERS = {"str", "repr", "ascii", "format", "hex", "oct", "bin", "vars"}
MAKING_METHODS = {
    "format",
    "format_map",
    "dumps",
    "iterencode",
    "encode",
    "decode",
    "__str__",
    "__repr__",
}


def texts_made() -> Iterator[tuple[str, str]]:
    """Yield the module and function of each place that makes text, messages aside.

    The front end for JSX knows no values, only the author's words.
    """
    for path in sorted(PACKAGE.rglob("*.py")):
        if not _module(path).startswith("jsx."):
            yield from _texts(ast.parse(path.read_text()), _module(path), "")


def _module(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def _texts(node: ast.AST, module: str, function: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.FunctionDef):
        function = node.name
    if _is_message(node):
        return
    if _makes_text(node):
        yield module, function
    for child in ast.iter_child_nodes(node):
        yield from _texts(child, module, function)


def _is_message(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MESSAGES
    )


def _makes_text(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        called = node.func
        if isinstance(called, ast.Name):
            return called.id in MAKERS
        return isinstance(called, ast.Attribute) and called.attr in MAKING_METHODS
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return isinstance(node.left, ast.JoinedStr | ast.Constant)
    return isinstance(node, ast.JoinedStr)


def test_one_module_makes_text_of_values_and_no_other_does() -> None:
    assert set(texts_made()) == TEXTS | OTHER_TEXTS


def test_message_names_kinds_and_counts_and_never_shows_a_value() -> None:
    shown = {
        ast.unparse(each.value)
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "RenderError"
        for each in ast.walk(node)
        if isinstance(each, ast.FormattedValue)
    }

    assert {each for each in shown if not each.startswith("kind(")} == NAMED


@pytest.mark.parametrize(
    "source",
    [
        "{% set a = [] %}{% set _ = a.append(a) %}",
        "{% set a = [] %}{% set b = [a] %}{% set _ = a.append(b) %}",
        "{% set a = [] %}{% set b = {'k': [(a, 1)]} %}{% set _ = a.extend([b]) %}",
        "{% set a = {'k': 1} %}{% set b = [a] %}{% set _ = a.update(k=b) %}",
        "{% set a = [[]] %}{% set _ = a[0].insert(0, a) %}",
        "{% set a = [] %}{% for g in [{}]|groupby('k', a) %}{% set _ = a.append(g) %}{% endfor %}",
        "{% set a = [] %}{% for g in [1]|batch(2, a) %}{% set _ = a.append(g) %}{% endfor %}",
        "{% set a = [] %}{% macro m() %}{% set _ = a.append(varargs) %}{% endmacro %}{{ m(a) }}",
    ],
)
def test_no_value_can_contain_itself(source: str) -> None:
    with pytest.raises(CallError, match=r"^line 1: a list or an object cannot hold itself$"):
        compile_text(source, limits=Limits()).render({})


@pytest.mark.parametrize(
    "more",
    [
        "[n.a, n.a]",
        "(n.a, n.a)",
        "{'k': n.a, 'l': n.a}",
        "{1 + 1: n.a, 3: n.a}",
        "[[n.a], [n.a]]",
        "[n.a] * 2",
        "[n.a] + [n.a]",
        "dict(k=n.a, l=n.a)",
        "[0, 0]|map('default', n.a, true)|list",
        "[n.a, 1]|map('replace', n.a)|list",
        "[1]|batch(3, n.a)",
        "[1]|slice(3, n.a)",
        "[n.a, n.a]|groupby(0)",
        "[n.a, n.a].copy()",
        "{'k': [n.a, n.a]}|items",
    ],
)
def test_value_above_the_weight_limit_is_refused(more: str) -> None:
    """It need not be read: that it is made is refused."""
    source = (
        "{% set n = namespace(a=[1]) %}{% for i in range(60) %}{% set n.a = "
        + more
        + " %}{% endfor %}"
    )

    with pytest.raises(CallError):
        compile_text(source, limits=Limits()).render({})


@pytest.mark.parametrize(
    "source",
    [
        "{% set d = {'a': []} %}{% for i in range(2000) %}{% set _ = d.a.append({'k': i, 'l': [i]}) %}{% endfor %}{{ d|tojson|length }}",
        "{% set n = namespace(l=[]) %}{% for i in range(300) %}{% set n.l = n.l + [{'k': i, 'text': 'some words'}] %}{% endfor %}{{ n.l|length }}",
        "{% set d = {} %}{% for i in range(400) %}{% set _ = d.update({'k': d.get('k', []) + ['some words ' * 20]}) %}{% endfor %}{{ d|length }}",
        "{% set s = [] %}{% set t = 'x' * 4000 %}{% for i in range(5000) %}{% set _ = s.append(t) %}{% set _ = s.pop() %}{% endfor %}{{ s|length }}",
        "{% set rows = range(1000)|list %}{% set l = [] %}{% for i in rows %}{% set _ = l.append({'row': i, 'all': rows}) %}{% endfor %}{{ l|length }}",
    ],
)
def test_ordinary_lists_are_within_the_budget(source: str) -> None:
    assert compile_text(source, limits=Limits()).render({}).isdigit()


# --- random templates: what they make, and what they do, against what they pay ---

SMALL = Limits(steps=3_000, output_bytes=30_000)
ARGUMENTS = {
    "xs": [1, 2.5, "three", None, [4], {"a": 5}],
    "rows": [{"a": n % 3, "b": ["text" * n], "c": {"a": "x"}} for n in range(12)],
    "t": "some <b>words</b>, and-some more\nof them 0.0.0",
    "big": 10**40,
}

FIELDS = ["n.a", "n.b", "n.c", "n.d", "n.e"]
NAMES = st.sampled_from([*FIELDS, *FIELDS, "xs", "rows", "t", "big"])
CONSTANTS = st.sampled_from(
    [
        "0",
        "1",
        "-1",
        "3",
        "1.5",
        "'a'",
        "','",
        "'a.a'",
        "none",
        "true",
        "missing",
        "'upper'",
        "'=='",
        "9999999",
    ]
)


def expressions(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    two = st.tuples(inner, inner)
    called = st.sampled_from(
        [
            *((f"{{}}|{name}", len(args) - 1) for name, args in matrix.FILTER_CALLS.items()),
            *(
                (f"{{}}.{name}", len(args) - 1)
                for table in (matrix.TEXT_CALLS, matrix.LIST_CALLS, matrix.DICT_CALLS)
                for name, args in table.items()
            ),
        ]
    ).flatmap(
        lambda how: st.tuples(inner, *[inner] * how[1]).map(
            lambda p: f"({how[0].format(p[0])}({', '.join(p[1:])}))"
        )
    )
    return st.one_of(
        two.map(lambda p: f"[{p[0]}, {p[1]}]"),
        two.map(lambda p: f"({p[0]}, {p[1]})"),
        two.map(lambda p: f"{{'a': {p[0]}, 'b': [{p[1]}]}}"),
        two.map(lambda p: f"{{{p[0]}: {p[1]}}}"),
        st.tuples(inner, st.sampled_from([*matrix.OPERATOR_CALLS]), inner).map(
            lambda p: f"({p[0]} {p[1]} {p[2]})"
        ),
        st.tuples(inner, inner).map(lambda p: f"({p[0]}[{p[1]}])"),
        st.tuples(inner, inner).map(lambda p: f"({p[0]}[:{p[1]}])"),
        st.tuples(inner, inner, inner).map(lambda p: f"({p[0]} if {p[1]} else {p[2]})"),
        inner.map(lambda p: f"range({p})"),
        called,
        called,
    )


VALUES = st.recursive(st.one_of(NAMES, NAMES, CONSTANTS), expressions, max_leaves=5)
SETS = st.tuples(st.sampled_from(FIELDS), VALUES)
CHANGES = st.tuples(
    st.sampled_from(FIELDS),
    st.sampled_from(
        [
            "append({})",
            "extend({})",
            "insert(0, {})",
            "update({})",
            "update({{'a': {}}})",
            "update(b={})",
            "pop({})",
        ]
    ),
    VALUES,
)


def blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(st.integers(1, 30), inner).map(
            lambda p: f"{{% for i in range({p[0]}) %}}{p[1]}{{% endfor %}}"
        ),
        st.tuples(VALUES, inner).map(lambda p: f"{{% for i in {p[0]} %}}{p[1]}{{% endfor %}}"),
        st.tuples(VALUES, inner).map(lambda p: f"{{% if {p[0]} %}}{p[1]}{{% endif %}}"),
        st.lists(inner, min_size=2, max_size=4).map("".join),
    )


FIELD = st.sampled_from(FIELDS)
SHARING = st.one_of(
    st.tuples(FIELD, FIELD, FIELD).map(lambda p: f"{{% set {p[0]} = [{p[1]}, {p[2]}] %}}"),
    st.tuples(FIELD, FIELD).map(lambda p: f"{{% set {p[0]} = [{p[1]}, []] %}}"),
    st.tuples(FIELD, FIELD).map(lambda p: f"{{% set _ = {p[0]}.append({p[1]}) %}}"),
    st.tuples(FIELD, FIELD).map(lambda p: f"{{% set _ = {p[0]}[1].append({p[1]}) %}}"),
    st.tuples(FIELD, FIELD).map(lambda p: f"{{% set {p[0]} = {p[1]}|list %}}"),
)

STATEMENTS = st.recursive(
    st.one_of(
        SHARING,
        SHARING,
        SHARING,
        SHARING,
        SETS.map(lambda p: f"{{% set {p[0]} = {p[1]} %}}"),
        SETS.map(lambda p: f"{{% set {p[0]} = {p[1]} %}}"),
        CHANGES.map(lambda p: f"{{% set _ = {p[0]}.{p[1].format(p[2])} %}}"),
        CHANGES.map(lambda p: f"{{% set _ = {p[0]}.{p[1].format(p[2])} %}}"),
        VALUES.map(lambda p: f"{{{{ {p} }}}}"),
        VALUES.map(lambda p: f"{{{{ ({p})|tojson }}}}"),
    ),
    blocks,
    max_leaves=12,
)
START = "{% set n = namespace(a=[1], b={'k': [2]}, c=('x', 3), d='text', e=[]) %}{% set _ = n.e.append(n.b) %}"


class Run:
    """One render of a random template, and what is left of it."""

    def __init__(self, source: str) -> None:
        self.template = Template(source, SMALL, writes_json=False)
        self.nodes = len(every(parse(source, SMALL).tree))
        self.frame = frame_of(self.template._slots, self.template._size, ARGUMENTS, SMALL)
        self.budget: Budget = self.frame[BUDGET]
        self.calls = 0

    def go(self) -> None:
        """Render, counting what Python calls."""
        sys.setprofile(self._count)
        try:
            self.template._body(self.frame, [])
        except (RenderError, RecursionError):
            pass
        finally:
            sys.setprofile(None)

    def _count(self, _frame: FrameType, event: str, _arg: object) -> None:
        self.calls += event in {"call", "c_call"}

    def values(self) -> list[Any]:
        """Return the contents of the namespace at the end."""
        return [
            value
            for one in self.frame
            if isinstance(one, Namespace)
            for value in one.values.values()
        ]


def truth(value: Any, known: dict[int, int]) -> int:
    """Return the weight of a value, without the weights that are stored with it."""
    if isinstance(value, str):
        return len(value) + 2
    if not isinstance(value, list | tuple | dict):
        return 2
    if id(value) not in known:
        inside = [*value, *value.values()] if isinstance(value, dict) else list(value)
        known[id(value)] = 1 + sum(truth(each, known) for each in inside)
    return known[id(value)]


def reached(values: list[Any]) -> list[Any]:
    """Return everything that `values` contain, each value once."""
    unique = {id(value): value for value in values}
    pending = list(unique.values())
    while pending:
        value = pending.pop()
        inside = (
            value.values()
            if isinstance(value, dict)
            else value
            if isinstance(value, list | tuple)
            else ()
        )
        for each in inside:
            if id(each) not in unique:
                unique[id(each)] = each
                pending.append(each)
    return list(unique.values())


@examples(150)
@given(STATEMENTS)
def test_random_template_stays_within_its_charges(source: str) -> None:
    try:
        run = Run(START + source)
    except WidgetError:
        return
    run.go()

    known: dict[int, int] = {}
    for value in reached(run.values()):
        heavy = truth(value, known)
        assert heavy <= SMALL.steps * CHARACTERS_PER_STEP or run.budget.sizes_stale
        if (
            isinstance(value, TemplateList | TemplateDict | TemplateTuple)
            and value.weight
            and not run.budget.sizes_stale
        ):
            assert value.weight >= heavy
    paid = SMALL.steps - run.budget.steps
    assert run.calls <= CALLS_PER_STEP * (paid + run.nodes)


# A step pays for 32 nodes, each of a few calls.
CALLS_PER_STEP = 128
