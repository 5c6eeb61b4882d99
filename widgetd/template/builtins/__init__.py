"""Every builtin of the template language: its name, its price, and its body.

A body is reached through its price only, which sees every argument. It may read
what was paid for, and pays itself for what it makes, before it makes it. Filters
and tests are Jinja's own, as far as they stay within the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from widgetd.template.budget import Failure
from widgetd.template.builtins import lists, operators, text
from widgetd.template.values import (
    ABSENT,
    Absent,
    RuntimeObject,
    Value,
    count,
    is_nothing,
    is_number,
    length,
    listed,
    made,
    made_dict,
    picked,
    weigh,
)

if TYPE_CHECKING:
    from widgetd.template.budget import Budget

Function = Callable[..., Any]
Price = Callable[["Budget", Value], None] | None
"""What the subject costs; with a price, every other argument costs its weight."""

FREE: Final[Price] = None
"""It asks for kinds, lengths and single elements only, or calls what is priced elsewhere."""

READ: Final[Price] = weigh
"""It reads all that the subject reaches."""

EACH: Final[Price] = count
"""It runs through the subject's elements, and pays for what it reads in each."""


def _priced(rows: Mapping[str, tuple[Price, Function]]) -> Mapping[str, Function]:
    """The functions of `rows`, each paid for before it begins."""
    return MappingProxyType({name: _paid(price, body) for name, (price, body) in rows.items()})


def _paid(price: Price, body: Function) -> Function:
    if price is None:
        return body

    @wraps(body)
    def paid(budget: Budget, subject: Value, *args: Value, **kwargs: Value) -> Value:
        price(budget, subject)
        if args or kwargs:
            weigh(budget, *args, *kwargs.values())
        return body(budget, subject, *args, **kwargs)

    return paid


def _map(budget: Budget, value: Value, *args: Value, **kwargs: Value) -> Value:
    if not args and "attribute" in kwargs:
        default = kwargs.get("default")
        read = lists.getter(budget, kwargs["attribute"], ABSENT if default is None else default)
        return picked(budget, map(read, listed(value)))
    if not args:
        raise Failure("map needs the name of a filter, or attribute='…'")
    function = _named("filter", args[0], FILTERS)
    return made(budget, [function(budget, each, *args[1:], **kwargs) for each in listed(value)])


def _named(sort: str, name: Value, functions: Mapping[str, Function]) -> Function:
    if not isinstance(name, str) or name not in functions:
        # Not named, for the name may be what a caller sent.
        raise Failure(f"there is no {sort} of this name")
    return functions[name]


def _chooser(*, keep: bool, by_attribute: bool) -> Function:
    def choose(budget: Budget, value: Value, *args: Value, **kwargs: Value) -> Value:
        given = list(args)
        read = lists.getter(budget, given.pop(0) if by_attribute and given else None)
        test = _named("test", given.pop(0), TESTS) if given else lambda _budget, held: bool(held)
        chosen = [
            each
            for each in listed(value)
            if bool(test(budget, read(each), *given, **kwargs)) is keep
        ]
        return picked(budget, chosen)

    return choose


def _divisible(budget: Budget, value: Value, num: Value) -> bool:
    rest = operators.remainder(budget, value, num)
    return not is_nothing(rest) and rest == 0


TESTS: Final[Mapping[str, Function]] = _priced(
    {
        "odd": (FREE, lambda budget, value: operators.remainder(budget, value, 2) == 1),
        "even": (FREE, lambda budget, value: _divisible(budget, value, 2)),
        "divisibleby": (FREE, _divisible),
        "defined": (FREE, lambda _budget, value: value is not ABSENT),
        "undefined": (FREE, lambda _budget, value: value is ABSENT),
        "none": (FREE, lambda _budget, value: is_nothing(value)),
        "boolean": (FREE, lambda _budget, value: isinstance(value, bool)),
        "false": (FREE, lambda _budget, value: value is False),
        "true": (FREE, lambda _budget, value: value is True),
        "integer": (FREE, lambda _budget, value: type(value) is int),
        "float": (FREE, lambda _budget, value: isinstance(value, float)),
        "number": (FREE, lambda _budget, value: is_number(value)),
        "lower": (READ, lambda budget, value: text.string(budget, value).islower()),
        "upper": (READ, lambda budget, value: text.string(budget, value).isupper()),
        "string": (FREE, lambda _budget, value: isinstance(value, str)),
        "mapping": (FREE, lambda _budget, value: isinstance(value, dict)),
        "sequence": (FREE, lambda _budget, value: isinstance(value, list | tuple | str | dict)),
        "iterable": (
            FREE,
            lambda _budget, value: isinstance(value, list | tuple | str | dict | Absent),
        ),
        "callable": (FREE, lambda _budget, value: isinstance(value, RuntimeObject)),
        "sameas": (
            FREE,
            lambda _budget, value, other: (
                value is other or (is_nothing(value) and is_nothing(other))
            ),
        ),
        "escaped": (FREE, lambda _budget, _value: False),  # nothing ever is
        "filter": (READ, lambda _budget, value: isinstance(value, str) and value in FILTERS),
        "test": (READ, lambda _budget, value: isinstance(value, str) and value in TESTS),
        "in": (FREE, operators.contains),
        **dict.fromkeys(("==", "eq", "equalto"), (FREE, operators.COMPARISONS["eq"])),
        **dict.fromkeys(("!=", "ne"), (FREE, operators.COMPARISONS["ne"])),
        **dict.fromkeys((">", "gt", "greaterthan"), (FREE, operators.COMPARISONS["gt"])),
        **dict.fromkeys((">=", "ge"), (FREE, operators.COMPARISONS["gteq"])),
        **dict.fromkeys(("<", "lt", "lessthan"), (FREE, operators.COMPARISONS["lt"])),
        **dict.fromkeys(("<=", "le"), (FREE, operators.COMPARISONS["lteq"])),
    }
)


