"""What a builtin costs before it begins: its body is reached through its price only.

Each table of builtins is rows of `name: (price, body)`, from which `priced` makes
the functions that templates call. A price sees every argument; a body may read
what was paid for, and pays itself for what it makes, before it makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from widgetd.template.values import Value, count, weigh

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


def priced(rows: Mapping[str, tuple[Price, Function]]) -> Mapping[str, Function]:
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
