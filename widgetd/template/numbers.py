"""Which numbers a template may compute with: those that stay small enough to compute at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from widgetd.template.budget import Failure

if TYPE_CHECKING:
    from widgetd.template.values import Value

# Every integer that JSON's readers agree on fits; so does any product on its way to being refused.
MAX_INTEGER: Final = 2**64


def checked(value: Value) -> Value:
    """`value`, if it is a number that may be computed with."""
    if type(value) is int and not -MAX_INTEGER < value < MAX_INTEGER:
        raise Failure("a number is too large to compute with")
    if type(value) is float and value - value != 0:  # infinite, or not a number
        raise Failure("a number is too large to compute with")
    return value


def is_number(value: Value) -> bool:
    """Whether `value` can be computed with; true and false can, as in Python."""
    return isinstance(value, int | float)
