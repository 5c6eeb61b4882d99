"""The front end for JSX: a parsed view becomes a program, as a template does.

Anything outside the table is unavailable. JavaScript's operators mean something else than a
template's, so they have names of their own. Members, slots and constants are shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from widgetd.base.limits import Limits
from widgetd.base.text_search import compile_pattern, did_you_mean
from widgetd.core.template.ir import UNDEFINED, Expr, Op, literal
from widgetd.core.template.jinja import member
from widgetd.core.template.jsx import refusals
from widgetd.core.template.jsx.parse import MAX_DEPTH, Node, size_fault
from widgetd.core.template.jsx.statements import (
    Abandoned,
    Function,
    JsxScope,
    Properties,
    StatementBuilder,
    let,
)
from widgetd.core.template.jsx.syntax import (
    CONSTANTS,
    ELEMENTS,
    LITERALS,
    WRAPPING,
    Entry,
    attributes_of,
    entries_of,
    is_fragment,
    joined_text,
    only,
    parameters,
    simple_pattern,
    tag_of,
    unescape,
    unwrap,
)
from widgetd.core.template.parser import Fault
from widgetd.core.template.vocabulary import VOCABULARY

METHODS: Final = frozenset(VOCABULARY["javascript methods"])
LOOPS: Final = frozenset(VOCABULARY["javascript loops"])
FUNCTIONS: Final = tuple(VOCABULARY["javascript functions"])

_NO_BOOLEAN: Final = frozenset({"#", "js`", "js{}", "js[,]"})
"""Numbers, text templates, objects and lists that are written out."""

_TEXT_PROPERTIES: Final[Mapping[str, str]] = MappingProxyType(
    dict.fromkeys(("Text", "Title", "Caption", "Markdown", "Label"), "value")
    | dict.fromkeys(("Button", "Badge"), "label")
)
"""The property that the text between the tags of a component is."""


class Builder(StatementBuilder):
    """Builds operations of nodes. Each method is for a kind, by the table `_builders`.

    Args:
        limits: How large a program may become, with functions written out.

    Attributes:
        OBJECT: The operator of an object or element.
        reads: The path at an offset, for each use of a function.
    """

    OBJECT = "js{}"

    def __init__(self, limits: Limits) -> None:
        super().__init__()
        self.reads: dict[tuple[int, int], str] = {}
        self._limits = limits
        self._builders: Mapping[str, Callable[[Node, JsxScope], Expr]] = {
            **dict.fromkeys(CONSTANTS, self._constant),
            **dict.fromkeys(WRAPPING, lambda node, block: self.expression(only(node), block)),
            **dict.fromkeys(LITERALS, self.literal),
            **dict.fromkeys(("identifier", "shorthand_property_identifier"), self._name),
            "member_expression": self._member,
            "subscript_expression": self._item,
            "binary_expression": self._binary,
            "unary_expression": self._unary,
            "ternary_expression": self._ternary,
            "template_string": self.template,
            "call_expression": self.call,
            "new_expression": self._new,
        }
        self._count, self._depth, self._use, self._uses = 0, 0, 0, 0
        self._running: list[Node] = []

    def view(self, program: Node, statements: list[Node]) -> Expr:
        """Build the expression or component of a view."""
        before: list[Node] = []
        results: list[Node] = []
        for node in statements:
            is_export = node.kind == "export_statement"
            inner = node.fields.get("declaration", node.fields.get("value", node))
            if is_export and "value" in node.fields:
                results.append(inner)
            elif node.kind == "expression_statement" and not _is_effect(unwrap(only(node))):
                results += [] if only(node).kind == "string" else [only(node)]
            else:
                before.append(inner if is_export else node)
        module = JsxScope()
        if not results:
            self.declare(before, module)
            components = [
                value.node
                for name, value in module.items()
                if isinstance(value, Function) and name[:1].isupper()
            ]
            if not components:
                self.sequence(before, module, lambda _block: None)
                raise program.fault("there is no JSX", "write one element, as <Card>…</Card>")
            results = components[-1:]
        if len(results) > 1:
            advice = "write one element; put two into <>…</>"
            self.report(results[1].fault("there is a second expression here", advice))
        return self.sequence(before, module, lambda block: self._result(results[0], block))

    def _result(self, node: Node, block: JsxScope) -> Expr:
        functions = (
            function for function in block.maps[0].values() if isinstance(function, Function)
        )
        named = next((function for function in functions if function.node is node), None)
        component = named or self.function_of(node, block)
        if component is None:
            return self.expression(node, block)
        return self._write_out(component, [Properties()], node)

    def expression(self, node: Node, block: JsxScope) -> Expr:
        """Build the operation of `node`, None in place of an unavailable construct."""
        self._count += 1
        if self._count > self._limits.template_nodes:
            self.faults.append(size_fault(self._limits))
            raise Abandoned
        build = self._builders.get(node.kind)
        self._depth += 1
        try:
            if self._depth > MAX_DEPTH:
                raise node.fault("functions call each other too deeply here", "write some out")
            if build is None:
                name, advice = refusals.NODES.get(
                    node.kind, (node.kind.replace("_", " "), refusals.ADVICE)
                )
                raise node.fault(f"{name} is not available here: {node.excerpt}", advice)
            built = build(node, block)
        except Fault as fault:
            self.report(fault)
            return None
        finally:
            self._depth -= 1
        path = self.path(built) if node.kind in _READING else None
        if path is not None:
            at = (node.start, self._use)
            # The longest path from here is the read.
            if path.startswith(self.reads.get(at, "")):
                self.reads[at] = path
        return built

    def operands(self, nodes: list[Node], block: JsxScope) -> list[Expr]:
        return [self.expression(node, block) for node in nodes]

    def fields(self, node: Node, block: JsxScope, *names: str) -> tuple[Expr, ...]:
        return tuple(self.operands([node.fields[name] for name in names], block))

    def _constant(self, node: Node, _block: JsxScope) -> Expr:
        return literal(CONSTANTS[node.kind](node), node.start)

    def _name(self, node: Node, block: JsxScope) -> Expr:
        if node.text not in block:
            return self.argument(node.text)
        return self._whole(block[node.text], node)

    def _member(self, node: Node, block: JsxScope) -> Expr:
        subject, key = node.fields["object"], node.fields["property"]
        bound = block.get(subject.text) if subject.kind == "identifier" else None
        if isinstance(bound, Properties):
            return self._whole(self.property(bound, key.text), key)
        value = member(self.expression(subject, block), key.text, node.start)
        # As in templates, an absent list has no elements.
        return Op("js??", (value, literal(0)), node.start) if key.text == "length" else value

    def _item(self, node: Node, block: JsxScope) -> Expr:
        return Op("js[]", self.fields(node, block, "object", "index"), node.start)

    # --- operators ---

    def _binary(self, node: Node, block: JsxScope) -> Expr:
        sign = node.fields["operator"].text
        name, operands = self.operator(sign), self.fields(node, block, "left", "right")
        if not name:
            advice = "write Math.pow(a, b)" if sign == "**" else refusals.ADVICE
            raise node.fault(f"the operator {sign} is not available", advice)
        return Op(name, operands, node.start)

    NOT = "js!"

    def _unary(self, node: Node, block: JsxScope) -> Expr:
        sign, operand = node.fields["operator"].text, self.fields(node, block, "argument")
        if sign == "typeof":
            return Op("jsfn", (sign, *operand), node.start)
        name = {"!": self.NOT, "-": "jsneg", "+": "jspos"}.get(sign)
        if name is None:
            raise node.fault(f"the operator {sign} is not available", refusals.ADVICE)
        return Op(name, operand, node.start)

    CONDITION = "js?:"

    def _ternary(self, node: Node, block: JsxScope) -> Expr:
        operands = self.fields(node, block, "condition", "consequence", "alternative")
        return Op(self.CONDITION, operands, node.start)

    JOIN = "js`"

    def template(self, node: Node, block: JsxScope) -> Expr:
        parts = [
            self.expression(only(child), block)
            if child.kind == "template_substitution"
            else unescape(child)
            for child in node.children
        ]
        return Op(self.JOIN, tuple(parts), node.start)

    # --- calls ---

    def call(self, node: Node, block: JsxScope) -> Expr:
        """Build a call: of a method, of a function, of a method with a function as argument."""
        callee, arguments = unwrap(node.fields["function"]), node.fields["arguments"]
        if arguments.kind != "arguments":
            problem = f"a tagged literal is not available here: {node.excerpt}"
            raise node.fault(problem, "write a text in backticks alone")
        function = self.function_of(callee, block)
        if function is not None:
            args = [
                self.function_of(argument, block) or self.expression(argument, block)
                for argument in arguments.children
            ]
            return self._write_out(function, args, node)
        name = callee.text
        if self._is_builtin(callee, block):
            if name == "Array.from" and len(arguments.children) > 1:
                return self._loop("map", arguments.children[0], arguments.children[1:], node, block)
            return Op("jsfn", (name, *self._parts(arguments.children, block)), node.start)
        is_known = callee.kind == "member_expression" and callee.fields["object"].text != "React"
        if is_known:
            name, subject = callee.fields["property"].text, callee.fields["object"]
            name = "includes" if name == "has" else name  # a Set is a list here
            takes_function = any(
                self._is_builtin(argument, block) or self.function_of(argument, block)
                for argument in arguments.children[:1]
            )
            if name in LOOPS and (takes_function or name not in METHODS):
                return self._loop(name, subject, arguments.children, node, block)
            if name in METHODS:
                operands = (
                    self.expression(subject, block),
                    *self.operands(arguments.children, block),
                )
                return Op("jsm", (name, *operands), node.start)
        raise _no_call(callee, name, is_method=is_known)

    def _is_builtin(self, node: Node, block: JsxScope) -> bool:
        return node.text in FUNCTIONS and node.text.partition(".")[0] not in block

    # A method with a function as argument: `xs.map((x, i) => ...)`.
    def _loop(
        self, name: str, items: Node, arguments: list[Node], node: Node, block: JsxScope
    ) -> Expr:
        held, values = list[Expr](), self.expression(items, block)
        if name == "map" and node.fields["function"].text == "Array.from":
            values = Op("jsfn", ("Array.from", values), node.start)
        elements = {"reduce": (1,), "sort": (0, 1), "toSorted": (0, 1)}.get(name, (0,))
        function = self.function_of(arguments[0], block) if arguments else None
        if function and len(parameters(function.node)) > 2 + (name == "reduce"):
            held, values = self.hold(values)
        bound, body = self._function(arguments[0] if arguments else node, block, values, elements)
        initial = self.operands(arguments[1:2], block) if name == "reduce" else []
        return let(held, Op("jsloop", (name, values, bound, body, *initial), node.start), node)

    def _function(
        self, node: Node, block: JsxScope, values: Expr, elements: tuple[int, ...]
    ) -> tuple[tuple[Any, ...], Expr]:
        """Build a function over `values`: the slots of its parameters, and its result.

        The parameter behind the index is the list itself, held in a slot.
        """
        path = self.path(values)
        element = None if path is None else f"{path}[]"
        if self._is_builtin(node, block):
            slot = self.layout.slot()
            return (((slot, None),),), Op("jsfn", (node.text, slot), node.start)
        function = self.function_of(node, block)
        if function is None:
            raise node.fault(f"a function is wanted here: {node.excerpt}", "write x => …")
        inner = function.block.new_child()
        bound: list[tuple[tuple[int, str | None], ...]] = []
        assigned: list[Expr] = []
        patterns = parameters(function.node)
        most = 2 + (elements[0] == 1)
        if len(patterns) > most + 1:
            problem = "a further parameter is not available"
            raise patterns[most + 1].fault(problem, "write (x, index, list) => …")
        for pattern in patterns[most:]:
            assigned += self.bind(pattern, values, inner)
        for at, pattern in enumerate(patterns[:most]):
            path = element if at in elements else None
            simple = simple_pattern(pattern)
            if simple is None:
                slot = self.layout.slot()
                bound.append(((slot, None),))
                if path:
                    self.paths[slot] = path
                assigned += self.bind(pattern, slot, inner)
                continue
            slots = [(self.layout.slot(), name, key) for name, key in simple]
            for slot, name, key in slots:
                inner[name] = slot
                self.layout.names[slot] = name
                if path:
                    self.paths[slot] = path if key is None else f"{path}.{key}"
            bound.append(tuple((slot, key) for slot, _, key in slots))
        return tuple(bound), let(assigned, self._body(function.node, inner), node)

    def _write_out(self, function: Function, args: list[Any], node: Node) -> Expr:
        if function.node in self._running:
            raise node.fault(
                f"this calls itself: {node.excerpt}", "write map or reduce over a list"
            )
        inner, assigned = function.block.new_child(), []
        before, self._uses = self._use, self._uses + 1
        self._use = self._uses
        self._running.append(function.node)
        try:
            for at, pattern in enumerate(parameters(function.node)):
                if pattern.kind == "rest_pattern":
                    rest = Op("js[,]", tuple(args[at:]), node.start)
                    assigned += self.bind(only(pattern), rest, inner)
                    break
                assigned += self.bind(pattern, args[at] if at < len(args) else UNDEFINED, inner)
            return let(assigned, self._body(function.node, inner), node)
        finally:
            self._running.pop()
            self._use = before

    def _body(self, function: Node, block: JsxScope) -> Expr:
        node = function.fields["body"]
        if node.kind != "statement_block":
            return self.expression(node, block)
        if not node.children:
            raise function.fault("the function returns nothing here", "end it with return …")
        return self.sequence(node.children, block)

    # --- literals and elements ---

    def literal(self, node: Node, block: JsxScope) -> Expr:
        if node.kind == "array":
            return self.array(node, block)
        if is_fragment(node):
            return Op("<>", self._children(node, block, takes_text=True), node.start)
        if node.kind == "object":
            return Op(
                self.OBJECT, ((), *self._entries(entries_of(node, self.report), block)), node.start
            )
        tag = tag_of(node)
        component = block.get(tag)
        if isinstance(component, Function):
            return self._component(component, node, block)
        if tag in block:
            raise node.fault(f"<{tag}> is a value here, not a component", "write its name, <Title>")
        entries = self._entries(entries_of(node, self.report), block)
        entries[1::2] = map(self._attribute, entries[1::2])
        text_property = _TEXT_PROPERTIES.get(tag, "")
        children = self._children(node, block, takes_text=bool(text_property))
        if text_property and children:
            entries += text_property, self._text_of(children, node)
            children = ()
        return Op(self.OBJECT, (children, *entries), node.start)

    def array(self, node: Node, block: JsxScope) -> Expr:
        return Op("js[,]", tuple(self._parts(node.children, block)), node.start)

    def _entries(self, pairs: Iterable[Entry], block: JsxScope) -> list[Expr]:
        entries: list[Expr] = []
        for key, value in pairs:
            entries.append(self.expression(key, block) if isinstance(key, Node) else key)
            entries.append(self.expression(value, block) if isinstance(value, Node) else value)
        return entries

    def _attribute(self, value: Expr) -> Expr:
        """Build `undefined` for `x && "value"` where `x` is false: React draws no such attribute.

        `x && y` stays as it is, because `y` may be a boolean, with false as a value.
        """
        if type(value) is not Op or value.name != "js&&":
            return value
        left, right = value.operands
        if not (isinstance(right, str) or (type(right) is Op and right.name in _NO_BOOLEAN)):
            return value
        held, left = self.hold(left)
        is_false = Op("js===", (left, False), value.place)
        operands = is_false, UNDEFINED, Op("js&&", (left, right), value.place)
        return let(held, Op("js?:", operands, value.place), None)

    def _text_of(self, children: tuple[Expr, ...], node: Node) -> Expr:
        if all(isinstance(part, str) for part in children):
            return "".join(children)
        inside = [child for part in node.children for child in _inside_fragments(part)]
        for part in inside:
            if unwrap(part).kind in ELEMENTS and not is_fragment(unwrap(part)):
                problem = f"an element within a text is not available: {part.excerpt}"
                raise part.fault(problem, "write a Row of Texts, or a Markdown")
        first = children[0]
        if len(children) == 1 and type(first) is Op and first.name == self.JOIN:
            return first
        return Op("jsm", ("join", Op("<>", children, node.start), ""), node.start)

    def _component(self, component: Function, node: Node, block: JsxScope) -> Expr:
        entries: list[tuple[Any, Any]] = []
        for key, value in attributes_of(node, self.report, takes_functions=True):
            function = self.function_of(value, block) if isinstance(value, Node) else None
            built = self.expression(value, block) if isinstance(value, Node) else value
            if key != "key":
                entries.append((key, function or built))
        if children := self._children(node, block, takes_text=True):
            is_text = all(isinstance(child, str) for child in children)
            inside = "".join(children) if is_text else Op("<>", children, node.start)
            entries.append(("children", inside))
        if any(key is None for key, _ in entries):
            flat = [part for entry in entries for part in entry]
            held, slot = self.hold(Op("js{}", ((), *flat), node.start))
            return let(held, self._write_out(component, [slot], node), node)
        assigned: list[Expr] = []
        attributes: dict[str, Any] = {}
        for key, value in entries:
            held, attributes[key] = ([], value) if isinstance(value, Function) else self.hold(value)
            assigned += held
        properties = Properties(attributes=attributes)
        return let(assigned, self._write_out(component, [properties], node), node)

    def _new(self, node: Node, block: JsxScope) -> Expr:
        name = node.fields["constructor"].text
        arguments = node.fields["arguments"].children if "arguments" in node.fields else []
        if name != "Set":
            problem = f"new is not available here: {node.excerpt}"
            raise node.fault(problem, refusals.CONSTRUCTORS.get(name, refusals.FORMATTING))
        if not arguments:
            return Op("js[,]", (), node.start)
        held, values = self.hold(self.expression(arguments[0], block))
        element, index = self.layout.slot(), self.layout.slot()
        first = Op("jsm", ("indexOf", values, element), node.start)
        is_first = Op("js===", (first, index), node.start)
        bound = ((element, None),), ((index, None),)
        return let(held, Op("jsloop", ("filter", values, bound, is_first), node.start), node)

    def _parts(self, nodes: list[Node], block: JsxScope) -> Iterator[Expr]:
        for child in nodes:
            is_spread = child.kind == "spread_element"
            value = self.expression(only(child) if is_spread else child, block)
            yield Op("...", (value,), child.start) if is_spread else value

    def _children(self, node: Node, block: JsxScope, *, takes_text: bool) -> tuple[Expr, ...]:
        if node.kind != "jsx_element":
            return ()
        opening, closing = node.fields["open_tag"], node.fields["close_tag"]
        name, closed = (
            child.fields["name"].text if "name" in child.fields else ""
            for child in (opening, closing)
        )
        if name != closed:
            raise closing.fault(f"</{closed}> does not close <{name}>", f"write </{name}>")
        built: list[Expr] = []
        before = opening
        for child in node.children[node.children.index(opening) + 1 :]:
            if child.kind in {"jsx_text", "html_character_reference"}:
                continue
            text = joined_text(before.text_between(before, child))
            if text.strip() and not takes_text:
                first = node.children[node.children.index(before) + 1]
                problem = f"text among the children is not available here: {first.excerpt}"
                self.report(first.fault(problem, f'write <Text value="{text.strip():.40}" />'))
            elif text and takes_text:
                built.append(text)
            before = child
            if child is not closing and not (child.kind == "jsx_expression" and not child.children):
                built.append(self.child(child, block))
        return tuple(built)

    def child(self, node: Node, block: JsxScope) -> Expr:
        return self.expression(node, block)


def _is_effect(node: Node) -> bool:
    if node.kind == "call_expression":
        return bool(_CHANGES.search(node.fields["function"].text))
    return "assignment" in node.kind or node.kind == "update_expression"


_CHANGES: Final = compile_pattern(r"\.(?:push|forEach)$")


def _inside_fragments(node: Node) -> list[Node]:
    node = unwrap(node)
    if node.kind in ELEMENTS and is_fragment(node):
        return [child for inner in node.children for child in _inside_fragments(inner)]
    return [node]


def _no_call(callee: Node, name: str, *, is_method: bool) -> Fault:
    node = callee.fields["property"] if is_method else callee
    problem = (
        f"the method {name} is not available" if is_method else f"there is no {callee.excerpt}()"
    )
    if refusals.HOOK.fullmatch(callee.text):
        return node.fault(f"{callee.excerpt} is not available", refusals.HOOK_ADVICE)
    advice = (
        refusals.FORMATTING if refusals.FORMATS.match(callee.text) else refusals.CALLS.get(name)
    )
    if advice is None:
        names = (*METHODS, *LOOPS) if is_method else FUNCTIONS
        otherwise = "write it as const f = (x) => … before the element"
        if is_method:
            otherwise = f"available are {', '.join(sorted({*LOOPS, *METHODS}))}"
        advice = did_you_mean(name, names, otherwise, likeness=0.7)
    return node.fault(problem, advice)


_READING: Final = frozenset(
    {
        *("identifier", "shorthand_property_identifier"),
        *("member_expression", "subscript_expression", "call_expression"),
    }
)
"""Kinds of nodes that may read an argument."""
