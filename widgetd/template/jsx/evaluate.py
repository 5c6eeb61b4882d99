"""Turn each kind of JSX and JavaScript expression into a closure that evaluates it over a frame.

What is not in the table is not available. Functions are no values: one can only stand
where it is given to a method, so nothing can call itself. Elements and literals are
built as a whole and weighed once, as a template's own are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from widgetd.template import literals
from widgetd.template.budget import CHARACTERS_PER_STEP, NODES_PER_STEP, Failure
from widgetd.template.jsx import javascript
from widgetd.template.jsx.javascript import FUNCTIONS, LOOPS, METHODS, OPERATORS
from widgetd.template.jsx.parse import Node
from widgetd.template.jsx.syntax import (
    ADVICE,
    CONSTANTS,
    LITERALS,
    WRAPPING,
    bare,
    entries_of,
    is_fragment,
    only,
    parameters,
    spread,
    takes_over,
    unescaped,
)
from widgetd.template.literals import BUILD, CHILDREN, CONSTANT, VALUE, Build, Part, constant
from widgetd.template.scope import BUDGET, Evaluate, Frame, Scope
from widgetd.template.serialise import javascript_text
from widgetd.template.values import (
    ABSENT,
    HOLDERS,
    LEAF,
    Made,
    Value,
    dict_key,
    elements,
    is_nothing,
    kind,
    made,
    made_dict,
    member,
    placed,
    weigh,
    weighed,
)

if TYPE_CHECKING:
    from widgetd.template.budget import Budget

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
"""What some nodes are called where they are not available."""


class Compiler:
    """Makes closures of nodes; each method of one kind, by the table below."""

    def expression(self, node: Node, scope: Scope) -> Evaluate:
        """The closure that evaluates `node`."""
        scope.layout.nodes += 1
        make = _MAKERS.get(node.kind)
        if make is None:
            name = _NAMES.get(node.kind, node.kind.replace("_", " "))
            raise node.fault(f"{name} is not available here: {node.shown}", ADVICE)
        evaluate: Evaluate = getattr(self, make)(node, scope)
        return evaluate

    # What the exporter understands otherwise, and its twin with it.

    truthy: Callable[[Value], bool] = staticmethod(javascript.truthy)
    text: Callable[[Budget, Value], str] = staticmethod(javascript_text)
    operators: Mapping[str, javascript.Binary] = OPERATORS
    omits_absent = True
    """Whether an object leaves out what is absent; else it is null there."""

    def constant(self, node: Node, _scope: Scope) -> Evaluate:
        """The closure of what stands there as it is."""
        return constant(CONSTANTS[node.kind](node))

    def wrapped(self, node: Node, scope: Scope) -> Evaluate:
        """The closure of what stands in brackets."""
        return self.expression(only(node), scope)

    # --- names, and what they hold ---

    def name(self, node: Node, scope: Scope) -> Evaluate:
        """The closure of what an argument, a parameter or a constant is called."""
        slot = scope.resolve(node.text)
        return lambda frame: frame[slot]

    def member(self, node: Node, scope: Scope) -> Evaluate:
        """The closure of `subject.key`; a key comes before whatever else there is."""
        subject, key = self.expression(node.fields["object"], scope), node.fields["property"].text

        def attribute(frame: Frame) -> Value:
            value = subject(frame)
            return value.get(key, ABSENT) if type(value) is dict else member(value, key)

        return attribute

    def subscript(self, node: Node, scope: Scope) -> Evaluate:
        """The closure of `subject[index]`."""
        subject = self.expression(node.fields["object"], scope)
        index = self.expression(node.fields["index"], scope)

        def item(frame: Frame) -> Value:
            value, at = subject(frame), index(frame)
            if isinstance(value, dict):
                weigh(frame[BUDGET], at)
                return value.get(javascript_text(frame[BUDGET], at), ABSENT)
            if isinstance(at, str):
                if len(at) > CHARACTERS_PER_STEP:
                    frame[BUDGET].scan(len(at))
                return member(value, at)
            is_place = isinstance(at, int | float) and not isinstance(at, bool) and at >= 0
            return member(value, at) if is_place else ABSENT

        return item

    # --- operators ---

    def binary(self, node: Node, scope: Scope) -> Evaluate:
        """The closure of an operator between two operands."""
        operator = node.fields["operator"].text
        left = self.expression(node.fields["left"], scope)
        right = self.expression(node.fields["right"], scope)
        truthy = self.truthy
        if operator == "??":
            return lambda frame: right(frame) if is_nothing(value := left(frame)) else value
        if operator == "&&":
            return lambda frame: right(frame) if truthy(value := left(frame)) else value
        if operator == "||":
            return lambda frame: value if truthy(value := left(frame)) else right(frame)
        apply = self.operators.get(operator)
        if apply is None:
            raise node.fault(f"the operator {operator} is not available", ADVICE)
        return _placed(node, lambda frame: apply(frame[BUDGET], left(frame), right(frame)))

    def unary(self, node: Node, scope: Scope) -> Evaluate:
        """The closure of an operator before its operand."""
        operator = node.fields["operator"].text
        value, truthy = self.expression(node.fields["argument"], scope), self.truthy
        if operator == "!":
            return lambda frame: not truthy(value(frame))
        signs = {"-": javascript.negative, "+": javascript.positive}
        if operator not in signs:
            raise node.fault(f"the operator {operator} is not available", ADVICE)
        sign = signs[operator]
        return _placed(node, lambda frame: sign(frame[BUDGET], value(frame)))

    def ternary(self, node: Node, scope: Scope) -> Evaluate:
        """The closure of `test ? yes : no`."""
        test, yes, no = (
            self.expression(node.fields[name], scope)
            for name in ("condition", "consequence", "alternative")
        )
        truthy = self.truthy
        return lambda frame: yes(frame) if truthy(test(frame)) else no(frame)

    def template(self, node: Node, scope: Scope) -> Evaluate:
        """The closure of a template literal."""
        parts: list[str | Evaluate] = [
            self.expression(only(each), scope)
            if each.kind == "template_substitution"
            else unescaped(each)
            for each in node.children
        ]
        text = self.text

        def join(frame: Frame) -> str:
            budget = frame[BUDGET]
            shown = [each if isinstance(each, str) else text(budget, each(frame)) for each in parts]
            budget.text(sum(map(len, shown)))
            return "".join(shown)

        return _placed(node, join)

    # --- calls ---

    def call(self, node: Node, scope: Scope) -> Evaluate:
        """The closure of a call: of a method, of a function, of a method given a function."""
        callee, given = node.fields["function"], node.fields["arguments"]
        if given.kind != "arguments":
            raise node.fault(f"a tagged literal is not available here: {node.shown}", ADVICE)
        if callee.text in FUNCTIONS and not scope.binds(callee.text.partition(".")[0]):
            function = FUNCTIONS[callee.text]
            args = [self.expression(each, scope) for each in given.children]

            def apply(frame: Frame) -> Value:
                values = [each(frame) for each in args]
                weigh(frame[BUDGET], *values)
                return function(frame[BUDGET], values)

            return _placed(node, apply)
        if callee.kind != "member_expression":
            raise node.fault(f"a call of {callee.shown} is not available", _CALLS)
        name = callee.fields["property"].text
        if name in LOOPS:
            return self.loop(node, scope)
        if name not in METHODS:
            raise callee.fields["property"].fault(f"the method {name} is not available", _CALLS)
        subject = self.expression(callee.fields["object"], scope)
        args = [self.expression(each, scope) for each in given.children]
        return _placed(
            node,
            lambda frame: javascript.called(
                frame[BUDGET], name, subject(frame), [each(frame) for each in args]
            ),
        )

    def loop(self, node: Node, scope: Scope) -> Evaluate:
        """The closure of a method that is given a function: `xs.map((x, i) => …)`."""
        callee, given = node.fields["function"], node.fields["arguments"].children
        subject = self.expression(callee.fields["object"], scope)
        method = LOOPS[callee.fields["property"].text]
        before = scope.layout.nodes
        turn = self.function(given[0] if given else node, scope)
        cost = (scope.layout.nodes - before) // NODES_PER_STEP

        def run(frame: Frame) -> Value:
            budget, values = frame[BUDGET], subject(frame)
            if isinstance(values, str | dict):
                raise Failure(f"{kind(values)} is no list")
            each = elements(budget, values)
            budget.step(cost * len(each))
            return method(budget, list(each), lambda *args: turn(frame, *args))

        return _placed(node, run)

    def function(self, node: Node, scope: Scope) -> Callable[[Frame, Value, int], Value]:
        """The closure of what a method calls with an element and its position."""
        if node.kind == "identifier" and node.text in FUNCTIONS:
            known = FUNCTIONS[node.text]

            def apply(frame: Frame, value: Value, _at: int) -> Value:
                weigh(frame[BUDGET], value)
                return known(frame[BUDGET], [value])

            return apply
        if node.kind != "arrow_function":
            raise node.fault(f"a function is wanted here: {node.shown}", "write x => …")
        inner = Scope(scope.layout, scope)
        binds = [[(inner.bind(name), key) for name, key in each] for each in parameters(node)]
        body = self.body(node.fields["body"], inner)

        def turn(frame: Frame, *args: Value) -> Value:
            for bind, value in zip(binds, args, strict=False):
                for slot, key in bind:
                    frame[slot] = value if key is None else member(value, key)
            return body(frame)

        return turn

    def body(self, node: Node, scope: Scope) -> Evaluate:
        """The closure of a function's body: an expression, or constants and what is returned."""
        if node.kind != "statement_block":
            return self.expression(node, scope)
        *before, last = node.children or [node]
        if last.kind != "return_statement" or not last.children:
            raise last.fault("the function returns nothing here", "end it with return …")
        constants: list[tuple[int, Evaluate]] = []
        for statement in before:
            if not statement.text.startswith("const"):
                raise statement.fault(f"only const is available here: {statement.shown}", ADVICE)
            for each in statement.children:
                name, value = each.fields.get("name"), each.fields.get("value")
                if name is None or value is None or name.kind != "identifier":
                    raise each.fault(f"one name is wanted here: {each.shown}", "write const x = …")
                evaluate = self.expression(value, scope)
                constants.append((scope.bind(name.text), evaluate))
        result = self.expression(only(last), scope)

        def run(frame: Frame) -> Value:
            for slot, evaluate in constants:
                frame[slot] = evaluate(frame)
            return result(frame)

        return run

    # --- literals and elements ---

    def part(self, node: Node, scope: Scope) -> Part:
        """What a value in a literal is made by."""
        node = bare(node)
        if node.kind in CONSTANTS:
            return CONSTANT, CONSTANTS[node.kind](node)
        if node.kind in LITERALS and not takes_over(node):
            scope.layout.nodes += 1
            return BUILD, self.build(node, scope)
        return VALUE, self.expression(node, scope)

    def literal(self, node: Node, scope: Scope) -> Evaluate:
        """The closure of an object, a list or an element."""
        if is_fragment(node):
            return self.fragment(node, scope)
        if takes_over(node):
            return self.spread(node, scope)
        before = scope.layout.nodes
        build = self.build(node, scope)
        cost = 1 + (scope.layout.nodes - before) // NODES_PER_STEP
        return _placed(node, literals.literal(build, cost))

    def build(self, node: Node, scope: Scope) -> Build:
        """What builds a literal in which nothing is spread."""
        if node.kind == "array":
            return literals.list_of([self.part(each, scope) for each in node.children])
        entries = {
            key: self.part(value, scope) if isinstance(value, Node) else (CONSTANT, value)
            for key, value in entries_of(node)
            if isinstance(key, str)  # or it would be spread
        }
        if self.omits_absent:
            entries = {key: part for key, part in entries.items() if part[1] is not ABSENT}
        kids = self.children(node, scope)
        children = partial(_shown, kids) if kids else None
        return literals.object_of(entries, children=children, omits_absent=self.omits_absent)

    def children(self, node: Node, scope: Scope) -> list[Part]:
        """What stands between two tags is made by."""
        if node.kind != "jsx_element":
            return []
        opening, closing = node.fields["open_tag"], node.fields["close_tag"]
        name, closed = (
            each.fields["name"].text if "name" in each.fields else "" for each in (opening, closing)
        )
        if name != closed:
            raise closing.fault(f"</{closed}> does not close <{name}>", f"write </{name}>")
        return [
            self.child(each, scope)
            for each in node.children
            if each is not opening
            and each is not closing
            and not (each.kind == "jsx_expression" and not each.children)
            and not (each.kind == "jsx_text" and not each.text.strip())
        ]

    def child(self, node: Node, scope: Scope) -> Part:
        """What one of the children is made by; a list is joined with what is around it."""
        if bare(node).kind == "array":
            return VALUE, self.expression(node, scope)
        return self.part(node, scope)

    def fragment(self, node: Node, scope: Scope) -> Evaluate:
        """The closure of `<>…</>`: the list of what it holds."""
        parts = self.children(node, scope)
        return _placed(node, lambda frame: weighed(frame[BUDGET], *_shown(parts, frame)))

    def spread(self, node: Node, scope: Scope) -> Evaluate:
        """The closure of a literal that takes over what others hold."""
        if node.kind == "array":
            values = [
                (each.kind == "spread_element", self.expression(spread(each), scope))
                for each in node.children
            ]

            def extend(frame: Frame) -> Value:
                budget = frame[BUDGET]
                out: list[Value] = []
                for is_spread, evaluate in values:
                    value = evaluate(frame)
                    budget.step()
                    out += elements(budget, value) if is_spread else [value]
                return made(budget, out)

            return _placed(node, extend)
        entries = [
            (
                self.expression(key, scope) if isinstance(key, Node) else constant(key),
                self.expression(value, scope) if isinstance(value, Node) else constant(value),
            )
            for key, value in entries_of(node)
        ]
        kids = self.children(node, scope)

        def merge(frame: Frame) -> Value:
            budget = frame[BUDGET]
            out: dict[Value, Value] = {}
            for name, evaluate in entries:
                key, value = name(frame), evaluate(frame)
                budget.step()
                if key is not None:
                    out[dict_key(budget, javascript_text(budget, key))] = value
                elif isinstance(value, dict):
                    budget.step(len(value))
                    out.update(value)
            if kids:
                out[CHILDREN] = weighed(budget, *_shown(kids, frame))
            return made_dict(budget, {k: v for k, v in out.items() if v is not ABSENT})

        return _placed(node, merge)


