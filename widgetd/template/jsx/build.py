"""The front end for JSX: a parsed view becomes a program, as a template does.

What is not in the table is not available. JavaScript's operators mean something else than a
template's, so they have names of their own; members, slots and constants are shared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from widgetd.template.ir import Expr, Op, literal
from widgetd.template.jinja import member
from widgetd.template.jsx.parse import Node
from widgetd.template.jsx.syntax import (
    ADVICE,
    CONSTANTS,
    LITERALS,
    WRAPPING,
    entries_of,
    is_fragment,
    only,
    parameters,
    unescape,
)
from widgetd.template.scope import Scope
from widgetd.template.vocabulary import VOCABULARY

METHODS: Final = frozenset(VOCABULARY["javascript methods"])
LOOPS: Final = frozenset(VOCABULARY["javascript loops"])
FUNCTIONS: Final = tuple(VOCABULARY["javascript functions"])
_OPERATORS: Final = frozenset(VOCABULARY["javascript expressions"])

_CALLS: Final = f"available are {', '.join(sorted({*LOOPS, *METHODS}))} and {', '.join(FUNCTIONS)}"

_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "arrow_function": "a function that is given to no method",
        "assignment_expression": "an assignment",
        "await_expression": "await",
        "class": "a class",
        "export_statement": "an export",
        "function_declaration": "a function with a name",
        "function_expression": "a function that is no arrow function",
        "if_statement": "the statement if",
        "import_statement": "an import",
        "jsx_text": "text among the children",
        "new_expression": "new",
        "regex": "a regular expression",
        "update_expression": "an assignment",
    }
)
"""How messages call nodes that are not available."""


class Builder:
    """Builds operations of nodes; each method is for one kind, by the table below.

    Attributes:
        OBJECT: The operator of an object or element.
    """

    OBJECT = "js{}"

    def expression(self, node: Node, scope: Scope) -> Expr:
        """Build the operation of `node`."""
        build = _BUILDERS.get(node.kind)
        if build is None:
            name = _NAMES.get(node.kind, node.kind.replace("_", " "))
            raise node.fault(f"{name} is not available here: {node.excerpt}", ADVICE)
        return build(self, node, scope)

    def each(self, nodes: list[Node], scope: Scope) -> list[Expr]:
        """Build the operations of several nodes."""
        return [self.expression(each, scope) for each in nodes]

    def fields(self, node: Node, scope: Scope, *names: str) -> tuple[Expr, ...]:
        """Build the operations of the fields `names`."""
        return tuple(self.each([node.fields[name] for name in names], scope))

    def constant(self, node: Node, _scope: Scope) -> Expr:
        """Build a literal."""
        return literal(CONSTANTS[node.kind](node), node.start)

    def brackets(self, node: Node, scope: Scope) -> Expr:
        """Build the expression in brackets."""
        return self.expression(only(node), scope)

    def name(self, node: Node, scope: Scope) -> Expr:
        """Build the read of an argument, a parameter or a constant."""
        return scope.resolve(node.text)

    def member(self, node: Node, scope: Scope) -> Expr:
        """Build `subject.key`."""
        subject = self.expression(node.fields["object"], scope)
        return member(subject, node.fields["property"].text, node.start)

    def item(self, node: Node, scope: Scope) -> Expr:
        """Build `subject[index]`."""
        return Op("js[]", self.fields(node, scope, "object", "index"), node.start)

    # --- operators ---

    def operator(self, sign: str) -> str:
        """Return the operation of an operator between two values, empty if there is none."""
        name = f"js{sign}"
        return name if name in _OPERATORS else ""

    def binary(self, node: Node, scope: Scope) -> Expr:
        """Build an operator between two operands."""
        sign = node.fields["operator"].text
        name, operands = self.operator(sign), self.fields(node, scope, "left", "right")
        if not name:
            raise node.fault(f"the operator {sign} is not available", ADVICE)
        return Op(name, operands, node.start)

    NOT = "js!"

    def unary(self, node: Node, scope: Scope) -> Expr:
        """Build an operator before its operand."""
        sign, operand = node.fields["operator"].text, self.fields(node, scope, "argument")
        name = {"!": self.NOT, "-": "jsneg", "+": "jspos"}.get(sign)
        if name is None:
            raise node.fault(f"the operator {sign} is not available", ADVICE)
        return Op(name, operand, node.start)

    CONDITION = "js?:"

    def ternary(self, node: Node, scope: Scope) -> Expr:
        """Build `test ? yes : no`."""
        operands = self.fields(node, scope, "condition", "consequence", "alternative")
        return Op(self.CONDITION, operands, node.start)

    JOIN = "js`"

    def template(self, node: Node, scope: Scope) -> Expr:
        """Build a template literal."""
        parts = [
            self.expression(only(each), scope)
            if each.kind == "template_substitution"
            else unescape(each)
            for each in node.children
        ]
        return Op(self.JOIN, tuple(parts), node.start)

    # --- calls ---

    def call(self, node: Node, scope: Scope) -> Expr:
        """Build a call: of a method, of a function, of a method that takes a function."""
        callee, given = node.fields["function"], node.fields["arguments"]
        if given.kind != "arguments":
            raise node.fault(f"a tagged literal is not available here: {node.excerpt}", ADVICE)
        if callee.text in FUNCTIONS and not scope.binds(callee.text.partition(".")[0]):
            return Op("jsfn", (callee.text, *self.each(given.children, scope)), node.start)
        if callee.kind != "member_expression":
            raise node.fault(f"a call of {callee.excerpt} is not available", _CALLS)
        name = callee.fields["property"].text
        if name in LOOPS:
            return self.loop(node, scope)
        if name not in METHODS:
            raise callee.fields["property"].fault(f"the method {name} is not available", _CALLS)
        subject = self.expression(callee.fields["object"], scope)
        return Op("jsm", (name, subject, *self.each(given.children, scope)), node.start)

    def loop(self, node: Node, scope: Scope) -> Expr:
        """Build a method that takes a function: `xs.map((x, i) => ...)`."""
        callee, given = node.fields["function"], node.fields["arguments"].children
        subject = self.expression(callee.fields["object"], scope)
        bound, body = self.function(given[0] if given else node, scope)
        return Op("jsloop", (callee.fields["property"].text, subject, bound, body), node.start)

    def function(self, node: Node, scope: Scope) -> tuple[tuple[Any, ...], Expr]:
        """Build a function: the slots its parameters are bound to, and its result."""
        inner = Scope(scope.layout, scope)
        if node.kind == "identifier" and node.text in FUNCTIONS:
            slot = scope.layout.slot()
            return (((slot, None),),), Op("jsfn", (node.text, slot), node.start)
        if node.kind != "arrow_function":
            raise node.fault(f"a function is wanted here: {node.excerpt}", "write x => …")
        bound = tuple(
            tuple((inner.bind(name), key) for name, key in each) for each in parameters(node)
        )
        return bound, self.body(node.fields["body"], inner)

    def body(self, node: Node, scope: Scope) -> Expr:
        """Build a function's body: an expression, or constants and what is returned."""
        if node.kind != "statement_block":
            return self.expression(node, scope)
        *before, last = node.children or [node]
        if last.kind != "return_statement" or not last.children:
            raise last.fault("the function returns nothing here", "end it with return …")
        constants: list[Any] = []
        for statement in before:
            if not statement.text.startswith("const"):
                raise statement.fault(f"only const is available here: {statement.excerpt}", ADVICE)
            for each in statement.children:
                name, value = each.fields.get("name"), each.fields.get("value")
                if name is None or value is None or name.kind != "identifier":
                    raise each.fault(
                        f"one name is wanted here: {each.excerpt}", "write const x = …"
                    )
                built = self.expression(value, scope)
                constants += scope.bind(name.text), built
        return Op("let", (*constants, self.expression(only(last), scope)), node.start)

    # --- literals and elements ---

    def literal(self, node: Node, scope: Scope) -> Expr:
        """Build an object, a list, an element or a fragment."""
        if node.kind == "array":
            return self.array(node, scope)
        if is_fragment(node):
            return Op("<>", self.children(node, scope), node.start)
        entries: list[Expr] = []
        for key, value in entries_of(node):
            entries.append(self.expression(key, scope) if isinstance(key, Node) else key)
            entries.append(self.expression(value, scope) if isinstance(value, Node) else value)
        return Op(self.OBJECT, (self.children(node, scope), *entries), node.start)

    def array(self, node: Node, scope: Scope) -> Expr:
        """Build a list."""
        parts = [
            Op("...", (self.expression(only(each), scope),), each.start)
            if each.kind == "spread_element"
            else self.expression(each, scope)
            for each in node.children
        ]
        return Op("js[,]", tuple(parts), node.start)

    def children(self, node: Node, scope: Scope) -> tuple[Expr, ...]:
        """Build the children between two tags."""
        if node.kind != "jsx_element":
            return ()
        opening, closing = node.fields["open_tag"], node.fields["close_tag"]
        name, closed = (
            each.fields["name"].text if "name" in each.fields else "" for each in (opening, closing)
        )
        if name != closed:
            raise closing.fault(f"</{closed}> does not close <{name}>", f"write </{name}>")
        return tuple(
            self.child(each, scope)
            for each in node.children
            if each is not opening
            and each is not closing
            and not (each.kind == "jsx_expression" and not each.children)
            and not (each.kind == "jsx_text" and not each.text.strip())
        )

    def child(self, node: Node, scope: Scope) -> Expr:
        """Build one of the children."""
        return self.expression(node, scope)


_BUILDERS: Final[Mapping[str, Callable[[Builder, Node, Scope], Expr]]] = MappingProxyType(
    {
        **dict.fromkeys(CONSTANTS, lambda builder, node, scope: builder.constant(node, scope)),
        **dict.fromkeys(WRAPPING, lambda builder, node, scope: builder.brackets(node, scope)),
        **dict.fromkeys(LITERALS, lambda builder, node, scope: builder.literal(node, scope)),
        **dict.fromkeys(
            ("identifier", "shorthand_property_identifier"),
            lambda builder, node, scope: builder.name(node, scope),
        ),
        "member_expression": lambda builder, node, scope: builder.member(node, scope),
        "subscript_expression": lambda builder, node, scope: builder.item(node, scope),
        "binary_expression": lambda builder, node, scope: builder.binary(node, scope),
        "unary_expression": lambda builder, node, scope: builder.unary(node, scope),
        "ternary_expression": lambda builder, node, scope: builder.ternary(node, scope),
        "template_string": lambda builder, node, scope: builder.template(node, scope),
        "call_expression": lambda builder, node, scope: builder.call(node, scope),
    }
)
"""How each kind of node is built; looked up on the builder, so that a subclass can differ."""
