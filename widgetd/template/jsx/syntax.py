"""Readers of JSX nodes: keys with values, texts, numbers, parameters."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from widgetd.template.jsx.parse import Node
from widgetd.template.serialise import MAX_EXACT
from widgetd.template.values import ABSENT, Value
from widgetd.text_search import compile_pattern

ADVICE: Final = "write it with elements, operators, conditions, and map or filter over lists"

WRAPPING: Final = frozenset({"parenthesized_expression", "jsx_expression"})
ELEMENTS: Final = frozenset({"jsx_element", "jsx_self_closing_element"})
LITERALS: Final = ELEMENTS | {"object", "array"}

_EXECUTES: Final = "dangerouslySetInnerHTML"


def unwrap(node: Node) -> Node:
    """Return the node inside brackets."""
    while node.kind in WRAPPING:
        node = only(node)
    return node


def only(node: Node) -> Node:
    """Return the one node in brackets, or after `return` or `...`."""
    if len(node.children) != 1:
        raise node.fault(f"one value is wanted here: {node.excerpt}", "write it")
    return node.children[0]


def is_fragment(node: Node) -> bool:
    """Return whether `node` is `<>…</>`."""
    return node.kind == "jsx_element" and "name" not in node.fields["open_tag"].fields


Entry = tuple["str | Node | None", "Node | str | bool"]
"""A key, as it is or to be evaluated, and a value; what is spread has no key."""


def entries_of(node: Node) -> Iterator[Entry]:
    """Yield the keys and values of an object, or of the tag that begins an element."""
    if node.kind == "object":
        for each in node.children:
            if each.kind == "spread_element":
                yield None, only(each)
            elif each.kind == "shorthand_property_identifier":
                yield each.text, each
            elif each.kind == "pair":
                key = each.fields["key"]
                is_computed = key.kind == "computed_property_name"
                yield only(key) if is_computed else unescape(key), each.fields["value"]
            else:
                raise each.fault(f"this is no key with a value: {each.excerpt}", ADVICE)
        return
    opening = node.fields.get("open_tag", node)
    yield "type", opening.fields["name"].text
    for each in opening.children[1:]:
        if each.kind != "jsx_attribute":
            yield None, _spread_value(only(each))
            continue
        name, *value = each.children
        if name.text == _EXECUTES:
            raise each.fault(f"{_EXECUTES} is not available", "use a Markdown component")
        yield name.text, value[0] if value else True


def _spread_value(node: Node) -> Node:
    return only(node) if node.kind == "spread_element" else node


_LAST: Final = 0x10FFFF
_ESCAPES: Final = dict(zip("ntrbfv0", "\n\t\r\b\f\v\0", strict=True)) | {"\n": ""}
# A match begins only where a run of white space does, so that each run is read once.
_INDENTED: Final = compile_pattern(r"(?<!\s)[^\S\n]*+\n\s*+")


def unescape(node: Node) -> str:
    """Return the text of a string, or of a piece of a template literal."""
    if node.kind == "escape_sequence":
        code = node.text[1:]
        if code[0] in "ux":
            point = int(code[1:].strip("{}"), 16)
            return chr(point) if point <= _LAST else "\ufffd"
        return _ESCAPES.get(code, code)
    if node.kind == "html_character_reference":
        return html.unescape(node.text)
    if node.kind == "string":
        return "".join(map(unescape, node.children))
    return node.text


def _string(node: Node) -> str:
    """Return the text of a string; the lines of an attribute are joined."""
    said = unescape(node)
    return _INDENTED.sub(" ", said) if "\n" in node.text else said


def _number(node: Node) -> float | int:
    """Return the number of a literal."""
    digits = node.text.replace("_", "").lower()
    try:
        if digits.startswith(("0x", "0o", "0b")):
            return int(digits, 0)
        value = float(digits)
    except ValueError:
        problem = f"this number is not available: {node.excerpt}"
        raise node.fault(problem, "write its digits") from None
    return int(value) if value.is_integer() and abs(value) <= MAX_EXACT else value


def parameters(function: Node) -> list[list[tuple[str, str | None]]]:
    """Return the names that each parameter binds, with the key that each reads, if any."""
    fields = function.fields
    given = fields["parameters"].children if "parameters" in fields else [fields["parameter"]]
    if len(given) > 2:
        raise given[2].fault("a third parameter is not available", "write (x, index) => …")
    return [_list_bindings(each) for each in given]


def _list_bindings(node: Node) -> list[tuple[str, str | None]]:
    if node.kind == "identifier":
        return [(node.text, None)]
    found: list[tuple[str, str | None]] = []
    for each in node.children if node.kind == "object_pattern" else [node]:
        if each.kind == "shorthand_property_identifier_pattern":
            found.append((each.text, each.text))
        elif each.kind == "pair_pattern" and each.fields["value"].kind == "identifier":
            found.append((each.fields["value"].text, each.fields["key"].text))
        else:
            problem = f"this parameter is not available: {each.excerpt}"
            raise each.fault(problem, "write a name, or {a, b}")
    return found


CONSTANTS: Final[Mapping[str, Callable[[Node], Value]]] = MappingProxyType(
    {
        "string": _string,
        "number": _number,
        "true": lambda _node: True,
        "false": lambda _node: False,
        "null": lambda _node: None,
        "undefined": lambda _node: ABSENT,
    }
)
"""The values of nodes that stand for one."""
