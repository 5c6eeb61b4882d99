"""The structure of a template: its JSON becomes objects and lists, as in JSX.

Each operation is replaced by a mark, so the rest is JSON, and its commas can be repaired. The
printed result has commas of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from widgetd.author.export.print_expressions import UnprintableError
from widgetd.base.text_search import compile_pattern, read_tokens
from widgetd.core.template.dialect.commas import repair
from widgetd.core.template.ir import Body, Expr, Op, literal


def read_template(body: Body) -> tuple[Op, ...]:
    """Return the assignments of a template's program, then its root.

    Objects are `{` of entries `:`, lists `[` of items. `if`, `for` and `=` are among both.

    Raises:
        UnprintableError: It writes something other than JSON.
    """
    before = tuple(op for op in body if op.name == "=")
    return *before, _read(tuple(op for op in body if op.name != "="))


_VALUE, _WITHIN = "\ue000", "\ue001"
"""Stand around the number of an operation: as a string of its own, or within a string."""

_VALUES: Final = compile_pattern(f"{_VALUE}([0-9]+){_VALUE}")
_PARTS: Final = compile_pattern(f"{_WITHIN}([0-9]+){_WITHIN}")
_SIGNS: Final = compile_pattern(r'\\.|["\[\]{}]')
_COMMAS: Final = compile_pattern(r"[\s,]*")
_CONDITIONS: Final = frozenset({"if", "ifv"})


def _read(body: Body, around: str = "") -> Expr:
    reader = _Reader()
    for part in (around[:1], *_parts(body), around[1:]):
        reader.add(part)
    text = repair(reader.text) or reader.text
    if not text.strip():
        return None
    try:
        return reader.convert(json.loads(text, object_pairs_hook=_Object, strict=False))
    except ValueError:
        raise UnprintableError("a text that is no JSON") from None


def _parts(body: Body) -> Iterator[str | Op]:
    for op in body:
        for part in op.operands if op.name == "out" else (op,):
            if part.name == "data":
                yield part.operands[0]
            # In Jinja, too, names set by a block start with the value around it.
            elif part.name != "copy" and not _writes_commas(part):
                yield part


def _writes_commas(op: Op) -> bool:
    if op.name in {"text", "value"}:
        return _is_comma(op.operands[0])
    bodies = (*op.operands[1::2], op.operands[-1]) if op.name in _CONDITIONS else ()
    texts = [part for body in bodies for part in _parts(body)]
    return bool(texts) and all(map(_is_comma, texts))


def _is_comma(expr: Expr) -> bool:
    if type(expr) is Op and expr.name == "?:":
        return all(map(_is_comma, expr.operands[1:]))
    is_text = isinstance(expr, str) and _COMMAS.fullmatch(expr) is not None
    return is_text or (type(expr) is Op and expr.name == "undef")


class _Object(list[tuple[str, Any]]):
    """The pairs of an object. A key may repeat."""


class _Reader:
    def __init__(self) -> None:
        self.text = ""
        self._ops: list[Op] = []
        self._brackets: list[str] = []
        self._is_quoted = False

    def add(self, part: str | Op) -> None:
        if isinstance(part, str):
            for sign in (token[0] for token in read_tokens(_SIGNS, part)):
                self._is_quoted ^= sign == '"'
                if not self._is_quoted and sign in "[{":
                    self._brackets.append(sign)
                elif not self._is_quoted and sign in "]}" and self._brackets:
                    self._brackets.pop()
            self.text += part
            return
        number = len(self._ops)
        self._ops.append(part)
        mark = f'"{_VALUE}{number}{_VALUE}"'
        if self._is_quoted:
            self.text += f"{_WITHIN}{number}{_WITHIN}"
        elif not self._brackets or self.text.rstrip().endswith(":"):
            self.text += mark
        else:
            self.text += f",{mark}," if self._brackets[-1] == "[" else f",{mark}:0,"

    def convert(self, value: Any) -> Expr:
        if isinstance(value, _Object):
            return Op("{", tuple(entry for pair in value for entry in self._entries(*pair)))
        if isinstance(value, list):
            return Op("[", tuple(operand for item in value for operand in self._items(item)))
        if not isinstance(value, str):
            return literal(value)
        if (op := self._find_operation(value)) is not None:
            return _value_of(op)
        texts = _PARTS.split(value)
        parts = [_part_of_text(self._ops[int(number)]) for number in texts[1::2]]
        return Op("~", ("", *_alternate(texts[::2], parts))) if parts else value

    def _find_operation(self, value: Any) -> Op | None:
        match = _VALUES.fullmatch(value) if isinstance(value, str) else None
        return self._ops[int(match[1])] if match else None

    def _entries(self, key: str, value: Any) -> Iterator[Op]:
        op = self._find_operation(key)
        if op is None:
            yield Op(":", (key, self.convert(value)))
        elif op.name in _CONDITIONS:
            yield from _choose(op, "{}")
        else:
            raise UnprintableError("an entry without a key")

    def _items(self, item: Any) -> Iterator[Expr]:
        op = self._find_operation(item)
        if op is None:
            yield self.convert(item)
        elif op.name == "strip":
            yield from _read(op.operands[0], "[]").operands
        elif op.name in _CONDITIONS:
            yield from _choose(op, "[]")
        elif op.name == "for":
            target, items, body, loop, otherwise, chooser, is_recursive = op.operands
            if type(target) is not int or is_recursive:
                raise UnprintableError("this loop")
            inner, other = (_read(block, "[]").operands for block in (body, otherwise))
            yield Op("for", (target, items, inner, loop, other, chooser))
        else:
            yield op if op.name == "=" else _value_of(op)


def _alternate(texts: list[str], parts: list[Expr]) -> Iterator[Expr]:
    for text, part in zip(texts, [*parts, ""], strict=True):
        yield from (text, part)


def _choose(op: Op, around: str) -> Any:
    *branches, last = op.operands
    is_inner = around in {"[]", "{}"}
    result = _read(last, around).operands if is_inner else _read(last, around)
    for at in range(len(branches) - 2, -1, -2):
        yes = _read(branches[at + 1], around)
        if is_inner:
            result = (Op("if", (branches[at], yes.operands, result)),)
        else:
            result = Op("?:", (branches[at], yes, result))
    return result


def _value_of(op: Op) -> Expr:
    if op.name in {"json", "bare"}:
        return op.operands[0]
    if op.name in {"value", "text"}:
        return _constants(op.operands[0])
    if op.name in _CONDITIONS:
        return _choose(op, "")
    raise UnprintableError(op.name)


def _constants(expr: Expr) -> Expr:
    if type(expr) is Op and expr.name == "?:":
        test, *ways = expr.operands
        return Op("?:", (test, *map(_constants, ways)))
    if not isinstance(expr, str):
        raise UnprintableError("a value without tojson")
    return _read((Op("data", (expr,)),))


def _part_of_text(op: Op) -> Expr:
    if op.name in {"inside", "text"}:
        return op.operands[0]
    if op.name in _CONDITIONS:
        return _choose(op, '""')
    raise UnprintableError(f"{op.name} within a string")
