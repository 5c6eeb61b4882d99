"""Which of its arguments a template reads, where, and whether it minds their absence.

A path is dotted, with `[]` for the elements of a list: `groups[].events[].id`.
It is followed through `for`, `set` and the filters that keep a list's elements,
as far as it is certain; what is not certain is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final

from widgetd.template import dialect
from widgetd.template.guards import absent_if, present_if
from widgetd.template.parser import children, nodes
from widgetd.template.paths import Names, path
from widgetd.template.places import Place, Read
from widgetd.template.routines import BUILTINS
from widgetd.template.scope import assigned, targets


def reads(tree: nodes.Node) -> tuple[Read, ...]:
    """Every read of an argument in `tree`, in the order of the text."""
    reader = _Reader()
    reader.visit(tree, Place())
    return tuple(reader.found)


def names(found: Iterable[Read]) -> frozenset[str]:
    """The arguments that reads begin at; what an unbound index falls back on is none."""
    return frozenset(_root(read.path) for read in found if not read.index)


def _root(read: str) -> str:
    return read.partition(".")[0].partition("[")[0]


class _Reader:
    """Walks a template once and collects its reads.

    A statement's visit returns what it binds for the statements behind it.
    """

    def __init__(self) -> None:
        self.found: list[Read] = []

    def body(self, body: Iterable[nodes.Node], place: Place) -> Names:
        """Visit statements in their order; the names bound behind the last one."""
        for node in body:
            place = place.binding(self.visit(node, place))
        return place.names

    def visit(self, node: nodes.Node, place: Place) -> Names:
        """Visit one statement or expression; the names it binds."""
        visit = _VISITS.get(type(node))
        if visit is not None:
            return visit(self, node, place)
        for child in children(node):
            self.visit(child, place.testing(False))
        return {}

    def template(self, node: nodes.Template, place: Place) -> Names:
        """Visit the whole."""
        return self.body(node.body, place)

    def value(self, node: nodes.Name | nodes.Getattr | nodes.Getitem, place: Place) -> Names:
        """Visit a name, or what is read from one: the longest path counts, once."""
        read = path(node, place.names)
        if read is not None:
            self.read(node, read, place)
        elif not isinstance(node, nodes.Name):
            self.visit(node.node, place.testing(False))
        if isinstance(node, nodes.Getitem):
            self.visit(node.arg, place.testing(False))
        return {}

    def read(self, node: nodes.Expr, read: str, place: Place) -> None:
        """Remember a read."""
        name = node.name if isinstance(node, nodes.Name) else ""
        if read in dialect.NOTHING_NAMES:
            return
        unbound = place.turning and name in dialect.INDEX_NAMES and name == read
        guarded = place.tested or read in place.known or unbound
        self.found.append(
            Read(path=read, line=node.lineno, guarded=guarded, known=place.known, index=unbound)
        )

    def filter(self, node: nodes.Filter, place: Place) -> Names:
        """Visit a filter: `default` provides for absence."""
        read = path(node, place.names)
        provides = node.name in {"default", "d"}
        if node.name == "map" and read is not None:
            self.read(node, read, place)
        if node.node is not None:
            self.visit(node.node, place.testing(provides))
        for each in (*node.args, *node.kwargs):
            self.visit(each, place.testing(False))
        return {}

    def test(self, node: nodes.Test, place: Place) -> Names:
        """Visit a test: being asked about, a value may be absent."""
        self.visit(node.node, place.testing())
        for each in node.args:
            self.visit(each, place.testing(False))
        return {}

    def choice(self, node: nodes.CondExpr, place: Place) -> Names:
        """Visit `a if c else b`."""
        self.visit(node.test, place.testing())
        self.visit(node.expr1, place.knowing(present_if(node.test, place.names)))
        if node.expr2 is not None:
            self.visit(node.expr2, place.knowing(absent_if(node.test, place.names)))
        return {}

    def both(self, node: nodes.And, place: Place) -> Names:
        """Visit `a and b`: `b` is only read where `a` is true."""
        self.visit(node.left, place.testing())
        self.visit(node.right, place.knowing(present_if(node.left, place.names)))
        return {}

    def either(self, node: nodes.Or, place: Place) -> Names:
        """Visit `a or b`: `b` provides for the absence of `a`."""
        self.visit(node.left, place.testing())
        self.visit(node.right, place.knowing(absent_if(node.left, place.names)))
        return {}

    def negation(self, node: nodes.Not, place: Place) -> Names:
        """Visit `not a`."""
        return self.visit(node.node, place.testing())

    def call(self, node: nodes.Call, place: Place) -> Names:
        """Visit a call: of a method, what it belongs to; of a function, what it is given."""
        if isinstance(node.node, nodes.Getattr):
            self.visit(node.node.node, place.testing(False))
        elif not (isinstance(node.node, nodes.Name) and node.node.name in BUILTINS):
            self.visit(node.node, place.testing(False))
        for each in (*node.args, *node.kwargs):
            self.visit(each, place.testing(False))
        return {}

    def branches(self, node: nodes.If, place: Place) -> Names:
        """Visit an `if`: behind it, a name stands for what all branches agree on."""
        ends = []
        for each in (node, *node.elif_):
            self.visit(each.test, place.testing())
            ends.append(self.body(each.body, place.knowing(present_if(each.test, place.names))))
            place = place.knowing(absent_if(each.test, place.names))
        ends.append(self.body(node.else_, place))
        return {
            name: ends[0].get(name) if len({end.get(name) for end in ends}) == 1 else None
            for end in ends
            for name in end.keys() - place.names.keys() | assigned([node])
        }

    def loop(self, node: nodes.For, place: Place) -> Names:
        """Visit a loop: its target stands for the elements of what it runs through."""
        self.visit(node.iter, place)
        read = path(node.iter, place.names)
        single = isinstance(node.target, nodes.Name) and read is not None
        names = dict.fromkeys(targets(node.target), f"{read}[]" if single else None)
        turn = place.binding({"loop": None, **names}).in_loop()
        if single:
            turn = turn.knowing({str(read), f"{read}[]"})
        if node.test is not None:
            self.visit(node.test, turn.testing())
            turn = turn.knowing(present_if(node.test, turn.names))
        self.body(node.body, turn)
        self.body(node.else_, place)
        return {}

    def assign(self, node: nodes.Assign, place: Place) -> Names:
        """Visit a `set`: the name stands for the path it is given."""
        self.visit(node.node, place)
        names: dict[str, str | None] = dict.fromkeys(targets(node.target))
        if isinstance(node.target, nodes.Name):
            names[node.target.name] = path(node.node, place.names)
        return names

    def set_block(self, node: nodes.AssignBlock, place: Place) -> Names:
        """Visit a set-block: its name stands for a text of its own."""
        self.body(node.body, place)
        return dict.fromkeys(targets(node.target))

    def bindings(self, node: nodes.With, place: Place) -> Names:
        """Visit a `with`."""
        names: dict[str, str | None] = {}
        for target, value in zip(node.targets, node.values, strict=True):
            self.visit(value, place)
            names.update(dict.fromkeys(targets(target)))
            if isinstance(target, nodes.Name):
                names[target.name] = path(value, place.names)
        self.body(node.body, place.binding(names))
        return {}

    def macro(self, node: nodes.Macro, place: Place) -> Names:
        """Visit a macro: what its parameters stand for is up to its callers."""
        for each in node.defaults:
            self.visit(each, place)
        names = [each.name for each in node.args]
        own = dict.fromkeys([*names, "varargs", "kwargs", "caller", node.name])
        self.body(node.body, place.binding(own))
        return {node.name: None}

    def call_block(self, node: nodes.CallBlock, place: Place) -> Names:
        """Visit a `call` block."""
        self.visit(node.call, place)
        self.body(node.body, place.binding(dict.fromkeys(each.name for each in node.args)))
        return {}

    def apart(self, node: nodes.Scope | nodes.ScopedEvalContextModifier, place: Place) -> Names:
        """Visit a body whose names end with it."""
        self.body(node.body, place)
        return {}

    def capture(self, node: nodes.FilterBlock, place: Place) -> Names:
        """Visit a `filter` block."""
        self.body(node.body, place)
        self.visit(node.filter, place)
        return {}


_VISITS: Final[Mapping[type[nodes.Node], Callable[..., Names]]] = MappingProxyType(
    {
        nodes.Template: _Reader.template,
        nodes.Name: _Reader.value,
        nodes.Getattr: _Reader.value,
        nodes.Getitem: _Reader.value,
        nodes.Filter: _Reader.filter,
        nodes.Test: _Reader.test,
        nodes.CondExpr: _Reader.choice,
        nodes.And: _Reader.both,
        nodes.Or: _Reader.either,
        nodes.Not: _Reader.negation,
        nodes.Call: _Reader.call,
        nodes.If: _Reader.branches,
        nodes.For: _Reader.loop,
        nodes.Assign: _Reader.assign,
        nodes.AssignBlock: _Reader.set_block,
        nodes.With: _Reader.bindings,
        nodes.Macro: _Reader.macro,
        nodes.CallBlock: _Reader.call_block,
        nodes.FilterBlock: _Reader.capture,
        nodes.Scope: _Reader.apart,
        nodes.ScopedEvalContextModifier: _Reader.apart,
    }
)
