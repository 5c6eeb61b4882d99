"""The names of JSX: each block of statements binds some, inside those of the blocks around it.

Functions and the properties of a component are no values. They are known while the program
is built and written out where they are used, so the program has no calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from widgetd.template.ir import UNDEFINED, Expr

if TYPE_CHECKING:
    from widgetd.template.jsx.parse import Node
    from widgetd.template.scope import Layout


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function or component, and the block that its body reads names from."""

    node: Node
    block: JsxScope


@dataclass(frozen=True, slots=True, kw_only=True)
class Properties:
    """The object that a component gets: attributes, or the arguments of the widget if None."""

    attributes: Mapping[str, Expr | Function] | None = None

    def read(self, key: str, layout: Layout) -> Expr | Function:
        """Return the value of one property."""
        if self.attributes is None:
            return layout.argument(key)
        return self.attributes.get(key, UNDEFINED)


class Unset:
    """A name that is declared further down."""


UNSET = Unset()


class JsxScope:
    """The names that one block binds; None in `names` is the constant null.

    Attributes:
        names: The value of each name: a slot, a constant, or what is known while building.
        mutable: The names declared by `let` or `var`.
    """

    __slots__ = ("layout", "mutable", "names", "parent")

    def __init__(self, layout: Layout, parent: JsxScope | None = None) -> None:
        self.layout = layout
        self.parent = parent
        self.names: dict[str, Expr | Function | Properties | Unset] = {}
        self.mutable: set[str] = set()

    def owner(self, name: str) -> JsxScope | None:
        """Return the nearest block that binds `name`; None if it is an argument's."""
        block: JsxScope | None = self
        while block is not None and name not in block.names:
            block = block.parent
        return block

    def find(self, name: str) -> Expr | Function | Properties | Unset:
        """Return the value of `name`; None if no block binds it."""
        owner = self.owner(name)
        return None if owner is None else owner.names[name]
