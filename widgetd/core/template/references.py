"""The reads of a template's arguments, with their places and guards against absence.

A path is dotted, with `[]` for the elements of a list: `groups[].events[].id`.
It is followed through `for`, `set` and the filters that keep a list's elements, and left out where
it is uncertain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from jinja2.visitor import NodeVisitor

from widgetd.core.template.dialect.exporter import INDEX_NAMES, NOTHING_NAMES
from widgetd.core.template.lexer import Lines
from widgetd.core.template.parser import assigned_names, children, nodes, start, target_names
from widgetd.core.template.vocabulary import FUNCTIONS

Names = Mapping[str, str | None]
"""The path that each bound name stands for; None if that is not certain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A place at which a template reads an argument.

    Attributes:
        path: The argument, as `legs[].from.city`.
        line: The line in the template's text.
        column: The column in that line.
        guarded: Whether the template allows its absence: by `default`, by a condition on it, or
            because the read is itself such a condition.
        certain: The paths with certain values here.
        decides: Whether it is a condition by itself. Engines with strict absence fail on it,
            unlike on `x is defined`.
        index: Whether it is a loop's position, forgotten by the exporter, if no argument has
            the same name.
    """

    path: str
    line: int
    column: int
    guarded: bool
    certain: frozenset[str]
    decides: bool = False
    index: bool = False


@dataclass(frozen=True, slots=True)
class _Context:
    """The context of a read.

    Attributes:
        names: The path of each bound name, None if it is uncertain.
        certain: The paths with certain values.
        tested: Whether the value is only tested, so it may be absent.
        decides: Whether it is tested by being true, and not by `is defined` or `default`.
        in_loop: Whether this is in a loop.
    """

    names: Names = field(default_factory=dict)
    certain: frozenset[str] = frozenset()
    tested: bool = False
    decides: bool = False
    in_loop: bool = False

    def binding(self, names: Names) -> _Context:
        return replace(self, names={**self.names, **names})

    def knowing(self, certain: Iterable[str]) -> _Context:
        return replace(self, certain=self.certain.union(certain))

    def where(self, test: nodes.Node, *, is_true: bool) -> _Context:
        return self.knowing(_certain(test, self.names, when=is_true))

    def testing(self, tested: bool = True, *, decides: bool = False) -> _Context:
        """Return this context for a value with no other use than a decision."""
        return replace(self, tested=tested, decides=decides)


def reads(tree: nodes.Node, lines: Lines) -> tuple[Read, ...]:
    """Return every read of an argument in `tree`, in the order of the text."""
    collector = _ReadCollector(lines)
    collector.visit(tree, _Context())
    return tuple(collector.reads)


def names(reads: Iterable[Read]) -> frozenset[str]:
    return frozenset(
        read.path.partition(".")[0].partition("[")[0] for read in reads if not read.index
    )


class _ReadCollector(NodeVisitor):
    """A single walk through a template for its reads.

    A statement's visit returns its new names for the statements after it, if any.
    """

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.reads: list[Read] = []

    def body(self, body: Iterable[nodes.Node], context: _Context) -> Names:
        """Visit statements in order, and return the names bound after the last."""
        for node in body:
            context = context.binding(self.visit(node, context) or {})
        return context.names

    def generic_visit(self, node: nodes.Node, context: _Context) -> None:
        for child in children(node):
            self.visit(child, context.testing(False))

    def visit_Template(self, node: Any, context: _Context) -> None:
        self.body(node.body, context)

    visit_Scope = visit_ScopedEvalContextModifier = visit_Template

    def visit_Name(
        self, node: nodes.Name | nodes.Getattr | nodes.Getitem, context: _Context
    ) -> None:
        """Read the longest path, once."""
        read = path(node, context.names)
        if read is not None:
            self.read(node, read, context)
        elif not isinstance(node, nodes.Name):
            self.visit(node.node, context.testing(False))
        if isinstance(node, nodes.Getitem):
            self.visit(node.arg, context.testing(False))

    visit_Getattr = visit_Getitem = visit_Name

    def read(self, node: nodes.Expr, read: str, context: _Context) -> None:
        name = node.name if isinstance(node, nodes.Name) else ""
        if read in NOTHING_NAMES:
            return
        unbound = context.in_loop and name in INDEX_NAMES and name == read
        guarded = context.tested or read in context.certain or unbound
        line, column = self.lines.location(start(node))
        self.reads.append(
            Read(
                path=read,
                line=line,
                column=column,
                guarded=guarded,
                certain=context.certain,
                decides=context.decides and read not in context.certain,
                index=unbound,
            )
        )

    def visit_Filter(self, node: nodes.Filter, context: _Context) -> None:
        read = path(node, context.names)
        provides = node.name in {"default", "d"}
        if node.name == "map" and read is not None:
            self.read(node, read, context)
        if node.node is not None:
            self.visit(node.node, context.testing(provides))
        for argument in (*node.args, *node.kwargs):
            self.visit(argument, context.testing(False))

    def visit_Test(self, node: nodes.Test, context: _Context) -> None:
        self.visit(node.node, context.testing())
        for argument in node.args:
            self.visit(argument, context.testing(False))

    def visit_CondExpr(self, node: nodes.CondExpr, context: _Context) -> None:
        self.visit(node.test, context.testing(decides=True))
        self.visit(node.expr1, context.where(node.test, is_true=True))
        if node.expr2 is not None:
            self.visit(node.expr2, context.where(node.test, is_true=False))

    def visit_And(self, node: nodes.And | nodes.Or, context: _Context) -> None:
        """Visit `a and b` or `a or b`. `b` is only read if `a` is true, or false."""
        self.visit(node.left, context.testing(decides=True))
        self.visit(node.right, context.where(node.left, is_true=isinstance(node, nodes.And)))

    visit_Or = visit_And

    def visit_Not(self, node: nodes.Not, context: _Context) -> None:
        self.visit(node.node, context.testing(decides=True))

    def visit_Call(self, node: nodes.Call, context: _Context) -> None:
        """Visit a call: the subject of a method, the arguments of a function."""
        if isinstance(node.node, nodes.Getattr):
            self.visit(node.node.node, context.testing(False))
        elif not (isinstance(node.node, nodes.Name) and node.node.name in FUNCTIONS):
            self.visit(node.node, context.testing(False))
        for argument in (*node.args, *node.kwargs):
            self.visit(argument, context.testing(False))

    def visit_If(self, node: nodes.If, context: _Context) -> Names:
        """Visit branches. After them a name has the path common to all."""
        ends = []
        for branch in (node, *node.elif_):
            self.visit(branch.test, context.testing(decides=True))
            ends.append(self.body(branch.body, context.where(branch.test, is_true=True)))
            context = context.where(branch.test, is_true=False)
        ends.append(self.body(node.else_, context))
        return {
            name: ends[0].get(name) if len({end.get(name) for end in ends}) == 1 else None
            for end in ends
            for name in end.keys() - context.names.keys() | assigned_names([node])
        }

    def visit_For(self, node: nodes.For, context: _Context) -> None:
        """Visit a loop. Its target stands for the elements."""
        self.visit(node.iter, context)
        read = path(node.iter, context.names)
        single = isinstance(node.target, nodes.Name) and read is not None
        names = dict.fromkeys(target_names(node.target), f"{read}[]" if single else None)
        turn = replace(context.binding({"loop": None, **names}), in_loop=True)
        if single:
            turn = turn.knowing({str(read), f"{read}[]"})
        if node.test is not None:
            self.visit(node.test, turn.testing(decides=True))
            turn = turn.where(node.test, is_true=True)
        self.body(node.body, turn)
        self.body(node.else_, context)

    def visit_Assign(self, node: nodes.Assign, context: _Context) -> Names:
        self.visit(node.node, context)
        is_name = isinstance(node.target, nodes.Name)
        read = path(node.node, context.names) if is_name else None
        return dict.fromkeys(target_names(node.target), read)

    def visit_AssignBlock(self, node: nodes.AssignBlock, context: _Context) -> Names:
        self.body(node.body, context)
        return dict.fromkeys(target_names(node.target))

    def visit_With(self, node: nodes.With, context: _Context) -> None:
        inner = context
        for target, value in zip(node.targets, node.values, strict=True):
            inner = inner.binding(self.visit_Assign(nodes.Assign(target, value), context))
        self.body(node.body, inner)

    def visit_Macro(self, node: nodes.Macro, context: _Context) -> Names:
        """Visit a macro. The meaning of its parameters depends on the calls."""
        for default in node.defaults:
            self.visit(default, context)
        names = [default.name for default in node.args]
        own = dict.fromkeys([*names, "varargs", "kwargs", "caller", node.name])
        self.body(node.body, context.binding(own))
        return {node.name: None}

    def visit_CallBlock(self, node: nodes.CallBlock, context: _Context) -> None:
        self.visit(node.call, context)
        self.body(
            node.body, context.binding(dict.fromkeys(argument.name for argument in node.args))
        )

    def visit_FilterBlock(self, node: nodes.FilterBlock, context: _Context) -> None:
        self.body(node.body, context)
        self.visit(node.filter, context)


# --- the certain path of an expression into the arguments ---

_CHOOSING: Final = frozenset({"select", "reject", "selectattr", "rejectattr", "unique"})
_SAME_ELEMENTS: Final = _CHOOSING | {"default", "d", "list", "sort", "reverse", "safe"}
_ONE_ELEMENT: Final = frozenset({"first", "last", "min", "max"})


_LITERALS: Final = nodes.Const | nodes.List | nodes.Dict


def path(node: nodes.Node | None, names: Names) -> str | None:
    if isinstance(node, nodes.Name):
        return names.get(node.name, node.name)
    if isinstance(node, nodes.Or):  # `a or []` stands for `a`
        return path(node.left, names) if isinstance(node.right, _LITERALS) else None
    if isinstance(node, nodes.CondExpr):  # and so does `a if a is defined else 0`
        return path(node.expr1, names) if isinstance(node.expr2, _LITERALS) else None
    if not isinstance(node, nodes.Getattr | nodes.Getitem | nodes.Filter):
        return None
    around = path(node.node, names)
    if around is None:
        return None
    return _filter_path(node, around) if isinstance(node, nodes.Filter) else _member(node, around)


def _member(node: nodes.Getattr | nodes.Getitem, around: str) -> str | None:
    if isinstance(node, nodes.Getattr):
        return around if node.attr == "length" else f"{around}.{node.attr}"
    if isinstance(node.arg, nodes.Slice):
        return around
    key = node.arg.value if isinstance(node.arg, nodes.Const) else None
    if isinstance(key, str):
        return f"{around}.{key}"
    return f"{around}[]" if isinstance(key, int) else None


def _filter_path(node: nodes.Filter, around: str) -> str | None:
    if node.name in _SAME_ELEMENTS:
        return around
    if node.name in _ONE_ELEMENT:
        return f"{around}[]"
    for keyword in node.kwargs if node.name == "map" else ():
        if keyword.key == "attribute" and isinstance(keyword.value, nodes.Const):
            return f"{around}[].{keyword.value.value}"
    return None


# --- the certain paths after a condition came out true, or false ---

_ABSENT_TESTS: Final = frozenset({"none", "undefined"})
_NOT_PRESENT: Final = frozenset({"undefined", "none", "false"})


def _certain(test: nodes.Node, names: Names, *, when: bool) -> frozenset[str]:
    if isinstance(test, nodes.Not):
        return _certain(test.node, names, when=not when)
    if isinstance(test, nodes.And | nodes.Or):
        left, right = (_certain(side, names, when=when) for side in (test.left, test.right))
        return left | right if isinstance(test, nodes.And) is when else left & right
    if isinstance(test, nodes.Compare):
        certain = _compares_to_something(test, when=when)
        return _around(test.expr, names) if certain else frozenset()
    if isinstance(test, nodes.Test):
        certain = test.name not in _NOT_PRESENT if when else test.name in _ABSENT_TESTS
        return _around(test.node, names) if certain else frozenset()
    return _around(test, names) if when else frozenset()


def _compares_to_something(test: nodes.Compare, *, when: bool) -> bool:
    """Return whether a comparison proves its operand: `x == "a"`, `x != none`."""
    operand = test.ops[0]
    if len(test.ops) != 1 or not isinstance(operand.expr, nodes.Const):
        return False
    if operand.op not in {"eq", "ne"}:
        return when
    return (operand.expr.value is not None) is ((operand.op == "eq") is when)


def _around(node: nodes.Node, names: Names) -> frozenset[str]:
    whole = path(node, names)
    if whole is None:
        return frozenset()
    steps = [at for at, char in enumerate(whole) if char in ".["]
    return frozenset({whole, *(whole[:at] for at in steps)})
