"""Turn each kind of statement into a closure that runs it over a frame and writes to a list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from widgetd.template.assignments import assignment
from widgetd.template.budget import NODES_PER_STEP, Failure
from widgetd.template.captures import captured, stripped, writing
from widgetd.template.expressions import call, expression, filtered
from widgetd.template.looping import Turns, loop
from widgetd.template.macros import Blueprint, Macro
from widgetd.template.output import output
from widgetd.template.parser import fault, height, nodes
from widgetd.template.scope import (
    Evaluate,
    Execute,
    Frame,
    Scope,
    assigned,
)

_REFUSED: Final[Mapping[type[nodes.Node], tuple[str, str]]] = MappingProxyType(
    {
        nodes.Include: ("includes are not available", "put the text into this template"),
        nodes.Import: ("imports are not available", "put the macros into this template"),
        nodes.FromImport: ("imports are not available", "put the macros into this template"),
        nodes.Extends: ("inheritance is not available", "put the text into this template"),
        nodes.Block: ("blocks are not available", "write their text, or make it a macro"),
    }
)


def block(body: list[nodes.Node], scope: Scope) -> Execute:
    """The closure that runs the statements of `body` one after another.

    Raises:
        WidgetError: `W1302`, where one is not available in templates.
    """
    parts = [(node.lineno, statement(node, scope)) for node in body]
    if len(parts) == 1 and isinstance(body[0], nodes.Output):
        return parts[0][1]

    def run(frame: Frame, out: list[str]) -> None:
        line = 0
        try:
            for line, part in parts:  # noqa: B007 - told where a part fails
                part(frame, out)
        except Failure as failure:
            raise failure.at(line) from None

    return run


def statement(node: nodes.Node, scope: Scope) -> Execute:
    """The closure that runs `node`.

    Raises:
        WidgetError: as `block` does.
    """
    if type(node) in _REFUSED:
        raise fault("W1302", node.lineno, *_REFUSED[type(node)])
    scope.layout.nodes += 1
    make = _MAKERS.get(type(node))
    if make is None:
        word = type(node).__name__.lower()
        raise fault("W1302", node.lineno, f"{word} is not available", "use what stays in the data")
    return make(node, scope)


def inner(body: list[nodes.Node], around: Scope) -> Execute:
    """The closure that runs `body` in a scope of its own."""
    return _within(body, Scope(around.layout, around))


def _within(body: list[nodes.Node], scope: Scope) -> Execute:
    shadows = scope.shadowed(sorted(assigned(body)))
    run = block(body, scope)
    if not shadows:
        return run

    def apart(frame: Frame, out: list[str]) -> None:
        for here, around in shadows:
            frame[here] = frame[around]
        run(frame, out)

    return apart


def _if(node: nodes.If, scope: Scope) -> Execute:
    branches = [
        (expression(each.test, scope), block(each.body, scope)) for each in (node, *node.elif_)
    ]
    otherwise = block(node.else_, scope)
    if len(branches) > 1:
        return _branching(branches, otherwise)
    test, then = branches[0]

    def choose(frame: Frame, out: list[str]) -> None:
        if test(frame):
            then(frame, out)
        else:
            otherwise(frame, out)

    return choose


def _branching(branches: list[tuple[Evaluate, Execute]], otherwise: Execute) -> Execute:
    def choose(frame: Frame, out: list[str]) -> None:
        for test, then in branches:
            if test(frame):
                return then(frame, out)
        return otherwise(frame, out)

    return choose


def _for(node: nodes.For, scope: Scope) -> Execute:
    before = scope.layout.nodes
    turn = Scope(scope.layout, scope, loops=True)
    bind = assignment(node.target, turn)
    chooser = None
    if node.test is not None:
        apart = Scope(scope.layout, scope)
        apart.names.update(turn.names)
        chooser = expression(node.test, apart)
    body = _within(node.body, turn)
    nodes_of_turn = scope.layout.nodes - before
    return loop(
        Turns(
            line=node.lineno,
            cost=nodes_of_turn // NODES_PER_STEP,
            items=expression(node.iter, scope),
            chooser=chooser,
            bind=bind,
            place=turn.names[node.target.name] if isinstance(node.target, nodes.Name) else None,
            body=body,
            otherwise=inner(node.else_, scope) if node.else_ else None,
            loop_place=turn.loop() if node.recursive else turn.loop_place,
            height=height(node) if node.recursive else 0,
        )
    )


def _assign(node: nodes.Assign, scope: Scope) -> Execute:
    value = expression(node.node, scope)
    if isinstance(node.target, nodes.Name):
        place = scope.bind(node.target.name)

        def store(frame: Frame, _out: list[str]) -> None:
            frame[place] = value(frame)

        return store
    bind = assignment(node.target, scope)
    return lambda frame, _out: bind(frame, value(frame))


def _assign_block(node: nodes.AssignBlock, scope: Scope) -> Execute:
    body = inner(node.body, scope)
    if id(node) in scope.layout.flow.stripping:
        return stripped(body)
    value = captured(body)
    if node.filter is not None:
        value = _chain(node.filter, scope, value)
    bind = assignment(node.target, scope)
    return lambda frame, _out: bind(frame, value(frame))


def _chain(node: nodes.Filter, scope: Scope, subject: Evaluate) -> Evaluate:
    """The filters of a filter block or set-block, applied to the text it captured."""
    if isinstance(node.node, nodes.Filter):
        subject = _chain(node.node, scope, subject)
    return filtered(node, subject, scope)


def _filter_block(node: nodes.FilterBlock, scope: Scope) -> Execute:
    return writing(node, _chain(node.filter, scope, captured(inner(node.body, scope))), scope)


def _with(node: nodes.With, scope: Scope) -> Execute:
    apart = Scope(scope.layout, scope)
    values = [expression(each, scope) for each in node.values]
    binds = [assignment(each, apart) for each in node.targets]
    body = _within(node.body, apart)

    def run(frame: Frame, out: list[str]) -> None:
        for bind, value in list(zip(binds, [each(frame) for each in values], strict=True)):
            bind(frame, value)
        body(frame, out)

    return run


def _macro(node: nodes.Macro, scope: Scope) -> Execute:
    place = scope.bind(node.name)
    blueprint = _blueprint(node, node.name, scope)

    def define(frame: Frame, _out: list[str]) -> None:
        frame[place] = Macro(blueprint, frame)

    return define


def _blueprint(node: nodes.Macro | nodes.CallBlock, name: str, around: Scope) -> Blueprint:
    before = around.layout.nodes
    scope = Scope(around.layout, around)
    scope.is_macro = True
    places = {each.name: scope.bind(each.name) for each in node.args}
    used = {each.name for part in node.body for each in _names(part)} - places.keys()
    special = {
        each: scope.bind(each) if each in used else None for each in ("varargs", "kwargs", "caller")
    }
    with_default = [each.name for each in node.args][len(node.args) - len(node.defaults) :]
    values = [expression(each, scope) for each in node.defaults]
    body = _within(node.body, scope)
    return Blueprint(
        name=name,
        places=places,
        defaults=dict(zip(with_default, values, strict=True)),
        body=body,
        height=height(node),
        nodes=around.layout.nodes - before,
        **special,
    )


def _names(node: nodes.Node) -> Iterable[nodes.Name]:
    return [node] if isinstance(node, nodes.Name) else node.find_all(nodes.Name)


def _call_block(node: nodes.CallBlock, scope: Scope) -> Execute:
    blueprint = _blueprint(node, "caller", scope)
    caller = call(node.call, scope, caller=lambda frame: Macro(blueprint, frame))
    return writing(node, caller, scope)


def _expression_statement(node: nodes.ExprStmt, scope: Scope) -> Execute:
    value = expression(node.node, scope)
    return lambda frame, _out: value(frame)


def _body(node: nodes.Scope | nodes.ScopedEvalContextModifier, scope: Scope) -> Execute:
    """An `autoescape` block: nothing is ever escaped, so only its body counts."""
    return inner(node.body, scope)


_MAKERS: Final[Mapping[type[nodes.Node], Callable[[Any, Scope], Execute]]] = MappingProxyType(
    {
        nodes.Output: output,
        nodes.If: _if,
        nodes.For: _for,
        nodes.Assign: _assign,
        nodes.AssignBlock: _assign_block,
        nodes.FilterBlock: _filter_block,
        nodes.With: _with,
        nodes.Macro: _macro,
        nodes.CallBlock: _call_block,
        nodes.ExprStmt: _expression_statement,
        nodes.Scope: _body,
        nodes.ScopedEvalContextModifier: _body,
    }
)
