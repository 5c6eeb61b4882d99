"""Bind values to what stands left of a `=`: a name, several, or a field of a namespace."""

from __future__ import annotations

from collections.abc import Callable

from widgetd.template.budget import Failure
from widgetd.template.parser import fault, nodes
from widgetd.template.scope import BUDGET, Frame, Scope
from widgetd.template.values import Namespace, Value, elements, kind

Assign = Callable[[Frame, Value], None]


def assignment(target: nodes.Node, scope: Scope) -> Assign:
    """The closure that binds a value to `target`.

    Raises:
        WidgetError: `W1302`, where nothing can be assigned to it.
    """
    if isinstance(target, nodes.Name):
        place = scope.bind(target.name)
        return lambda frame, value: frame.__setitem__(place, value)
    if isinstance(target, nodes.NSRef):
        return _namespace(target, scope)
    if isinstance(target, nodes.Tuple):
        return _unpacking(target, [assignment(each, scope) for each in target.items])
    raise fault("W1302", target.lineno, "nothing can be assigned to this", "assign to a name")


def _namespace(target: nodes.NSRef, scope: Scope) -> Assign:
    place, key, line = scope.resolve(target.name), target.attr, target.lineno

    def assign(frame: Frame, value: Value) -> None:
        namespace = frame[place]
        if not isinstance(namespace, Namespace):
            raise Failure(f"cannot set '{key}' on {kind(namespace)}, only on a namespace").at(line)
        frame[BUDGET].step()
        namespace.values[key] = value

    return assign


def _unpacking(target: nodes.Tuple, binds: list[Assign]) -> Assign:
    line, count = target.lineno, len(binds)

    def assign(frame: Frame, value: Value) -> None:
        try:
            values = elements(frame[BUDGET], value)
        except Failure as failure:
            raise failure.at(line) from None
        if len(values) != count:
            raise Failure(f"cannot take {count} values from {len(values)}").at(line)
        for bind, each in zip(binds, values, strict=True):
            bind(frame, each)

    return assign
