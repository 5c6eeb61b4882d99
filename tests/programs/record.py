"""Writes the table of cases that both evaluators are held to: every word on awkward values.

    python -m tests.programs.record

A row holds arguments and the text that the server makes of them, null where it fails. Where the
page is known to differ, the row says its text, too, and why. `view/test/unit/programs.test.ts`
runs the same table. Each run writes the same file, unless a word or its meaning changed.
"""

# ruff: noqa: ISC004 - a source may take two lines

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Final

import orjson

from widgetd.base.errors import CallError
from widgetd.base.limits import Limits
from widgetd.core.template import Expression, Template, compile_template, compile_text
from widgetd.core.template.ir import Program, to_json
from widgetd.core.template.jsx import View
from widgetd.core.template.vocabulary import missing_in_page
from widgetd.core.widget.local_state import LocalState

ROWS_EACH: Final = 8
TABLE: Final = Path(__file__).resolve().parents[2] / "view" / "test" / "programs.json"

VALUES: Final[list[Any]] = [
    *(None, True, False, 0, 1, -1, 7, 12, 2.5, 3.5, -2.5, 0.125, 2.675, 1.005, 0.1),
    *(1e-5, 1.2e-7, 123456.789),
    *("", " ", "a", "A b", "héllo wörld", "𝒳y𝒵", "👩🏽‍🚀 ok", "12", " 3.5 ", "1e3", "x,y,z"),
    *("<b>&'\"", "a\\b\n\tc", "it's", 'say "x"', "\u00a0x\u2003", "a-b c.d (e) [f", "tRUE"),
    *("zeta Alpha beta", "x" * 300, "\x7f"),
    *([], [1], [3, 1, 2], ["b", "A", "a", "C"], [1.5, None, 2], [[1, 2], [3]]),
    *(["é", "z", "𝒳", "\uffee"], [{"a": 2, "b": "x"}, {"a": 1}, {"b": "Y"}]),
    *({}, {"a": 1}, {"b": 2, "a": [1, "x"]}, {"n": {"a": None}}),
]

FILTERS: Final = (
    *[
        "abs",
        "capitalize",
        "count",
        "d",
        "dictsort",
        "e",
        "escape",
        "first",
        "float",
        "forceescape",
        "int",
        "items",
        "join",
    ],
    *[
        "last",
        "length",
        "list",
        "lower",
        "max",
        "min",
        "reverse",
        "round",
        "safe",
        "string",
        "sum",
        "title",
        "tojson",
        "trim",
    ],
    *["truncate", "unique", "upper", "wordcount", "select", "reject", "sort"],
    *("default('d')", "default('d', true)", "round(1)", "round(2)", "round(1, 'floor')"),
    *("round(0, 'ceil')", "round(-1)", "truncate(5)", "truncate(6, true)"),
    *("truncate(7, false, '…', 0)", "replace('a', '**')", "replace('', '-')"),
    *("replace('x', 'y', 1)", "join(', ')", "join('/', attribute='a')", "map('upper')|list"),
    *("map(attribute='a')|list", "map(attribute='a', default=0)|list", "sort(reverse=true)"),
    *("sort(attribute='a')", "sort(case_sensitive=true)", "groupby('a')", "selectattr('a')|list"),
    *("rejectattr('a', 'eq', 1)|list", "select('string')|list", "batch(2)", "batch(2, '-')"),
    *("slice(2)", "slice(2, 0)", "sum(attribute='a')", "unique(true)", "min(attribute='a')"),
    *("trim('ax')", "int(-1)", "int('x', 16)", "float(-1.0)", "dictsort(by='value')"),
    *("format(1)", "reject('number')|list", "wordcount"),
)

TESTS: Final = (
    *[
        "odd",
        "even",
        "defined",
        "undefined",
        "none",
        "boolean",
        "false",
        "true",
        "integer",
        "float",
        "number",
        "lower",
    ],
    *[
        "upper",
        "string",
        "mapping",
        "sequence",
        "iterable",
        "callable",
        "escaped",
        "filter",
        "test",
    ],
    *("divisibleby(2)", "in([1, 'a'])", "sameas(none)"),
    *(
        f"{name}(1)"
        for name in ["eq", "equalto", "ne", "gt", "greaterthan", "ge", "lt", "lessthan", "le"]
    ),
)

METHODS: Final = (
    *("upper()", "lower()", "capitalize()", "split()", "split(',')", "split(',', 1)", "title()"),
    *("strip()", "lstrip()", "rstrip()", "startswith('a')", "endswith('b')", "zfill(6)"),
    *("find('b')", "get('a', 9)", "items()|list", "keys()|list", "values()|list", "copy()"),
    *("count('a')", "index('a')", "splitlines()", "isdigit()", "rjust(4)", "ljust(4)"),
    *("replace('a', 'b')", "join(['1', '2'])", "pop()", "append(1)"),
)

