"""JSX compiled as Studio's exporter transcribes it, with the exporter's known losses.

A template that renders the same as this, for any arguments, is an untouched export. The exporter
loses that a template literal with one value is a text, every call but `map`, and that an object
with a `type` in a list is no component. Jinja also differs from JavaScript in truth, equality and
the text of a value.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from widgetd.core.template.ir import Expr, Op
from widgetd.core.template.jsx.build import Builder
from widgetd.core.template.jsx.syntax import ELEMENTS, only, unwrap

if TYPE_CHECKING:
    from widgetd.core.template.jsx.parse import Node
    from widgetd.core.template.jsx.statements import JsxScope

_OPERATORS: Final = MappingProxyType(
    {
        **{sign: sign for sign in ("+", "-", "*", "/", "%")},
        "===": "eq",
        "==": "eq",
        "!==": "ne",
        "!=": "ne",
        "<": "lt",
        "<=": "lteq",
        ">": "gt",
        ">=": "gteq",
        "&&": "and",
        "||": "or",
        "??": "js??",
    }
)


class ExporterBuilder(Builder):
    """A builder of operations that reads JSX as the exporter does."""

    OBJECT = "exporter{}"
    NOT = "not"
    CONDITION = "?:"
    JOIN = "~"

    def operator(self, sign: str) -> str:
        """Return Jinja's operator."""
        return _OPERATORS.get(sign, "")

    def template(self, node: Node, block: JsxScope) -> Expr:
        """Build the value of a template literal that holds nothing else."""
        if [each.kind for each in node.children] == ["template_substitution"]:
            return self.expression(only(node.children[0]), block)
        return super().template(node, block)

    def call(self, node: Node, block: JsxScope) -> Expr:
        """Build null, except for a map."""
        named = node.fields["function"].fields.get("property")
        if named is not None and named.text == "map":
            return super().call(node, block)
        return None

    def child(self, node: Node, block: JsxScope) -> Expr:
        """Build null for `x && <A/>` where `x` is false."""
        node = unwrap(node)
        if node.kind != "binary_expression" or node.fields["operator"].text != "&&":
            return super().child(node, block)
        return Op("?:", (*self.fields(node, block, "left", "right"), None), node.start)

    def array(self, node: Node, block: JsxScope) -> Expr:
        """Build a list in which an object with a `type` becomes a `Text` that holds it."""
        made = super().array(node, block)
        if any(unwrap(each).kind in ELEMENTS for each in node.children):
            return made
        return Op("exporter[,]", (made,), node.start)
