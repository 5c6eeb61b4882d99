"""JSX means what JavaScript says, as far as it is available; what is not is named with its place."""
# ruff: noqa: E501 - a table reads best with one case to a line

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.limits import run_attacks
from tests.unit.core.template import jsx_attacks
from widgetd.base.errors import CallError, WidgetError
from widgetd.base.limits import Limits
from widgetd.core.studio.exporter import ExporterBuilder
from widgetd.core.template.jsx import View, constants
from widgetd.core.template.jsx.build import Builder
from widgetd.core.template.jsx.parse import MAX_DEPTH

LIMITS = Limits()
ARGUMENTS: dict[str, Any] = {
    "n": 3,
    "f": 2.5,
    "s": "a b",
    "yes": True,
    "no": False,
    "z": None,
    "xs": [3, "b", None],
    "empty": [],
    "o": {"a": 1, "length": 9},
    "rows": [{"id": "x", "n": 1}, {"id": "y", "n": 2}],
    "huge": 2**63,
    "tiny": 1e-7,
}


def draw(view: str, arguments: dict[str, Any] | None = None) -> Any:
    compiled = View(view, LIMITS)
    return json.loads(compiled.render(ARGUMENTS if arguments is None else arguments))


def value(expression: str) -> Any:
    """Return the value of an attribute; `nothing` if it is left out."""
    return draw(f"<A v={{{expression}}}/>").get("v", "nothing")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        # literals
        ("1", 1), ("1.5", 1.5), ("1_000", 1000), ("0x1F", 31), ("1e3", 1000), (".5", 0.5),
        ("'a'", "a"), ('"a\\n\\u0041\\x42\\u{1F600}\\\'"', "a\nAB😀'"), ("null", None),
        ("true", True), ("undefined", "nothing"), ("[1, undefined, 'a']", [1, None, "a"]),
        ("({a: 1, 'b c': 2, [s]: 3, n, ...o, g: undefined})", {"a": 1, "b c": 2, "a b": 3, "n": 3, "length": 9}),
        ("[...xs, ...empty, 1]", [3, "b", None, 1]), ("[...missing]", []), ("({...missing})", {}),
        ("`${n} of ${xs.length}\\n`", "3 of 3\n"), ("`a`", "a"), ("`${n}`", "3"),
        # how values read in a text
        ("`${yes} ${z} ${missing} ${xs} ${o} ${f} ${3.0} ${tiny} ${1e21} ${0.1 + 0.2}`", "true null  3,b, [object Object] 2.5 3 1e-7 1e+21 0.30000000000000004"),
        ("'' + 1e-6 + ' ' + -0.0000015 + ' ' + 123456789012345680000", "0.000001 -0.0000015 123456789012345680000"),
        ("String(n) + String(z) + String()", "3null"), ("n + 'a'", "3a"), ("'a' + n + 1", "a31"), ("n + 1 + 'a'", "4a"),
        ("'a' + missing", "a"), ("[] + 1", "1"), ("yes + 1", 2), ("z + 1", 1), ("missing + 1", "nothing"),
        # numbers
        ("7 / 2", 3.5), ("6 / 2", 3), ("n % 2", 1), ("-n % 2", -1), ("-s", None), ("+'12'", 12), ("+' '", 0), ("+'1_0'", None),
        ("1 / 0", None), ("0 / 0", None), ("n - '1'", 2), ("'3' * '4'", 12), ("9007199254740993 * 1", 9007199254740992),
        ("Math.round(2.5)", 3), ("Math.round(-2.5)", -2), ("Math.floor(-0.5)", -1), ("Math.ceil(f)", 3), ("Math.abs(-n)", 3),
        ("Math.min(n, 2)", 2), ("Math.max(n, f, '9')", 9), ("Math.round(missing)", "nothing"), ("Math.max()", "nothing"),
        ("f.toFixed(0)", "3"), ("n.toFixed(2)", "3.00"), ("(1.005).toFixed(2)", "1.00"), ("(0.5).toFixed()", "1"), ("(-2.5).toFixed(0)", "-3"), ("missing.toFixed(2)", "nothing"),
        ("Number('1.50')", 1.5), ("Number(s)", None), ("Number(yes)", 1), ("Number(missing)", "nothing"),
        # truth, equality, order
        ("empty && 1", 1), ("({}) && 1", 1), ("'' || 2", 2), ("0 || 2", 2), ("0 ?? 2", 0), ("z ?? 2", 2), ("missing ?? 2", 2),
        ("(0 / 0) || 2", 2), ("n && s", "a b"), ("(no && 1) === false", True), ("!empty", False), ("!missing", True), ("!!s", True), ("Boolean(empty)", True), ("Boolean()", False),
        ("n === 3", True), ("n === '3'", False), ("n == '3'", True), ("yes === 1", False), ("yes == 1", True), ("z === missing", False), ("z == missing", True),
        ("missing === undefined", True), ("z === null", True), ("n !== 3", False), ("n != '4'", True), ("empty === empty", True), ("[] === []", False), ("[3] == 3", True), ("0 == ''", True), ("0 == null", False), ("(0/0) === (0/0)", False),
        ("n > 2", True), ("'b' > 'a'", True), ("'10' > 9", True), ("missing > 1", False), ("z < 1", True), ("n >= 3", True), ("n <= 2", False), ("s < 1", False),
        ("n > 2 ? 'a' : 'b'", "a"), ("empty ? 1 : 2", 1),
        # what values hold
        ("o.a", 1), ("o.length", 9), ("xs.length", 3), ("s.length", 3), ("missing.a.b", "nothing"), ("z.a", "nothing"), ("o?.a", 1), ("missing?.a?.b", "nothing"),
        ("xs[1]", "b"), ("xs[-1]", "nothing"), ("xs[9]", "nothing"), ("o['a']", 1), ("s[0]", "a"), ("rows[1].id", "y"), ("xs[yes]", "nothing"), ("xs['length']", 3), ("xs?.[0]", 3),
        ("n.a", "nothing"), ("yes.constructor", "nothing"), ("o.constructor", "nothing"), ("xs.__class__", "nothing"), ("s.upper", "nothing"),
        # methods
        ("xs.join()", "3,b,"), ("xs.join(', ')", "3, b, "), ("missing.join(',')", ""), ("xs.join(n)", "33b3"),
        ("s.toUpperCase()", "A B"), ("s.toLowerCase()", "a b"), ("' a '.trim()", "a"), ("missing.trim()", "nothing"),
        ("xs.slice(1)", ["b", None]), ("xs.slice(0, -1)", [3, "b"]), ("s.slice(-1)", "b"), ("missing.slice(1)", "nothing"), ("xs.slice('1', 2)", ["b"]),
        ("xs.includes(3)", True), ("xs.includes('3')", False), ("s.includes(' ')", True), ("missing.includes(1)", False), ("xs.includes()", False),
        ("xs.map(x => x)", [3, "b", None]), ("xs.map((x, i) => i)", [0, 1, 2]), ("missing.map(x => x)", []), ("xs.map(() => 1)", [1, 1, 1]), ("xs?.map(x => 1)", [1, 1, 1]),
        ("rows.map(({id, n: m}, i) => `${id}${m}${i}`)", ["x10", "y21"]), ("rows.map(row => { const a = row.n; const b = a + n; return b })", [4, 5]),
        ("rows.map(r => rows.map(q => r.n * q.n))", [[1, 2], [2, 4]]), ("rows.map(n => n.n)", [1, 2]), ("rows.map(r => n)", [3, 3]),
        ("xs.filter(Boolean)", [3, "b"]), ("xs.filter(x => x === 3)", [3]), ("xs.map(String)", ["3", "b", "null"]), ("rows.find(r => r.n > 1).id", "y"), ("rows.find(r => r.n > 2)", "nothing"),
        ("rows.some(r => r.n > 1)", True), ("rows.every(r => r.n > 1)", False), ("empty.every(r => no)", True), ("rows.filter(r => r.n > 1).map(r => r.id).join()", "y"),
        ("((n))", 3), ("/* a */ n", 3), ("missing.length", 0), ("missing?.length", 0), ("missing.a.length > 0", False),
        ("'a-b'.split('-')", ["a", "b"]), ("s.split('')", ["a", " ", "b"]), ("s.split(' ').map(w => w[0].toUpperCase()).join('')", "AB"), ("'aba'.replace('a', '$&')", "$&ba"), ("'aba'.replaceAll('a', '')", "b"),
        ("s.startsWith('a')", True), ("s.endsWith('a')", False), ("s.indexOf('b')", 2), ("xs.indexOf(9)", -1), ("'7'.padStart(3, '0')", "007"), ("'7'.padEnd(3)", "7  "), ("s.charAt(9)", ""), ("s.substring(2, 0)", "a "), ("xs.at(-2)", "b"), ("'ab'.repeat(2)", "abab"),
        ("xs.concat([1], 2)", [3, "b", None, 1]), ("[[1], 2].flat()", [1, 2]), ("xs.reverse()", [None, "b", 3]), ("[10, 9, 1].sort()", [1, 10, 9]), ("[10, 9, 1].sort((a, b) => a - b)", [1, 9, 10]), ("['b', 'Á', 'a'].toSorted((a, b) => a.localeCompare(b))", ["a", "Á", "b"]),
        ("rows.reduce((a, r) => a + r.n, 0)", 3), ("rows.reduce((a, r, i) => `${a}${r.id}${i}`, '')", "x0y1"), ("[1, 2].reduce((a, b) => a - b)", -1), ("missing.reduce((a, b) => a)", "nothing"), ("rows.findIndex(r => r.n === 2)", 1), ("rows.flatMap(r => [r.n, r.n])", [1, 1, 2, 2]),
        ("Object.entries(o).map(([k, v]) => k + v)", ["a1", "length9"]), ("Object.keys({b: 1, 2: 1, 1: 1})", ["1", "2", "b"]), ("Object.values(missing)", []), ("Array.from({length: 2}, (_, i) => i)", [0, 1]), ("Array.from('ab')", ["a", "b"]), ("Array.isArray(xs)", True),
        ("[...new Set([1, 2, 1, '1'])]", [1, 2, "1"]), ("Array.from(new Set(rows.map(r => r.n % 1)))", [0]), ("new Set(xs).has('b')", True), ("[...new Set()]", []), ("[...new Set(missing)]", []),
        ("rows.map((r, i, all) => i < all.length - 1)", [True, False]), ("[...rows].reverse().map((r, i, [first]) => first.id)", ["y", "y"]), ("rows.reduce((a, r, i, all) => a + all.length, 0)", 4),
        ("rows.reduce((by, r) => { (by[r.id] ||= []).push(r.n); by.x.push(9); return by }, {})", {"x": [1, 9, 9], "y": [2]}),
        ("typeof missing === 'undefined'", True), ("typeof z", "object"), ("parseInt('12px')", 12), ("parseFloat('1.5x')", 1.5), ("isNaN('a')", True), ("Math.max(...[1, 4])", 4), ("Math.trunc(-2.5)", -2), ("Math.pow(2, 3)", 8), ("Math.sqrt(-1)", None),
    ],
)  # fmt: skip
def test_expression_has_its_javascript_value(expression: str, expected: Any) -> None:
    got = value(expression)

    assert got == expected
    assert isinstance(got, bool) is isinstance(expected, bool)


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        ("<Card/>", {"type": "Card"}),
        ("(\n  <Card size='sm' asForm></Card>\n);", {"type": "Card", "size": "sm", "asForm": True}),
        ("<A b='x &amp; &lt;y&gt;\\n' c=\"a\n   b\"/>", {"type": "A", "b": "x & <y>\\n", "c": "a b"}),
        ("<A b={{c: 1}} d={[<B/>]} e=<C/>/>", {"type": "A", "b": {"c": 1}, "d": [{"type": "B"}], "e": {"type": "C"}}),
        ("<A>\n  <B/>\n  {/* no */}\n  {null}{undefined}{yes}{''}{no && <C/>}{[]}\n</A>", {"type": "A", "children": [{"type": "B"}]}),
        ("<A>{n && <B/>}{yes ? <C/> : <D/>}{0}{'x'}</A>", {"type": "A", "children": [{"type": "B"}, {"type": "C"}, "x"]}),
        ("<A>{rows.map(r => <B key={r.id}>{r.n > 1 && <C/>}</B>)}<D/></A>", {"type": "A", "children": [{"type": "B", "key": "x"}, {"type": "B", "key": "y", "children": [{"type": "C"}]}, {"type": "D"}]}),
        ("<A>{[<B/>, [<C/>, null]]}<><D/>{n}</></A>", {"type": "A", "children": [{"type": "B"}, {"type": "C"}, {"type": "D"}]}),
        ("<A {...o} b={1} {...missing}>{n}</A>", {"type": "A", "a": 1, "length": 9, "b": 1, "children": []}),
        ("<A b={null} c={undefined} d={missing} e={{f: missing, g: null}}/>", {"type": "A", "b": None, "e": {"g": None}}),
        ("<A b={no && 'x'} c={yes && 'x'} d={n > 3 && 2} e={no && {f: 1}} g={no && `${n}`}/>", {"type": "A", "c": "x"}),
        ("<A b={no && yes} c={0 && 'x'} d={'' && 2} e={[no && 'x']}/>", {"type": "A", "b": False, "c": 0, "d": "", "e": [False]}),
        ("<><A/></>", {"type": "A"}),
        ("yes ? <A/> : <B/>", {"type": "A"}),
        ("rows.map(r => <A/>)", [{"type": "A"}, {"type": "A"}]),
        ("<A.B/>", {"type": "A.B"}),
        ("<Text>{n} of {xs.length}</Text>", {"type": "Text", "value": "3 of 3"}),
        ("<Text>\n  a &amp; b\n  {no && 'c'}{z}{0}\n  d\n</Text>", {"type": "Text", "value": "a & b0d"}),
        ("<Title>plain</Title>", {"type": "Title", "value": "plain"}), ("<Button block>Go {s}</Button>", {"type": "Button", "block": True, "label": "Go a b"}),
        ("<Text>{`${n}`}</Text>", {"type": "Text", "value": "3"}), ("<Text><>{n}<React.Fragment>!</React.Fragment></></Text>", {"type": "Text", "value": "3!"}),
        ("<A>{rows.map(r => <React.Fragment key={r.id}><B/></React.Fragment>)}<Fragment/></A>", {"type": "A", "children": [{"type": "B"}, {"type": "B"}]}),
        ("const m = n + 1, [x, , y = 5] = xs; const {a, b: {c = 2} = {}, ...r} = o;\n<A v={[m, x, y, a, c, r]}/>", {"type": "A", "v": [4, 3, None, 1, 2, {"length": 9}]}),
        ("const f = (x, y = 2) => x * y; function g({id, n}) { return `${id}${f(n)}` }\n<A v={[f(n), f(n, 3), ...rows.map(g)]}/>", {"type": "A", "v": [6, 9, "x2", "y4"]}),
        ("const B = ({t, children, d = 1}) => <C t={t} d={d}>{children}</C>;\n<A><B t={s}><D/></B><B {...o} key='k'/></A>", {"type": "A", "children": [{"type": "C", "t": "a b", "d": 1, "children": [{"type": "D"}]}, {"type": "C", "d": 1}]}),
        ("import React, { Card } from 'react';\nexport default function W({ n, missing = 'm' }) { const d = n * 2; if (d > 9) return null; return <A v={d} w={missing} x={s}/> }", {"type": "A", "v": 6, "w": "m", "x": "a b"}),
        ("const W = (props) => <A v={props.n}/>;\nexport default W;", {"type": "A", "v": 3}),
        ("function W({ n }) { return <A v={n}/> }", {"type": "A", "v": 3}),
        ("'use client';\nexport const k = 2;\nexport default <A v={k}/>", {"type": "A", "v": 2}),
        ("const f = v => { if (v > 2) { return 'a' } else if (v === 2) return 'b'; switch (v) { case 0: case 1: return 'c'; default: return 'd' } };\n<A v={[f(3), f(2), f(1), f(-1)]}/>", {"type": "A", "v": ["a", "b", "c", "d"]}),
        ("let t = 'x', u; if (n > 2) { t = 'y'; u = t + 1 } else t = 'z'; t += '!';\n<A v={[t, u]}/>", {"type": "A", "v": ["y!", "y1"]}),
        ("const out = []; let sum = 0; for (const {n, id} of rows) { sum += n; if (n > 1) out.push(id) }\nconst by = {}; rows.forEach(r => { by[r.id] = (by[r.id] || 0) + r.n });\n<A v={[out, sum, by]}/>", {"type": "A", "v": [["y"], 3, {"x": 1, "y": 2}]}),
        ("const f = (g) => g(n); <A v={f(x => x + 1)} w={(() => { const q = 1; return q })()}/>", {"type": "A", "v": 4, "w": 1}),
    ],
)  # fmt: skip
def test_element_is_an_object_with_its_type(view: str, expected: Any) -> None:
    assert draw(view) == expected