EXPRESSIONS: Final = (
    "x|tojson|length",
    *(f"[x]|select('{sign}', 1)|list" for sign in ("==", "!=", "<", "<=", ">", ">=")),
    *(f"x|{each}" for each in FILTERS),
    *(f"x is {each}" for each in TESTS),
    *(f"x.{each}" for each in METHODS),
    *("x[0]", "x[-1]", "x[1:3]", "x[:2]", "x[::-1]", "x[-2:]", "x.a", "x['a']", "x.a.b"),
    *("x.length", "x[1.0]", "-x", "+x", "not x", "x + 1", "x * 2", "2 * x", "x / 3", "x // 2"),
    *("x % 3", "x ** 2", "x ~ '!'", "x and 1", "x or 1", "x if x else 'no'", "'a' in x"),
    *("x in [1, 'a', [1]]", "x not in [1]", "1 < x", "x >= 1", "x == 1", "x != 'a'"),
    *("1 <= x < 3", "x == [1]", "[x, 1.0]", "(x,)", "{'k': x}", "{'k' ~ 1: x}", "x == x"),
    *("range(3)|list", "dict(a=x)", "namespace(a=x).a", "'%s|%5s|%-5s|'|format(x, x, x)"),
    *("'%.2f %d %05.1f %+d %e'|format(x, x, x, x, x)", "'%x'|format(7)", "x.missing"),
    *("[[x, 2], x]|list", "missing", "missing|default(x)", "[x]|map('default', 1)|list"),
)

TWO: Final = (
    *("x == y", "x < y", "x + y", "x in y", "[x, y]|sort", "[x, y]|max", "[x, y]|unique|list"),
    *("x ~ y", "x / y", "x % y", "x * y", "x - y", "x <= y", "x > y"),
)

TEMPLATES: Final = (
    '[{% for i in x %}{"at": {{ loop.index0 }}, "v": {{ i|tojson }}}'
    "{% if not loop.last %},{% endif %}{% else %}null{% endfor %}]",
    "[{% for i in x if i %}{{ loop.index }}/{{ loop.length }} {{ loop.revindex }} {{ loop.first }}"
    " {{ loop.cycle('a', 'b') }} {{ loop.changed(i) }} {{ loop.previtem }} {{ loop.nextitem }}"
    " {{ loop.depth }} {{ loop.revindex0 }} {{ loop.depth0 }}{% endfor %}]",
    "{% set a = 0 %}{% for i in x %}{% set a = i %}{{ a }} {{ loop.index }}"
    "/{{ loop.length }} {{ loop.first }}{% endfor %}{{ a }}",
    "{% for i in x recursive %}({{ loop(i.a) if i.a is iterable else i }}){% endfor %}",
    "{% set ns = namespace(n=0) %}{% for i in x %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}",
    "{% macro m(a, b='?') %}{{ a }}-{{ b }}{{ caller() if caller else '' }}{{ varargs }}"
    "{{ kwargs }}{% endmacro %}{{ m(x) }}{{ m(x, 1, 2, k=3) }}{% call m(x) %}!{% endcall %}",
    "{% set c %},{{ x }}{% endset %}{{ c|trim(',')|upper }}"
    "{% filter upper %}{{ x }}{% endfilter %}",
    "{% with a = x, b = 1 %}{{ a }}{{ b }}{% endwith %}{% set a, b = [1, x] %}{{ b }}",
    "{% set l = [] %}{% set _ = l.append(x) %}{% set _ = l.extend([1]) %}{{ l }}"
    "{% set d = {} %}{% set _ = d.update({'a': x}) %}{{ d }}{% set _ = l.insert(0, 2) %}{{ l }}",
    "{% set j, c = joiner('|'), cycler(1, 2) %}{{ j() }}{{ x }}{{ j() }}{{ c.next() }}"
    "{{ c.current }}{{ c.next() }}{{ c.reset() }}",
    "{% if x %}yes{% elif x is none %}none{% else %}no{% endif %}",
)

