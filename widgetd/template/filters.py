"""Every filter and test a template may apply: Jinja's own, as far as they stay within the data.

The two tables stand together because each names the other: `select` applies a
test, and `is filter` asks for a filter.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from widgetd.template import listing, numeric, textual
from widgetd.template.budget import Failure
from widgetd.template.predicates import PREDICATES
from widgetd.template.prices import EACH, FREE, READ, Function, priced
from widgetd.template.printf import formatted
from widgetd.template.text import indented, text, tojson
from widgetd.template.values import ABSENT, Value, is_nothing, listed, made, picked

if TYPE_CHECKING:
    from widgetd.template.budget import Budget


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
        read = listing.getter(budget, kwargs["attribute"], ABSENT if default is None else default)
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
        read = listing.getter(budget, given.pop(0) if by_attribute and given else None)
        function = _named("test", given.pop(0), TESTS) if given else _truth
        chosen = [
            each
            for each in listed(value)
            if bool(function(budget, read(each), *given, **kwargs)) is keep
        ]
        return picked(budget, chosen)

    return choose


def _truth(_budget: Budget, value: Value) -> bool:
    return bool(value)


def _is_filter(_budget: Budget, value: Value) -> bool:
    return isinstance(value, str) and value in FILTERS


def _is_test(_budget: Budget, value: Value) -> bool:
    return isinstance(value, str) and value in TESTS


TESTS: Final[Mapping[str, Function]] = priced(
    {**PREDICATES, "filter": (READ, _is_filter), "test": (READ, _is_test)}
)

FILTERS: Final[Mapping[str, Function]] = priced(
    {
        "abs": (READ, numeric.absolute),
        "batch": (EACH, listing.batch),
        "capitalize": (READ, textual.capitalize),
        "center": (READ, textual.center),
        "count": (FREE, listing.length_of),
        "d": (FREE, _default),
        "default": (FREE, _default),
        "dictsort": (EACH, listing.dictsort),
        "e": (READ, textual.escape),
        "escape": (READ, textual.escape),
        "filesizeformat": (READ, numeric.filesizeformat),
        "first": (FREE, listing.first),
        "float": (READ, numeric.floating),
        "forceescape": (READ, textual.escape),
        "format": (READ, _format),
        "groupby": (EACH, listing.groupby),
        "indent": (READ, textual.indent),
        "int": (READ, numeric.integer),
        "items": (EACH, listing.items),
        "join": (FREE, listing.join),
        "last": (FREE, listing.last),
        "length": (FREE, listing.length_of),
        "list": (EACH, listing.listing),
        "lower": (READ, textual.lower),
        "map": (EACH, _map),
        "max": (EACH, listing.largest),
        "min": (EACH, listing.smallest),
        "reject": (EACH, _chooser(keep=False, by_attribute=False)),
        "rejectattr": (EACH, _chooser(keep=False, by_attribute=True)),
        "replace": (READ, textual.replace),
        "reverse": (FREE, listing.reverse),
        "round": (READ, numeric.rounded),
        "safe": (FREE, textual.plain),
        "select": (EACH, _chooser(keep=True, by_attribute=False)),
        "selectattr": (EACH, _chooser(keep=True, by_attribute=True)),
        "slice": (EACH, listing.slices),
        "sort": (EACH, listing.sort),
        "string": (FREE, textual.string),
        "striptags": (READ, textual.striptags),
        "sum": (EACH, listing.total),
        "title": (READ, textual.title),
        "tojson": (FREE, _tojson),
        "trim": (READ, textual.trim),
        "truncate": (READ, textual.truncate),
        "unique": (EACH, listing.unique),
        "upper": (READ, textual.upper),
        "urlencode": (READ, textual.urlencode),
        "wordcount": (READ, textual.wordcount),
        "wordwrap": (READ, textual.wordwrap),
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
