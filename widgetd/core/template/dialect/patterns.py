"""Recognisers of idioms: stripping a comma, asking for the last turn, escaping.

Each function recognises a piece of a tree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final

from widgetd.base.limits import Limits
from widgetd.core.template.parser import every, nodes, parse_expression, target_names


@lru_cache(maxsize=64)
def _strip_tree(name: str) -> nodes.Expr:
    return parse_expression(f"{name}[1:] if {name} and {name}[0] == ',' else {name}", Limits())


# Reads of its name in the value without the comma.
_READS_PER_STRIP: Final = 4


def find_stripping(among: list[nodes.Node]) -> tuple[frozenset[int], frozenset[int]]:
    """Return the set-blocks stripped of a comma by the next output, and those outputs.

    A name with a read anywhere else keeps its set-blocks as they are.
    """
    pairs: dict[str, list[tuple[int, int]]] = {}
    for name, block, value in _pairs(among):
        pairs.setdefault(name, []).append((id(block), id(value)))
    reads = dict.fromkeys(pairs, 0)
    for node in among if pairs else ():
        if isinstance(node, nodes.Name) and node.ctx == "load" and node.name in reads:
            reads[node.name] += 1
    kept = [
        pair
        for name, assigned in pairs.items()
        if reads[name] == _READS_PER_STRIP * len(assigned)
        for pair in assigned
    ]
    return frozenset(block for block, _ in kept), frozenset(value for _, value in kept)


def _pairs(among: list[nodes.Node]) -> Iterator[tuple[str, nodes.Node, nodes.Node]]:
    """Yield each such set-block and value, with the name between them."""
    for parent in among:
        if "body" not in parent.fields:
            continue
        for body in (getattr(parent, "body", ()), getattr(parent, "else_", ())):
            for block, output in pairwise(body):
                if isinstance(block, nodes.AssignBlock) and block.filter is None:
                    value, target = _first_value(output), block.target
                    if isinstance(target, nodes.Name) and value == _strip_tree(target.name):
                        yield target.name, block, value


def _first_value(node: nodes.Node) -> nodes.Node | None:
    if not isinstance(node, nodes.Output):
        return None
    for child in node.nodes:
        if not isinstance(child, nodes.TemplateData) or child.data.strip():
            return child
    return None


def captured_names(among: list[nodes.Node]) -> frozenset[str]:
    blocks = [block for block in among if isinstance(block, nodes.AssignBlock)]
    return frozenset(name for block in blocks for name in target_names(block.target))


def quoted_names(among: list[nodes.Node]) -> frozenset[str]:
    values = [
        node.node for node in among if isinstance(node, nodes.Filter) and node.name == "tojson"
    ]
    return frozenset(node.name for node in values if isinstance(node, nodes.Name))


def decide(test: nodes.Node, turn: tuple[bool, bool] | None) -> bool | None:
    """Return the result of `test` in the `(first, last)` turn of a loop, None if unknown."""
    if turn is None:
        return None
    if isinstance(test, nodes.Not):
        inner = decide(test.node, turn)
        return None if inner is None else not inner
    if isinstance(test, nodes.And | nodes.Or):
        sides = {decide(test.left, turn), decide(test.right, turn)}
        settles = isinstance(test, nodes.Or)
        if settles in sides:
            return settles
        return None if None in sides else not settles
    if isinstance(test, nodes.Compare) and len(test.ops) == 1:
        return _decide_comparison(_member(test.expr), test.ops[0], turn)
    member = _member(test)
    if member in {"index0", "revindex0"}:  # zero is false
        return not turn[member == "revindex0"]
    return turn[member == "last"] if member in {"first", "last"} else None


_FIRST: Final = {("index0", 0), ("index", 1), ("revindex0", "last"), ("revindex", "length")}
_LAST: Final = {("revindex0", 0), ("revindex", 1), ("index", "length")}


def _decide_comparison(
    member: str | None, operand: nodes.Operand, turn: tuple[bool, bool]
) -> bool | None:
    other = operand.expr.value if isinstance(operand.expr, nodes.Const) else _member(operand.expr)
    if (member, other) in _FIRST:
        at_end = turn[0]
    elif (member, other) in _LAST:
        at_end = turn[1]
    else:
        return None
    if operand.op == "eq":
        return at_end
    return not at_end if operand.op in {"ne", "gt", "lt"} else None


def _member(node: nodes.Node) -> str | None:
    if isinstance(node, nodes.Getattr) and node.node == nodes.Name("loop", "load"):
        return node.attr
    return None


def shows_json(node: nodes.Node) -> bool:
    """Return whether `node` always writes a single JSON value."""
    if isinstance(node, nodes.Filter):
        return node.name == "tojson"
    return isinstance(node, nodes.Const) and isinstance(node.value, int | float)


def shows_argument(node: nodes.Node, captured: Collection[str]) -> bool:
    """Return whether `node` writes data, not text put together by the template."""
    names = {
        child.name for child in (node, *node.find_all(nodes.Name)) if isinstance(child, nodes.Name)
    }
    calls = isinstance(node, nodes.Call) or node.find(nodes.Call) is not None
    return names.isdisjoint(captured) and not calls


def escapes_itself(node: nodes.Node) -> bool:
    """Return whether `node` writes JSON's escapes itself, by a backslash or by `tojson`."""
    for child in every(node):
        if isinstance(child, nodes.Filter) and child.name == "tojson" and child is not node:
            return True
        if isinstance(child, nodes.Const) and isinstance(child.value, str) and "\\" in child.value:
            return True
    return False


def starts_json(body: list[nodes.Node]) -> bool:
    """Return whether the text of `body` begins as JSON does, so its strings are known."""
    for node in body:
        if isinstance(node, nodes.Output):
            for child in node.nodes:
                if not isinstance(child, nodes.TemplateData):
                    return shows_json(child)
                if child.data.strip():
                    return child.data.lstrip()[0] in '{["],}'
        elif isinstance(node, nodes.For | nodes.If | nodes.With):
            return starts_json(node.body)
    return False
