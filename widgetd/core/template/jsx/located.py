"""JSX with places in its elements: each component of the tree says where it was written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from widgetd.core.template.ir import Expr, Op, literal
from widgetd.core.template.jsx.build import Builder
from widgetd.core.template.jsx.syntax import ELEMENTS

if TYPE_CHECKING:
    from widgetd.core.template.jsx.parse import Node
    from widgetd.core.template.jsx.statements import JsxScope

PLACE: Final = "\0place"
"""The property that holds the offset of an element's first character; no author writes it."""


class LocatingBuilder(Builder):
    """A builder whose trees have the property `PLACE` in each component."""

    def literal(self, node: Node, block: JsxScope) -> Expr:
        """Build a literal, of an element with its place as a further property."""
        built = super().literal(node, block)
        if node.kind not in ELEMENTS or not isinstance(built, Op) or built.name != self.OBJECT:
            return built
        return built._replace(operands=(*built.operands, PLACE, literal(node.start, node.start)))


def take_places(tree: dict[str, Any]) -> tuple[dict[str, int], dict[str, Any]]:
    """Return the place of each component by its JSON pointer, and the tree without them."""
    places: dict[str, int] = {}

    def strip(value: Any, at: str) -> Any:
        if isinstance(value, list):
            return [strip(item, f"{at}/{index}") for index, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        if PLACE in value:
            places[at] = value[PLACE]
        return {key: strip(item, f"{at}/{key}") for key, item in value.items() if key != PLACE}

    return places, strip(tree, "")
