"""The bodies of filters, tests and methods, behind their prices in the vocabulary.

A body is called only through its price, computed from every argument. It may read whatever was
paid for, and pays for its result before it makes it. Filters and tests are those of Jinja without
further inputs than the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from widgetd.core.template.budget import RenderError
from widgetd.core.template.builtins import lists, operators, text
from widgetd.core.template.builtins.objects import CYCLER_METHODS, LOOP_METHODS, Cycler, Loop
from widgetd.core.template.values import (
    ABSENT,
    Absent,
    RuntimeObject,
    Value,
    count,
    is_nothing,
    is_number,
    length,
    new_dict,
    new_list,
    sublist,
    to_list,
    weigh,
)
from widgetd.core.template.vocabulary import VOCABULARY

if TYPE_CHECKING:
    from widgetd.core.template.budget import Budget

Function = Callable[..., Any]
Price = Callable[["Budget", Value], None] | None
"""The price of the subject; with a price, every other argument costs its weight."""

_PRICES: Final[Mapping[str, Price]] = MappingProxyType(
    {
        # It asks for kinds, lengths and single elements only, or calls what is priced elsewhere.
        "free": None,
        # It reads everything within the subject.
        "read": weigh,
        # It goes through the subject's elements, and pays for what it reads in each.
        "each": count,
    }
)


def _with_prices(sort: str, bodies: Mapping[str, Function]) -> Mapping[str, Function]:
    rows = VOCABULARY[sort]
    return MappingProxyType(
        {name: _with_price(_PRICES[rows[name]["price"]], body) for name, body in bodies.items()}
    )


def _with_price(price: Price, body: Function) -> Function:
    if price is None:
        return body

    @wraps(body)
    def pay(budget: Budget, subject: Value, *args: Value, **kwargs: Value) -> Value:
        price(budget, subject)
        if args or kwargs:
            weigh(budget, *args, *kwargs.values())
        return body(budget, subject, *args, **kwargs)

    return pay


def _map(budget: Budget, value: Value, *args: Value, **kwargs: Value) -> Value:
    if not args and "attribute" in kwargs:
        default = kwargs.get("default")
        read = lists.getter(budget, kwargs["attribute"], ABSENT if default is None else default)
        return sublist(budget, map(read, to_list(value)))
    if not args:
        raise RenderError("map needs the name of a filter, or attribute='…'")
    function = _lookup("filter", args[0], FILTERS)
    return new_list(
        budget, [function(budget, element, *args[1:], **kwargs) for element in to_list(value)]
    )


def _lookup(sort: str, name: Value, functions: Mapping[str, Function]) -> Function:
    if not isinstance(name, str) or name not in functions:
        # Not named, for the name may be what a caller sent.
        raise RenderError(f"there is no {sort} of this name")
    return functions[name]


def _chooser(*, keep: bool, by_attribute: bool) -> Function:
    def choose(budget: Budget, value: Value, *args: Value, **kwargs: Value) -> Value:
        rest = list(args)
        read = lists.getter(budget, rest.pop(0) if by_attribute and rest else None)
        test = _lookup("test", rest.pop(0), TESTS) if rest else lambda _budget, held: bool(held)
        chosen = [
            element
            for element in to_list(value)
            if bool(test(budget, read(element), *rest, **kwargs)) is keep
        ]
        return sublist(budget, chosen)

    return choose


def _divisible(budget: Budget, value: Value, num: Value) -> bool:
    rest = operators.remainder(budget, value, num)
    return not is_nothing(rest) and rest == 0


TESTS: Final[Mapping[str, Function]] = _with_prices(
    "tests",
    {
        "odd": lambda budget, value: operators.remainder(budget, value, 2) == 1,
        "even": lambda budget, value: _divisible(budget, value, 2),
        "divisibleby": _divisible,
        "defined": lambda _budget, value: value is not ABSENT,
        "undefined": lambda _budget, value: value is ABSENT,
        "none": lambda _budget, value: is_nothing(value),
        "boolean": lambda _budget, value: isinstance(value, bool),
        "false": lambda _budget, value: value is False,
        "true": lambda _budget, value: value is True,
        "integer": lambda _budget, value: type(value) is int,
        "float": lambda _budget, value: isinstance(value, float),
        "number": lambda _budget, value: is_number(value),
        "lower": lambda budget, value: text.string(budget, value).islower(),
        "upper": lambda budget, value: text.string(budget, value).isupper(),
        "string": lambda _budget, value: isinstance(value, str),
        "mapping": lambda _budget, value: isinstance(value, dict),
        "sequence": lambda _budget, value: isinstance(value, list | tuple | str | dict),
        "iterable": lambda _budget, value: isinstance(value, list | tuple | str | dict | Absent),
        "callable": lambda _budget, value: isinstance(value, RuntimeObject),
        "sameas": lambda _budget, value, other: (
            value is other or (is_nothing(value) and is_nothing(other))
        ),
        "escaped": lambda _budget, _value: False,  # nothing ever is
        "filter": lambda _budget, value: isinstance(value, str) and value in FILTERS,
        "test": lambda _budget, value: isinstance(value, str) and value in TESTS,
        "in": operators.contains,
        **dict.fromkeys(("==", "eq", "equalto"), operators.COMPARISONS["eq"]),
        **dict.fromkeys(("!=", "ne"), operators.COMPARISONS["ne"]),
        **dict.fromkeys((">", "gt", "greaterthan"), operators.COMPARISONS["gt"]),
        **dict.fromkeys((">=", "ge"), operators.COMPARISONS["gteq"]),
        **dict.fromkeys(("<", "lt", "lessthan"), operators.COMPARISONS["lt"]),
        **dict.fromkeys(("<=", "le"), operators.COMPARISONS["lteq"]),
    },
)


FILTERS: Final[Mapping[str, Function]] = _with_prices(
    "filters",
    {
        "abs": operators.absolute,
        "batch": lists.batch,
        "capitalize": text.capitalize,
        "center": text.center,
        **dict.fromkeys(("count", "length"), lambda _budget, value: length(value)),
        **dict.fromkeys(("d", "default"), lists.default),
        "dictsort": lists.dictsort,
        **dict.fromkeys(("e", "escape", "forceescape"), text.escape),
        "filesizeformat": operators.filesizeformat,
        "first": lists.first,
        "float": operators.floating,
        "format": text.format_filter,
        "groupby": lists.groupby,
        "indent": text.indent,
        "int": operators.integer,
        "items": lists.items,
        "join": lists.join,
        "last": lists.last,
        "list": lists.copy_list,
        "lower": text.lower,
        "map": _map,
        "max": lists.largest,
        "min": lists.smallest,
        "reject": _chooser(keep=False, by_attribute=False),
        "rejectattr": _chooser(keep=False, by_attribute=True),
        "replace": text.replace,
        "reverse": lists.reverse,
        "round": operators.round_number,
        "safe": lambda _budget, value: value,  # nothing is escaped
        "select": _chooser(keep=True, by_attribute=False),
        "selectattr": _chooser(keep=True, by_attribute=True),
        "slice": lists.slices,
        "sort": lists.sort,
        "string": text.string,
        "striptags": text.striptags,
        "sum": lists.total,
        "title": text.title,
        "tojson": text.tojson_filter,
        "trim": text.trim,
        "truncate": text.truncate,
        "unique": lists.unique,
        "upper": text.upper,
        "urlencode": text.urlencode,
        "wordcount": text.wordcount,
        "wordwrap": text.wordwrap,
    },
)

LIST_METHODS: Final[Mapping[str, Function]] = _with_prices(
    "list methods",
    {
        "append": lists.append,
        "copy": lists.copy_list,
        "count": lists.count,
        "extend": lists.extend,
        "index": lists.index,
        "insert": lists.insert,
        "pop": lists.pop,
    },
)

DICT_METHODS: Final[Mapping[str, Function]] = _with_prices(
    "object methods",
    {
        "copy": new_dict,
        "get": lists.get,
        "items": lists.items,
        "keys": lists.copy_list,
        "update": lists.update,
        "values": lambda budget, subject: sublist(budget, subject.values()),
    },
)

TEXT_METHODS: Final[Mapping[str, Function]] = _with_prices(
    "text methods",
    {
        "capitalize": text.capitalize,
        "center": text.center,
        "count": text.count,
        "endswith": lambda budget, subject, part: subject.endswith(text.string(budget, part)),
        "find": text.find,
        "isdigit": lambda _budget, subject: subject.isdigit(),
        "join": text.join_with,
        "ljust": text.ljust,
        "lower": text.lower,
        "lstrip": text.lstrip,
        "replace": text.replace,
        "rjust": text.rjust,
        "rstrip": text.rstrip,
        "split": text.split,
        "splitlines": text.splitlines,
        "startswith": lambda budget, subject, part: subject.startswith(text.string(budget, part)),
        "strip": text.trim,
        "title": text.str_title,
        "upper": text.upper,
        "zfill": text.zfill,
    },
)

METHODS: Final[tuple[tuple[type | tuple[type, ...], Mapping[str, Function]], ...]] = (
    (str, TEXT_METHODS),
    ((list, tuple), LIST_METHODS),
    (dict, DICT_METHODS),
    (Loop, LOOP_METHODS),
    (Cycler, CYCLER_METHODS),
)
"""The methods of each type of value."""
