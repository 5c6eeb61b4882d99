"""The tests a template may apply with `is`: Jinja's own, on the values of JSON."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from widgetd.template.numbers import is_number
from widgetd.template.operators import BINARY, COMPARISONS
from widgetd.template.prices import FREE, READ, Function, Price
from widgetd.template.text import text
from widgetd.template.values import ABSENT, Absent, Routine, Value, is_nothing

if TYPE_CHECKING:
    from widgetd.template.budget import Budget


def _odd(budget: Budget, value: Value) -> bool:
    return bool(BINARY["%"](budget, value, 2) == 1)


def _even(budget: Budget, value: Value) -> bool:
    return bool(BINARY["%"](budget, value, 2) == 0) and value is not ABSENT and value is not None


def _divisibleby(budget: Budget, value: Value, num: Value) -> bool:
    remainder = BINARY["%"](budget, value, num)
    return not is_nothing(remainder) and bool(remainder == 0)


def _defined(_budget: Budget, value: Value) -> bool:
    return value is not ABSENT


def _undefined(_budget: Budget, value: Value) -> bool:
    return value is ABSENT


def _none(_budget: Budget, value: Value) -> bool:
    return is_nothing(value)


def _boolean(_budget: Budget, value: Value) -> bool:
    return isinstance(value, bool)


def _false(_budget: Budget, value: Value) -> bool:
    return value is False


def _true(_budget: Budget, value: Value) -> bool:
    return value is True


def _integer(_budget: Budget, value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _float(_budget: Budget, value: Value) -> bool:
    return isinstance(value, float)


def _number(_budget: Budget, value: Value) -> bool:
    return is_number(value)


def _lower(budget: Budget, value: Value) -> bool:
    return text(budget, value).islower()


def _upper(budget: Budget, value: Value) -> bool:
    return text(budget, value).isupper()


def _string(_budget: Budget, value: Value) -> bool:
    return isinstance(value, str)


def _mapping(_budget: Budget, value: Value) -> bool:
    return isinstance(value, dict)


def _sequence(_budget: Budget, value: Value) -> bool:
    return isinstance(value, list | tuple | str | dict)


def _iterable(_budget: Budget, value: Value) -> bool:
    return isinstance(value, list | tuple | str | dict | Absent)


def _callable(_budget: Budget, value: Value) -> bool:
    return isinstance(value, Routine)


def _sameas(_budget: Budget, value: Value, other: Value) -> bool:
    return value is other or (is_nothing(value) and is_nothing(other))


def _escaped(_budget: Budget, value: Value) -> bool:  # noqa: ARG001 - nothing ever is
    return False


PREDICATES: Final[Mapping[str, tuple[Price, Function]]] = MappingProxyType(
    {
        "odd": (FREE, _odd),
        "even": (FREE, _even),
        "divisibleby": (FREE, _divisibleby),
        "defined": (FREE, _defined),
        "undefined": (FREE, _undefined),
        "none": (FREE, _none),
        "boolean": (FREE, _boolean),
        "false": (FREE, _false),
        "true": (FREE, _true),
        "integer": (FREE, _integer),
        "float": (FREE, _float),
        "number": (FREE, _number),
        "lower": (READ, _lower),
        "upper": (READ, _upper),
        "string": (FREE, _string),
        "mapping": (FREE, _mapping),
        "sequence": (FREE, _sequence),
        "iterable": (FREE, _iterable),
        "callable": (FREE, _callable),
        "sameas": (FREE, _sameas),
        "escaped": (FREE, _escaped),
        "in": (FREE, COMPARISONS["in"]),
        **dict.fromkeys(("==", "eq", "equalto"), (FREE, COMPARISONS["eq"])),
        **dict.fromkeys(("!=", "ne"), (FREE, COMPARISONS["ne"])),
        **dict.fromkeys((">", "gt", "greaterthan"), (FREE, COMPARISONS["gt"])),
        **dict.fromkeys((">=", "ge"), (FREE, COMPARISONS["gteq"])),
        **dict.fromkeys(("<", "lt", "lessthan"), (FREE, COMPARISONS["lt"])),
        **dict.fromkeys(("<=", "le"), (FREE, COMPARISONS["lteq"])),
    }
)
