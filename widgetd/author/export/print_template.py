"""A Jinja template printed from the program of a widget.

Other engines can read it. Optional children begin with a comma, and the first comma is cut off, as
in Studio's own exports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from widgetd.author.export.print_expressions import (
    ExpressionPrinter,
    UnprintableError,
    chosen_attribute,
    name_of,
    operands_of,
    to_json,
)
from widgetd.author.export.read_template import read_template
from widgetd.core.template.ir import Expr, Op, constant_of, is_constant
from widgetd.core.template.values import ABSENT

if TYPE_CHECKING:
    from widgetd.core.template.ir import Program


def print_template(program: Program, schema: Mapping[str, Any]) -> str:
    """Print the program of a view or of a template as a template.

    Args:
        program: What draws the widget.
        schema: The advertised schema of its arguments.

    Raises:
        UnprintableError: Jinja, or this printer, lacks an operation of it.
    """
    printer = _TemplatePrinter(program, schema)
    if printer.is_view:
        return printer.value(program.root)
    *before, root = read_template(program.root)
    return printer.items(before) + printer.value(root)


_FIRST: Final = "{{- (_c[1:] if _c and _c[0] == ',' else _c) -}}"
"""The items of a list without the comma that each begins with."""

_SINGLE: Final = frozenset({"{", "js{}", "#", "~", "js`"})
"""Operations that are always one item of a list."""


class _TemplatePrinter(ExpressionPrinter):
    def __init__(self, program: Program, schema: Mapping[str, Any]) -> None:
        super().__init__(program, schema)
        self._wanted = program.names
        self._values: Mapping[str, Callable[[Op], str]] = {
            **dict.fromkeys(("?:", "js?:"), self._choose_value),
            **dict.fromkeys(("[", "js[,]"), self._array),
            "js&&": self._and,
            "js{}": self._element,
            "{": lambda op: f"{{{self._entries(op.operands)}}}",
        }
        self._items: Mapping[str, Callable[[Op], str]] = {
            **dict.fromkeys(("<>", "js[,]", "..."), lambda op: self.items(op.operands)),
            **dict.fromkeys(("if", "js&&", "js?:"), self._condition),
            "=": self._assign,
            "for": self._for,
        }

    def value(self, expr: Expr) -> str:
        expr = self.settle(expr)
        if is_constant(expr):
            value = constant_of(expr)
            written = to_json(None if value is ABSENT else value)
            is_jinja = any(mark in written for mark in ("{{", "{%", "{#"))
            return f"{{{{ {written} | tojson }}}}" if is_jinja else written
        write = self._values.get(name_of(expr))
        if write is not None:
            return write(expr)
        if _is_map(expr):
            return self._array(expr)
        written = self.expression(expr)
        is_closed = written.startswith("(") and written.endswith(")")
        return f"{{{{ {written if is_closed else f'({written})'} | tojson }}}}"

    def _choose_value(self, op: Op) -> str:
        test, yes, no = chosen_attribute(op) or op.operands
        return self._branches("", test, lambda: self.value(yes), lambda: self.value(no))

    def _and(self, op: Op) -> str:
        left, right = op.operands
        kind = self.types.kind(self.settle(left))
        falsy = {"boolean": False, "array": None, "object": None}.get(kind, left)
        return self._branches("", left, lambda: self.value(right), lambda: self.value(falsy))

    def _branches(
        self, strip: str, test: Expr, yes: Callable[[], str], no: Callable[[], str]
    ) -> str:
        condition, then, other = self.choose(test, yes, no)
        start, end = f"{{%{strip} ", f" {strip}%}}"
        middle = f"{start}else{end}{other}" if other else ""
        return f"{start}if {condition}{end}{then}{middle}{start}endif{end}"

    def _element(self, op: Op) -> str:
        children, *parts = op.operands
        if not all(isinstance(key, str) for key in parts[::2]):
            raise UnprintableError("a spread")
        entries = [
            Op(":", pair)
            for pair in zip(parts[::2], parts[1::2], strict=True)
            if not (is_constant(pair[1]) and constant_of(pair[1]) is ABSENT)
        ]
        if children:
            entries.append(Op(":", ("children", Op("[", children))))
        return f"{{{self._entries(entries)}}}"

    def _entries(self, entries: Iterable[Op]) -> str:
        parts: list[str] = []
        conditional = ""
        for entry in entries:
            if entry.name == ":":
                key, value = entry.operands
                parts.append(f"{to_json(key)}:{self.value(value)}")
            else:
                test, *ways = entry.operands
                yes, no = (partial(self._more, way) for way in ways)
                conditional += self._branches("-", test, yes, no)
        if conditional and not parts:
            raise UnprintableError("an object of conditional entries")
        return ",".join(parts) + conditional

    def _more(self, entries: tuple[Op, ...]) -> str:
        return f",{self._entries(entries)}" if entries else ""

    def _array(self, op: Op) -> str:
        items = op.operands if op.name in {"[", "js[,]"} else (op,)
        written = self.items(items)
        if all(isinstance(item, str) or name_of(item) in _SINGLE for item in items):
            return f"[{written[1:]}]"
        return f"[{{%- set _c -%}}{written}{{%- endset -%}}{_FIRST}]"

    def items(self, items: Iterable[Expr]) -> str:
        return "".join(map(self._item, items))

    def _item(self, expr: Expr) -> str:
        expr = self.settle(expr)
        is_hidden = expr is None or isinstance(expr, bool) or name_of(expr) == "undef"
        if self.is_view and is_hidden:
            return ""
        write = self._items.get(name_of(expr))
        if write is not None:
            return write(expr)
        if name_of(expr) == "jsm" and expr.operands[0] == "flat":
            return self._item(expr.operands[1])
        return self._map(expr) if _is_map(expr) else f",{self.value(expr)}"

    def _assign(self, op: Op) -> str:
        slot, value = op.operands
        if type(slot) is not int:
            raise UnprintableError("namespace()")
        self.types.bind(slot, self.types.type_of(value), is_present=False)
        return f"{{%- set {self.name(slot)} = {self.expression(value)} -%}}"

    def _condition(self, op: Op) -> str:
        test, *ways = op.operands
        yes, no = (*(way if type(way) is tuple else (way,) for way in ways), ())[:2]
        return self._branches("-", test, lambda: self.items(yes), lambda: self.items(no))

    def _for(self, op: Op) -> str:
        target, items, inner, loop, other, chooser = op.operands
        tests = [] if chooser is True else [chooser]
        return self._loop(target, items, tests, lambda: self.items(inner), (loop, other))

    def _map(self, op: Op) -> str:
        _, subject, parameters, body = op.operands
        subject, tests, bound = self.settle(subject), list[Expr](), [*parameters[:1]]
        while name_of(subject) == "jsloop" and subject.operands[0] == "filter":
            _, subject, tested, test = subject.operands
            if len(tested) > 1:
                raise UnprintableError("a filter by index")
            subject, bound, tests = self.settle(subject), [*bound, *tested], [test, *tests]
        pairs = [pair for pairs in bound for pair in pairs]
        element = next((slot for slot, key in pairs if key is None), -len(self.names) - 1)
        self.types.bind(element, self.types.item_type(subject), is_present=True)
        for slot, key in pairs:
            if slot != element:
                self.define(slot, element if key is None else Op(".", (element, key)))
        wanted = {element: self._wanted.get(element, "item")}
        head = ""
        with self.naming(wanted | {slot: self._wanted[slot] for ((slot, _),) in parameters[1:]}):
            for ((slot, _),) in parameters[1:]:
                self.types.bind(slot, {"type": "number"}, is_present=True)
                head = f"{{%- set {self.name(slot)} = loop.index0 -%}}"
            return self._loop(element, subject, tests, lambda: head + self._item(body))

    def _loop(
        self,
        target: int,
        subject: Expr,
        tests: list[Expr],
        body: Callable[[], str],
        around: tuple[int | None, tuple[Expr, ...]] = (None, ()),
    ) -> str:
        loop, other = around
        self.types.bind(target, self.types.item_type(subject), is_present=True)
        items = self.guard((subject,), "[]", str)
        outer, self.loop_slot = self.loop_slot, loop
        with self.knowing(()):
            conditions = []
            for test in tests:
                conditions.append(self.condition(test))
                self.proven |= self.proof(test)
            inner = body()
        self.loop_slot = outer
        where = f" if {' and '.join(conditions)}" if conditions else ""
        otherwise = f"{{%- else -%}}{self.items(other)}" if other else ""
        head = f"{{%- for {self.name(target)} in {items}{where} -%}}"
        return f"{head}{inner}{otherwise}{{%- endfor -%}}"


def _is_map(expr: Expr) -> bool:
    return name_of(expr) == "jsloop" and operands_of(expr)[0] in {"map", "flatMap"}
