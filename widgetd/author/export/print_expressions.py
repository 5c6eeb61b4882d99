"""Expressions of Jinja printed from a program, with the types of the argument schema.

Other engines fail on an absent argument, so it is tested before it is read, unless the schema or a
condition around it proves its presence. Conditions of JSX are JavaScript's: an empty list is true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import orjson

from widgetd.author.export.argument_types import ArgumentTypes
from widgetd.core.template.ir import Expr, Op, constant_of, is_constant, operations
from widgetd.core.template.values import ABSENT

if TYPE_CHECKING:
    from widgetd.core.template.ir import Program


class UnprintableError(Exception):
    """An operation without a printed form. The argument names it."""


MAX_OPERATIONS: Final = 20_000
"""A constant is printed where it is read, and may read another such constant twice."""

_WORDS: Final = frozenset(
    {*("and", "else", "if", "in", "is", "loop", "none", "not", "or", "namespace", "range", "_c")}
    | {*("true", "false", "True", "False", "None")}
)
"""Names that an argument cannot have in Jinja."""

_OWN_ATTRIBUTES: Final = frozenset(dir(dict))
"""Keys that `x.key` takes for methods."""

_COMPARISONS: Final = {
    **{f"js{sign}": sign for sign in ("<", "<=", ">", ">=")},
    **dict.fromkeys(("js===", "js==", "eq"), "=="),
    **dict.fromkeys(("js!==", "js!=", "ne"), "!="),
    **dict(zip(("lt", "lteq", "gt", "gteq"), ("<", "<=", ">", ">="), strict=True)),
}
_ARITHMETIC: Final = {
    **{f"js{sign}": sign for sign in ("+", "-", "*", "/", "%")},
    **{sign: sign for sign in ("+", "-", "*", "/", "//", "%")},
}
_METHODS: Final[Mapping[tuple[str, int], str]] = MappingProxyType(
    {
        ("concat", 1): "({0} + {1})",
        ("includes", 1): "({1} in {0})",
        ("join", 0): '({0} | join(","))',
        ("join", 1): "({0} | join({1}))",
        ("slice", 1): "{0}[{1}:]",
        ("slice", 2): "{0}[{1}:{2}]",
        ("split", 1): "{0}.split({1})",
        ("startsWith", 1): "{0}.startswith({1})",
        ("toLowerCase", 0): "({0} | lower)",
        ("toUpperCase", 0): "({0} | upper)",
        ("trim", 0): "({0} | trim)",
    }
)
"""JavaScript's methods as Jinja has them, by name and number of arguments."""

_FUNCTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Math.abs": "({0} | abs)",
        "Math.ceil": '({0} | round(0, "ceil") | int)',
        "Math.floor": '({0} | round(0, "floor") | int)',
        "Math.max": "([{all}] | max)",
        "Math.min": "([{all}] | min)",
        "Math.round": '(({0} + 0.5) | round(0, "floor") | int)',
        "Object.keys": "({0} | list)",
    }
)
_EMPTY: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("|length", "|count", "|sum"), "0"),
        **dict.fromkeys(("|list", "|map", "|rejectattr", "|reverse", "|selectattr", "|sort"), "[]"),
        **dict.fromkeys(("|join", "|lower", "|replace", "|trim", "|upper"), '""'),
    }
)
"""The values of filters whose subject is absent."""

_UNPRINTABLE: Final = MappingProxyType({"...": "a spread", "capture": "a block", "()": "a macro"})


