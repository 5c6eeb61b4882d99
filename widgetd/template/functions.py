"""Find the filter or test that a template names, and check that it is given what it takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from widgetd.errors import WidgetError, nearest
from widgetd.template.filters import FILTERS, REFUSED, TESTS
from widgetd.template.parser import fault, nodes

if TYPE_CHECKING:
    from widgetd.template.values import Value

Function = Callable[..., "Value"]


def _signatures(functions: Mapping[str, Function]) -> Mapping[Function, inspect.Signature]:
    return MappingProxyType({each: inspect.signature(each) for each in functions.values()})


_SIGNATURES: Final = MappingProxyType({**_signatures(FILTERS), **_signatures(TESTS)})


def known_filter(node: nodes.Filter) -> Function:
    """The function of the filter that `node` applies.

    Raises:
        WidgetError: `W1302`, where there is no such filter or it does not take these arguments.
    """
    if node.name in REFUSED:
        raise fault(
            "W1302", node.lineno, f"the filter '{node.name}' is not available", REFUSED[node.name]
        )
    function = _known("filter", node, FILTERS)
    if node.name in {"map", "select", "reject", "selectattr", "rejectattr"}:
        _check_inner(node)
    return function


def known_test(node: nodes.Test) -> Function:
    """The function of the test that `node` applies.

    Raises:
        WidgetError: `W1302`, as for a filter.
    """
    return _known("test", node, TESTS)


def _known(
    sort: str, node: nodes.Filter | nodes.Test, functions: Mapping[str, Function]
) -> Function:
    function = functions.get(node.name)
    if function is None:
        raise unknown(sort, node.name, node.lineno, tuple(functions))
    try:
        _SIGNATURES[function].bind(
            None, None, *node.args, **{str(pair.key): pair.value for pair in node.kwargs}
        )
    except TypeError as error:
        raise fault(
            "W1302",
            node.lineno,
            f"the {sort} '{node.name}' cannot take these arguments",
            f"{error}",
        ) from None
    return function


def _check_inner(node: nodes.Filter) -> None:
    """A filter or test that is named by a constant is known before anyone renders."""
    at = 1 if node.name.endswith("attr") else 0
    named = node.args[at] if len(node.args) > at else None
    if not isinstance(named, nodes.Const) or not isinstance(named.value, str):
        return
    if node.name == "map" and named.value in REFUSED:
        raise fault(
            "W1302",
            node.lineno,
            f"the filter '{named.value}' is not available",
            REFUSED[named.value],
        )
    sort, functions = ("filter", FILTERS) if node.name == "map" else ("test", TESTS)
    if named.value not in functions:
        raise unknown(sort, named.value, node.lineno, tuple(functions))


def unknown(sort: str, name: str, line: int, known: tuple[str, ...]) -> WidgetError:
    """The fault of naming a filter, test or function that does not exist."""
    close = nearest(name, known)
    advice = f"did you mean '{close}'?" if close else f"known are {', '.join(sorted(known))}"
    return fault("W1302", line, f"there is no {sort} '{name}'", advice)
