"""Texts that are no view, or far too much of one; `main` compiles each in a process with limits.

A timer of the kernel ends that process where one text takes too long, whatever holds
the interpreter then, and it can have only so much memory.
"""
# ruff: noqa: E501 - a table reads best with one row to a line

from __future__ import annotations

import sys
from functools import partial
from typing import Final

from tests.support.limits import try_each
from widgetd.base.errors import CallError, WidgetError
from widgetd.base.limits import Limits
from widgetd.core.studio.exporter import ExporterBuilder
from widgetd.core.template.jsx import View
from widgetd.core.template.jsx.build import Builder
from widgetd.core.template.jsx.parse import parse
from widgetd.core.template.parser import Fault

SIZE: Final = 65_536


def much(piece: str, before: str = "", after: str = "") -> str:
    """Repeat `piece` up to the maximum length of a view."""
    room = SIZE - len(before.encode()) - len(after.encode())
    return before + piece * (room // len(piece.encode())) + after


DEEP: Final = [
    much(piece)
    for piece in (
        *("(", "[", "{", "<", "!", "-", "~", "<A>", "<></>", "<A b={", "<A>{", "`${", "({a:", "({[a]("),
        *("a?(", "a?b:", "a=>", "x.map(a=>", "a=>{return ", "async(", "(a,b", "(<A ", "new ", "typeof "),
        *("await ", "yield ", "class a{", "function*(){", "if(a){", "=>{", "a<b>(", "...a", "a??"),
    )
] + [
    much("<A>", after="</A>"),
    "<A>" * 8_000 + "</A>" * 8_000,
    *(f"{'(' * depth}a{')' * depth}" for depth in (60, 100, 30_000)),
    *(much(piece, "a") for piece in (".a", "[0]", "()", ".map(a => a)", "?.a", "+a", "&&a", "??a", "?a:a", "===a", "*a", ",a")),
]  # fmt: skip

WIDE: Final = [
    much("b ", "<A ", "/>"),
    "<A " + " ".join(f"a{n}={{{n}}}" for n in range(10_000)) + "/>",
    much("<B/>", "<A>", "</A>"),
    much("{a}", "<A>", "</A>"),
    much("{/* a */}", "<A>", "</A>"),
    much("&amp;", "<A>", "</A>"),
    much("a,", "[", "]"),
    much("a:1,", "({", "})"),
    much("...a,", "[", "]"),
    much("a,", "f(", ")"),
    much("a,", "(", "b) => 1"),
    much("${a}", "`", "`"),
    much("<A b='1'/>", "<></>"),
]

STRAY: Final = [
    much(piece)
    for piece in (
        *('"', "'", "`", "\\", "&", "/", "/*", "//", "\n", "\0", "a b ", '"" ', 'a "" ', "'a'b", '`a`"b"', 'x"'),
        *('<"', '"<', '</"', "</", "`${a}`", "/a", "=>", "é", "\u2028", "{{", "}}", "{% if %}", "#", "@"),
    )
] + [much("f", '<A b="\\u{', '"/>'), much("f", "<A b={'\\u{", "}'}/>"), much("9", "1e"), much("0"), much("9", "0x")]  # fmt: skip

REREAD: Final = [
    much(piece)
    for piece in ("let a/*:>", "of /*class ", "/of /*=>", "a/*", "(a/*)", "<A>{/*", "a/**", "`${a/*", "x=/*", "in /*of ")
]  # fmt: skip
"""Texts that the lexer reads to the end again from each of thousands of places."""

SHARED: Final = "".join(f"const a{n + 1} = [a{n}, a{n}];" for n in range(50))

COSTLY: Final = [
    f"<A b={{[1].map(a0 => {{ {SHARED} return a50 }})}}/>",
    f"<A>{{[1].map(a0 => {{ {SHARED} return a50 }})}}</A>",
    f"<A b={{`${{[1].map(a0 => {{ {SHARED} return a50 }})}}`}}/>",
    f"<A b={{[1].map(a0 => {{ {SHARED} return a50.join('x').length }})}}/>",
    f"<A b={{[1].some(a0 => {{ {SHARED} return a50.includes(1) }})}}/>",
    f"<A b={{[1].map(a0 => {{ {SHARED.replace('[a', '{l: a').replace(', a', ', r: a').replace(']', '}')} return a50 }})}}/>",
    "<A b={" + "xs.map(a => " * 6 + "1" + ")" * 6 + "}/>",
    "<A>{" + "xs.map(a => <B>{" * 6 + "1" + "}</B>)" * 6 + "}</A>",
    "<A b={xs.map(a => text + text)}/>",
    "<A b={xs.map(a => `${text}${text}`)}/>",
    "<A b={xs.map(a => text.toUpperCase())}/>",
    "<A b={xs.filter(a => text.includes(text.slice(1)))}/>",
    "<A b={xs.filter(a => text + 1 === text + 2)}/>",
    "<A b={xs.map(a => xs.join(text))}/>",
    "<A b={xs.map(a => xs.slice(0))}/>",
    "<A b={xs.map(a => [...xs, ...xs])}/>",
    "<A b={xs.map(a => ({...o, ...o}))}/>",
    "<A b={xs.map(a => o[text])}/>",
    "<A b={xs.map(a => Number(text))}/>",
    "<A b={xs.map(a => (1e300 * 1e300).toFixed(100))}/>",
    "<A b={(1e20 / 3).toFixed(100)} c={-1e999} d={0 / 0} e={[1 / 0]}/>",
    "<A b={9007199254740993 * 9007199254740993 * big * big}/>",
]  # fmt: skip

ATTACKS: Final = [*DEEP, *WIDE, *STRAY, *REREAD, *COSTLY]

ARGUMENTS: Final = {
    "xs": list(range(5_000)),
    "text": "x-" * 100_000,
    "o": {f"k{n}": n for n in range(5_000)},
    "a": [1, "b", None],
    "big": 2**63,
}


def attack(text: str) -> str:
    """Compile and render a text as JSX and as the exporter reads it; return the first result."""
    try:
        parse(text, Limits())
    except Fault as fault:  # for either reading, of which each would parse it again
        return str(fault.of(text))
    messages = []
    for builder in (Builder, ExporterBuilder):
        try:
            messages.append(View(text, Limits(), builder=builder).render(ARGUMENTS)[:20])
        except (WidgetError, CallError) as error:
            messages.append(str(error))
    return messages[0]


def main() -> None:
    """Try every text within ten times the bar, and say the number of each before it begins."""
    attack("<A/>")
    try_each((number, partial(attack, text)) for number, text in enumerate(ATTACKS))
    sys.stdout.write("done\n")


if __name__ == "__main__":
    main()
