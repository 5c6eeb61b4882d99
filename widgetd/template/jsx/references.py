"""The arguments that a view reads, and where: `rows[].name`, as for templates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from widgetd.template.builtins.javascript import FUNCTIONS, LOOPS, METHODS
from widgetd.template.jsx.syntax import parameters
from widgetd.template.references import Names, Read

if TYPE_CHECKING:
    from widgetd.template.jsx.parse import Node
    from widgetd.template.lexer import Lines

_KEPT = {"filter": "", "slice": "", "find": "[]"}
"""Methods that make a list of the same elements, or one of them; and how its path goes on."""


def reads(root: Node, lines: Lines) -> tuple[Read, ...]:
    """Return every read of an argument below `root`, in the order of the text."""
    collector = _JsxReadCollector(lines)
    collector.visit(root, {})
    return tuple(sorted(collector.found, key=lambda read: (read.line, read.column)))


class _JsxReadCollector:
    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.found: list[Read] = []

    def visit(self, node: Node, names: Names) -> None:
        path, inside = self.path(node, names)
        if path is not None:
            line, column = self.lines.location(node.start)
            read = Read(path=path, line=line, column=column, guarded=False, known=frozenset())
            self.found.append(read)
        for each, bound in inside:
            self.visit(each, bound)

    def path(self, node: Node, names: Names) -> tuple[str | None, list[tuple[Node, Names]]]:
        """Return the path that `node` reads, and the nodes to visit besides, with their names."""
        fields = node.fields
        match node.kind:
            case "identifier" | "shorthand_property_identifier":
                return names.get(node.text, node.text), []
            case "member_expression":
                around, inside = self.path(fields["object"], names)
                key = fields["property"].text
                return (around if around is None or key == "length" else f"{around}.{key}"), inside
            case "subscript_expression":
                around, inside = self.path(fields["object"], names)
                step = "[]" if fields["index"].kind == "number" else ""
                return (around and around + step), [*inside, (fields["index"], names)]
            case "parenthesized_expression" if node.children:
                return self.path(node.children[0], names)
            case "call_expression":
                return self.call(node, names)
        return None, self.below(node, names)

    def below(self, node: Node, names: Names) -> list[tuple[Node, Names]]:
        """Return the nodes to visit below a node that reads nothing itself."""
        fields, children = node.fields, node.children
        if node.kind == "arrow_function":
            return [(fields["body"], {**names, **_parameter_paths(node, None)})]
        if node.kind == "statement_block":
            names = self.constants(node, names)
        elif node.kind in {"jsx_opening_element", "jsx_self_closing_element"}:
            children = children[1:]
        elif node.kind == "jsx_closing_element":
            children = []
        elif node.kind in {"pair", "variable_declarator"}:
            key = fields.get("key", node)
            children = [key] if key.kind == "computed_property_name" else []
            children = [*children, fields["value"]]
        return [(each, names) for each in children]

    def call(self, node: Node, names: Names) -> tuple[str | None, list[tuple[Node, Names]]]:
        callee, given = node.fields["function"], node.fields["arguments"].children
        args = [(each, names) for each in given]
        if callee.text in FUNCTIONS or callee.kind != "member_expression":
            return None, args
        name, subject = callee.fields["property"].text, callee.fields["object"]
        around, inside = self.path(subject, names)
        if name in LOOPS and given and given[0].kind == "arrow_function":
            element = None if around is None else f"{around}[]"
            bound = {**names, **_parameter_paths(given[0], element)}
            inside = [*inside, (given[0].fields["body"], bound)]
        elif name in {*LOOPS, *METHODS}:
            inside = [*inside, *args]
        if around is None:
            return None, inside
        return around + _KEPT.get(name, ""), inside

    def constants(self, node: Node, names: Names) -> Names:
        """Return the names inside a function's body; a constant may stand for a path."""
        for each in (one for statement in node.children for one in statement.children):
            if each.kind == "variable_declarator":
                path, _ = self.path(each.fields["value"], names)
                names = {**names, each.fields["name"].text: path}
        return names


def _parameter_paths(function: Node, element: str | None) -> dict[str, str | None]:
    """Return the paths of a function's parameters, the first of which is `element`."""
    bound: dict[str, str | None] = {}
    for at, names in enumerate(parameters(function)):
        path = None if at else element
        for name, key in names:
            bound[name] = path if path is None or key is None else f"{path}.{key}"
    return bound
