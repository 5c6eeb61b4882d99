"""Transcription of JSX to the template that Studio makes of it, without the exporter's losses.

A value becomes JSON, an expression `{{ (…) | tojson }}`, a condition `{% if %}`, a map `{% for %}`.
Children that may be absent begin with a comma, and the first comma is cut off, as in Studio's own
exports. What Jinja cannot say becomes `(none)`, as there; `Transcript.lost` names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import orjson

from widgetd.core.template.jsx.parse import Node, parse
from widgetd.core.template.jsx.syntax import (
    CONSTANTS,
    ELEMENTS,
    entries_of,
    is_fragment,
    only,
    parameters,
    simple_pattern,
    unescape,
    unwrap,
)
from widgetd.core.template.jsx.view import root
from widgetd.core.template.parser import Fault
from widgetd.core.template.values import ABSENT

if TYPE_CHECKING:
    from widgetd.base.limits import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A template made of JSX.

    Attributes:
        template: The Jinja text.
        lost: The beginnings of expressions that Jinja cannot say; `(none)` stands for each.
    """

    template: str
    lost: tuple[str, ...]


def transcribe(view: str, schema: Mapping[str, Any], *, limits: Limits) -> Transcript:
    """Transcribe the JSX of a widget with this argument schema."""
    writer = _Writer()
    try:
        template = writer.value(root(parse(view, limits)), schema.get("properties", {}))
    except Fault as fault:
        return Transcript(template="", lost=(str(fault),))
    return Transcript(template=template, lost=tuple(writer.lost))


Types = Mapping[str, Mapping[str, Any]]
"""The schemas of the arguments, and of the names that loops and constants bind."""


class _UnsayableError(Exception):
    """An expression that Jinja cannot say."""

    def __init__(self, node: Node) -> None:
        super().__init__(node.excerpt)


_RESERVED: Final = frozenset({"not", "and", "or", "is", "none", "loop", "true", "false", "_c"})
_SCALARS: Final = frozenset({"string", "number", "integer", "boolean", "null"})
_NULLISH: Final = frozenset({"null", "undefined"})

_OPERATORS: Final = {
    **{sign: sign for sign in ("-", "*", "/", "%", "<", "<=", ">", ">=")},
    "===": "==",
    "==": "==",
    "!==": "!=",
    "!=": "!=",
    "&&": "and",
    "||": "or",
}
_METHODS: Final[Mapping[str, str]] = {
    "concat": "({0} + {1})",
    "includes": "({1} in {0})",
    "join": "({0} | join({1}))",
    "slice": "{0}[{1}:{2}]",
    "toLowerCase": "({0} | lower)",
    "toString": '("" ~ {0})',
    "toUpperCase": "({0} | upper)",
    "trim": "({0} | trim)",
}
_FUNCTIONS: Final[Mapping[str, str]] = {
    "String": '("" ~ {0})',
    "Math.abs": "({0} | abs)",
    "Math.ceil": '({0} | round(0, "ceil") | int)',
    "Math.floor": '({0} | round(0, "floor") | int)',
    "Math.max": "([{all}] | max)",
    "Math.min": "([{all}] | min)",
}
_TEXTS: Final = frozenset({"join", "toFixed", "toLowerCase", "toString", "toUpperCase", "trim"})
"""Methods whose result is a text."""


