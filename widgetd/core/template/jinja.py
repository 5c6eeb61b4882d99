"""The front end for Jinja: a parsed template becomes a program.

Scopes, the exporter's dialect and the JSON around each output are resolved here, once. Nodes
outside of the tables are not available, and every builtin and its arguments are checked before
anything renders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from widgetd.core.template import vocabulary
from widgetd.core.template.dialect.exporter import INDEX_NAMES
from widgetd.core.template.dialect.json_context import JsonContext
from widgetd.core.template.ir import UNDEFINED, Body, Expr, Op, Program, literal
from widgetd.core.template.parser import Fault, Parsed, assigned_names, every, nodes, start
from widgetd.core.template.scope import Layout, Scope
from widgetd.core.template.vocabulary import LOOP_MEMBERS


def build_template(parsed: Parsed, context: JsonContext, *, traced: bool = False) -> Program:
    """Build the program of a template.

    Args:
        parsed: The template.
        context: The JSON around each output.
        traced: Give each value the offset of its first token, for `Template.trace`.

    Raises:
        Fault: `W1302`, for what is not available.
    """
    layout = Layout()
    scope = Scope(layout)
    body = parsed.tree.body
    for name in sorted(assigned_names(body)):
        scope.bind(name)
    root = _Builder(context, traced=traced).body(body, scope)
    return layout.program(root, may_need_commas=context.may_need_commas)


def build_expression(tree: nodes.Expr) -> Program:
    """Build the program of an expression.

    Raises:
        Fault: `W1302`, for an unavailable name or construct.
    """
    layout = Layout()
    return layout.program(_Builder(JsonContext()).expression(tree, Scope(layout)))


class _Builder:
    def __init__(self, context: JsonContext, *, traced: bool = False) -> None:
        self.context = context
        self.traced = traced

    # --- expressions ---

    def expression(self, node: nodes.Node, scope: Scope) -> Expr:
        build = _EXPRESSIONS.get(type(node))
        if build is None:
            raise _unavailable(node)
        return build(self, node, scope)

    def operands(self, among: list[nodes.Expr], scope: Scope) -> tuple[Expr, ...]:
        return tuple([self.expression(node, scope) for node in among])

    def name(self, node: nodes.Name, scope: Scope) -> Expr:
        loop = _loop_slot(node, scope)
        if loop is not None:
            return loop
        slot = scope.resolve(node.name)
        if node.name not in INDEX_NAMES or scope.binds(node.name):
            return slot
        # The exporter forgets to bind the index of `xs.map((x, i) => ...)`.
        around = scope.innermost_loop()
        return slot if around is None else Op("index", (slot, around), node.lineno)

    def attribute(self, node: nodes.Getattr, scope: Scope) -> Expr:
        loop = _loop_slot(node.node, scope)
        if loop is not None and node.attr in LOOP_MEMBERS:
            return Op("loop", (loop, node.attr), node.lineno)
        return member(self.expression(node.node, scope), node.attr, node.lineno)

    def item(self, node: nodes.Getitem, scope: Scope) -> Expr:
        subject = self.expression(node.node, scope)
        if isinstance(node.arg, nodes.Slice):
            bounds = (node.arg.start, node.arg.stop, node.arg.step)
            cut = [None if bound is None else self.expression(bound, scope) for bound in bounds]
            return Op("[:]", (subject, *cut), node.arg.lineno)
        return Op("[]", (subject, self.expression(node.arg, scope)), node.lineno)

    def apply(
        self, node: nodes.Filter | nodes.Test, scope: Scope, subject: Op | None = None
    ) -> Expr:
        if subject is None:
            subject = self.expression(node.node, scope)  # type: ignore[arg-type]  # a block's has none
        args, named = self.arguments(node, scope)
        sort = "filter" if isinstance(node, nodes.Filter) else "test"
        args, named = vocabulary.bind(sort, node.name, args, named, node.lineno)
        sign = "|" if sort == "filter" else "?"
        return Op(sign + node.name, (subject, *args, *([named] if named else ())), node.lineno)

    def arguments(
        self, node: nodes.Filter | nodes.Test | nodes.Call, scope: Scope
    ) -> tuple[tuple[Expr, ...], dict[str, Expr]]:
        if node.dyn_args is not None or node.dyn_kwargs is not None:
            problem = "arguments cannot be unpacked with * or **"
            raise Fault("W1302", node.lineno, problem, "write them out one by one")
        named = {str(pair.key): self.expression(pair.value, scope) for pair in node.kwargs}
        return self.operands(node.args, scope), named

    def call(self, node: nodes.Call, scope: Scope, caller: Op | None = None) -> Expr:
        args, named = self.arguments(node, scope)
        if caller is not None:
            named["caller"] = caller
        place, callee = node.node.lineno, node.node
        if isinstance(callee, nodes.Name):
            if not scope.binds(callee.name) and _loop_slot(callee, scope) is None:
                vocabulary.require("function", callee.name, place)
                return Op("fn", (callee.name, args, named), place)
        elif isinstance(callee, nodes.Getattr):
            subject = self.expression(callee.node, scope)
            vocabulary.require_method(callee.attr, place)
            return Op("m", (callee.attr, subject, args, named), place)
        return Op("()", (self.expression(callee, scope), args, named), place)

    def condition(self, node: nodes.CondExpr, scope: Scope) -> Expr:
        test, yes = self.expression(node.test, scope), self.expression(node.expr1, scope)
        no = UNDEFINED if node.expr2 is None else self.expression(node.expr2, scope)
        return Op("?:", (test, yes, no), node.lineno)

    def binary(self, node: nodes.BinExpr, scope: Scope) -> Expr:
        left, right = self.expression(node.left, scope), self.expression(node.right, scope)
        return Op(node.operator or "", (left, right), node.lineno)

    def unary(self, node: nodes.UnaryExpr, scope: Scope) -> Expr:
        name = {"-": "neg", "+": "pos"}.get(node.operator or "", "not")
        return Op(name, (self.expression(node.node, scope),), node.lineno)

    def comparison(self, node: nodes.Compare, scope: Scope) -> Expr:
        first = self.expression(node.expr, scope)
        if len(node.ops) == 1:
            operand = node.ops[0]
            return Op(operand.op, (first, self.expression(operand.expr, scope)), operand.lineno)
        rest = [part for op in node.ops for part in (op.op, self.expression(op.expr, scope))]
        return Op("chain", (first, *rest), node.lineno)

    def pairs(self, node: nodes.Dict, scope: Scope) -> Expr:
        entries = [child for pair in node.items for child in (pair.key, pair.value)]
        return Op("{}", self.operands(entries, scope), node.lineno)

    # --- statements ---

    def body(self, body: list[nodes.Node], scope: Scope) -> Body:
        return tuple([self.statement(node, scope) for node in body])

    def statement(self, node: nodes.Node, scope: Scope) -> Op:
        if type(node) in _REFUSED:
            raise Fault("W1302", node.lineno, *_REFUSED[type(node)])
        build = _STATEMENTS.get(type(node))
        if build is None:
            raise _unavailable(node)
        return build(self, node, scope)

    def inner(self, body: list[nodes.Node], around: Scope) -> Body:
        return self.within(body, Scope(around.layout, around))

    def within(self, body: list[nodes.Node], scope: Scope) -> Body:
        shadows = scope.shadow(sorted(assigned_names(body)))
        run = self.body(body, scope)
        return (Op("copy", shadows), *run) if shadows else run

    def output(self, node: nodes.Output, scope: Scope) -> Op:
        parts = [
            Op("data", (child.data,), child.lineno)
            if isinstance(child, nodes.TemplateData)
            else self.write_value(child, scope)
            for child in node.nodes
            if id(child) not in self.context.stripped
        ]
        return Op("out", tuple(parts), node.lineno)

    def write_value(self, node: nodes.Expr, scope: Scope) -> Op:
        """Decide how a value is written: as JSON, as text, or inside a JSON string."""
        context, place = self.context, start(node) if self.traced else node.lineno
        is_within = id(node) in context.in_strings
        if (
            isinstance(node, nodes.Filter)
            and node.name == "tojson"
            and not (node.args or node.kwargs)
        ):
            assert node.node is not None  # noqa: S101 - only a filter block's filter has no subject
            value = self.expression(node.node, scope)
            if node.lineno in context.converted:
                # A template literal in the JSX had made a text of it.
                value = Op("String", (value,), node.lineno)
            return Op("json_inside" if is_within else "json", (value,), place)
        value = self.expression(node, scope)
        if is_within:
            return Op("escaped" if id(node) in context.escaped else "inside", (value,), place)
        if id(node) in context.bare:
            return Op("bare", (value,), place)
        return Op("value" if id(node) in context.values else "text", (value,), place)

    def branches(self, node: nodes.If, scope: Scope) -> Op:
        parts: list[Any] = []
        for branch in (node, *node.elif_):
            parts += self.expression(branch.test, scope), self.body(branch.body, scope)
        parts.append(self.body(node.else_, scope))
        return Op("ifv" if id(node) in self.context.values else "if", tuple(parts), node.lineno)

    def loop(self, node: nodes.For, scope: Scope) -> Op:
        turn = Scope(scope.layout, scope, loops=True)
        target = self.target(node.target, turn)
        chooser: Expr = True
        if node.test is not None:
            choosing = Scope(scope.layout, scope)
            choosing.names.update(turn.names)
            chooser = self.expression(node.test, choosing)
        body = self.within(node.body, turn)
        items = self.expression(node.iter, scope)
        otherwise = self.inner(node.else_, scope) if node.else_ else ()
        slot = turn.innermost_loop() if node.recursive else turn.loop
        operands = (target, items, body, slot, otherwise, chooser, node.recursive)
        return Op("for", operands, node.lineno)

    def target(self, node: nodes.Node, scope: Scope) -> Any:
        """Return the slot of a target, the operation for a namespace's field, or several."""
        if isinstance(node, nodes.Name):
            return scope.bind(node.name)
        if isinstance(node, nodes.NSRef):
            return Op("field", (scope.resolve(node.name), node.attr), node.lineno)
        if isinstance(node, nodes.Tuple):
            parts = tuple([self.target(child, scope) for child in node.items])
            return Op("each", parts, node.lineno)
        raise Fault("W1302", node.lineno, "nothing can be assigned to this", "assign to a name")

    def assignment(self, node: nodes.Assign, scope: Scope) -> Op:
        value = self.expression(node.node, scope)
        return Op("=", (self.target(node.target, scope), value), node.lineno)

    def block(self, node: nodes.AssignBlock, scope: Scope) -> Op:
        body = self.inner(node.body, scope)
        if id(node) in self.context.stripping:
            return Op("strip", (body,), node.lineno)
        value: Expr = Op("capture", (body,), node.lineno)
        if node.filter is not None:
            value = self.chain(node.filter, scope, value)
        return Op("=", (self.target(node.target, scope), value), node.lineno)

    def chain(self, node: nodes.Filter, scope: Scope, subject: Expr) -> Expr:
        """Apply the filters of a filter block or set-block to its text."""
        if isinstance(node.node, nodes.Filter):
            subject = self.chain(node.node, scope, subject)
        return self.apply(node, scope, subject)

    def filter_block(self, node: nodes.FilterBlock, scope: Scope) -> Op:
        body = Op("capture", (self.inner(node.body, scope),), node.lineno)
        return self.block_output(node, self.chain(node.filter, scope, body))

    def block_output(self, node: nodes.Stmt, value: Expr) -> Op:
        how = "inside" if id(node) in self.context.in_strings else "text"
        return Op("out", (Op(how, (value,), node.lineno),), node.lineno)

    def names_within(self, node: nodes.With, scope: Scope) -> Op:
        inner = Scope(scope.layout, scope)
        values = self.operands(node.values, scope)
        targets = tuple([self.target(target, inner) for target in node.targets])
        return Op("with", (targets, values, self.within(node.body, inner)), node.lineno)

    def own_scope(self, node: Any, scope: Scope) -> Op:
        # Nothing is ever escaped, so only the body of an `autoescape` block counts.
        return Op("with", ((), (), self.inner(node.body, scope)), node.lineno)

    def macro(self, node: nodes.Macro, scope: Scope) -> Op:
        slot = scope.bind(node.name)
        return Op("=", (slot, self.definition(node, node.name, scope)), node.lineno)

    def definition(self, node: nodes.Macro | nodes.CallBlock, name: str, around: Scope) -> Op:
        scope = Scope(around.layout, around)
        scope.is_macro = True
        slots = {child.name: scope.bind(child.name) for child in node.args}
        within = [child for part in node.body for child in every(part)]
        used = {child.name for child in within if isinstance(child, nodes.Name)} - slots.keys()
        special = ("varargs", "kwargs", "caller")
        extra = tuple([scope.bind(child) if child in used else None for child in special])
        defaults = self.operands(node.defaults, scope)
        body = self.within(node.body, scope)
        return Op("macro", (name, tuple(slots.items()), defaults, body, extra), node.lineno)

    def call_block(self, node: nodes.CallBlock, scope: Scope) -> Op:
        caller = self.definition(node, "caller", scope)
        return self.block_output(node, self.call(node.call, scope, caller))


