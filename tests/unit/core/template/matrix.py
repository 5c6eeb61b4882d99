"""The builtins of the template language, each with the worst values in each argument.

Beside each builtin is a call that works, as its subject and arguments; a test
fails where one is missing. `main` renders the matrix in a process of its own,
which a timer of the kernel ends where one template takes too long, whatever holds
the interpreter then, and which can have only so much memory.
"""
# ruff: noqa: E501 - a table reads best with one row to a line

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any, Final

from tests.support.limits import try_each
from widgetd.base.errors import CallError, WidgetError
from widgetd.base.limits import Limits
from widgetd.core.template import compile_text


def shared(levels: int) -> Any:
    """Return a list that contains one list twice, and so on: an argument that JSON cannot send."""
    value: Any = [1]
    for _ in range(levels):
        value = [value, value]
    return value


ARGUMENTS: Final[Mapping[str, Any]] = {
    "shared_argument": shared(20),
    "long_argument": [{"a": n, "b": "text"} for n in range(5_000)],
    "text_argument": "x\n<-" * 87_000,
    "numbers_argument": [n * (2**61 - 1) for n in range(5_000)],
}

# What each of the worst values is, and the statements that make it.
WORST: Final[Mapping[str, tuple[str, str]]] = {
    "a list of 2^20 leaves": (
        "{% set n = namespace(a=[1]) %}{% for i in range(20) %}{% set n.a = [n.a, n.a] %}{% endfor %}",
        "n.a",
    ),
    "a tuple of 2^20 leaves": (
        "{% set n = namespace(a=(1,)) %}{% for i in range(20) %}{% set n.a = (n.a, n.a) %}{% endfor %}",
        "n.a",
    ),
    "an object of 2^20 leaves": (
        "{% set n = namespace(a={'k': 1}) %}{% for i in range(19) %}{% set n.a = {'k': n.a, 'l': n.a} %}{% endfor %}",
        "n.a",
    ),
    "a list of 2^20 leaves that grew late": (
        "{% set n = namespace(a=[1], b=[]) %}{% set r = [n.b] %}{% for i in range(20) %}{% set n.a = [n.a, n.a] %}{% endfor %}"
        "{% do n.b.append(n.a) %}".replace("{% do ", "{% set _ = "),
        "r",
    ),
    "a text of 260,000": ("{% set t = 'x-' * 130000 %}", "t"),
    "a range of 6,000": ("{% set r = range(6000) %}", "r"),
    "a range of 30,000": ("{% set r = range(30000) %}", "r"),
    "a list of 30,000 long texts": ("{% set r = ['x' * 200000] * 30000 %}", "r"),
    "a path of 100,000": ("{% set p = 'a.' * 99999 ~ 'a' %}", "p"),
    "a path of dots": ("{% set p = '.' * 99999 %}", "p"),
    "a path into a text": ("{% set p = '0.' * 99999 ~ '0' %}", "p"),
    "100,000 names": ("{% set p = ',' * 99999 %}", "p"),
    "a shared argument": ("", "shared_argument"),
    "5,000 objects": ("", "long_argument"),
    "a text of the arguments": ("", "text_argument"),
    "numbers that meet in a table": ("", "numbers_argument"),
    "a large number": ("", "1000000000"),
}

# These are tried at every change, and the others by `make limits` as well. With 6,000 elements three
# calls in quadratic time already take more than ten times the bar; making 30,000 elements takes a
# hundred times as long as an average call.
COMMON: Final = (
    "a list of 2^20 leaves",
    "a tuple of 2^20 leaves",
    "a list of 2^20 leaves that grew late",
    "a text of 260,000",
    "a range of 6,000",
    "a path of 100,000",
    "a shared argument",
    "a large number",
)

