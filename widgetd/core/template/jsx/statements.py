"""Statements of JSX: declarations, conditions and loops become a single `let` and its result.

A name is a slot of the frame shared by all functions, so an assignment is a further
slot and value of the `let`. In a branch it keeps the old value where the condition fails.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from widgetd.core.template.ir import UNDEFINED, Expr, Op, is_constant, literal
from widgetd.core.template.jinja import member
from widgetd.core.template.jsx import refusals
from widgetd.core.template.jsx.syntax import (
    FUNCTION_NODES,
    PATTERN_NAMES,
    is_component_import,
    only,
    parameters,
    unescape,
    unwrap,
)
from widgetd.core.template.parser import Fault
from widgetd.core.template.scope import Layout
from widgetd.core.template.vocabulary import VOCABULARY

if TYPE_CHECKING:
    from widgetd.core.template.jsx.parse import Node

_DECLARATIONS: Final = frozenset({"lexical_declaration", "variable_declaration"})
_BRANCHING: Final = frozenset({"if_statement", "switch_statement"})
MAX_FAULTS: Final = 20
_OPERATORS: Final = frozenset(VOCABULARY["javascript expressions"])

_PRESERVING: Final = frozenset({"filter", "slice", "sort", "toSorted", "reverse", "toReversed"})
"""Methods whose result has elements of the same list."""

JsxScope = ChainMap[str, Any]
"""The names that one block binds, inside those of the blocks around it.