def _placed(node: Node, evaluate: Evaluate) -> Evaluate:
    """`evaluate`, whose failures stand where `node` does."""

    def run(frame: Frame) -> Value:
        try:
            return evaluate(frame)
        except Failure as failure:
            raise failure.at(node.start) from None

    return run


def _shown(parts: list[Part], frame: Frame) -> tuple[Made, int, int]:
    """The children that `parts` make, lists joined, without what is shown as nothing."""
    budget, out, heavy, height = frame[BUDGET], Made(), 1, 1
    for how, evaluate in parts:
        if how == BUILD:
            value, more, tall = evaluate(frame)
            out.append(value)
            heavy, height = heavy + more, max(height, tall + 1)
            continue
        waiting = [evaluate if how == CONSTANT else evaluate(frame)]
        while waiting:
            value = waiting.pop()
            if isinstance(value, list | tuple):
                budget.step(len(value))
                waiting.extend(reversed(value))
            elif not (is_nothing(value) or isinstance(value, bool) or value == ""):
                more, tall = placed(budget, value) if type(value) in HOLDERS else (LEAF, 0)
                if type(value) is str:
                    more += len(value)
                out.append(value)
                heavy, height = heavy + more, max(height, tall + 1)
    return out, heavy, height


_MAKERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(CONSTANTS, "constant"),
        **dict.fromkeys(WRAPPING, "wrapped"),
        **dict.fromkeys(LITERALS, "literal"),
        **dict.fromkeys(("identifier", "shorthand_property_identifier"), "name"),
        "member_expression": "member",
        "subscript_expression": "subscript",
        "binary_expression": "binary",
        "unary_expression": "unary",
        "ternary_expression": "ternary",
        "template_string": "template",
        "call_expression": "call",
    }
)
"""The methods of a compiler, by the kind of node that they are for."""