@pytest.mark.parametrize(
    ("view", "message"),
    [
        ("", "line 1: there is no JSX; write one element, as <Card>…</Card>"),
        ("<A>\n  <B c={1 +}/>\n</A>", "line 2: 'identifier' is missing here; write one element, as Studio's editor shows it"),
        ("<A>\n <B", "line 2: the JSX ends before it is whole; write one element, as Studio's editor shows it"),
        ("<A>\n <B a={n s}/></A>", "line 2: this is no JSX; write one element, as Studio's editor shows it"),
        ("<A>\n</B>", "line 2: </B> does not close <A>; write </A>"),
        ("import x from 'y';\n<A/>", "line 1: the statement import is not available: import x from 'y'; arguments come by their names, and a form keeps what a user types"),
        ("<A/>;\n<B/>", "line 2: there is a second expression here; write one element; put two into <>…</>"),
        ("function f() {}", "line 1: there is no JSX; write one element, as <Card>…</Card>"),
        ("<A>\n  {useState(1)}\n</A>", "line 2: useState is not available; arguments come by their names, and a form keeps what a user types"),
        ("<A dangerouslySetInnerHTML={{__html: s}}/>", "line 1: dangerouslySetInnerHTML is not available; use a Markdown component"),
        ("<A>text</A>", 'line 1: text among the children is not available here: text; write <Text value="text" />'),
        ("<A b={() => 1}/>", 'line 1: a function is no value here: b={() => 1}; write onClickAction={{ type: "…", payload: { … } }}'),
        ("<A b={xs.map(f)}/>", "line 1: a function is wanted here: f; write x => …"),
        ("<A b={xs.map((a, b, c, d) => 1)}/>", "line 1: a further parameter is not available; write (x, index, list) => …"),
        ("<A b={xs.map(x => { x })}/>", "line 1: the value of this is used nowhere: x; return it, or leave it out"),
        ("<A b={n ** 2}/>", "line 1: the operator ** is not available; write Math.pow(a, b)"),
        ("<A b={n = 1}/>", "line 1: an assignment is not available here: n = 1; write it as a statement of its own"),
        ("<A b={new Date()}/>", "line 1: new is not available here: new Date(); write it under [derived] in the sidecar, or take it as a text argument"),
        ("<A b={new Intl.NumberFormat('de').format(n)}/>", "line 1: the method format is not available; write it under [derived] in the sidecar, or take it as a text argument"),
        ("<A b={new Map(xs)}/>", "line 1: new is not available here: new Map(xs); write an object, { key: value }, and read object[key]"),
        ("<A b={/a/}/>", "line 1: a regular expression is not available here: /a/; write includes, split or replaceAll with a text"),
        ("<A b={f`a`}/>", "line 1: a tagged literal is not available here: f`a`; write a text in backticks alone"),
        ("<A b={1n}/>", "line 1: this number is not available: 1n; write its digits"),
        ("<A b={}/>", "line 1: one value is wanted here: {}; write a value, or leave the attribute out"),
        ("<A b={({get a() { return 1 }})}/>", "line 1: this is no key with a value: get a() { return 1 }; write key: value"),
        ("<é>" + "\n<A>ü" * MAX_DEPTH, "line 65: the JSX ends before it is whole; write one element, as Studio's editor shows it"),
        ("<A>\n" * 66 + "</A>" * 66, "line 62: the JSX nests too deeply; split it into several widgets"),
        ("<A b='" + "x" * 65_536 + "'/>", "the JSX has 65,545 bytes; at most 65,536 are allowed"),
        ("<A b={[" + "1," * 6_000 + "]}/>", "the JSX has more than 5,000 syntax nodes; make it shorter"),
    ],
)  # fmt: skip
def test_uncompilable_jsx_is_named_with_its_place(view: str, message: str) -> None:
    with pytest.raises(WidgetError) as caught:
        View(view, LIMITS)

    assert str(caught.value) == message
    assert caught.value.finding.code == "W1327"


