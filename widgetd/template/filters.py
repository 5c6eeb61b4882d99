"""Every filter and test a template may apply: Jinja's own, as far as they stay within the data.

The two tables stand together because each names the other: `select` applies a
test, and `is filter` asks for a filter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from widgetd.template import fitting, listing, numeric, textual
from widgetd.template.budget import Failure
from widgetd.template.predicates import PREDICATES
from widgetd.template.printf import formatted
from widgetd.template.text import indented, text, tojson
from widgetd.template.values import ABSENT, Made, Value, elements, is_nothing

if TYPE_CHECKING:
    from widgetd.template.budget import Budget

Filter = Callable[..., Value]


def _default(
    _budget: Budget, value: Value, default_value: Value = "", boolean: Value = False
) -> Value:
    return default_value if value is ABSENT or (boolean and not value) else value


def _tojson(budget: Budget, value: Value, indent: Value = None) -> str:
    if not is_nothing(indent):
        return indented(budget, value, indent)
    shown = tojson(budget, value)
    budget.text(len(shown))
    return shown


def _format(budget: Budget, value: Value, *args: Value, **kwargs: Value) -> str:
    if args and kwargs:
        raise Failure("a format takes values by position or by name, not both")
    return formatted(budget, text(budget, value), list(args), kwargs)


def _map(budget: Budget, value: Value, *args: Value, **kwargs: Value) -> Value:
    if not args and "attribute" in kwargs:
        default = kwargs.get("default")
        read = listing.getter(kwargs["attribute"], ABSENT if default is None else default)
        return Made(read(each) for each in elements(budget, value))
    if not args:
        raise Failure("map needs the name of a filter, or attribute='…'")
    function = _named("filter", args[0], FILTERS)
    return Made(function(budget, each, *args[1:], **kwargs) for each in elements(budget, value))


def _named(sort: str, name: Value, functions: Mapping[str, Filter]) -> Filter:
    if not isinstance(name, str) or name not in functions:
        # Not named, for the name may be what a caller sent.
        raise Failure(f"there is no {sort} of this name")
    return functions[name]


def _chooser(*, keep: bool, by_attribute: bool) -> Filter:
    def choose(budget: Budget, value: Value, *args: Value, **kwargs: Value) -> Value:
        given = list(args)
        read = listing.getter(given.pop(0) if by_attribute and given else None)
        function = _named("test", given.pop(0), TESTS) if given else _truth
        return Made(
            each
            for each in elements(budget, value)
            if bool(function(budget, read(each), *given, **kwargs)) is keep
        )

    return choose


def _truth(_budget: Budget, value: Value) -> bool:
    return bool(value)


def _is_filter(_budget: Budget, value: Value) -> bool:
    return value in FILTERS


def _is_test(_budget: Budget, value: Value) -> bool:
    return value in TESTS


TESTS: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {**PREDICATES, "filter": _is_filter, "test": _is_test}
)

FILTERS: Final[Mapping[str, Filter]] = MappingProxyType(
    {
        "abs": numeric.absolute,
        "batch": listing.batch,
        "capitalize": textual.capitalize,
        "center": fitting.center,
        "count": listing.length_of,
        "d": _default,
        "default": _default,
        "dictsort": listing.dictsort,
        "e": textual.escape,
        "escape": textual.escape,
        "filesizeformat": numeric.filesizeformat,
        "first": listing.first,
        "float": numeric.floating,
        "forceescape": textual.escape,
        "format": _format,
        "groupby": listing.groupby,
        "indent": fitting.indent,
        "int": numeric.integer,
        "items": listing.items,
        "join": listing.join,
        "last": listing.last,
        "length": listing.length_of,
        "list": listing.listed,
        "lower": textual.lower,
        "map": _map,
        "max": listing.largest,
        "min": listing.smallest,
        "reject": _chooser(keep=False, by_attribute=False),
        "rejectattr": _chooser(keep=False, by_attribute=True),
        "replace": textual.replace,
        "reverse": listing.reverse,
        "round": numeric.rounded,
        "safe": textual.plain,
        "select": _chooser(keep=True, by_attribute=False),
        "selectattr": _chooser(keep=True, by_attribute=True),
        "slice": listing.slices,
        "sort": listing.sort,
        "string": textual.string,
        "striptags": textual.striptags,
        "sum": listing.total,
        "title": textual.title,
        "tojson": _tojson,
        "trim": textual.trim,
        "truncate": fitting.truncate,
        "unique": listing.unique,
        "upper": textual.upper,
        "urlencode": textual.urlencode,
        "wordcount": textual.wordcount,
        "wordwrap": fitting.wordwrap,
    }
)

REFUSED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "attr": "write value.key or value['key']",
        "pprint": "use tojson(indent=2)",
        "random": "the same call shows the same widget; pass what is random as an argument",
        "urlize": "use a Markdown component, or a Button with an action",
        "xmlattr": "a widget is JSON; write its properties with tojson",
    }
)