HOSTILE: Final = (
    "{% set ns = namespace(a=[1]) %}{% for i in [1] * 40 %}{% set ns.a = [ns.a, ns.a] %}"
    "{% endfor %}{{ ns.a }}",
    "{% set ns = namespace(a=[1]) %}{% for i in [1] * 40 %}{% set ns.a = [ns.a, ns.a] %}"
    "{% endfor %}{{ ns.a|tojson }}",
    "{% set ns = namespace(a=[1], b=[1]) %}{% for i in [1] * 40 %}{% set ns.a = [ns.a, ns.a] %}"
    "{% set ns.b = [ns.b, ns.b] %}{% endfor %}{{ ns.a == ns.b }}{{ ns.a < ns.b }}",
    "{% set ns = namespace(t='x') %}{% for i in [1] * 60 %}{% set ns.t = ns.t ~ ns.t %}"
    "{% endfor %}{{ ns.t }}",
    "{% for i in [1] * 999999 %}{% for j in [1] * 999999 %}{{ i }}{% endfor %}{% endfor %}",
    "{{ 'x' * 999999999 }}",
    "{% set l = [1] %}{% set _ = l.append(l) %}{{ l }}{{ l|join(l) }}",
)
"""What never ends, or makes too much; both evaluators refuse it."""

JSON_TEMPLATES: Final = (
    '{"v": {{ x|tojson }}{% if x %},"w":{{ x|tojson|string }}{% endif %}}',
    '{% set c %}{{ x|tojson }}{% endset %}{"v": {{ c }}}',
    '{"type": "Card", "v": {{ x|tojson }}, "s": "{{ x }}", "t": "<{{ x|tojson }}>"}',
    '{"type": "Card", "v": {{ x }}, "children": [{% for i in x %}{"type": "Text"}{% endfor %}]}',
    '{"v": {% if x %}{{ x|tojson }}{% else %}null{% endif %}, "w": [1,, {{ x|tojson }}]}',
    '{"v": "{{ "a\\\\n" ~ x }}", "e": [{% for v in x %}{{ i }}{% endfor %}]}',
)

VIEWS: Final = (
    *("x + 1", "1 + x", "x - 1", "x * 2", "x / 2", "x % 2", "x === 1", "x !== 1", "x == '1'"),
    *("x != null", "x < 2", "x <= 2", "x > 2", "x >= 2", "x && 1", "x || 1", "x ?? 1", "!x"),
    *("-x", "+x", "x ? 1 : 2", "`<${x}>`", "x[0]", "x['a']", "x.length", "x.a"),
    *("String(x)", "Number(x)", "Boolean(x)", "Math.round(x)", "Math.floor(x)", "Math.ceil(x)"),
    *("Math.abs(x)", "Math.min(x, 1)", "Math.max(x, 1)", "x.includes('a')", "x.join('-')"),
    *("x.slice(1)", "x.slice(0, -1)", "x.toFixed(2)", "x.toLowerCase()", "x.toUpperCase()"),
    *("x.trim()", "x.map((v, i) => ({ v, i }))", "x.filter(v => v)", "x.find(v => v)"),
    *("x.some(v => v)", "x.every(v => v)", "x.map(({ a, b: c }) => [a, c])", "x.filter(Boolean)"),
    *("[...x, 1]", "({ ...x, a: 2 })", "({ [x]: 1, u: undefined })", "<>{x}{[x]}</>"),
    *("<Card v={x}>{x}{x && <Text value={x} />}</Card>", "<Card {...x}>{null}</Card>"),
    "x.map(v => { const w = v; return w })",
    *("x.at(-1)", "x.charAt(1)", "x.concat([1])", "x.endsWith('b')", "x.flat()", "x.indexOf('a')"),
    *("x.padEnd(4, '-')", "x.padStart(3)", "x.repeat(2)", "x.toString()"),
    *("x.replace('a', '$&')", "x.replaceAll(' ', '')", "x.reverse()", "x.sort()", "x.split(' ')"),
    *("x.split('')", "x.startsWith('a')", "x.substring(3, 1)", "x.toReversed()", "x.toSorted()"),
    *("x.findIndex(v => v)", "x.flatMap(v => [v, 1])", "x.reduce((a, v, i) => a + v + i, '')"),
    *("x.reduce((a, v) => a + v)", "[...x].sort((a, b) => b - a)", "x.toSorted((a, b) => a - b)"),
    *("typeof x", "isNaN(x)", "parseFloat(x)", "parseInt(x)", "Array.from(x)", "Array.isArray(x)"),
    *("Array.from({ length: 2 }, (_, i) => i)", "Object.keys(x)", "Object.values(x)"),
    *("Object.entries(x).map(([k, v]) => k)", "Math.trunc(x)", "Math.pow(x, 2)", "Math.sqrt(x)"),
    *("Math.max(...x)", "<Text>{x} of {1}</Text>", "<Text> a &amp; b </Text>"),
    "const [a, , b = 2, ...r] = x; const { k = 1, ...o } = x; <Card v={[a, b, r, k, o]} />",
    "let t = 0; for (const v of x) { if (v > 1) t += v; else t -= 1 } <Card v={t} />",
    "const f = ({ a }) => { if (!a) return 'none'; return a }; <Card v={f(x)} />",
    "const g = {}; x.forEach(v => { g[v] = [...(g[v] || []), v] }); <Card v={g} />",
    "const k = (v) => { switch (v) { case 1: case 'a': return 'one'; default: return v } };"
    " <Card v={k(x)} />",
)