def test_place_counts_characters_and_lines_of_every_kind() -> None:
    with pytest.raises(WidgetError) as caught:
        View("<A\r\n  b='äöü😀' c={xs.nothing()}/>", LIMITS)

    assert (caught.value.finding.line, caught.value.finding.column) == (2, 18)


@pytest.mark.parametrize(
    ("view", "message"),
    [
        ("<A>\n{n.map(x => 1)}</A>", "line 2: cannot loop over a number"),
        ("<A b={s.map(x => 1)}/>", "line 1: a text is no list"),
        ("<A b={o.map(x => 1)}/>", "line 1: an object is no list"),
        ("<A b={\n n.trim()}/>", "line 2: a number is no text"),
        ("<A b={n.slice(1)}/>", "line 1: cannot take a slice of a number"),
        ("<A b={n.toFixed(101)}/>", "line 1: toFixed takes from 0 to 100 digits"),
        ("<A b={[...o, ...n]}/>", "line 1: cannot loop over a number"),
    ],
)
def test_view_failing_on_arguments_names_the_place(view: str, message: str) -> None:
    with pytest.raises(CallError) as caught:
        View(view, LIMITS).render(ARGUMENTS)

    assert (caught.value.code, caught.value.message) == ("W2004", message)


@pytest.mark.parametrize(
    ("view", "reads"),
    [
        ("<A b={s} c={o.a.b} d={xs.length}/>", ["s 1:7", "o.a.b 1:13", "xs 1:23"]),
        ("<A>{rows.map((r, i) => <B k={r.id}>{i}{n}</B>)}</A>", ["rows 1:5", "rows[].id 1:30", "n 1:40"]),
        ("<A b={rows.filter(r => r.on).map(({id, n: m}) => id + m)}/>", ["rows 1:7", "rows[].on 1:24", "rows[].id 1:50", "rows[].n 1:55"]),
        ("<A b={rows.find(r => r.on).id} c={rows[0].a} d={xs[n]}/>", ["rows[].id 1:7", "rows[].on 1:22", "rows[].a 1:35", "xs 1:49", "n 1:52"]),
        ("<A b={`${s} ${n ?? z}`} {...o} c={{s, [n]: 1, k: z}}/>", ["s 1:10", "n 1:15", "z 1:20", "o 1:29", "s 1:36", "n 1:40", "z 1:50"]),
        ("<A b={rows.map(r => { const q = r.deep; return q.er })}/>", ["rows 1:7", "rows[].deep 1:33", "rows[].deep.er 1:48"]),
        ("<A b={rows[rows.length - 1].a} c={rows.at(-1).id}/>", ["rows 1:7", "rows 1:12", "rows[].id 1:35"]),
        ("const f = ({deep: {er = 1}}) => er; <A b={rows.map(f)} c={[...rows].sort((a, b) => a.n - b.n)[0].id}/>", ["rows[].deep.er 1:33", "rows 1:43", "rows[].id 1:59", "rows 1:63", "rows[].n 1:84", "rows[].n 1:90"]),
        ("<A b={xs.filter(Boolean).map(String)}/>", ["xs 1:7"]),
        ("<A b={s.trim().toUpperCase()} c={Math.max(n, f)} d={xs.join(s)}/>", ["s 1:7", "n 1:43", "f 1:46", "xs 1:53", "s 1:61"]),
    ],
)  # fmt: skip
def test_view_lists_its_reads_and_their_places(view: str, reads: list[str]) -> None:
    compiled = View(view, LIMITS)

    assert [f"{read.path} {read.line}:{read.column}" for read in compiled.reads] == reads


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        ("<A b={`${n}`} c={`${n} ${yes} ${z}`}/>", {"b": 3, "c": "3 True None"}),
        ("<A b={xs.join(',')} c={s.trim()} d={String(n)}/>", {"b": None, "c": None, "d": None}),
        ("<A b={[{type: 'bar'}, {kind: 1}, n]}/>", {"b": [{"type": "Text", "value": {"type": "bar"}}, {"kind": 1}, 3]}),
        ("<A b={{c: undefined}} d={[<B/>]}/>", {"b": {"c": None}, "d": [{"type": "B"}]}),
        ("<A b={empty ? 1 : 2} c={!empty} d={z === missing} e={yes === 1}/>", {"b": 2, "c": True, "d": True, "e": True}),
        ("<A>{empty && <B/>}{n && <C/>}{0 && <D/>}</A>", {"children": [{"type": "C"}]}),
        ("<A b={rows.map(r => r.n)} c={s + n}/>", {"b": [1, 2], "c": "a b3"}),
    ],
)  # fmt: skip
def test_exported_jsx_loses_the_same_as_with_the_exporter(
    view: str, expected: dict[str, Any]
) -> None:
    compiled = View(view, LIMITS, builder=ExporterBuilder)

    assert json.loads(compiled.render(ARGUMENTS)) == {"type": "A", **expected}