class _Writer:
    """Writes nodes as JSON with Jinja in it, or as expressions of Jinja."""

    def __init__(self) -> None:
        self.lost: list[str] = []

    # --- JSON ---

    def value(self, node: Node, types: Types) -> str:
        """Write a JSON value; `(none)` for what Jinja cannot say."""
        return self._or_none(self._value, unwrap(node), types)

    def _or_none(self, write: Callable[[Node, Types], str], node: Node, types: Types) -> str:
        try:
            return write(node, types)
        except _UnsayableError as error:
            self.lost.append(str(error))
            comma = "," if write == self._items else ""
            return f"{comma}{{{{ (none) | tojson }}}}"

    def _value(self, node: Node, types: Types) -> str:
        if node.kind in ELEMENTS or node.kind == "object":
            return self._object(node, types)
        if node.kind == "array" or (_method(node) == "map" and not _is_attribute(node)):
            return self._list(node.children if node.kind == "array" else [node], types)
        if node.kind in CONSTANTS:
            value = CONSTANTS[node.kind](node)
            written = _to_json(None if value is ABSENT else value)
            is_jinja = any(mark in written for mark in ("{{", "{%", "{#"))
            return f"{{{{ {written} | tojson }}}}" if is_jinja else written
        if node.kind == "ternary_expression":
            test, yes, no = self._branches(self.value, node, types)
            return f"{{% if {test} %}}{yes}{{% else %}}{no}{{% endif %}}"
        return f"{{{{ ({self.expression(node, types)}) | tojson }}}}"

    def _branches(
        self, write: Callable[[Node, Types], str], node: Node, types: Types
    ) -> tuple[str, str, str]:
        """Write the test and the two branches of a condition."""
        test, yes, no = (node.fields[one] for one in ("condition", "consequence", "alternative"))
        return self.condition(test, types), write(yes, types), write(no, types)

    def _object(self, node: Node, types: Types) -> str:
        if is_fragment(node):
            raise _UnsayableError(node)
        parts = []
        for key, value in entries_of(node, _raise):
            if not isinstance(key, str):
                raise _UnsayableError(node)
            written = self.value(value, types) if isinstance(value, Node) else _to_json(value)
            parts.append(f"{_to_json(key)}:{written}")
        if children := list(_children(node)):
            parts.append(f'"children":{self._list(children, types)}')
        return "{" + ",".join(parts) + "}"

    def _list(self, nodes: list[Node], types: Types) -> str:
        items = "".join(self._or_none(self._items, each, types) for each in nodes)
        if all(_is_plain(unwrap(each)) for each in nodes):
            return f"[{items[1:]}]"
        first = "{{- (_c[1:] if _c and _c[0] == ',' else _c) -}}"
        return f"[{{%- set _c -%}}{items}{{%- endset -%}}{first}]"

    def _items(self, node: Node, types: Types) -> str:
        """Write what an element of a list comes to: nothing, one or many, each after a comma."""
        node = unwrap(node)
        if is_fragment(node):
            return "".join(self._items(each, types) for each in _children(node))
        if node.kind in _NULLISH | {"false", "true"}:
            return ""
        if node.kind == "array":
            return "".join(self._items(each, types) for each in node.children)
        if node.kind == "binary_expression" and node.fields["operator"].text == "&&":
            test = self.condition(node.fields["left"], types)
            return f"{{%-if {test} -%}}{self._items(node.fields['right'], types)}{{%-endif-%}}"
        if node.kind == "ternary_expression":
            test, yes, no = self._branches(self._items, node, types)
            otherwise = f"{{%-else-%}}{no}" if no else ""
            return f"{{%-if {test} -%}}{yes}{otherwise}{{%-endif-%}}"
        if _method(node) == "flat" or _is_identity(node):
            return self._items(node.fields["function"].fields["object"], types)
        spread = unwrap(only(node)) if node.kind == "spread_element" else node
        if _method(spread) == "map":
            return self._loop(spread, types)
        if spread is not node:
            raise _UnsayableError(node)
        return "," + self.value(node, types)

    def _loop(self, node: Node, types: Types) -> str:
        """Write `xs.filter(…).map((x, i) => …)` as a loop."""
        subject, function = _parts_of_map(node)
        names, bound = self._bind(function, subject, types, "_row")
        element, where = names[0], ""
        if _method(subject) == "filter":
            subject, test = _parts_of_map(subject)
            tested, inner = self._bind(test, subject, types, element)
            if len(tested) > 1:
                raise _UnsayableError(node)
            where = f" if {self.condition(_body(test), inner)}"
            names[0] = "" if tested[0] == element else f"{{%- set {element} = {tested[0]} -%}}"
            element = tested[0]
        else:
            names[0] = ""
        head = f"{{%-for {element} in {self.expression(subject, types)}{where} -%}}"
        before, bound, result = self._constants(function.fields["body"], bound)
        return f"{head}{''.join(names)}{before}{self._items(result, bound)}{{%-endfor-%}}"

    def _bind(
        self, function: Node, subject: Node, types: Types, fallback: str
    ) -> tuple[list[str], Types]:
        """Return the loop's variable, then statements that bind the other parameters."""
        if function.kind != "arrow_function":
            raise _UnsayableError(function)
        element, *index = _bindings(function) or [[]]
        if len(index) > 1:
            raise _UnsayableError(function)
        items = self._type(subject, types).get("items")
        of = items if isinstance(items, dict) else {}
        if [key for _, key in element] == [None]:
            name, keys = _name(element[0][0], function), []
        else:
            name = fallback
            keys = [f"{{%- set {_name(one, function)} = {name}.{key} -%}}" for one, key in element]
        inner = {one: of.get("properties", {}).get(key, {}) for one, key in element if key}
        sets = [f"{{%- set {_name(one[0][0], function)} = loop.index0 -%}}" for one in index]
        return [name, *keys, *sets], {**types, name: of, **inner}

    def _constants(self, body: Node, types: Types) -> tuple[str, Types, Node]:
        """Return the statements of a function's constants, and its result."""
        if body.kind != "statement_block":
            return "", types, body
        *declared, last = body.children or [body]
        if last.kind != "return_statement":
            raise _UnsayableError(body)
        written = ""
        for each in (one for statement in declared for one in statement.children):
            if not {"name", "value"} <= each.fields.keys():
                raise _UnsayableError(body)
            name = _name(each.fields["name"].text, each)
            value = self.expression(each.fields["value"], types)
            written += f"{{%- set {name} = {value} -%}}"
            types = {**types, name: self._type(each.fields["value"], types)}
        return written, types, only(last)

    # --- expressions ---

    def expression(self, node: Node, types: Types) -> str:
        node = unwrap(node)
        if node.kind not in _EXPRESSIONS:
            raise _UnsayableError(node)
        return _EXPRESSIONS[node.kind](self, node, types)

    def condition(self, node: Node, types: Types) -> str:
        """Write a test; empty lists and objects, which Jinja takes for false, are true."""
        node = unwrap(node)
        written = self.expression(node, types)
        if node.kind in _PATHS:
            of = self._type(node, types).get("type", "string")
            if not _SCALARS.issuperset([of] if isinstance(of, str) else of):
                return f"({written} is defined and {written} is not none)"
        return written

    def literal(self, node: Node, _types: Types) -> str:
        value = CONSTANTS[node.kind](node)
        return "none" if value is ABSENT or value is None else _to_json(value)

    def name(self, node: Node, _types: Types) -> str:
        return _name(node.text, node)

    def member(self, node: Node, types: Types) -> str:
        subject, key = self.expression(node.fields["object"], types), node.fields["property"].text
        return f"({subject} | length)" if key == "length" else f"{subject}.{key}"

    def item(self, node: Node, types: Types) -> str:
        subject, index = (self.expression(node.fields[one], types) for one in ("object", "index"))
        return f"{subject}[{index}]"

    def array(self, node: Node, types: Types) -> str:
        return f"[{', '.join(self.expression(each, types) for each in node.children)}]"

    def object(self, node: Node, types: Types) -> str:
        pairs = []
        for key, value in entries_of(node, _raise):
            if not isinstance(key, str) or not isinstance(value, Node):
                raise _UnsayableError(node)
            pairs.append(f"{_to_json(key)}: {self.expression(value, types)}")
        return f"{{{', '.join(pairs)}}}"

    def ternary(self, node: Node, types: Types) -> str:
        test, yes, no = self._branches(self.expression, node, types)
        return f"({yes} if {test} else {no})"

    def unary(self, node: Node, types: Types) -> str:
        sign, operand = node.fields["operator"].text, node.fields["argument"]
        if sign == "!":
            return f"(not {self.condition(operand, types)})"
        if sign not in {"-", "+"}:
            raise _UnsayableError(node)
        return f"({sign}{self.expression(operand, types)})"

    def binary(self, node: Node, types: Types) -> str:
        sign, left, right = (node.fields[one] for one in ("operator", "left", "right"))
        if unwrap(right).kind in _NULLISH and sign.text in {"===", "==", "!==", "!="}:
            one = self.expression(left, types)
            found = f"({one} is defined and {one} is not none)"
            return found if sign.text.startswith("!") else f"(not {found})"
        one, other = self.expression(left, types), self.expression(right, types)
        if other in {"true", "false"} and sign.text in {"===", "!=="}:
            return f"({one} is {'not ' * (sign.text == '!==')}{other})"  # 1 == true in Jinja
        if sign.text == "??":
            return f"({one} if {one} is defined and {one} is not none else {other})"
        if sign.text == "+":
            joins = self._is_text(left, types) or self._is_text(right, types)
            return f"({one} {'~' if joins else '+'} {other})"
        if sign.text not in _OPERATORS:
            raise _UnsayableError(node)
        return f"({one} {_OPERATORS[sign.text]} {other})"

    def text(self, node: Node, types: Types) -> str:
        """Write a template literal, which is a text whatever it holds."""
        parts: list[str] = []
        for is_value, found in groupby(node.children, lambda one: one.kind == _SUBSTITUTION):
            if is_value:
                parts += [self.expression(only(each), types) for each in found]
            elif text := "".join(map(unescape, found)):
                parts.append(_to_json(text))
        # Without a text in front, a single number would stay a number.
        if not parts or not parts[0].startswith('"'):
            parts.insert(0, '""')
        return f"({' ~ '.join(parts)})"

    def call(self, node: Node, types: Types) -> str:
        """Write a call that is a filter, an operator or a slice in Jinja."""
        callee, given = node.fields["function"], node.fields["arguments"].children
        if callee.text in _FUNCTIONS and given:
            written = [self.expression(each, types) for each in given]
            return _FUNCTIONS[callee.text].format(*written, all=", ".join(written))
        name = _method(node)
        if not name:
            raise _UnsayableError(node)
        subject = self.expression(callee.fields["object"], types)
        if name == "toFixed" and [each.kind for each in given] == ["number"]:
            return f'("%.{given[0].text}f" | format({subject}))'
        if name in {"map", "filter"} and _is_attribute(node):
            attribute = _to_json(_body(given[0]).fields["property"].text)
            wanted = f"map(attribute={attribute})" if name == "map" else f"selectattr({attribute})"
            return f"({subject} | {wanted} | list)"
        # The first place of a method's text is its subject.
        if name not in _METHODS or len(given) >= _METHODS[name].count("{"):
            raise _UnsayableError(node)
        written = [self.expression(each, types) for each in given]
        default = '","' if name == "join" else ""
        return _METHODS[name].format(subject, *written, *(default,) * (2 - len(written)))

    # --- types ---

    def _type(self, node: Node, types: Types) -> Mapping[str, Any]:
        """Return the schema of a path; empty if unknown."""
        node = unwrap(node)
        found = None
        if node.kind in {"identifier", "shorthand_property_identifier"}:
            found = types.get(node.text)
        elif node.kind == "member_expression":
            of = self._type(node.fields["object"], types)
            found = of.get("properties", {}).get(node.fields["property"].text)
        elif node.kind == "subscript_expression" or _method(node) in {"filter", "slice"}:
            inner = node.fields.get("object") or node.fields["function"].fields["object"]
            found = self._type(inner, types)
            found = found.get("items") if node.kind == "subscript_expression" else found
        return found if isinstance(found, dict) else {}

    def _is_text(self, node: Node, types: Types) -> bool:
        node = unwrap(node)
        if node.kind in {"string", "template_string"} or _method(node) in _TEXTS:
            return True
        if node.kind == "binary_expression" and node.fields["operator"].text == "+":
            return any(self._is_text(node.fields[one], types) for one in ("left", "right"))
        return self._type(node, types).get("type") == "string"


