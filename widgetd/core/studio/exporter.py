"""JSX compiled with the known losses of Studio's exporter.

A template with the same renders is an untouched export. The exporter turns a template literal
with a single value into a text, drops every call but `map`, and treats an object with a `type`
in a list as a component. Jinja also differs from JavaScript in truth, equality and the text of
a value.
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
        return _OPERATORS.get(sign, "")

    def template(self, node: Node, block: JsxScope) -> Expr:
        """Build the single value of a template literal, without turning it into a text."""
        if [child.kind for child in node.children] == ["template_substitution"]:
            return self.expression(only(node.children[0]), block)
        return super().template(node, block)

    def call(self, node: Node, block: JsxScope) -> Expr:
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
        built = super().array(node, block)
        if any(unwrap(child).kind in ELEMENTS for child in node.children):
            return built
        return Op("exporter[,]", (built,), node.start)
