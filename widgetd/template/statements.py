"""Turn each kind of statement into a closure that runs it over a frame and writes to a list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from widgetd.template.budget import NODES_PER_STEP, Failure
from widgetd.template.expressions import applied, call, expression
from widgetd.template.loops import LoopDefinition, loop
from widgetd.template.output import output
from widgetd.template.parser import Fault, every, height, nodes
from widgetd.template.scope import BUDGET, Evaluate, Execute, Frame, Scope, assigned
from widgetd.template.serialise import inside, text
from widgetd.template.values import (
    ABSENT,
    Namespace,
    RuntimeObject,
    Value,
    elements,
    kind,
    made_dict,
    made_tuple,
)

if TYPE_CHECKING:
    from widgetd.template.budget import Budget

Assign = Callable[[Frame, Value], None]

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
    """The closure that runs the statements of `body` one after another."""
    parts = [(node.lineno, _statement(node, scope)) for node in body]
    if len(parts) == 1 and isinstance(body[0], nodes.Output):
        return parts[0][1]

    def run(frame: Frame, out: list[str]) -> None:
        place = 0
        try:
            for place, part in parts:  # noqa: B007 - told where a part fails
                part(frame, out)
        except Failure as failure:
            raise failure.at(place) from None

    return run


def _statement(node: nodes.Node, scope: Scope) -> Execute:
    if type(node) in _REFUSED:
        raise Fault("W1302", node.lineno, *_REFUSED[type(node)])
    scope.layout.nodes += 1
    make = _MAKERS.get(type(node))
    if make is None:
        word = type(node).__name__.lower()
        raise Fault("W1302", node.lineno, f"{word} is not available", "use what stays in the data")
    return make(node, scope)


def _inner(body: list[nodes.Node], around: Scope) -> Execute:
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

        def branch(frame: Frame, out: list[str]) -> None:
            for test, then in branches:
                if test(frame):
                    return then(frame, out)
            return otherwise(frame, out)

        return branch
    test, then = branches[0]

    def choose(frame: Frame, out: list[str]) -> None:
        if test(frame):
            then(frame, out)
        else:
            otherwise(frame, out)

    return choose


def _for(node: nodes.For, scope: Scope) -> Execute:
    before = scope.layout.nodes
    turn = Scope(scope.layout, scope, loops=True)
    bind = _assignment(node.target, turn)
    chooser = None
    if node.test is not None:
        apart = Scope(scope.layout, scope)
        apart.names.update(turn.names)
        chooser = expression(node.test, apart)
    body = _within(node.body, turn)
    nodes_of_turn = scope.layout.nodes - before
    return loop(
        LoopDefinition(
            place=node.lineno,
            cost=nodes_of_turn // NODES_PER_STEP,
            items=expression(node.iter, scope),
            chooser=chooser,
            bind=bind,
            slot=turn.names[node.target.name] if isinstance(node.target, nodes.Name) else None,
            body=body,
            otherwise=_inner(node.else_, scope) if node.else_ else None,
            loop_slot=turn.innermost_loop() if node.recursive else turn.loop,
            height=height(node) if node.recursive else 0,
        )
    )


def _assign(node: nodes.Assign, scope: Scope) -> Execute:
    value = expression(node.node, scope)
    if isinstance(node.target, nodes.Name):
        slot = scope.bind(node.target.name)

        def store(frame: Frame, _out: list[str]) -> None:
            frame[slot] = value(frame)

        return store
    bind = _assignment(node.target, scope)
    return lambda frame, _out: bind(frame, value(frame))


def _assignment(target: nodes.Node, scope: Scope) -> Assign:
    """The closure that binds a value to a name, to several, or to a field of a namespace."""
    if isinstance(target, nodes.Name):
        slot = scope.bind(target.name)
        return lambda frame, value: frame.__setitem__(slot, value)
    place = target.lineno
    if isinstance(target, nodes.NSRef):
        slot, key = scope.resolve(target.name), target.attr

        def store(frame: Frame, value: Value) -> None:
            space = frame[slot]
            if not isinstance(space, Namespace):
                raise Failure(f"cannot set '{key}' on {kind(space)}, only on a namespace").at(place)
            frame[BUDGET].step()
            space.values[key] = value

        return store
    if isinstance(target, nodes.Tuple):
        binds = [_assignment(each, scope) for each in target.items]
        count = len(binds)

        def unpack(frame: Frame, value: Value) -> None:
            try:
                values = elements(frame[BUDGET], value)
            except Failure as failure:
                raise failure.at(place) from None
            if len(values) != count:
                raise Failure(f"cannot take {count} values from {len(values)}").at(place)
            for bind, each in zip(binds, values, strict=True):
                bind(frame, each)

        return unpack
    raise Fault("W1302", place, "nothing can be assigned to this", "assign to a name")


def _assign_block(node: nodes.AssignBlock, scope: Scope) -> Execute:
    body = _inner(node.body, scope)
    if id(node) in scope.layout.context.stripping:
        return _stripped(body)
    value = _captured(body)
    if node.filter is not None:
        value = _chain(node.filter, scope, value)
    bind = _assignment(node.target, scope)
    return lambda frame, _out: bind(frame, value(frame))


def _stripped(body: Execute) -> Execute:
    """The text of a set-block that the next output writes without its leading comma.

    The exporter separates children this way; written at once, the text is
    neither copied nor paid for again at each level.
    """

    def run(frame: Frame, out: list[str]) -> None:
        start = len(out)
        body(frame, out)
        for at in range(start, len(out)):
            if out[at]:
                out[at] = out[at].removeprefix(",")
                break

    return run


def _captured(body: Execute) -> Evaluate:
    """The closure of the text that `body` writes."""

    def capture(frame: Frame) -> str:
        out: list[str] = []
        body(frame, out)
        return "".join(out)

    return capture


def _chain(node: nodes.Filter, scope: Scope, subject: Evaluate) -> Evaluate:
    """The filters of a filter block or set-block, applied to the text it captured."""
    if isinstance(node.node, nodes.Filter):
        subject = _chain(node.node, scope, subject)
    return applied(node, subject, scope)


def _filter_block(node: nodes.FilterBlock, scope: Scope) -> Execute:
    return _writing(node, _chain(node.filter, scope, _captured(_inner(node.body, scope))), scope)


def _writing(node: nodes.Stmt, value: Evaluate, scope: Scope) -> Execute:
    """The closure that writes what a block captured, as the place asks for it."""
    shape = inside if id(node) in scope.layout.context.in_strings else text
    place = node.lineno

    def write(frame: Frame, out: list[str]) -> None:
        try:
            shown = shape(frame[BUDGET], value(frame))
            frame[BUDGET].text(len(shown))
        except Failure as failure:
            raise failure.at(place) from None
        out.append(shown)

    return write


def _with(node: nodes.With, scope: Scope) -> Execute:
    apart = Scope(scope.layout, scope)
    values = [expression(each, scope) for each in node.values]
    binds = [_assignment(each, apart) for each in node.targets]
    body = _within(node.body, apart)

    def run(frame: Frame, out: list[str]) -> None:
        for bind, value in list(zip(binds, [each(frame) for each in values], strict=True)):
            bind(frame, value)
        body(frame, out)

    return run


# --- macros: a body that can be rendered with arguments of its own ---


@dataclass(frozen=True, slots=True, kw_only=True)
class MacroDefinition:
    """What is known of a macro when its template is compiled.

    Attributes:
        slots: The slot of each parameter, in order.
        defaults: The value of each parameter that may be left out.
        varargs: The slot of the positional arguments beyond the parameters, where used.
        kwargs: The slot of the named arguments beyond the parameters, where used.
        caller: The slot of the `call` block's body, where used.
        height: How many nodes high the body is, which bounds recursion.
        nodes: How many nodes it has, which a call evaluates.
    """

    name: str
    slots: dict[str, int]
    defaults: dict[str, Evaluate]
    body: Execute
    height: int
    nodes: int
    varargs: int | None
    kwargs: int | None
    caller: int | None

    def bind(
        self, budget: Budget, frame: Frame, args: list[Value], kwargs: dict[str, Value]
    ) -> None:
        """Put the arguments of a call into `frame`."""
        if self.caller is not None:
            frame[self.caller] = kwargs.pop("caller", ABSENT)
        for at, (name, slot) in enumerate(self.slots.items()):
            if at < len(args):
                frame[slot] = args[at]
            elif name in kwargs:
                frame[slot] = kwargs.pop(name)
            else:
                frame[slot] = ABSENT
                if name in self.defaults:
                    frame[slot] = self.defaults[name](frame)
        count = len(self.slots)
        if self.varargs is not None:
            frame[self.varargs] = made_tuple(budget, args[count:])
        elif len(args) > count:
            raise Failure(f"the macro '{self.name}' takes at most {count} arguments")
        if self.kwargs is not None:
            frame[self.kwargs] = made_dict(budget, kwargs)
        elif kwargs:
            raise Failure(f"the macro '{self.name}' takes no argument '{next(iter(kwargs))}'")


class Macro(RuntimeObject):
    """A macro as it stands in one frame, whose names its body can read."""

    __slots__ = ("definition", "frame")

    def __init__(self, definition: MacroDefinition, frame: Frame) -> None:
        self.definition = definition
        self.frame = frame

    def member(self, name: Value) -> Value:
        """The macro's `name`."""
        return self.definition.name if name == "name" else ABSENT

    def call(self, budget: Budget, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """The text that the body makes of these arguments."""
        definition = self.definition
        frame = self.frame.copy()
        budget.enter(definition.height)
        budget.step(len(frame) // 16 + definition.nodes // NODES_PER_STEP)
        definition.bind(budget, frame, args, kwargs)
        out: list[str] = []
        definition.body(frame, out)
        budget.leave(definition.height)
        return "".join(out)


def _macro(node: nodes.Macro, scope: Scope) -> Execute:
    slot = scope.bind(node.name)
    definition = _definition(node, node.name, scope)

    def define(frame: Frame, _out: list[str]) -> None:
        frame[slot] = Macro(definition, frame)

    return define


def _definition(node: nodes.Macro | nodes.CallBlock, name: str, around: Scope) -> MacroDefinition:
    before = around.layout.nodes
    scope = Scope(around.layout, around)
    scope.is_macro = True
    slots = {each.name: scope.bind(each.name) for each in node.args}
    within = [each for part in node.body for each in every(part)]
    used = {each.name for each in within if isinstance(each, nodes.Name)} - slots.keys()
    special = {
        each: scope.bind(each) if each in used else None for each in ("varargs", "kwargs", "caller")
    }
    with_default = [each.name for each in node.args][len(node.args) - len(node.defaults) :]
    values = [expression(each, scope) for each in node.defaults]
    body = _within(node.body, scope)
    return MacroDefinition(
        name=name,
        slots=slots,
        defaults=dict(zip(with_default, values, strict=True)),
        body=body,
        height=height(node),
        nodes=around.layout.nodes - before,
        **special,
    )


def _call_block(node: nodes.CallBlock, scope: Scope) -> Execute:
    definition = _definition(node, "caller", scope)
    caller = call(node.call, scope, caller=lambda frame: Macro(definition, frame))
    return _writing(node, caller, scope)


def _expression_statement(node: nodes.ExprStmt, scope: Scope) -> Execute:
    value = expression(node.node, scope)
    return lambda frame, _out: value(frame)


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
        # Nothing is ever escaped, so only the body of an `autoescape` block counts.
        nodes.Scope: lambda node, scope: _inner(node.body, scope),
        nodes.ScopedEvalContextModifier: lambda node, scope: _inner(node.body, scope),
    }
)
