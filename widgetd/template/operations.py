"""Closures that apply filters, tests and operators to what other closures evaluate to.

Each says at which line it stands when it fails.
"""

from __future__ import annotations

from collections.abc import Callable

from widgetd.template.budget import UNFIT, Failure
from widgetd.template.operators import Binary, concat
from widgetd.template.scope import BUDGET, Evaluate, Frame
from widgetd.template.values import Value, kind, part


def applied(
    function: Callable[..., Value],
    name: str,
    line: int,
    args: list[Evaluate],
    kwargs: dict[str, Evaluate],
) -> Evaluate:
    """The closure of a filter or test, of which `args` holds the subject first."""
    subject, *more = args

    def unfit(value: Value) -> Failure:
        problem = f"{name} cannot be applied to {kind(value)}, or not with these arguments"
        return Failure(problem).at(line)

    def plain(frame: Frame) -> Value:
        value = subject(frame)
        try:
            return function(frame[BUDGET], value)
        except Failure as failure:
            raise failure.at(line) from None
        except UNFIT:
            raise unfit(value) from None

    def full(frame: Frame) -> Value:
        value = subject(frame)
        given = [argument(frame) for argument in more]
        named = {key: argument(frame) for key, argument in kwargs.items()}
        try:
            return function(frame[BUDGET], value, *given, **named)
        except Failure as failure:
            raise failure.at(line) from None
        except UNFIT:
            raise unfit(value) from None

    return full if more or kwargs else plain


def unary(apply: Callable[[Value], Value], value: Evaluate, line: int) -> Evaluate:
    """The closure of a sign."""

    def run(frame: Frame) -> Value:
        try:
            return apply(value(frame))
        except Failure as failure:
            raise failure.at(line) from None

    return run


def binary(apply: Binary, left: Evaluate, right: Evaluate, line: int) -> Evaluate:
    """The closure of an operator between two values, or of one comparison."""

    def run(frame: Frame) -> Value:
        try:
            return apply(frame[BUDGET], left(frame), right(frame))
        except Failure as failure:
            raise failure.at(line) from None

    return run


def chained(first: Evaluate, rest: list[tuple[Binary, Evaluate]], line: int) -> Evaluate:
    """The closure of `a < b < c`."""

    def run(frame: Frame) -> Value:
        left = first(frame)
        try:
            for compare, operand in rest:
                right = operand(frame)
                if not compare(frame[BUDGET], left, right):
                    return False
                left = right
        except Failure as failure:
            raise failure.at(line) from None
        return True

    return run


def joined(parts: list[Evaluate], line: int) -> Evaluate:
    """The closure of `a ~ b`."""

    def run(frame: Frame) -> Value:
        try:
            return concat(frame[BUDGET], [each(frame) for each in parts])
        except Failure as failure:
            raise failure.at(line) from None

    return run


def sliced(subject: Evaluate, bounds: list[Evaluate], line: int) -> Evaluate:
    """The closure of `a[start:stop:step]`."""

    def run(frame: Frame) -> Value:
        try:
            return part(frame[BUDGET], subject(frame), *(bound(frame) for bound in bounds))
        except Failure as failure:
            raise failure.at(line) from None

    return run