ROWS = "[{'a': 1, 'b': 2}, {'a': 2}]"
FILTER_CALLS: Final[Mapping[str, list[str]]] = {
    "abs": ["-1"],
    "batch": ["[1, 2, 3]", "2", "0"],
    "capitalize": ["'ab'"],
    "center": ["'ab'", "9"],
    "count": ["[1]"],
    "d": ["none", "1", "true"],
    "default": ["none", "1", "true"],
    "dictsort": ["{'a': 1, 'b': 2}", "true", "'value'", "false"],
    "e": ["'<'"],
    "escape": ["'<'"],
    "filesizeformat": ["1000", "true"],
    "first": ["[1]"],
    "float": ["'1.5'", "1"],
    "forceescape": ["'<'"],
    "format": ["'%s and %s'", "1", "2"],
    "groupby": [ROWS, "'a'", "5", "true"],
    "indent": ["'a\\nb'", "2", "true", "true"],
    "int": ["'12'", "0", "10"],
    "items": ["{'a': 1}"],
    "join": [ROWS, "','", "'a'"],
    "last": ["[1]"],
    "length": ["[1]"],
    "list": ["'ab'"],
    "lower": ["'AB'"],
    "map": ["['ab', 'cd']", "'replace'", "'a'", "'b'"],
    "max": [ROWS, "true", "'a'"],
    "min": [ROWS, "true", "'a'"],
    "reject": ["[1, 2]", "'=='", "1"],
    "rejectattr": [ROWS, "'a'", "'=='", "1"],
    "replace": ["'aaa'", "'a'", "'b'", "2"],
    "reverse": ["[1, 2]"],
    "round": ["1.55", "1", "'floor'"],
    "safe": ["'a'"],
    "select": ["[1, 2]", "'=='", "1"],
    "selectattr": [ROWS, "'a'", "'=='", "1"],
    "slice": ["[1, 2, 3]", "2", "0"],
    "sort": [ROWS, "true", "true", "'a'"],
    "string": ["[1]"],
    "striptags": ["'<b>x'"],
    "sum": [ROWS, "'a'", "1"],
    "title": ["'ab cd'"],
    "tojson": ["[1]", "1"],
    "trim": ["'xax'", "'x'"],
    "truncate": ["'abc def ghi'", "6", "false", "'.'", "0"],
    "unique": [ROWS, "true", "'a'"],
    "upper": ["'ab'"],
    "urlencode": ["{'a': 'b'}"],
    "wordcount": ["'ab cd'"],
    "wordwrap": ["'ab cd ef'", "5", "true", "'/'", "true"],
}

TEST_CALLS: Final[Mapping[str, list[str]]] = {
    **{
        key: ["1"]
        for key in ("boolean", "callable", "defined", "escaped", "even", "false", "float")
    },
    **{
        key: ["1"]
        for key in ("integer", "iterable", "mapping", "none", "number", "odd", "sequence")
    },
    **{key: ["1"] for key in ("string", "true", "undefined")},
    **{key: ["'a'"] for key in ("filter", "test", "lower", "upper")},
    **{
        key: ["[1]", "[2]"]
        for key in ("!=", "<", "<=", "==", ">", ">=", "eq", "equalto", "ge", "gt")
    },
    **{key: ["[1]", "[2]"] for key in ("greaterthan", "le", "lessthan", "lt", "ne", "sameas")},
    "divisibleby": ["4", "2"],
    "in": ["'a'", "'abc'"],
}

NAMED_TESTS: Final = {name: args for name, args in TEST_CALLS.items() if name.isalpha()}

TEXT_CALLS: Final[Mapping[str, list[str]]] = {
    **{key: ["'ab'"] for key in ("capitalize", "isdigit", "lower", "splitlines", "title", "upper")},
    **{key: ["'ab'", "9"] for key in ("center", "ljust", "rjust", "zfill")},
    **{key: ["'aab'", "'b'"] for key in ("count", "endswith", "find", "startswith")},
    **{key: ["'xax'", "'x'"] for key in ("lstrip", "rstrip", "strip")},
    "join": ["','", "['a', 'b']"],
    "replace": ["'aaa'", "'a'", "'b'", "2"],
    "split": ["'a,b,c'", "','", "1"],
}

LIST_CALLS: Final[Mapping[str, list[str]]] = {
    "append": ["[1]", "2"],
    "copy": ["[1]"],
    "count": ["[1]", "1"],
    "extend": ["[1]", "[2]"],
    "index": ["[1]", "1"],
    "insert": ["[1]", "0", "2"],
    "pop": ["[1]", "0"],
}

DICT_CALLS: Final[Mapping[str, list[str]]] = {
    "copy": ["{'a': 1}"],
    "get": ["{'a': 1}", "'a'", "2"],
    "items": ["{'a': 1}"],
    "keys": ["{'a': 1}"],
    "update": ["{'a': 1}", "{'b': 2}"],
    "values": ["{'a': 1}"],
}

LOOP_CALLS: Final[Mapping[str, list[str]]] = {"cycle": ["1", "2"], "changed": ["1", "2"]}

CYCLER_CALLS: Final[Mapping[str, list[str]]] = {"next": ["1"], "reset": ["1"]}

FUNCTION_CALLS: Final[Mapping[str, list[str]]] = {
    "range": ["1", "9", "2"],
    "namespace": ["{'a': 1}"],
    "dict": ["{'a': 1}"],
    "cycler": ["1", "2"],
    "joiner": ["','"],
}

OPERATOR_CALLS: Final[Mapping[str, list[str]]] = {
    **{key: ["2", "3"] for key in ("+", "-", "*", "/", "//", "%", "**", "~", "and", "or")},
    **{key: ["[1]", "[2]"] for key in ("==", "!=", "<", "<=", ">", ">=")},
    **{key: ["1", "[1]"] for key in ("in", "not in")},
}

