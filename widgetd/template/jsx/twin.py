"""The view as Studio's exporter transcribes it: what it is known to lose is lost here, too.

A template that says what the twin says, whatever it is given, is an untouched export.
What the exporter loses: that a template literal which holds one value is a text; every
call but `map`; and that an object with a `type` in a list is no component. And Jinja
has other ideas than JavaScript of what is true, what is equal, and how a value reads.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from widgetd.template.builtins.operators import BINARY, COMPARISONS
from widgetd.template.jsx.evaluate import Compiler
from widgetd.template.jsx.syntax import ELEMENTS, bare, only
from widgetd.template.literals import VALUE, Part
from widgetd.template.scope import BUDGET, Evaluate, Frame, Scope
from widgetd.template.serialise import text
from widgetd.template.values import Value, made, made_dict

if TYPE_CHECKING:
    from widgetd.template.jsx.parse import Node


class Twin(Compiler):
    """Makes closures of nodes as the exporter understands them."""

    truthy = staticmethod(bool)
    text = staticmethod(text)
    omits_absent = False
    operators = MappingProxyType(
        {
            **{sign: BINARY[sign] for sign in ("+", "-", "*", "/", "%")},
            **dict.fromkeys(("===", "=="), COMPARISONS["eq"]),
            **dict.fromkeys(("!==", "!="), COMPARISONS["ne"]),
            "<": COMPARISONS["lt"],
            "<=": COMPARISONS["lteq"],
            ">": COMPARISONS["gt"],
            ">=": COMPARISONS["gteq"],
        }
    )

    def template(self, node: Node, scope: Scope) -> Evaluate:
        """What a template literal holds, where that is a single value."""
        if [each.kind for each in node.children] == ["template_substitution"]:
            return self.expression(only(node.children[0]), scope)
        return super().template(node, scope)

    def call(self, node: Node, scope: Scope) -> Evaluate:
        """Nothing, but for a map."""
        named = node.fields["function"].fields.get("property")
        if named is not None and named.text == "map":
            return super().call(node, scope)
        return lambda _frame: None

    def child(self, node: Node, scope: Scope) -> Part:
        """Of `x && <A/>` nothing, where `x` is false."""
        node = bare(node)
        if node.kind != "binary_expression" or node.fields["operator"].text != "&&":
            return super().child(node, scope)
        test, shown = (self.expression(node.fields[name], scope) for name in ("left", "right"))
        return VALUE, lambda frame: shown(frame) if test(frame) else None

    def part(self, node: Node, scope: Scope) -> Part:
        """A list by itself, or what is in it would not be wrapped."""
        node = bare(node)
        if node.kind == "array":
            return VALUE, self.expression(node, scope)
        return super().part(node, scope)

    def literal(self, node: Node, scope: Scope) -> Evaluate:
        """A list in which an object with a `type` is a `Text` that holds it."""
        make = super().literal(node, scope)
        if node.kind != "array" or any(bare(each).kind in ELEMENTS for each in node.children):
            return make

        def wrapped(frame: Frame) -> Value:
            budget = frame[BUDGET]
            return made(
                budget,
                [
                    made_dict(budget, {"type": "Text", "value": each})
                    if isinstance(each, dict) and isinstance(each.get("type"), str)
                    else each
                    for each in make(frame)
                ],
            )

        return wrapped