def member(subject: Expr, key: str, place: int) -> Op:
    """Return the operation to read `subject.key`. A path is a single operation."""
    if type(subject) is Op and subject.name == ".":
        return Op(".", (*subject.operands, key), place)
    return Op(".", (subject, key), place)


def _loop_slot(node: nodes.Node, scope: Scope) -> int | None:
    if isinstance(node, nodes.Name) and node.name == "loop" and not scope.binds("loop"):
        return scope.innermost_loop()
    return None


def _unavailable(node: nodes.Node) -> Fault:
    word = type(node).__name__.lower()
    return Fault("W1302", node.lineno, f"{word} is not available", "use what stays in the data")


_REFUSED: Final[Mapping[type[nodes.Node], tuple[str, str]]] = MappingProxyType(
    {
        nodes.Include: ("includes are not available", "put the text into this template"),
        nodes.Import: ("imports are not available", "put the macros into this template"),
        nodes.FromImport: ("imports are not available", "put the macros into this template"),
        nodes.Extends: ("inheritance is not available", "put the text into this template"),
        nodes.Block: ("blocks are not available", "write their text, or make it a macro"),
    }
)

_EXPRESSIONS: Final[Mapping[type[nodes.Node], Callable[[_Builder, Any, Scope], Expr]]] = (
    MappingProxyType(
        {
            nodes.Const: lambda _builder, node, _scope: literal(node.value, node.lineno),
            nodes.TemplateData: lambda _builder, node, _scope: node.data,
            nodes.Name: _Builder.name,
            nodes.Getattr: _Builder.attribute,
            nodes.Getitem: _Builder.item,
            **dict.fromkeys((nodes.Filter, nodes.Test), _Builder.apply),
            nodes.Call: _Builder.call,
            nodes.CondExpr: _Builder.condition,
            **dict.fromkeys(
                (nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow),
                _Builder.binary,
            ),
            **dict.fromkeys((nodes.And, nodes.Or), _Builder.binary),
            **dict.fromkeys((nodes.Not, nodes.Neg, nodes.Pos), _Builder.unary),
            nodes.Concat: lambda builder, node, scope: Op(
                "~", builder.operands(node.nodes, scope), node.lineno
            ),
            nodes.Compare: _Builder.comparison,
            nodes.List: lambda builder, node, scope: Op(
                "[,]", builder.operands(node.items, scope), node.lineno
            ),
            nodes.Tuple: lambda builder, node, scope: Op(
                "(,)", builder.operands(node.items, scope), node.lineno
            ),
            nodes.Dict: _Builder.pairs,
        }
    )
)

_STATEMENTS: Final[Mapping[type[nodes.Node], Callable[[_Builder, Any, Scope], Op]]] = (
    MappingProxyType(
        {
            nodes.Output: _Builder.output,
            nodes.If: _Builder.branches,
            nodes.For: _Builder.loop,
            nodes.Assign: _Builder.assignment,
            nodes.AssignBlock: _Builder.block,
            nodes.FilterBlock: _Builder.filter_block,
            nodes.With: _Builder.names_within,
            nodes.Macro: _Builder.macro,
            nodes.CallBlock: _Builder.call_block,
            **dict.fromkeys((nodes.Scope, nodes.ScopedEvalContextModifier), _Builder.own_scope),
        }
    )
)