A value is a slot, a constant (None is null), or what is known only while the program is built.
"""

_UNSET: Final = object()
"""The value of a name that is declared further down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function or component, and the block around its names.

    It is no value: it is written out at each use, so the program has no calls.
    """

    node: Node
    block: JsxScope


@dataclass(frozen=True, slots=True, kw_only=True)
class Properties:
    """The object for a component: attributes, or the arguments of the widget if None."""

    attributes: Mapping[str, Expr | Function] | None = None


End = Callable[[JsxScope], Expr]
"""Builds the value of a block whose statements return nothing."""


class Abandoned(Exception):  # noqa: N818 - ends a build; its faults say why
    """The end of a build."""


class StatementBuilder(ABC):
    """Builds blocks of statements. `expression` is left to the front end.

    Attributes:
        layout: The slots of the program.
        faults: Mistakes in the source. Building goes on behind them.
        paths: The path of the argument in a slot.
    """

    def __init__(self) -> None:
        self.layout = Layout()
        self.faults: list[Fault] = []
        self.paths: dict[int, str] = {}
        self._mutable: set[int] = set()

    @abstractmethod
    def expression(self, node: Node, block: JsxScope) -> Expr:
        """Build the operation of `node`."""

    def operator(self, sign: str) -> str:
        name = f"js{sign}"
        return name if name in _OPERATORS else ""

    def path(self, expr: Expr) -> str | None:
        if type(expr) is int:
            return self.paths.get(expr)
        if type(expr) is not Op:
            return None
        if expr.name == ".":
            path = self.path(expr.operands[0])
            keys = [*expr.operands[1:], "length"]
            before = keys[: keys.index("length")]
            return None if path is None else ".".join([path, *before])
        subject, step = _same_elements(expr.name, expr.operands)
        path = self.path(subject)
        return None if path is None else path + step

    def report(self, fault: Fault) -> None:
        """Add a fault. The same fault from two uses of a function counts once."""
        if all(
            (fault.place, str(fault)) != (reported.place, str(reported)) for reported in self.faults
        ):
            self.faults.append(fault)
        if len(self.faults) >= MAX_FAULTS:
            raise Abandoned

    # --- names ---

    def argument(self, name: str) -> int:
        slot = self.layout.argument(name)
        self.paths[slot] = name
        return slot

    def slot(self, value: Expr) -> int:
        slot = self.layout.slot()
        if path := self.path(value):
            self.paths[slot] = path
        return slot

    def is_stable(self, value: Expr) -> bool:
        """Return whether `value` costs nothing and stays the same."""
        return is_constant(value) or (type(value) is int and value not in self._mutable)

    def hold(self, value: Expr) -> tuple[list[Expr], Expr]:
        """Return the assignment for `value`, if needed, and its read."""
        if self.is_stable(value):
            return [], value
        slot = self.slot(value)
        return [slot, value], slot

    def bind(
        self, pattern: Node, value: Any, block: JsxScope, *, mutable: bool = False
    ) -> list[Expr]:
        """Bind the names of a pattern.

        Returns:
            Slots and values by turns, for a `let`.
        """
        kind = pattern.kind
        if kind in PATTERN_NAMES:
            return self._bind_name(pattern.text, value, block, mutable=mutable)
        if kind in {"assignment_pattern", "object_assignment_pattern"}:
            return self._bind_default(pattern, value, block, mutable=mutable)
        if kind == "array_pattern":
            held, value = self.hold(self._whole(value, pattern))
            return [*held, *self._bind_items(pattern, value, block, mutable=mutable)]
        if kind != "object_pattern":
            problem = f"this pattern is not available: {pattern.excerpt}"
            raise pattern.fault(problem, "write a name, {a, b} or [a, b]")
        held = []
        if not isinstance(value, Properties):
            held, value = self.hold(self._whole(value, pattern))
        return [*held, *self._bind_keys(pattern, value, block, mutable=mutable)]

    def _bind_name(self, name: str, value: Any, block: JsxScope, *, mutable: bool) -> list[Expr]:
        is_known = isinstance(value, Function | Properties)
        if is_known or (not mutable and self.is_stable(value)):
            block[name] = value
            return []
        block[name] = slot = self.slot(value)
        self.layout.names[slot] = name
        if mutable:
            self._mutable.add(slot)
        return [slot, value]

    def _bind_default(
        self, pattern: Node, value: Any, block: JsxScope, **flags: bool
    ) -> list[Expr]:
        left, right = pattern.fields["left"], pattern.fields["right"]
        if isinstance(value, Function | Properties):
            return self.bind(left, value, block, **flags)
        if value is UNDEFINED:
            return self.bind(left, self.expression(right, block), block, **flags)
        held, value = self.hold(value)
        if not is_constant(value):
            is_absent = Op("js===", (value, UNDEFINED), pattern.start)
            default = self.expression(right, block)
            value = Op("js?:", (is_absent, default, value), pattern.start)
        return [*held, *self.bind(left, value, block, **flags)]

    def _bind_keys(self, pattern: Node, value: Any, block: JsxScope, **flags: bool) -> list[Expr]:
        assigned: list[Expr] = []
        keys: list[str] = []
        for child in pattern.children:
            if child.kind == "rest_pattern":
                value = self._whole(value, child)
                left_out = [part for key in keys for part in (key, UNDEFINED)]
                rest = Op("js{}", ((), None, value, *left_out), child.start)
                assigned += self.bind(only(child), rest, block, **flags)
                continue
            key, target = child, child
            if child.kind == "object_assignment_pattern":
                key = child.fields["left"]
            elif child.kind == "pair_pattern":
                key, target = child.fields["key"], child.fields["value"]
            if key.kind == "computed_property_name":
                raise key.fault(
                    f"a computed key is not available here: {key.excerpt}", "write a key"
                )
            keys.append(unescape(key))
            if isinstance(value, Properties):
                inner = self.property(value, keys[-1])
            else:
                inner = member(value, keys[-1], child.start)
            assigned += self.bind(target, inner, block, **flags)
        return assigned

    def property(self, value: Properties, key: str) -> Any:
        if value.attributes is not None:
            return value.attributes.get(key, UNDEFINED)
        return self.argument(key)

    def _bind_items(self, pattern: Node, value: Expr, block: JsxScope, **flags: bool) -> list[Expr]:
        assigned: list[Expr] = []
        at, end = 0, 0
        for part in pattern.children:
            # An element left out has no node, only its comma.
            start = part.start - pattern.start
            at += pattern.text[end:start].count(",")
            end = start + len(part.text)
            is_rest = part.kind == "rest_pattern"
            operands = ("slice", value, literal(at)) if is_rest else (value, literal(at))
            item = Op("jsm" if is_rest else "js[]", operands, part.start)
            assigned += self.bind(only(part) if is_rest else part, item, block, **flags)
        return assigned

    def _whole(self, value: Any, node: Node) -> Expr:
        if value is _UNSET:
            problem = f"'{node.excerpt}' is used before it is set"
            raise node.fault(problem, "take a name that no argument has, or move it up")
        if isinstance(value, Function):
            problem = f"a function is no value here: {node.excerpt}"
            raise node.fault(problem, "call it, or write onClickAction={{ type, payload }}")
        if not isinstance(value, Properties):
            return value
        if value.attributes is None:
            problem = f"all arguments at once are not available: {node.excerpt}"
            raise node.fault(problem, "write their names")
        entries = [
            part
            for key, member in value.attributes.items()
            if not isinstance(member, Function)
            for part in (key, member)
        ]
        return Op("js{}", ((), *entries), node.start)

    def declare(self, statements: Iterable[Node], block: JsxScope) -> None:
        """Bind the functions of a block, which may be used above, and mark its other names."""
        for node in statements:
            if node.kind == "function_declaration":
                block[node.fields["name"].text] = Function(node=node, block=block)
            for declarator in node.children if node.kind in _DECLARATIONS else ():
                value = declarator.fields.get("value")
                if value is not None and unwrap(value).kind in FUNCTION_NODES:
                    function = Function(node=unwrap(value), block=block)
                    block[declarator.fields["name"].text] = function
                else:
                    block.update(dict.fromkeys(_pattern_names(declarator.fields["name"]), _UNSET))

    # --- blocks ---

    def sequence(self, statements: list[Node], block: JsxScope, end: End | None = None) -> Expr:
        """Build the statements of a block, at least one without an `end`, and their result."""
        self.declare(statements, block)
        return self._from(statements, block, end)

    def _from(self, statements: list[Node], block: JsxScope, end: End | None) -> Expr:
        assigned: list[Expr] = []
        for at, node in enumerate(statements):
            try:
                if node.kind == "return_statement":
                    value = self.expression(only(node), block) if node.children else UNDEFINED
                    return let(assigned, value, node)
                if node.kind in _BRANCHING and _returns(node):
                    rest = statements[at + 1 :]
                    return let(assigned, self._choose(node, rest, block, assigned, end), node)
                assigned += self._statement(node, block)
            except Fault as fault:
                self.report(fault)
        if end is None:
            last = statements[-1]
            if all(fault.place != last.start for fault in self.faults):
                self.report(last.fault("the function returns nothing here", "end it with return …"))
            return None
        return let(assigned, end(block), statements[0] if statements else None)

    def _choose(
        self, node: Node, rest: list[Node], block: JsxScope, assigned: list[Expr], end: End | None
    ) -> Expr:
        held, branches = self._branches(node, block)
        assigned += held
        is_whole = branches[-1][0] is True
        result = None if is_whole else self._from(rest, block, end)
        for test, body in reversed(branches):
            value = self.sequence(body or [node], block.new_child())
            result = value if test is True else Op("js?:", (test, value, result), node.start)
        return result

    def _branches(
        self, node: Node, block: JsxScope
    ) -> tuple[list[Expr], list[tuple[Expr, list[Node]]]]:
        """Return the assignments before a condition or switch, and each test with its statements.

        The last test is `True` where something is done in any other case.
        """
        if node.kind == "if_statement":
            test = self.expression(node.fields["condition"], block)
            branches = [(test, _body(node.fields["consequence"]))]
            if "alternative" in node.fields:
                other = only(node.fields["alternative"])
                if other.kind == "if_statement":
                    branches += self._branches(other, block)[1]
                else:
                    branches.append((True, _body(other)))
            return [], branches
        return self._cases(node, block)

    def _cases(
        self, node: Node, block: JsxScope
    ) -> tuple[list[Expr], list[tuple[Expr, list[Node]]]]:
        held, subject = self.hold(self.expression(node.fields["value"], block))
        branches: list[tuple[Expr, list[Node]]] = []
        default: list[Node] | None = None
        test: Expr = None
        cases = node.fields["body"].children
        for case in cases:
            is_default = case.kind == "switch_default"
            parts = case.children if is_default else case.children[1:]
            body = [statement for part in parts for statement in _body(part)]
            if body and body[-1].kind == "break_statement":
                body.pop()
            elif body and case is not cases[-1] and not _returns(body[-1]):
                raise case.fault("this case goes on in the next one", "end it with break or return")
            if is_default:
                default, test = body, None
                continue
            value = self.expression(case.fields["value"], block)
            equal = Op("js===", (subject, value), case.start)
            test = equal if test is None else Op("js||", (test, equal), case.start)
            if body:
                branches.append((test, body))
                test = None
        return held, branches if default is None else [*branches, (True, default)]

    def _statement(self, node: Node, block: JsxScope) -> list[Expr]:
        kind = node.kind
        if kind in _DECLARATIONS:
            return self._declaration(node, block)
        if kind in _BRANCHING:
            return self._conditional(node, block)
        if kind == "statement_block":
            inner = block.new_child()
            self.declare(node.children, inner)
            return [part for child in node.children for part in self._statement(child, inner)]
        if kind == "for_in_statement" and node.fields["operator"].text == "of":
            target, body = node.fields["left"], node.fields["body"]
            return self._repeat(node.fields["right"], target, _body(body), block)
        if kind in {"function_declaration", "empty_statement"} or is_component_import(node):
            return []
        if kind == "expression_statement":
            return self._effect(unwrap(only(node)), block)
        name = kind.removesuffix("_statement").removesuffix("_declaration")
        advice = refusals.STATEMENTS.get(
            kind, "put its value where it is used, or write const x = …"
        )
        raise node.fault(f"the statement {name} is not available: {node.excerpt}", advice)

    def _declaration(self, node: Node, block: JsxScope) -> list[Expr]:
        assigned: list[Expr] = []
        mutable = not node.text.startswith("const")
        for declarator in node.children:
            value = declarator.fields.get("value")
            if value is None:
                assigned += self.bind(declarator.fields["name"], UNDEFINED, block, mutable=True)
            elif unwrap(value).kind not in FUNCTION_NODES:
                built = self.expression(value, block)
                assigned += self.bind(declarator.fields["name"], built, block, mutable=mutable)
        return assigned

    def _conditional(self, node: Node, block: JsxScope) -> list[Expr]:
        """Build a condition or switch of assignments: each value is kept where its test fails."""
        assigned, branches = self._branches(node, block)
        done: Expr = False
        for test, body in branches:
            holds = self.layout.slot()
            assigned += holds, Op("js?:", (done, False, test), node.start)
            inner = block.new_child()
            self.declare(body, inner)
            effects = [part for statement in body for part in self._statement(statement, inner)]
            for slot, value in zip(effects[::2], effects[1::2], strict=True):
                assigned += slot, Op("js?:", (holds, value, slot), node.start)
            before, done = done, self.layout.slot()
            assigned += done, Op("js||", (before, holds), node.start)
        return assigned

    def _effect(self, node: Node, block: JsxScope) -> list[Expr]:
        kind, fields = node.kind, node.fields
        if kind in {"assignment_expression", "augmented_assignment_expression"}:
            target, value = fields["left"], self.expression(fields["right"], block)
            if kind.startswith("augmented"):
                sign = self.operator(fields["operator"].text[:-1])
                if not sign:
                    raise node.fault(
                        f"this assignment is not available: {node.excerpt}", refusals.ADVICE
                    )
                value = Op(sign, (self.expression(target, block), value), node.start)
            return self._assign(target, value, block)
        if kind == "update_expression":
            slot = self._assignable(fields["argument"], block)
            sign = self.operator(fields["operator"].text[0])
            return [slot, Op(sign, (slot, literal(1)), node.start)]
        callee = fields.get("function")
        name = callee.fields["property"].text if callee and "property" in callee.fields else ""
        if callee and name == "forEach" and fields["arguments"].children:
            function = self.function_of(fields["arguments"].children[0], block)
            if function is not None:
                body = _body(function.node.fields["body"])
                target, *_ = [*parameters(function.node), None]
                return self._repeat(callee.fields["object"], target, body, function.block)
        if callee and name == "push":
            target, before = unwrap(callee.fields["object"]), list[Expr]()
            if target.kind == "augmented_assignment_expression":
                before, target = self._effect(target, block), target.fields["left"]
            old = Op("...", (self.expression(target, block),))
            values = [self.expression(argument, block) for argument in fields["arguments"].children]
            return [*before, *self._assign(target, Op("js[,]", (old, *values), node.start), block)]
        problem = f"the value of this is used nowhere: {node.excerpt}"
        raise node.fault(problem, "return it, or leave it out")

    def _assign(self, target: Node, value: Expr, block: JsxScope) -> list[Expr]:
        if target.kind == "identifier":
            return [self._assignable(target, block), value]
        slot = self._assignable(target.fields.get("object", target), block)
        key: Expr = target.fields["property"].text if "property" in target.fields else None
        if "index" in target.fields:
            key = self.expression(target.fields["index"], block)
        return [slot, Op("js{}", ((), None, slot, key, value), target.start)]

    def _assignable(self, node: Node, block: JsxScope) -> int:
        slot = block.get(node.text) if node.kind == "identifier" else None
        if type(slot) is not int:
            problem = f"'{node.excerpt}' cannot be changed"
            raise node.fault(problem, "declare a name of its own with let, and change that")
        return slot

    def _repeat(
        self, items: Node, target: Node | None, body: list[Node], block: JsxScope
    ) -> list[Expr]:
        """Build a loop over a list for its assignments: they stand in a map without a reader."""
        values = self.expression(items, block)
        inner, slot = block.new_child(), self.layout.slot()
        if path := self.path(values):
            self.paths[slot] = f"{path}[]"
        assigned = [] if target is None else self.bind(target, slot, inner)
        self.declare(body, inner)
        for statement in body:
            if _returns(statement):
                raise statement.fault("return is not available in a loop", "write find or filter")
            assigned += self._statement(statement, inner)
        turn = Op("let", (*assigned, UNDEFINED), items.start)
        return [self.layout.slot(), Op("jsloop", ("map", values, (((slot, None),),), turn))]

    def function_of(self, node: Node, block: JsxScope) -> Function | None:
        node = unwrap(node)
        if node.kind in FUNCTION_NODES:
            return Function(node=node, block=block)
        bound = block.get(node.text) if node.kind == "identifier" else None
        return bound if isinstance(bound, Function) else None


def let(assigned: list[Expr], result: Expr, node: Node | None) -> Expr:
    """Return an expression with assignments of slots before its value."""
    if not assigned:
        return result
    return Op("let", (*assigned, result), node.start if node else 0)


def _body(node: Node) -> list[Node]:
    return node.children if node.kind == "statement_block" else [node]


def _returns(node: Node) -> bool:
    if node.kind in FUNCTION_NODES or node.kind == "function_declaration":
        return False
    return node.kind == "return_statement" or any(map(_returns, node.children))


def _pattern_names(node: Node) -> list[str]:
    if node.kind in PATTERN_NAMES:
        return [node.text]
    if node.kind in {"assignment_pattern", "object_assignment_pattern"}:
        return _pattern_names(node.fields["left"])
    if node.kind == "pair_pattern":
        return _pattern_names(node.fields["value"])
    return [name for child in node.children for name in _pattern_names(child)]


def _same_elements(name: str, operands: tuple[Any, ...]) -> tuple[Expr, str]:
    """Return the source of an operation's value, and its step of the path.

    A method that only leaves out or sorts elements takes none, and neither does a default.
    """
    first, second = (*operands, None, None)[:2]
    if name == "js{}" and operands[1:2] == (None,) and len(operands) == 3:
        return operands[2], ""
    if name == "js[]":
        # A computed key may be an index or a name.
        return (first, "[]") if type(second) is Op and second.name == "#" else (None, "")
    if name in {"jsloop", "jsm"} and first in _PRESERVING:
        return second, ""
    if (name, first) in {("jsloop", "find"), ("jsm", "at")}:
        return second, "[]"
    is_empty = type(second) is Op and not any(second.operands)
    is_copy = name == "js[,]" and len(operands) == 1
    if (name in {"js??", "js||"} and is_empty) or (name == "..." or is_copy):
        return first, ""
    is_default = name == "js?:" and type(first) is Op and UNDEFINED in first.operands
    return (operands[2] if is_default else None), ""
