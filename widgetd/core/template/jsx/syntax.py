"""Readers of JSX nodes: keys with values, texts, numbers, parameters."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from widgetd.base.text_search import compile_pattern
from widgetd.core.template.jsx import refusals
from widgetd.core.template.jsx.parse import Node
from widgetd.core.template.parser import Fault
from widgetd.core.template.serialise import MAX_EXACT
from widgetd.core.template.values import ABSENT, Value

WRAPPING: Final = frozenset({"parenthesized_expression", "jsx_expression"})
ELEMENTS: Final = frozenset({"jsx_element", "jsx_self_closing_element"})
FUNCTION_NODES: Final = frozenset({"arrow_function", "function_expression"})
PATTERN_NAMES: Final = frozenset({"identifier", "shorthand_property_identifier_pattern"})
LITERALS: Final = ELEMENTS | {"object", "array"}

_EXECUTES: Final = "dangerouslySetInnerHTML"


def unwrap(node: Node) -> Node:
    """Return the node inside brackets. Empty brackets stay as they are."""
    while node.kind in WRAPPING and len(node.children) == 1:
        node = node.children[0]
    return node


def only(node: Node) -> Node:
    """Return the single node in brackets, or after `return` or `...`."""
    if len(node.children) != 1:
        problem = f"one value is wanted here: {node.excerpt}"
        raise node.fault(problem, "write a value, or leave the attribute out")
    return node.children[0]


def tag_of(node: Node) -> str:
    opening = node.fields.get("open_tag", node)
    return opening.fields["name"].text if "name" in opening.fields else ""


def is_fragment(node: Node) -> bool:
    return node.kind in ELEMENTS and tag_of(node) in {"", "Fragment", "React.Fragment"}


Entry = tuple["str | Node | None", "Node | str | bool"]
"""A key, as it is or to be evaluated, and a value; what is spread has no key."""


def entries_of(node: Node, report: Callable[[Fault], None]) -> Iterator[Entry]:
    """Yield the keys and values of an object, or of an element, with `type` as first key.

    An unavailable entry is left out, and `report` called with its fault.
    """
    if node.kind != "object":
        yield "type", tag_of(node)
        yield from attributes_of(node, report)
        return
    for child in node.children:
        if child.kind == "spread_element":
            yield None, only(child)
        elif child.kind == "shorthand_property_identifier":
            yield child.text, child
        elif child.kind == "pair":
            key = child.fields["key"]
            is_computed = key.kind == "computed_property_name"
            yield only(key) if is_computed else unescape(key), child.fields["value"]
        else:
            problem = f"this is no key with a value: {child.excerpt}"
            report(child.fault(problem, "write key: value"))


def attributes_of(
    node: Node, report: Callable[[Fault], None], *, takes_functions: bool = False
) -> Iterator[Entry]:
    """Yield the attributes of an element's opening tag, as `entries_of` does."""
    for attribute in node.fields.get("open_tag", node).children[1:]:
        if attribute.kind != "jsx_attribute":
            inner = only(attribute)
            yield None, only(inner) if inner.kind == "spread_element" else inner
            continue
        name, *value = attribute.children
        is_function = value and unwrap(value[0]).kind in FUNCTION_NODES
        if name.text == _EXECUTES:
            report(attribute.fault(f"{_EXECUTES} is not available", "use a Markdown component"))
        elif name.text == "type" and not takes_functions:
            continue  # it would replace the component's name: W1123 reports it
        elif is_function and not takes_functions:
            problem = f"a function is no value here: {attribute.excerpt}"
            report(attribute.fault(problem, refusals.HANDLER_ADVICE))
        else:
            yield name.text, value[0] if value else True


_LAST: Final = 0x10FFFF
_ESCAPES: Final = dict(zip("ntrbfv0", "\n\t\r\b\f\v\0", strict=True)) | {"\n": ""}
# A match begins only at the start of white space, so each run is read once.
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
    said = unescape(node)
    return _INDENTED.sub(" ", said) if "\n" in node.text else said


def _number(node: Node) -> float | int:
    digits = node.text.replace("_", "").lower()
    try:
        if digits.startswith(("0x", "0o", "0b")):
            return int(digits, 0)
        value = float(digits)
    except ValueError:
        problem = f"this number is not available: {node.excerpt}"
        raise node.fault(problem, "write its digits") from None
    return int(value) if value.is_integer() and abs(value) <= MAX_EXACT else value


def parameters(function: Node) -> list[Node]:
    fields = function.fields
    return fields["parameters"].children if "parameters" in fields else [fields["parameter"]]


def simple_pattern(node: Node) -> list[tuple[str, str | None]] | None:
    """Return the names of a pattern, each with its key, None if it is nested."""
    if node.kind in PATTERN_NAMES:
        return [(node.text, None)]
    bound: list[tuple[str, str | None]] = []
    for child in node.children:
        if node.kind != "object_pattern":
            return None
        key, value = child.fields.get("key", child), child.fields.get("value", child)
        if value.kind not in PATTERN_NAMES or key.kind == "computed_property_name":
            return None
        bound.append((value.text, unescape(key)))
    return bound


def is_component_import(node: Node) -> bool:
    """Return whether a statement imports components only, already present here."""
    clauses = [child for child in node.children if child.kind == "import_clause"]
    return node.kind == "import_statement" and all(
        name[:1].isupper() for clause in clauses for name in _imported_names(clause)
    )


def _imported_names(node: Node) -> list[str]:
    if node.kind == "import_specifier":
        return [node.fields["name"].text]
    if node.kind == "identifier":
        return [node.text]
    return [name for child in node.children for name in _imported_names(child)]


def joined_text(source: str) -> str:
    """Return a text between tags as JSX reads it: lines trimmed and joined by a space."""
    first, *lines = source.split("\n")
    if not lines:
        return html.unescape(first)
    middle = [line.strip() for line in lines[:-1]]
    parts = [first.rstrip(), *middle, lines[-1].lstrip()]
    return html.unescape(" ".join(part for part in parts if part))


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