# What else is done with values, by what is written around them.
WRITTEN: Final[Mapping[str, tuple[str, list[str]]]] = {
    "text": ("{{ %s }}", ["1"]),
    "text in a text": ('"{{ %s }}"', ["1"]),
    "a condition": ("{%% if %s %%}{%% endif %%}", ["1"]),
    "a chain": ("{{ 1 if %s < %s < %s }}", ["1", "2", "3"]),
    "a choice": ("{{ (%s if %s else 1)|string }}", ["[1]", "2"]),
    "a sign": ("{{ -%s }}{{ +%s }}", ["1", "1"]),
    "a key": ("{%% set _ = {'a': 1}[%s] %%}", ["'a'"]),
    "an index": ("{%% set _ = [1][%s] %%}", ["0"]),
    "an element": ("{%% set _ = %s[%s] %%}", ["[1]", "0"]),
    "a slice": ("{%% set _ = %s[%s:%s:%s] %%}", ["[1, 2]", "0", "1", "1"]),
    "a list": ("{%% set _ = [%s, [%s]] %%}", ["1", "2"]),
    "a tuple": ("{%% set _ = (%s, (%s, 1)) %%}", ["1", "2"]),
    "an object": ("{%% set _ = {%s: %s, 'a': {'b': %s}} %%}", ["'k'", "1", "2"]),
    "a loop": ("{%% for x in %s if x != %s %%}{%% endfor %%}", ["[1]", "2"]),
    "a loop of two": ("{%% for x, y in [%s] %%}{%% endfor %%}", ["[1, 2]"]),
    "a macro": ("{%% macro m(x, y) %%}{{ x|length }}{%% endmacro %%}{{ m(%s, %s) }}", ["[1]", "2"]),
    "a field": ("{%% set n = namespace() %%}{%% set n.a = %s %%}", ["1"]),
    "a join": ("{%% set j = joiner(%s) %%}{%% set _ = j() %%}{%% set _ = j() %%}", ["1"]),
}


def calls() -> Iterator[tuple[str, str, list[str]]]:
    """Yield each builtin as `(what, format, arguments)`."""
    for what, form, table in (
        ("filter", "{%% set _ = {0}|{name}{more} %%}", FILTER_CALLS),
        ("test", "{%% set _ = [{0}]|select('{name}'{, more})|list %%}", TEST_CALLS),
        ("test", "{%% set _ = {0} is {name}{more} %%}", NAMED_TESTS),
        ("method of a text", "{%% set _ = {0}.{name}({rest}) %%}", TEXT_CALLS),
        ("method of a list", "{%% set _ = {0}.{name}({rest}) %%}", LIST_CALLS),
        ("method of an object", "{%% set _ = {0}.{name}({rest}) %%}", DICT_CALLS),
        (
            "method of a cycler",
            "{%% set c = cycler({0}) %%}{%% set _ = c.{name}() %%}",
            CYCLER_CALLS,
        ),
        (
            "method of a loop",
            "{%% for x in [1, 2] %%}{%% set _ = loop.{name}({all}) %%}{%% endfor %%}",
            LOOP_CALLS,
        ),
        ("function", "{%% set _ = {name}({all}) %%}", FUNCTION_CALLS),
        ("operator", "{%% set _ = {0} {name} %s %%}", OPERATOR_CALLS),
    ):
        for name, args in table.items():
            yield f"{what} {name}", _filled(form, name, len(args)), args
    for what, (form, args) in WRITTEN.items():
        yield what, form, args


def _filled(form: str, name: str, count: int) -> str:
    rest = ", ".join(["%s"] * (count - 1))
    parts = {
        "{0}": "%s",
        "{name}": name.replace("%", "%%"),
        "{rest}": rest,
        "{, more}": f", {rest}" if rest else "",
        "{more}": f"({rest})" if rest else "",
        "{all}": ", ".join(["%s"] * count),
    }
    for part, text in parts.items():
        form = form.replace(part, text)
    return form


def working() -> Iterator[tuple[str, str]]:
    """Yield each builtin with a template that renders."""
    for what, call, args in calls():
        yield what, call % tuple(f"({each})" for each in args)


def cases(turns: int, values: Collection[str] = WORST) -> Iterator[tuple[str, str]]:
    """Yield each builtin with each of these values in each place and in all, `turns` times."""
    for (what, call, args), worst in product(calls(), values):
        setup, name = WORST[worst]
        places: list[list[str]] = [
            [name if at == place else f"({each})" for at, each in enumerate(args)]
            for place in range(len(args))
        ]
        if len(args) > 1:
            places.append([name] * len(args))
        for place, extremes in enumerate(places):
            source = f"{{% for _ in range({turns}) %}}{call % tuple(extremes)}{{% endfor %}}"
            yield f"{what}, place {place}: {worst}", setup + source


def renders(source: str, arguments: Mapping[str, Any] = ARGUMENTS) -> bool:
    """Return whether the template renders; the worst may also be refused."""
    try:
        compile_text(source, limits=Limits()).render(arguments)
    except (WidgetError, CallError):
        return False
    return True


def main() -> None:
    """Render every case within ten times the bar, and say each before it begins."""
    try_each(
        (what, partial(renders, source)) for what, source in cases(int(sys.argv[1]), sys.argv[2:])
    )
    sys.stdout.write("done\n")


if __name__ == "__main__":
    main()
