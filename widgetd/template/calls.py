"""Find what a template calls, filters, tests, functions, methods and macros, and call it.

What it names is known to exist, and to take its arguments, before anyone renders.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Final

from widgetd.errors import did_you_mean
from widgetd.template.budget import UNFIT, Failure
from widgetd.template.builtins import (
    DICT_METHODS,
    FILTERS,
    LIST_METHODS,
    REFUSED_FILTERS,
    REFUSED_FUNCTIONS,
    TESTS,
    TEXT_METHODS,
)
from widgetd.template.builtins.functions import CYCLER_METHODS, FUNCTIONS, Cycler, Function
from widgetd.template.loops import LOOP_METHODS, Loop
from widgetd.template.parser import Fault, nodes
from widgetd.template.scope import BUDGET, Evaluate, Frame
from widgetd.template.values import ABSENT, RuntimeObject, Value, is_nothing, kind

_SIGNATURES: Final = {
    each: inspect.signature(each) for each in (*FILTERS.values(), *TESTS.values())
}

_METHODS: Final[tuple[tuple[type | tuple[type, ...], Mapping[str, Callable[..., Value]]], ...]] = (
    (str, TEXT_METHODS),
    ((list, tuple), LIST_METHODS),
    (dict, DICT_METHODS),
    (Loop, LOOP_METHODS),
    (Cycler, CYCLER_METHODS),
)
_METHOD_NAMES: Final = tuple(sorted({name for _, methods in _METHODS for name in methods}))


def known(node: nodes.Filter | nodes.Test) -> Callable[..., Value]:
    """The function of the filter or test that `node` applies."""
    sort = "filter" if isinstance(node, nodes.Filter) else "test"
    function = _named(sort, node.name, node.lineno)
    try:
        _SIGNATURES[function].bind(
            None, None, *node.args, **{str(pair.key): pair.value for pair in node.kwargs}
        )
    except TypeError as error:
        problem = f"the {sort} '{node.name}' cannot take these arguments"
        raise Fault("W1302", node.lineno, problem, f"{error}") from None
    if sort == "filter" and node.name in _APPLYING:
        at, inner = _APPLYING[node.name]
        named = node.args[at] if len(node.args) > at else None
        if isinstance(named, nodes.Const) and isinstance(named.value, str):
            _named(inner, named.value, node.lineno)
    return function


_APPLYING: Final = {
    "map": (0, "filter"),
    "select": (0, "test"),
    "reject": (0, "test"),
    "selectattr": (1, "test"),
    "rejectattr": (1, "test"),
}
"""The filters that apply another, or a test: as which argument they are given its name."""


_SORTS: Final[Mapping[str, tuple[Mapping[str, Callable[..., Value]], Mapping[str, str]]]] = {
    "filter": (FILTERS, REFUSED_FILTERS),
    "test": (TESTS, {}),
    "function": (FUNCTIONS, REFUSED_FUNCTIONS),
}
"""What may be called by its name, and what Jinja has besides, with what to do instead."""


def _named(sort: str, name: str, place: int) -> Callable[..., Value]:
    functions, refused = _SORTS[sort]
    if name in refused:
        said = f"{name}()" if sort == "function" else f"the {sort} '{name}'"
        raise Fault("W1302", place, f"{said} is not available", refused[name])
    if name not in functions:
        advice = did_you_mean(name, functions, f"known are {', '.join(sorted(functions))}")
        raise Fault("W1302", place, f"there is no {sort} '{name}'", advice)
    return functions[name]


def builtin(name: str, place: int, args: list[Evaluate], kwargs: dict[str, Evaluate]) -> Evaluate:
    """The closure that calls the function `name`."""
    function = _named("function", name, place)
    return _calling(place, lambda _frame: function, args, kwargs)


def value(
    callee: Evaluate, place: int, args: list[Evaluate], kwargs: dict[str, Evaluate]
) -> Evaluate:
    """The closure that calls what `callee` evaluates to: a macro, a joiner, a loop."""

    def find(frame: Frame) -> Function:
        called = callee(frame)
        if isinstance(called, RuntimeObject):
            return called.call
        raise Failure(f"{kind(called)} cannot be called")

    return _calling(place, find, args, kwargs)


def method(
    name: str, place: int, subject: Evaluate, args: list[Evaluate], kwargs: dict[str, Evaluate]
) -> Evaluate:
    """The closure that calls the method `name` of what `subject` evaluates to."""
    if name not in _METHOD_NAMES:
        advice = did_you_mean(name, _METHOD_NAMES, "use a filter")
        raise Fault("W1302", place, f"the method '{name}' is not available", advice)

    def find(frame: Frame) -> Function:
        of = subject(frame)
        if is_nothing(of):
            return lambda _budget, _args, _kwargs: ABSENT
        for types, methods in _METHODS:
            if isinstance(of, types) and name in methods:
                found = methods[name]
                return lambda budget, args, kwargs: found(budget, of, *args, **kwargs)
        raise Failure(f"{kind(of)} has no method '{name}'")

    return _calling(place, find, args, kwargs)


def _calling(
    place: int, find: Callable[[Frame], Function], args: list[Evaluate], kwargs: dict[str, Evaluate]
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
            raise failure.at(place) from None
        except UNFIT:
            raise Failure("this cannot be called with these arguments").at(place) from None

    return call