_SUBSTITUTION: Final = "template_substitution"

_PATHS: Final = frozenset({"identifier", "member_expression", "subscript_expression"})

_ONE: Final = frozenset({"number", "object", "string", "template_string"})

_EXPRESSIONS: Final[Mapping[str, Callable[[_Writer, Node, Types], str]]] = {
    **dict.fromkeys(CONSTANTS, _Writer.literal),
    "identifier": _Writer.name,
    "shorthand_property_identifier": _Writer.name,
    "member_expression": _Writer.member,
    "subscript_expression": _Writer.item,
    "array": _Writer.array,
    "object": _Writer.object,
    "ternary_expression": _Writer.ternary,
    "unary_expression": _Writer.unary,
    "binary_expression": _Writer.binary,
    "template_string": _Writer.text,
    "call_expression": _Writer.call,
}


def _to_json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _raise(fault: Fault) -> None:
    raise fault


def _bindings(function: Node) -> list[list[tuple[str, str | None]]]:
    """Return the names that each parameter binds, each with the key it reads."""
    bound = [simple_pattern(each) for each in parameters(function)]
    if None in bound:
        raise _UnsayableError(function)
    return [each for each in bound if each is not None]


def _name(name: str, node: Node) -> str:
    if name in _RESERVED or not name.replace("_", "a").isalnum():
        raise _UnsayableError(node)
    return name