def test_values_of_a_view_are_charged_by_weight() -> None:
    with pytest.raises(CallError, match=r"^line 1: rendering takes more than 100,000 steps$"):
        draw("<A b={xs.map(x => xs.map(y => xs.map(z => 1)))}/>", {"xs": list(range(100))})
    with pytest.raises(
        CallError, match=r"^rendering makes more than 1,048,576 characters of text$"
    ):
        draw("<A b={xs}/>", {"xs": ["x" * 1_000] * 1_100})
    few = View("<A b={xs.map(x => x)}/>", LIMITS)
    assert few.rendering({"xs": [1] * 1_000}).steps > few.rendering({"xs": [1]}).steps + 999


def test_no_text_takes_longer_or_more_memory_than_ten_times_its_bar() -> None:
    """A timer of the kernel ends the child where one text takes ten times its bar."""
    assert len(run_attacks("tests.unit.core.template.jsx_attacks")) == len(jsx_attacks.ATTACKS) + 1


@pytest.mark.parametrize("text", jsx_attacks.REREAD)
def test_text_that_the_lexer_rereads_is_refused(text: str) -> None:
    with pytest.raises(WidgetError, match=r"^parsing the JSX takes too long; close every comment"):
        View(text, LIMITS)


@pytest.mark.parametrize("count", [1, 2, 20])
def test_few_unfinished_comments_are_reported_as_a_syntax_error(count: int) -> None:
    with pytest.raises(WidgetError, match=r"this is no JSX|ends before it is whole"):
        View("let a/*:>" * count, LIMITS)