LOCAL: Final = (
    *(
        "not at",
        "payload.x",
        "at + 1",
        "at ~ payload.x",
        "[at, x, payload.x]",
        "payload",
        "missing",
    ),
    *("payload.x if payload.x is string else at", "x if payload.x else none", "x|length + at"),
    "(x|list if x is sequence else []) + [payload]",
)
"""What a local action assigns to the state `at`, beside the argument `x`."""


_FLOATS: Final = "JSON in JavaScript does not tell a float from a whole number"
_LETTERS: Final = "Unicode's special cases of letters"

DIFFERENCES: Final[tuple[tuple[str, dict[str, Any], str | None, str], ...]] = ()
"""Where the page's text differs from the server's, and why it may."""


def _sources() -> Iterator[tuple[str, str, bool]]:
    """Yield each source with its kind and whether it reads `y`, too."""
    for each in EXPRESSIONS:
        yield "text", "{{ " + each + " }}", False
    for each in TWO:
        yield "text", "{{ " + each + " }}", True
    for each in (*TEMPLATES, *HOSTILE):
        yield "text", each, False
    for each in JSON_TEMPLATES:
        yield "json", each, False
    for each in VIEWS:
        yield "view", each, False
    for each in LOCAL:
        yield "local", each, True


class Assignment:
    """A local action that assigns an expression to the state `at`."""

    def __init__(self, source: str) -> None:
        self._expression = Expression(source, Limits())
        self._local = LocalState(initial={}, actions={"go": {"at": self._expression}})

    def program(self) -> Program:
        """Return the program of the expression."""
        return self._expression.program

    def render(self, arguments: Mapping[str, Any]) -> str:
        """Return the state after the action, as JSON."""
        x, at, payload = arguments["x"], arguments["at"], arguments["payload"]
        return orjson.dumps(self._local.act("go", {"x": x}, {"at": at}, payload)).decode()


def compiled(kind: str, source: str) -> Template | View | Assignment:
    """Compile the source of a case: `text`, `json`, `view` or `local`."""
    if kind == "local":
        return Assignment(source)
    if kind == "view":
        return View(source, Limits())
    compile_source = compile_text if kind == "text" else compile_template
    return compile_source(source, limits=Limits())


def program_json(program: Program) -> dict[str, Any]:
    """Return a program as the page gets it."""
    fields = {"n": program.size, "a": dict(program.arguments)}
    if program.may_need_commas:
        fields["commas"] = True
    return {**fields, ("b" if type(program.root) is tuple else "e"): to_json(program.root)}


def rendered(template: Template | View | Assignment, arguments: Mapping[str, Any]) -> str | None:
    """Return the text that the server makes, None where it fails."""
    try:
        return template.render(arguments)
    except CallError:
        return None


def table(each: int) -> Iterator[dict[str, Any]]:
    """Yield the cases, with so many sets of arguments for each source."""
    for kind, source, reads_two in _sources():
        template = compiled(kind, source)
        if missing_in_page(template.program()):
            continue
        random = Random(source)
        chosen = random.sample(VALUES, len(VALUES))
        rows = []
        for x in islice(chosen, 1 if source in HOSTILE else each):
            arguments = {"x": x, "y": random.choice(VALUES)} if reads_two else {"x": x}
            if kind == "local":
                arguments = {"x": x, "at": arguments["y"], "payload": {"x": random.choice(VALUES)}}
            rows.append({"arguments": arguments, "text": rendered(template, arguments)})
        yield {
            "kind": kind,
            "source": source,
            "program": program_json(template.program()),
            "rows": rows,
            **({"hostile": True} if source in HOSTILE else {}),
        }


def differences() -> Iterator[dict[str, Any]]:
    """Yield the cases in which the page is known to differ."""
    for expression, arguments, page, because in DIFFERENCES:
        source = "{{ " + expression + " }}"
        template = compiled("text", source)
        text = rendered(template, arguments)
        row = {"arguments": arguments, "text": text, "page": page, "because": because}
        program = program_json(template.program())
        yield {"kind": "text", "source": source, "program": program, "rows": [row]}


def main() -> None:
    """Write the table."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else TABLE
    each = int(sys.argv[2]) if len(sys.argv) > 2 else ROWS_EACH
    lines = [orjson.dumps(case).decode() for case in (*table(each), *differences())]
    file.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