def _children(node: Node) -> Iterator[Node]:
    """Yield what stands between the tags of an element."""
    if node.kind != "jsx_element":
        return
    tags = {id(node.fields["open_tag"]), id(node.fields["close_tag"])}
    for each in node.children:
        is_blank = each.kind == "jsx_text" and not each.text.strip()
        is_empty = each.kind == "jsx_expression" and not each.children
        if id(each) not in tags and not is_blank and not is_empty:
            yield each


def _is_plain(node: Node) -> bool:
    """Return whether a node is always one element of a list."""
    return node.kind in {*ELEMENTS, *_PATHS, *_ONE} and not is_fragment(node)


def _method(node: Node) -> str:
    """Return the name of the method that a node calls; empty if it calls none."""
    callee = node.fields.get("function")
    if node.kind != "call_expression" or callee is None or callee.kind != "member_expression":
        return ""
    return callee.fields["property"].text


def _parts_of_map(node: Node) -> tuple[Node, Node]:
    given = node.fields["arguments"].children
    if not given:
        raise _UnsayableError(node)
    return unwrap(node.fields["function"].fields["object"]), given[0]


def _body(function: Node) -> Node:
    return unwrap(function.fields["body"])


def _is_identity(node: Node) -> bool:
    """Return whether a node is `xs.map((x) => x)`, which some write to flatten a list."""
    if _method(node) != "map":
        return False
    _, function = _parts_of_map(node)
    is_arrow = function.kind == "arrow_function"
    return is_arrow and _bindings(function) == [[(_body(function).text, None)]]


def _is_attribute(node: Node) -> bool:
    """Return whether a call's function is `x => x.key`."""
    _, function = _parts_of_map(node)
    if function.kind != "arrow_function" or len(bound := _bindings(function)) != 1:
        return False
    body = _body(function)
    return (
        body.kind == "member_expression"
        and body.fields["property"].text != "length"
        and [(body.fields["object"].text, None)] == bound[0]
    )