@pytest.mark.parametrize("depth", [MAX_DEPTH // 2, 1_000, 30_000])
def test_depth_is_bounded_before_any_recursion(depth: int) -> None:
    for view in (
        "(" * depth + "n" + ")" * depth,
        "<A>" * depth + "</A>" * depth,
        "!" * depth + "n",
    ):
        limits = Limits(template_bytes=10**6, template_nodes=10**6)
        if depth >= MAX_DEPTH:
            with pytest.raises(WidgetError, match=r"nests too deeply|more than"):
                View(view, limits)
        else:
            View(view, limits).render(ARGUMENTS)


PIECES = ["<A>", "</A>", "<B ", "/>", "b=", "{", "}", "(", ")", "[", "]", "xs", "n", "s", "o", "missing", ".map", ".filter", ".join", ".slice", ".toFixed", ".length", ".includes", "=>", "x", "(x, i)", "({id})", ",", "...", "'a'", "1", "-", "+", "*", "/", "%", "===", "!=", "<", "&&", "||", "??", "?", ":", "!", "`", "${", "const y =", ";", "return", "Math.max", "String", "undefined", "null", "true", " ", "\n"]  # fmt: skip
EXPRESSIONS = st.recursive(
    st.sampled_from(["n", "f", "s", "xs", "o", "rows", "missing", "z", "huge", "yes", "empty", "1", "-1.5", "'a'", "null", "undefined", "1e300"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "%", "===", "==", "<", ">=", "&&", "||", "??"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, st.sampled_from([".length", ".id", "[0]", ".join()", ".slice(-2)", ".trim()", ".toFixed(2)", ".map(x => x)", ".filter(Boolean)", ".find(x => x)", ".map((x, i) => [x, i])"])).map(lambda t: f"({t[0]}){t[1]}"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} ? {t[1]} : {t[2]})"),
        st.tuples(st.sampled_from(["String", "Number", "Boolean", "Math.round", "Math.min", "`${", "[", "({a: ", "!", "- ", "+ ", "[..."]), inner).map(lambda t: t[0] + t[1] + {"`${": "}`", "[": "]", "({a: ": "})", "!": "", "- ": "", "+ ": "", "[...": "]"}.get(t[0], ")") if not t[0][0].isalpha() else f"{t[0]}({t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"({t[0]}).includes({t[1]})"),
        inner.map(lambda one: f"<B c={{{one}}}>{{{one}}}</B>"),
    ),
    max_leaves=12,
)  # fmt: skip


@examples(150)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_text_is_compiled_or_refused(text: str) -> None:
    jsx_attacks.attack(text)


@examples(150)
@given(EXPRESSIONS)
def test_any_expression_is_evaluated_or_fails_as_a_call_does(expression: str) -> None:
    for builder in (Builder, ExporterBuilder):
        view = View(f"<A b={{{expression}}}>{{{expression}}}</A>", LIMITS, builder=builder)
        with contextlib.suppress(CallError):
            assert json.loads(view.render(ARGUMENTS))["type"] == "A"


@pytest.mark.parametrize(
    "expression",
    ["big.toFixed(2)", "xs.slice(big)", "Math.max(big, 1)", "big < 1.5", "(1).toFixed(big)"],
)
def test_argument_of_hundreds_of_digits_is_too_large_to_compute_with(expression: str) -> None:
    view = View(f"<A b={{{expression}}}/>", LIMITS)

    with pytest.raises(CallError, match="line 1: a number is too large to compute with"):
        view.render({"big": 10**400, "xs": [1]})


@pytest.mark.parametrize("number", ["0x10n", "10n", "0b1n", "0o7n"])
def test_integer_of_any_length_is_not_available(number: str) -> None:
    with pytest.raises(WidgetError) as caught:
        View(f"<A b={{{number}}}/>", LIMITS)

    assert caught.value.finding.problem == f"this number is not available: {number}"


REACT = sorted((Path(__file__).parents[3] / "widgets" / "react").glob("*.jsx"))


@pytest.mark.parametrize("file", REACT, ids=lambda file: file.name)
def test_widget_as_react_designers_write_it_draws_its_sample(file: Path) -> None:
    text = file.read_text()
    declared = constants(text, limits=LIMITS)
    properties = cast("dict[str, Any]", declared["schema"])["properties"]

    view = View(text, LIMITS)

    tree = draw(text, cast("dict[str, Any]", declared["sample"]))
    assert tree == json.loads(file.with_suffix(".json").read_text())
    assert {path.split(".")[0].removesuffix("[]") for path in view.names} <= properties.keys()


def test_attribute_type_replaces_no_component_and_is_reported() -> None:
    text = """const Pill = ({ type }) => <Badge label={type} />;
<Card><Switcher type="single" /><Input name="a" type="text" /><Pill type="new" /></Card>"""

    assert [node["type"] for node in draw(text)["children"]] == ["Switcher", "Input", "Badge"]
    repeated = [(tag, name) for tag, name, _ in View(text, LIMITS).repeated_attributes]
    assert repeated == [("Switcher", "type"), ("Input", "type")]


def test_all_refusals_of_a_file_come_at_once() -> None:
    view = """const [open, setOpen] = useState(false);
<Card>
  <Button onClick={() => setOpen(true)} />
  <Text value={new Date(at)} />
  <Row>words</Row>
  {items.forEach(i => i)}
  <Input type="email" name={total.toLocaleString()} />
</Card>"""

    with pytest.raises(WidgetError) as caught:
        View(view, LIMITS)

    assert list(map(str, caught.value.findings)) == [
        "line 1: useState is not available; arguments come by their names, and a form keeps what a user types",
        'line 3: a function is no value here: onClick={() => setOpen(true)}; write onClickAction={{ type: "…", payload: { … } }}',
        "line 4: new is not available here: new Date(at); write it under [derived] in the sidecar, or take it as a text argument",
        'line 5: text among the children is not available here: words; write <Text value="words" />',
        "line 6: the method forEach is not available; write map, or reduce for one value",
        "line 7: the method toLocaleString is not available; write it under [derived] in the sidecar, or take it as a text argument",
    ]


@pytest.mark.parametrize(
    ("view", "message"),
    [
        ("const f = (x) => f(x); <A b={f(1)}/>", "line 1: this calls itself: f(x); write map or reduce over a list"),
        ("const Big = Title; <Big value='x'/>", "line 1: <Big> is a value here, not a component; write its name, <Title>"),
        ("interface Row { n: number; s?: string }\nconst f = (row: Row): string => row!.s as string;\n<A b={f(c)}/>", "line 1: TypeScript is not available here, and there is some in lines 1, 2; leave out interface, type, as, ! and the types behind colons"),
        ("const n = n + 1;\n<A b={n}/>", "line 1: 'n' is used before it is set; take a name that no argument has, or move it up"),
        ("const f = () => 1; <A b={f}/>", "line 1: a function is no value here: f; call it, or write onClickAction={{ type, payload }}"),
        ("const k = 1; k = 2; <A b={k}/>", "line 1: 'k' cannot be changed; declare a name of its own with let, and change that"),
        ("for (let i = 0; i < 3; i++) {} <A/>", "line 1: the statement for is not available: for (let i = 0; i < 3; i++) {}; write map, filter, reduce or for (const x of list)"),
        ("const f = v => { switch (v) { case 1: v; case 2: return 1 } return 2 }; <A b={f(n)}/>", "line 1: this case goes on in the next one; end it with break or return"),
        ("<Text>a <Icon name='x'/></Text>", "line 1: an element within a text is not available: <Icon name='x'/>; write a Row of Texts, or a Markdown"),
        ("const W = (props) => <A {...props}/>; export default W", "line 1: all arguments at once are not available: props; write their names"),
    ],
)  # fmt: skip
def test_unavailable_statement_names_its_replacement(view: str, message: str) -> None:
    with pytest.raises(WidgetError) as caught:
        View(view, LIMITS)

    assert str(caught.value) == message


def test_multiplying_functions_are_refused_before_they_fill_the_memory() -> None:
    doubling = "".join(f"const f{n} = (x) => f{n - 1}(x) + f{n - 1}(x);\n" for n in range(1, 40))

    with pytest.raises(WidgetError, match="more than 5,000 syntax nodes"):
        View(f"const f0 = (x) => x;\n{doubling}<A b={{f39(1)}}/>", LIMITS)
    chain = "".join(f"const f{n} = (x) => f{n - 1}(x);\n" for n in range(1, 200))
    with pytest.raises(WidgetError, match="functions call each other too deeply"):
        View(f"const f0 = (x) => x;\n{chain}<A b={{f199(1)}}/>", LIMITS)


def test_concurrent_parsing_in_threads_does_not_end_the_process() -> None:
    command = [sys.executable, "-m", "tests.programs.parse_in_threads"]
    ran = subprocess.run(
        command, cwd=Path(__file__).parents[4], capture_output=True, timeout=100, check=False
    )

    assert (ran.returncode, ran.stderr) == (0, b"")
