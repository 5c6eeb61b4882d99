"""Which paths are certainly there because a condition came out true, or false."""

from __future__ import annotations

from typing import Final

from widgetd.template.parser import nodes
from widgetd.template.paths import Names, path

_ABSENT_TESTS: Final = frozenset({"none", "undefined"})
_NOT_PRESENT: Final = frozenset({"undefined", "none", "false"})


def present_if(test: nodes.Node, names: Names) -> frozenset[str]:
    """The paths that are there where `test` is true."""
    if isinstance(test, nodes.Not):
        return absent_if(test.node, names)
    if isinstance(test, nodes.And):
        return present_if(test.left, names) | present_if(test.right, names)
    if isinstance(test, nodes.Or):
        return present_if(test.left, names) & present_if(test.right, names)
    if isinstance(test, nodes.Test):
        return frozenset() if test.name in _NOT_PRESENT else _around(test.node, names)
    if isinstance(test, nodes.Compare):
        return _compared(test, names, equal=True)
    return _around(test, names)


def absent_if(test: nodes.Node, names: Names) -> frozenset[str]:
    """The paths that are there where `test` is false."""
    if isinstance(test, nodes.Not):
        return present_if(test.node, names)
    if isinstance(test, nodes.And):
        return absent_if(test.left, names) & absent_if(test.right, names)
    if isinstance(test, nodes.Or):
        return absent_if(test.left, names) | absent_if(test.right, names)
    if isinstance(test, nodes.Test):
        return _around(test.node, names) if test.name in _ABSENT_TESTS else frozenset()
    if isinstance(test, nodes.Compare):
        return _compared(test, names, equal=False)
    return frozenset()


def _compared(test: nodes.Compare, names: Names, *, equal: bool) -> frozenset[str]:
    """`x == "a"` being true means that `x` is there, and `x != none` likewise."""
    if len(test.ops) != 1 or not isinstance(test.ops[0].expr, nodes.Const):
        return frozenset()
    something = test.ops[0].expr.value is not None
    holds = (test.ops[0].op == "eq") is equal
    if test.ops[0].op in {"eq", "ne"}:
        return _around(test.expr, names) if something is holds else frozenset()
    return _around(test.expr, names) if equal else frozenset()


def _around(node: nodes.Node, names: Names) -> frozenset[str]:
    """The path of `node` and of everything around it."""
    found = path(node, names)
    if found is None:
        return frozenset()
    steps = [at for at, char in enumerate(found) if char in ".["]
    return frozenset({found, *(found[:at] for at in steps)})