class ExpressionPrinter:
    """Prints the expressions of a program.

    Args:
        program: The program of a view, or of a template.
        schema: The advertised schema of its arguments.

    Attributes:
        is_view: Whether it is a view's.
        types: The types of its slots.
        proven: The tests proven at this place.
        names: The names of slots in the printed text.
        loop_slot: The slot of `loop` at this place.
    """

    def __init__(self, program: Program, schema: Mapping[str, Any]) -> None:
        self.is_view = type(program.root) is not tuple
        self.types = ArgumentTypes(program, schema)
        self.proven: frozenset[str] = frozenset()
        self.names = {} if self.is_view else dict(program.names)
        self.names |= {slot: name for name, slot in program.arguments}
        self.loop_slot: int | None = None
        self._used = {name for name, _ in program.arguments} | _WORDS
        self._constants: dict[int, Expr] = {}
        self._count = 0
        lets = (op.operands[:-1:2] for op in operations(program.root) if op.name == "let")
        self._assigned = Counter(slot for slots in lets for slot in slots)
        self._writers: Mapping[str, Callable[[Op, str], str]] = {
            **dict.fromkeys(("?:", "js?:"), self._choice),
            **dict.fromkeys(("js&&", "js||", "and", "or"), self._logic),
            **dict.fromkeys(("js!", "not"), lambda op, _: self.condition(op)),
            **dict.fromkeys(("jsneg", "jspos", "neg", "pos"), self._sign),
            **dict.fromkeys(("js[,]", "[,]", "["), self._list),
            **dict.fromkeys(("js{}", "{}"), self._object),
            **dict.fromkeys(("js`", "~", "String"), lambda op, _: self._text(op.operands)),
            **dict.fromkeys(("in", "notin"), self._contains),
            "loop": self._loop_member,
            "index": self._index,
            "js??": self._nullish,
            "jsm": self._method,
            "jsfn": self._function,
            "jsloop": self._attributes,
        }

    # --- names and paths ---

    def settle(self, expr: Expr) -> Expr:
        """Follow constants to their values."""
        while True:
            self._count += 1
            if self._count > MAX_OPERATIONS:
                raise UnprintableError("so much")
            if type(expr) is int and expr in self._constants:
                expr = self._constants[expr]
            elif name_of(expr) == "let":
                *assigned, expr = expr.operands
                for slot, value in zip(assigned[::2], assigned[1::2], strict=True):
                    if self._assigned[slot] > 1:
                        raise UnprintableError("an assignment")
                    self.define(slot, value)
            elif name_of(expr) == "jsm" and expr.operands[0] == "at":
                expr = Op("js[]", expr.operands[1:])
            elif name_of(expr) == "js??" and _is_length(expr.operands[0]):
                expr = expr.operands[0]  # an absent list has no elements
            else:
                return expr

    def define(self, slot: int, value: Expr) -> None:
        self._constants[slot] = value
        self.types.bind(slot, self.types.type_of(value), is_present=False)

    def name(self, slot: int) -> str:
        name = self.names.get(slot, "")
        if name in _WORDS or not name.isidentifier():
            raise UnprintableError(f"the name '{name}'")
        return name

    @contextmanager
    def naming(self, slots: Mapping[int, str]) -> Iterator[None]:
        before = self._used
        self._used = set(before)
        for slot, wanted in slots.items():
            options = (wanted, *(f"{wanted}{count}" for count in range(2, len(self._used) + 3)))
            self.names[slot] = next(name for name in options if name not in self._used)
            self._used.add(self.names[slot])
        yield
        self._used = before

    def path(self, expr: Expr) -> tuple[str, list[str]] | None:
        expr = self.settle(expr)
        if type(expr) is int:
            name = self.name(expr)
            return name, [] if self.types.is_present(expr) else [f"{name} is defined"]
        if name_of(expr) in {"[]", "js[]"}:
            text, tests = self.reach(expr.operands[0], is_value=True)
            text = f"{text}[{self.expression(expr.operands[1])}]"
            return text, [*tests, f"{text} is defined"]
        if name_of(expr) != ".":
            return None
        *path, key = expr.operands
        holder = self.settle(path[0] if len(path) == 1 else Op(".", tuple(path)))
        kind = self.types.kind(holder)
        if key == "length" and kind != "object":
            text, tests = self.reach(holder, is_value=True)
            return f"({text} | length)", tests
        text, tests = self.reach(holder)
        if not kind:
            tests.append(f"{text} is mapping")
        is_plain = key.isidentifier() and key not in _OWN_ATTRIBUTES
        text += f".{key}" if is_plain else f"[{to_json(key)}]"
        if not self.types.is_present(expr):
            tests.append(f"{text} is defined")
        return text, tests

    def reach(self, expr: Expr, *, is_value: bool = False) -> tuple[str, list[str]]:
        path = self.path(expr)
        if path is None:
            return self.expression(expr), []
        text, tests = path
        if is_value and not _is_length(self.settle(expr)) and self.types.may_be_null(expr):
            tests.append(f"{text} is not none")
        return text, tests

    def tests(self, expr: Expr, *, is_value: bool = False) -> list[str]:
        return self._unknown(self.reach(expr, is_value=is_value)[1])

    def _unknown(self, tests: Iterable[str]) -> list[str]:
        return [test for test in dict.fromkeys(tests) if test not in self.proven]

    # --- what a condition proves ---

    @contextmanager
    def knowing(self, tests: Iterable[str]) -> Iterator[None]:
        before, self.proven = self.proven, self.proven | frozenset(tests)
        yield
        self.proven = before

    def proof(self, expr: Expr) -> frozenset[str]:
        expr = self.settle(expr)
        name, operands = name_of(expr), operands_of(expr)
        sign = _COMPARISONS.get(name)
        if name in {"js&&", "and"}:
            return self.proof(operands[0]) | self.proof(operands[1])
        if name in {"js!", "not"}:
            return self.refutation(operands[0])
        if sign in {"==", "!="}:
            # A value is present if it is not null, or equals a constant other than null.
            is_proof = is_constant(operands[1]) and _is_nothing(operands[1]) is (sign == "!=")
            return self._presence(operands[0]) if is_proof else frozenset()
        if sign:
            return self._presence(operands[0]) | self._presence(operands[1])
        if name == "?defined":
            return frozenset(self.reach(operands[0])[1])
        return self._presence(operands[0] if name == "|length" else expr)

    def refutation(self, expr: Expr) -> frozenset[str]:
        expr = self.settle(expr)
        name, operands = name_of(expr), operands_of(expr)
        if name in {"js||", "or"}:
            return self.refutation(operands[0]) | self.refutation(operands[1])
        if name in {"js!", "not"}:
            return self.proof(operands[0])
        is_null = _COMPARISONS.get(name) == "==" and _is_nothing(operands[1])
        return self._presence(operands[0]) if is_null else frozenset()

    def _presence(self, expr: Expr) -> frozenset[str]:
        path = self.path(expr)
        return frozenset() if path is None else frozenset({*path[1], f"{path[0]} is not none"})

    # --- conditions ---

    def condition(self, expr: Expr) -> str:
        expr = self.settle(expr)
        name, operands = name_of(expr), operands_of(expr)
        if name in {"js&&", "and", "js||", "or"}:
            left, right = operands
            is_and = name in {"js&&", "and"}
            first = self.condition(left)
            with self.knowing(self.proof(left) if is_and else self.refutation(left)):
                return f"({first} {'and' if is_and else 'or'} {self.condition(right)})"
        if name in {"js!", "not"}:
            return f"(not {self.condition(operands[0])})"
        path = self.path(expr)
        if path is None:
            return self.expression(expr)
        if self.is_view and self.types.kind(expr) in {"array", "object"}:
            return _all(self.tests(expr, is_value=True))
        return _all([*self.tests(expr), path[0]])

    def choose(
        self, test: Expr, yes: Callable[[], str], no: Callable[[], str]
    ) -> tuple[str, str, str]:
        condition = self.condition(test)
        with self.knowing(self.proof(test)):
            then = yes()
        with self.knowing(self.refutation(test)):
            return condition, then, no()

    def guard(
        self, operands: Iterable[Expr], otherwise: str | None, write: Callable[..., str]
    ) -> str:
        """Print what reads `operands`. Where one is absent, `otherwise`, or false if it is None."""
        texts, tests = [], list[str]()
        for operand in operands:
            if _is_length(self.settle(operand)):
                texts.append(self.expression(operand))
                continue
            text, needed = self.reach(operand, is_value=True)
            texts.append(text)
            tests += self._unknown(needed)
        return _where(tests, write(*texts), otherwise)

    # --- expressions ---

    def expression(self, expr: Expr, otherwise: str = "none") -> str:
        """Print an expression as an operand of others, or `otherwise` where it is absent."""
        expr = self.settle(expr)
        if is_constant(expr):
            return "none" if _is_nothing(expr) else to_json(constant_of(expr))
        path = self.path(expr)
        if path is not None:
            return _where(self._unknown(path[1]), path[0], "0" if _is_length(expr) else otherwise)
        name, operands = expr.name, expr.operands
        if name in _COMPARISONS:
            return self._compare(operands[0], operands[1], _COMPARISONS[name])
        if name in _ARITHMETIC:
            kind = self.types.kind(expr)
            if kind == "string":
                return self._text(operands)
            if name == "js+" and kind != "number":
                raise UnprintableError("+ of unknown values")
            sign = _ARITHMETIC[name]
            return self.guard(operands, otherwise, lambda a, b: f"({a} {sign} {b})")
        if name[0] == "|":
            return self._filter(expr, otherwise)
        if name[0] == "?" and name != "?:":
            return self._test(expr)
        write = self._writers.get(name)
        if write is None:
            word = f"{operands[0]}()" if name == "fn" else _UNPRINTABLE.get(name, name)
            raise UnprintableError(word)
        return write(expr, otherwise)

    def _compare(self, left: Expr, right: Expr, sign: str) -> str:
        left, right = self.settle(left), self.settle(right)
        if sign not in {"==", "!="}:
            return self.guard((left, right), None, lambda a, b: f"({a} {sign} {b})")
        if _is_nothing(right):
            text, tests = self.reach(left, is_value=True)
            is_there = _all(self._unknown(tests if self.path(left) else [f"{text} is not none"]))
            return is_there if sign == "!=" else f"(not {is_there})"
        if not is_constant(right):
            return f"({self.expression(left)} {sign} {self.expression(right)})"
        # To Python, 1 equals true.
        are, are_not = ("is", "is not") if isinstance(right, bool) else ("==", "!=")
        value = self.expression(right)
        if sign == "!=" and not self.tests(left, is_value=True):
            return f"({self.reach(left)[0]} {are_not} {value})"
        equal = self.guard((left,), None, lambda text: f"({text} {are} {value})")
        return equal if sign == "==" else f"(not {equal})"

    def _choice(self, op: Op, otherwise: str) -> str:
        test, yes, no = chosen_attribute(op) or op.operands
        condition, then, other = self.choose(
            test, lambda: self.expression(yes, otherwise), lambda: self.expression(no, otherwise)
        )
        return f"({then} if {condition} else {other})"

    def _logic(self, op: Op, otherwise: str) -> str:
        left, right = op.operands
        if {self.types.kind(self.settle(operand)) for operand in op.operands} == {"boolean"}:
            return self.condition(op)
        yes, no = (right, left) if op.name in {"js&&", "and"} else (left, right)
        return self._choice(Op("?:", (left, yes, no)), otherwise)

    def _nullish(self, op: Op, otherwise: str) -> str:
        left, right = op.operands
        text, tests = self.reach(left, is_value=True)
        tests = self._unknown(tests if self.path(left) else [f"{text} is not none"])
        return _where(tests, text, self.expression(right, otherwise))

    def _sign(self, op: Op, otherwise: str) -> str:
        sign = "-" if op.name in {"jsneg", "neg"} else "+"
        return self.guard(op.operands, otherwise, lambda text: f"({sign}{text})")

    def _list(self, op: Op, _otherwise: str) -> str:
        return f"[{', '.join(map(self.expression, op.operands))}]"

    def _object(self, op: Op, _otherwise: str) -> str:
        children, operands = op.operands[:1], op.operands[op.name == "js{}" :]
        if op.name == "js{}" and children != ((),):
            raise UnprintableError("an element within an expression")
        keys, values = operands[::2], map(self.expression, operands[1::2])
        if not all(isinstance(key, str) for key in keys):
            raise UnprintableError("a spread")
        pairs = (f"{to_json(key)}: {value}" for key, value in zip(keys, values, strict=True))
        return f"{{{', '.join(pairs)}}}"

    def _text(self, parts: Iterable[Expr], *, is_shown: bool = False) -> str:
        texts = [self._part(part, is_shown=is_shown) for part in parts if part != ""]
        # Without a text in front, a single number would stay a number.
        if not texts or not texts[0].startswith('"'):
            texts.insert(0, '""')
        return f"({' ~ '.join(texts)})"

    def _part(self, expr: Expr, *, is_shown: bool) -> str:
        expr = self.settle(expr)
        name, operands = name_of(expr), operands_of(expr)
        if name == "<>":
            return self._text(operands, is_shown=is_shown)
        if name in {"js?:", "?:"} or (name == "js&&" and is_shown):
            test, yes, no = (*operands, "")[:3]
            condition, then, other = self.choose(
                test,
                lambda: self._part(yes, is_shown=is_shown),
                lambda: self._part(no, is_shown=is_shown),
            )
            return f"({then} if {condition} else {other})"
        is_boolean = self.is_view and self.types.kind(expr) == "boolean"
        if is_shown and (is_boolean or _is_nothing(expr)):
            return '""'
        if is_boolean:
            word = f'("true" if {self.condition(expr)} else "false")'
            return _where(self.tests(expr), word, '""')
        return self.guard((expr,), '""', str) if is_shown else self.expression(expr, '""')

    def _method(self, op: Op, otherwise: str) -> str:
        name, subject, *args = op.operands
        subject = self.settle(subject)
        if name == "toString":
            return self._text((subject,))
        if name == "join" and name_of(subject) == "<>":
            return self._text(subject.operands, is_shown=True)
        if name == "toFixed" and args and name_of(args[0]) == "#":
            form = f'("%.{args[0].operands[0]}f" | format({{}}))'
            return self.guard((subject,), otherwise, form.format)
        text = _METHODS.get((name, len(args)))
        if text is None:
            raise UnprintableError(f".{name}()")
        empty = {"includes": None, "join": '""'}.get(name, otherwise)
        return self.guard((subject, *args), empty, text.format)

    def _function(self, op: Op, otherwise: str) -> str:
        name, *args = op.operands
        if name == "String":
            return self._text(args)
        if name not in _FUNCTIONS or not args:
            raise UnprintableError(f"{name}()")
        text = _FUNCTIONS[name]
        return self.guard(args, otherwise, lambda *texts: text.format(*texts, all=", ".join(texts)))

    def _attributes(self, op: Op, _otherwise: str) -> str:
        name, subject, parameters, body = op.operands[:4]
        [[(slot, key)]] = parameters if list(map(len, parameters)) == [1] else [[(0, None)]]
        if key is None and name_of(body) == "." and body.operands[:1] == (slot,):
            key = body.operands[1] if len(body.operands) == 2 else None
        if name != "map" or key is None:
            raise UnprintableError(f".{name}()")
        is_required = key in self.types.item_type(subject).get("required", ())
        default = "" if is_required else ', default=""'
        form = f"({{}} | map(attribute={to_json(key)}{default}) | list)"
        return self.guard((subject,), "[]", form.format)

    # --- Jinja's own ---

    def _filter(self, op: Op, otherwise: str) -> str:
        subject, *args = op.operands
        named = args.pop() if args and isinstance(args[-1], dict) else {}
        words = [*map(self.expression, args)]
        words += [f"{key}={self.expression(value)}" for key, value in named.items()]
        name = op.name[1:]
        if name in {"default", "d"}:
            tests = [*self.tests(subject), *([self.condition(subject)] if words[1:] else ())]
            return _where(tests, self.reach(subject)[0], (*words, '""')[0])
        if name == "string":
            return self._text((subject,))
        call = f"{name}({', '.join(words)})" if words else name
        empty = _EMPTY.get(op.name, otherwise)
        return self.guard((subject,), empty, lambda text: f"({text} | {call})")

    def _test(self, op: Op) -> str:
        subject, *args = op.operands
        name = op.name[1:]
        text, tests = self.reach(subject)
        tests = self._unknown(tests)
        if name in {"defined", "undefined"}:
            return _all(tests) if name == "defined" else f"(not {_all(tests)})"
        if name == "none" and f"{text} is not none" in self.proven:
            return "false"
        words = f"({', '.join(map(self.expression, args))})" if args else ""
        return _all([*tests, f"{text} is {name}{words}"])

    def _loop_member(self, op: Op, _otherwise: str) -> str:
        slot, member = op.operands
        if slot != self.loop_slot:
            raise UnprintableError("loop of a list around")
        return f"loop.{member}"

    def _index(self, op: Op, _otherwise: str) -> str:
        slot, loop = op.operands
        if self.types.type_of(slot):
            return self.expression(slot)
        return self._loop_member(Op("loop", (loop, "index0")), "")

    def _contains(self, op: Op, _otherwise: str) -> str:
        text = self.expression(op.operands[0])
        within = self.guard(op.operands[1:], None, lambda item: f"({text} in {item})")
        return within if op.name == "in" else f"(not {within})"


def to_json(value: Any) -> str:
    return orjson.dumps(value).decode()


def name_of(expr: Expr) -> str:
    return expr.name if type(expr) is Op else ""


def operands_of(expr: Expr) -> tuple[Any, ...]:
    return expr.operands if type(expr) is Op else ()


def chosen_attribute(op: Op) -> tuple[Expr, Expr, None] | None:
    """Return the test and value of an attribute `x && "value"`."""
    test, yes, no = op.operands
    if name_of(no) != "js&&" or not _is_nothing(yes) or name_of(test) != "js===":
        return None
    left, right = no.operands
    return (left, right, None) if test.operands == (left, False) else None


def _all(tests: list[str]) -> str:
    return f"({' and '.join(tests)})" if tests else "true"


def _where(tests: list[str], text: str, otherwise: str | None) -> str:
    if not tests:
        return text
    test = " and ".join(dict.fromkeys(tests))
    return f"({test} and {text})" if otherwise is None else f"({text} if {test} else {otherwise})"


def _is_nothing(expr: Expr) -> bool:
    return is_constant(expr) and constant_of(expr) in (None, ABSENT)


def _is_length(expr: Expr) -> bool:
    return name_of(expr) == "." and expr.operands[-1] == "length"
