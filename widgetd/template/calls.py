"""Call what a template may call: functions, methods of texts, lists and objects, and macros."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from widgetd.errors import nearest
from widgetd.template.budget import UNFIT, Failure
from widgetd.template.functions import unknown
from widgetd.template.loops import LOOP_METHODS, Loop
from widgetd.template.methods import DICT_METHODS, LIST_METHODS, TEXT_METHODS
from widgetd.template.parser import fault
from widgetd.template.routines import BUILTINS, CYCLER_METHODS, Cycler, Function
from widgetd.template.scope import BUDGET, Evaluate, Frame
from widgetd.template.values import ABSENT, Routine, Value, is_nothing, kind

REFUSED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "lipsum": "write the text out",
        "super": "templates do not inherit; write the text out",
        "_": "translations are not available; pass the text as an argument",
    }
)

_METHODS: Final[tuple[tuple[type | tuple[type, ...], Mapping[str, Callable[..., Value]]], ...]] = (
    (str, TEXT_METHODS),
    ((list, tuple), LIST_METHODS),
    (dict, DICT_METHODS),
    (Loop, LOOP_METHODS),
    (Cycler, CYCLER_METHODS),
)
_KNOWN: Final = tuple(sorted({name for _, methods in _METHODS for name in methods}))


def builtin(name: str, line: int, args: list[Evaluate], kwargs: dict[str, Evaluate]) -> Evaluate:
    """The closure that calls the function `name`.

    Raises:
        WidgetError: `W1302`, where there is no such function.
    """
    if name in REFUSED:
        raise fault("W1302", line, f"{name}() is not available", REFUSED[name])
    if name not in BUILTINS:
        raise unknown("function", name, line, tuple(BUILTINS))
    function = BUILTINS[name]
    return _calling(line, lambda _frame: function, args, kwargs)


def value(
    callee: Evaluate, line: int, args: list[Evaluate], kwargs: dict[str, Evaluate]
) -> Evaluate:
    """The closure that calls what `callee` evaluates to: a macro, a joiner, a loop."""
    return _calling(line, lambda frame: _callable(callee(frame)), args, kwargs)


def _callable(callee: Value) -> Function:
    if isinstance(callee, Routine):
        return callee.call
    raise Failure(f"{kind(callee)} cannot be called")


def method(
    name: str, line: int, subject: Evaluate, args: list[Evaluate], kwargs: dict[str, Evaluate]
) -> Evaluate:
    """The closure that calls the method `name` of what `subject` evaluates to.

    Raises:
        WidgetError: `W1302`, where nothing has such a method.
    """
    if name not in _KNOWN:
        close = nearest(name, _KNOWN)
        advice = f"did you mean '{close}'?" if close else "use a filter"
        raise fault("W1302", line, f"the method '{name}' is not available", advice)
    return _calling(line, lambda frame: _bound(subject(frame), name), args, kwargs)


def _bound(subject: Value, name: str) -> Function:
    if is_nothing(subject):
        return _absent
    for types, methods in _METHODS:
        if isinstance(subject, types) and name in methods:
            found = methods[name]
            return lambda budget, args, kwargs: found(budget, subject, *args, **kwargs)
    raise Failure(f"{kind(subject)} has no method '{name}'")


def _absent(_budget: object, _args: list[Value], _kwargs: dict[str, Value]) -> Value:
    return ABSENT


def _calling(
    line: int,
    find: Callable[[Frame], Function],
    args: list[Evaluate],
    kwargs: dict[str, Evaluate],
) -> Evaluate:
    def call(frame: Frame) -> Value:
        try:
            function = find(frame)
            given = [argument(frame) for argument in args]
            named = {key: argument(frame) for key, argument in kwargs.items()}
            budget = frame[BUDGET]
            budget.step()
            return function(budget, given, named)
        except Failure as failure:
            raise failure.at(line) from None
        except UNFIT:
            raise Failure("this cannot be called with these arguments").at(line) from None

    return call
