"""Which path into the arguments an expression stands for, if that is certain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from widgetd.template.parser import nodes

Names = Mapping[str, str | None]
"""What each bound name stands for: a path, or None where that is not certain."""

_CHOOSING: Final = frozenset({"select", "reject", "selectattr", "rejectattr", "unique"})
_SAME_ELEMENTS: Final = _CHOOSING | {"default", "d", "list", "sort", "reverse", "safe"}
_ONE_ELEMENT: Final = frozenset({"first", "last", "min", "max"})


def path(node: nodes.Node | None, names: Names) -> str | None:
    """The path that `node` stands for: `items[].name`; None where that is not certain."""
    find = _PATHS.get(type(node))
    return None if find is None else find(node, names)


def _name(node: nodes.Name, names: Names) -> str | None:
    return names.get(node.name, node.name)


def _getattr(node: nodes.Getattr, names: Names) -> str | None:
    around = path(node.node, names)
    if around is None or node.attr == "length":
        return around
    return f"{around}.{node.attr}"


def _getitem(node: nodes.Getitem, names: Names) -> str | None:
    around = path(node.node, names)
    if around is None or isinstance(node.arg, nodes.Slice):
        return around
    key = node.arg.value if isinstance(node.arg, nodes.Const) else None
    if isinstance(key, str):
        return f"{around}.{key}"
    return f"{around}[]" if isinstance(key, int) else None


def _filter(node: nodes.Filter, names: Names) -> str | None:
    around = path(node.node, names)
    if around is None or node.name in _SAME_ELEMENTS:
        return around
    if node.name in _ONE_ELEMENT:
        return f"{around}[]"
    return _mapped(node, around) if node.name == "map" else None


def _mapped(node: nodes.Filter, around: str) -> str | None:
    for each in node.kwargs:
        if each.key == "attribute" and isinstance(each.value, nodes.Const):
            return f"{around}[].{each.value.value}"
    return None


def _either(node: nodes.Or, names: Names) -> str | None:
    """`a or []` stands for `a`."""
    literal = isinstance(node.right, nodes.Const | nodes.List | nodes.Dict)
    return path(node.left, names) if literal else None


def _choice(node: nodes.CondExpr, names: Names) -> str | None:
    """`a if a is defined else 0` stands for `a`."""
    literal = isinstance(node.expr2, nodes.Const | nodes.List | nodes.Dict)
    return path(node.expr1, names) if literal else None


_PATHS: Final[Mapping[type[Any], Callable[[Any, Names], str | None]]] = MappingProxyType(
    {
        nodes.Name: _name,
        nodes.Getattr: _getattr,
        nodes.Getitem: _getitem,
        nodes.Filter: _filter,
        nodes.Or: _either,
        nodes.CondExpr: _choice,
    }
)