FILTERS: Final[Mapping[str, Function]] = _priced(
    {
        "abs": (READ, operators.absolute),
        "batch": (EACH, lists.batch),
        "capitalize": (READ, text.capitalize),
        "center": (READ, text.center),
        **dict.fromkeys(("count", "length"), (FREE, lambda _budget, value: length(value))),
        **dict.fromkeys(("d", "default"), (FREE, lists.default)),
        "dictsort": (EACH, lists.dictsort),
        **dict.fromkeys(("e", "escape", "forceescape"), (READ, text.escape)),
        "filesizeformat": (READ, operators.filesizeformat),
        "first": (FREE, lists.first),
        "float": (READ, operators.floating),
        "format": (READ, text.format_filter),
        "groupby": (EACH, lists.groupby),
        "indent": (READ, text.indent),
        "int": (READ, operators.integer),
        "items": (EACH, lists.items),
        "join": (FREE, lists.join),
        "last": (FREE, lists.last),
        "list": (EACH, lists.copied),
        "lower": (READ, text.lower),
        "map": (EACH, _map),
        "max": (EACH, lists.largest),
        "min": (EACH, lists.smallest),
        "reject": (EACH, _chooser(keep=False, by_attribute=False)),
        "rejectattr": (EACH, _chooser(keep=False, by_attribute=True)),
        "replace": (READ, text.replace),
        "reverse": (FREE, lists.reverse),
        "round": (READ, operators.rounded),
        "safe": (FREE, lambda _budget, value: value),  # nothing is escaped
        "select": (EACH, _chooser(keep=True, by_attribute=False)),
        "selectattr": (EACH, _chooser(keep=True, by_attribute=True)),
        "slice": (EACH, lists.slices),
        "sort": (EACH, lists.sort),
        "string": (FREE, text.string),
        "striptags": (READ, text.striptags),
        "sum": (EACH, lists.total),
        "title": (READ, text.title),
        "tojson": (FREE, text.tojson_filter),
        "trim": (READ, text.trim),
        "truncate": (READ, text.truncate),
        "unique": (EACH, lists.unique),
        "upper": (READ, text.upper),
        "urlencode": (READ, text.urlencode),
        "wordcount": (READ, text.wordcount),
        "wordwrap": (READ, text.wordwrap),
    }
)

LIST_METHODS: Final[Mapping[str, Function]] = _priced(
    {
        "append": (FREE, lists.append),
        "copy": (EACH, lists.copied),
        "count": (EACH, lists.count),
        "extend": (FREE, lists.extend),
        "index": (EACH, lists.index),
        "insert": (EACH, lists.insert),
        "pop": (EACH, lists.pop),
    }
)

DICT_METHODS: Final[Mapping[str, Function]] = _priced(
    {
        "copy": (EACH, made_dict),
        "get": (FREE, lists.get),
        "items": (EACH, lists.items),
        "keys": (EACH, lists.copied),
        "update": (FREE, lists.update),
        "values": (EACH, lambda budget, subject: picked(budget, subject.values())),
    }
)

TEXT_METHODS: Final[Mapping[str, Function]] = _priced(
    {
        "capitalize": (READ, text.capitalize),
        "center": (READ, text.center),
        "count": (READ, text.count),
        "endswith": (
            READ,
            lambda budget, subject, part: subject.endswith(text.string(budget, part)),
        ),
        "find": (READ, text.find),
        "isdigit": (READ, lambda _budget, subject: subject.isdigit()),
        "join": (READ, text.join_with),
        "ljust": (READ, text.ljust),
        "lower": (READ, text.lower),
        "lstrip": (READ, text.lstrip),
        "replace": (READ, text.replace),
        "rjust": (READ, text.rjust),
        "rstrip": (READ, text.rstrip),
        "split": (READ, text.split),
        "splitlines": (READ, text.splitlines),
        "startswith": (
            READ,
            lambda budget, subject, part: subject.startswith(text.string(budget, part)),
        ),
        "strip": (READ, text.trim),
        "title": (READ, text.str_title),
        "upper": (READ, text.upper),
        "zfill": (READ, text.zfill),
    }
)

REFUSED_FILTERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "attr": "write value.key or value['key']",
        "pprint": "use tojson(indent=2)",
        "random": "the same call shows the same widget; pass what is random as an argument",
        "urlize": "use a Markdown component, or a Button with an action",
        "xmlattr": "a widget is JSON; write its properties with tojson",
    }
)

REFUSED_FUNCTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "lipsum": "write the text out",
        "super": "templates do not inherit; write the text out",
        "_": "translations are not available; pass the text as an argument",
    }
)
