"""Turn each kind of JSX and JavaScript expression into a closure that evaluates it over a frame.

What is not in the table is not available. Functions are no values: one can only stand
where it is given to a method, so nothing can call itself. Elements and literals are
built as a whole and weighed once, as a template's own are.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from widgetd.template.budget import CHARACTERS_PER_STEP, NODES_PER_STEP, Failure
from widgetd.template.jsx import javascript
from widgetd.template.jsx.javascript import FUNCTIONS, LOOPS, METHODS, OPERATORS
from widgetd.template.jsx.parse import Node
from widgetd.template.scope import BUDGET, Evaluate, Frame, Scope
from widgetd.template.serialise import MAX_EXACT, javascript_text
from widgetd.template.values import (
    ABSENT,
    HOLDERS,
    LEAF,
    Made,
    MadeDict,
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

Build = Callable[[Frame], tuple[Value, int, int]]
"""Makes a list or object; what it weighs, and how deep it nests."""

VALUE, BUILD, CONSTANT = range(3)

Part = tuple[int, Any]
"""What a value in a literal is made by: a closure, a `Build` where it is one too, or itself."""

_ADVICE: Final = "write it with elements, operators, conditions, and map or filter over lists"
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

_EXECUTES: Final = "dangerouslySetInnerHTML"


class Compiler:
    """Makes closures of nodes; each method of one kind, by the table below."""

    def expression(self, node: Node, scope: Scope) -> Evaluate:
        """The closure that evaluates `node`.

        Raises:
            Fault: `W1327`, where the expression is not available in a widget's JSX.
        """
        scope.layout.nodes += 1
        make = _MAKERS.get(node.kind)
        if make is None:
            name = _NAMES.get(node.kind, node.kind.replace("_", " "))
            raise node.fault(f"{name} is not available here: {node.shown}", _ADVICE)
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
        return _constant(_CONSTANTS[node.kind](node))

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
            raise node.fault(f"the operator {operator} is not available", _ADVICE)
        return _placed(node, lambda frame: apply(frame[BUDGET], left(frame), right(frame)))

    def unary(self, node: Node, scope: Scope) -> Evaluate:
        """The closure of an operator before its operand."""
        operator = node.fields["operator"].text
        value, truthy = self.expression(node.fields["argument"], scope), self.truthy
        if operator == "!":
            return lambda frame: not truthy(value(frame))
        signs = {"-": javascript.negative, "+": javascript.positive}
        if operator not in signs:
            raise node.fault(f"the operator {operator} is not available", _ADVICE)
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
            raise node.fault(f"a tagged literal is not available here: {node.shown}", _ADVICE)
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
        around = node.fields
        inner = Scope(scope.layout, scope)
        named = around["parameters"].children if "parameters" in around else [around["parameter"]]
        if len(named) > 2:
            raise named[2].fault("a third parameter is not available", "write (x, index) => …")
        binds = [_bound(each, inner) for each in named]
        body = self.body(around["body"], inner)

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
                raise statement.fault(f"only const is available here: {statement.shown}", _ADVICE)
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
        if node.kind in _CONSTANTS:
            return CONSTANT, _CONSTANTS[node.kind](node)
        if node.kind in _BUILT and not _is_spread(node):
            scope.layout.nodes += 1
            return BUILD, self.build(node, scope)
        return VALUE, self.expression(node, scope)

    def literal(self, node: Node, scope: Scope) -> Evaluate:
        """The closure of an object, a list or an element."""
        if _is_fragment(node):
            return self.fragment(node, scope)
        if _is_spread(node):
            return self.spread(node, scope)
        before = scope.layout.nodes
        build = self.build(node, scope)
        cost = 1 + (scope.layout.nodes - before) // NODES_PER_STEP

        def make(frame: Frame) -> Value:
            budget = frame[BUDGET]
            budget.step(cost)
            value, heavy, height = build(frame)
            return weighed(budget, value, heavy, height)

        return _placed(node, make)

    def build(self, node: Node, scope: Scope) -> Build:
        """What builds a literal in which nothing is spread."""
        if node.kind == "array":
            parts = [self.part(each, scope) for each in node.children]

            def gather(frame: Frame) -> tuple[Value, int, int]:
                return _gathered(frame, parts)

            return gather
        entries = {
            key: self.part(value, scope) if isinstance(value, Node) else (CONSTANT, value)
            for key, value in entries_of(node)
            if isinstance(key, str)  # or it would be spread
        }
        if self.omits_absent:
            entries = {key: part for key, part in entries.items() if part[1] is not ABSENT}
        return _object(entries, self.children(node, scope), omits_absent=self.omits_absent)

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
        return _placed(node, lambda frame: weighed(frame[BUDGET], *_shown(frame, parts)))

    def spread(self, node: Node, scope: Scope) -> Evaluate:
        """The closure of a literal that takes over what others hold."""
        if node.kind == "array":
            values = [
                (each.kind == "spread_element", self.expression(_spread(each), scope))
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
                self.expression(key, scope) if isinstance(key, Node) else _constant(key),
                self.expression(value, scope) if isinstance(value, Node) else _constant(value),
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
                out["children"] = weighed(budget, *_shown(frame, kids))
            return made_dict(budget, {k: v for k, v in out.items() if v is not ABSENT})

        return _placed(node, merge)


def _constant(value: Value) -> Evaluate:
    return lambda _frame: value


def _placed(node: Node, evaluate: Evaluate) -> Evaluate:
    """`evaluate`, whose failures stand where `node` does."""

    def run(frame: Frame) -> Value:
        try:
            return evaluate(frame)
        except Failure as failure:
            raise failure.at(node.start) from None

    return run


# --- what literals are built of ---


def _object(entries: Mapping[str, Part], kids: list[Part], *, omits_absent: bool) -> Build:
    """What builds an object; what is constant in it is copied."""
    constant = {key: value if how == CONSTANT else None for key, (how, value) in entries.items()}
    computed = [(key, how, evaluate) for key, (how, evaluate) in entries.items() if how != CONSTANT]
    texts = [each for each in (*constant, *constant.values()) if isinstance(each, str)]
    least = 1 + 2 * LEAF * len(constant) + sum(map(len, texts))

    def build(frame: Frame) -> tuple[Value, int, int]:
        heavy, height, new = least, 1, MadeDict(constant)
        for key, how, evaluate in computed:
            value = evaluate(frame)
            if how == BUILD:
                value, more, tall = value
            elif type(value) is str:
                heavy += len(value)
                new[key] = value
                continue
            elif type(value) in HOLDERS:
                more, tall = placed(frame[BUDGET], value)
            else:
                if value is ABSENT and omits_absent:
                    del new[key]
                else:
                    new[key] = value
                continue
            new[key] = value
            heavy += more - LEAF
            height = max(height, tall + 1)
        if kids:
            shown, more, tall = _shown(frame, kids)
            if shown:
                new["children"] = shown
                heavy, height = heavy + more + LEAF, max(height, tall + 1)
        return new, heavy, height

    return build


def _gathered(frame: Frame, parts: list[Part]) -> tuple[Made, int, int]:
    """A list of what `parts` make; what it weighs, and how deep it nests."""
    out, heavy, height = Made(), 1 + LEAF * len(parts), 1
    for how, evaluate in parts:
        value = evaluate if how == CONSTANT else evaluate(frame)
        more = tall = 0
        if how == BUILD:
            value, more, tall = value
        elif type(value) is str:
            more = len(value)
        elif type(value) in HOLDERS:
            more, tall = placed(frame[BUDGET], value)
        out.append(value)
        heavy, height = heavy + more, max(height, tall + 1)
    return out, heavy, height


def _shown(frame: Frame, parts: list[Part]) -> tuple[Made, int, int]:
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


# --- nodes, read ---


def bare(node: Node) -> Node:
    """What stands in the brackets, where `node` is that."""
    while node.kind in WRAPPING:
        node = only(node)
    return node


def only(node: Node) -> Node:
    """The one node in brackets, or behind `return` and `...`."""
    if len(node.children) != 1:
        raise node.fault(f"one value is wanted here: {node.shown}", "write it")
    return node.children[0]


def _spread(node: Node) -> Node:
    return only(node) if node.kind == "spread_element" else node


def _is_fragment(node: Node) -> bool:
    return node.kind == "jsx_element" and "name" not in node.fields["open_tag"].fields


def _is_spread(node: Node) -> bool:
    """Whether a literal takes over what others hold, or computes its keys."""
    if node.kind == "array":
        return any(each.kind == "spread_element" for each in node.children)
    if _is_fragment(node):
        return True
    return any(not isinstance(key, str) for key, _ in entries_of(node))


Entry = tuple["str | Node | None", "Node | str | bool"]
"""A key, as it is or to be evaluated, and a value; what is spread has no key."""


def entries_of(node: Node) -> Iterator[Entry]:
    """What an object, or the tag that begins an element, says."""
    if node.kind == "object":
        for each in node.children:
            if each.kind == "spread_element":
                yield None, only(each)
            elif each.kind == "shorthand_property_identifier":
                yield each.text, each
            elif each.kind == "pair":
                key = each.fields["key"]
                yield (
                    (
                        only(key)
                        if key.kind == "computed_property_name"
                        else unescaped(key)
                        if key.kind == "string"
                        else key.text
                    ),
                    each.fields["value"],
                )
            else:
                raise each.fault(f"this is no key with a value: {each.shown}", _ADVICE)
        return
    opening = node.fields.get("open_tag", node)
    yield "type", opening.fields["name"].text
    for each in opening.children[1:]:
        if each.kind != "jsx_attribute":
            yield None, _spread(only(each))
            continue
        name, *value = each.children
        if name.text == _EXECUTES:
            raise each.fault(f"{_EXECUTES} is not available", "use a Markdown component")
        yield name.text, value[0] if value else True


_ESCAPES: Final = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "0": "\0",
    "\n": "",
}
_INDENTED: Final = re.compile(r"\s*\n\s*")


def unescaped(node: Node) -> str:
    """The text that a string, or a piece of a template literal, stands for."""
    if node.kind == "escape_sequence":
        code = node.text[1:]
        if code[0] in "ux":
            point = int(code[1:].strip("{}"), 16)
            return chr(point) if point <= _LAST else "\ufffd"
        return _ESCAPES.get(code, code)
    if node.kind == "html_character_reference":
        return html.unescape(node.text)
    if node.kind == "string":
        return "".join(map(unescaped, node.children))
    return node.text


_LAST: Final = 0x10FFFF


def _string(node: Node) -> str:
    """What a string says; in an attribute it may go over several lines, which are joined."""
    said = unescaped(node)
    return _INDENTED.sub(" ", said) if "\n" in node.text else said


def number(node: Node) -> float | int:
    """The number that a literal stands for."""
    digits = node.text.replace("_", "").lower()
    try:
        if digits.startswith(("0x", "0o", "0b")):
            return int(digits, 0)
        value = float(digits)
    except ValueError:
        raise node.fault(
            f"this number is not available: {node.shown}", "write its digits"
        ) from None
    return int(value) if value.is_integer() and abs(value) <= MAX_EXACT else value


def _bound(node: Node, scope: Scope) -> list[tuple[int, str | None]]:
    """The slots that a parameter binds, each with the key of what it takes, if not all."""
    if node.kind == "identifier":
        return [(scope.bind(node.text), None)]
    found: list[tuple[int, str | None]] = []
    for each in node.children if node.kind == "object_pattern" else [node]:
        if each.kind == "shorthand_property_identifier_pattern":
            found.append((scope.bind(each.text), each.text))
        elif each.kind == "pair_pattern" and each.fields["value"].kind == "identifier":
            found.append((scope.bind(each.fields["value"].text), each.fields["key"].text))
        else:
            raise each.fault(
                f"this parameter is not available: {each.shown}", "write a name, or {a, b}"
            )
    return found


WRAPPING: Final = frozenset({"parenthesized_expression", "jsx_expression"})
ELEMENTS: Final = frozenset({"jsx_element", "jsx_self_closing_element"})
_BUILT: Final = ELEMENTS | {"object", "array"}

_CONSTANTS: Final[Mapping[str, Callable[[Node], Value]]] = MappingProxyType(
    {
        "string": _string,
        "number": number,
        "true": lambda _node: True,
        "false": lambda _node: False,
        "null": lambda _node: None,
        "undefined": lambda _node: ABSENT,
    }
)


_MAKERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(_CONSTANTS, "constant"),
        **dict.fromkeys(WRAPPING, "wrapped"),
        **dict.fromkeys(_BUILT, "literal"),
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
