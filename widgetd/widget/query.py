"""JMESPath, within a budget: the only door to jmespath.

Authors of files write expressions, and other servers what they are evaluated on; neither is
trusted. jmespath shares what it was given instead of copying it, so that `[@,@]|[@,@]|…` is small
until somebody walks it: whatever walks is counted here before it does, and what comes out is a
copy of a bounded number of values.

Source: JMESPath specification 2022; jmespath 1.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jmespath import exceptions, functions
from jmespath.parser import Parser
from jmespath.visitor import TreeInterpreter

from widgetd.errors import CallError, Finding, WidgetError
from widgetd.limits import Limits
from widgetd.schema.json_values import copy_json, count_nodes, is_too_deep, pointer, size
from widgetd.template.budget import UNFIT

LONGEST = 4096
"""Characters of an expression."""

DEEPEST = 64
"""Levels of an expression, one in the other."""

MOST = 50_000
"""Steps that evaluating one may take, and values that may come of it."""


class Query:
    """An expression, ready to be evaluated; made by `compile_query`."""

    def __init__(self, text: str, parsed: dict[str, Any]) -> None:
        self.text = text
        self._parsed = parsed

    def find(self, value: Any) -> Any:
        """What the expression finds in the JSON `value`: a copy; None where it finds nothing.

        Raises:
            CallError: It cannot be evaluated on this, or not within its budget (W5007).
        """
        try:
            found = _Interpreter().visit(self._parsed, value)
        except (exceptions.JMESPathError, *UNFIT, AttributeError) as error:
            types = (exceptions.JMESPathTypeError, TypeError, AttributeError)
            said = "it takes another kind of value" if isinstance(error, types) else "it fails"
            raise _failed(self.text, f"{said} here") from None
        except RecursionError:
            raise _failed(self.text, "it nests too deeply") from None
        except _SpentError:
            raise _failed(self.text, f"it takes more than {MOST:,} steps") from None
        # In this order: what is shared is looked at as if it were not, and may be wide, too.
        is_large = count_nodes(found, MOST) > MOST or size(found, MOST) > MOST
        if is_large or is_too_deep(found, Limits().json_depth):
            raise _failed(self.text, f"it finds more than {MOST:,} values")
        try:
            return copy_json(found, Limits().json_depth)
        except WidgetError:
            raise _failed(self.text, "it finds what is no JSON") from None


def compile_query(text: str) -> Query:
    """Make an expression ready.

    Raises:
        WidgetError: It cannot be parsed, is too long or nests too deeply (W1602); the finding says
            where in it.
    """
    if len(text) > LONGEST:
        problem = f"the expression is longer than {LONGEST:,} characters"
        raise _unusable(problem, "write a shorter one")
    try:
        # Not by way of jmespath's own cache, which keeps the texts of all that were ever tried.
        parsed = Parser()._do_parse(text).parsed  # noqa: SLF001 - see above
    except exceptions.JMESPathError as error:
        at = getattr(error, "lex_position", None)
        before = text[: at or 0]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        problem = "the expression cannot be parsed as JMESPath"
        raise _unusable(f"{problem}: {_excerpt(text)}", "mend it here", line, column) from None
    except (ValueError, RecursionError, AttributeError, TypeError):
        problem = "the expression cannot be parsed as JMESPath"
        raise _unusable(f"{problem}: {_excerpt(text)}", "write a simpler one") from None
    for node in _nodes(parsed):
        name = str(node.get("value"))
        if node["type"] == "slice" and node["children"][2] == 0:
            raise _unusable("a slice that takes steps of 0 has no end", "write another step")
        if node["type"] != "function_expression":
            continue
        if name not in _FUNCTIONS.FUNCTION_TABLE:
            raise _unusable(f"JMESPath has no function '{name[:40]}'", "use one that it has")
        takes, given = _FUNCTIONS.FUNCTION_TABLE[name]["signature"], len(node["children"])
        least = len(takes)
        if given < least or (given > least and not takes[-1].get("variadic")):
            raise _unusable(f"'{name}' takes {least} arguments, not {given}", "give it those")
    return Query(text, parsed)


def compile_queries(texts: Mapping[str, str], at: str) -> Mapping[str, Query]:
    """Make the expressions below the JSON pointer `at` ready.

    Raises:
        WidgetError: One cannot be used (W1602).
    """
    made = {}
    for name, text in texts.items():
        try:
            made[name] = compile_query(text)
        except WidgetError as error:
            raise error.within(f"{at}{pointer(name)}") from None
    return made


def _excerpt(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


def _unusable(problem: str, advice: str, line: int = 1, column: int = 1) -> WidgetError:
    return WidgetError(
        Finding(code="W1602", problem=problem, advice=advice, line=line, column=column)
    )


def _failed(text: str, problem: str) -> CallError:
    return CallError("W5007", f"the expression '{_excerpt(text)}' cannot be used: {problem}")


def _nodes(parsed: dict[str, Any]) -> list[dict[str, Any]]:
    found = level = [parsed]
    for _ in range(DEEPEST):
        level = [child for node in level for child in node["children"] if isinstance(child, dict)]
        found = found + level
    if level:
        raise _unusable(f"the expression nests deeper than {DEEPEST} levels", "nest less")
    return found


_FUNCTIONS = functions.Functions()


class _SpentError(Exception):
    """The budget is used up."""


class _Interpreter(TreeInterpreter):  # type: ignore[misc]  # jmespath has no types
    """Evaluates one expression once, and counts what that takes."""

    def __init__(self) -> None:
        super().__init__()
        self._left = MOST
        self._functions = _FUNCTIONS

    def visit(self, node: Any, *args: Any, **kwargs: Any) -> Any:
        self._spend(1)
        return super().visit(node, *args, **kwargs)

    def _spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise _SpentError

    def _walk(self, *values: Any) -> None:
        """Spend what it takes to walk these values to their ends."""
        for value in values:
            waiting = [value]
            while waiting:
                inner = waiting.pop()
                if isinstance(inner, str):
                    self._spend(len(inner) >> 6)
                elif isinstance(inner, (dict, list)):
                    self._spend(len(inner))
                    waiting.extend(inner.values() if isinstance(inner, dict) else inner)

    def _found(self, node: Any, value: Any) -> dict[str, Any]:
        """`node` with what its parts find in `value` in their places, each evaluated once."""
        parts = [
            part
            if part["type"] == "expref"
            else {"type": "literal", "value": self.visit(part, value), "children": []}
            for part in node["children"]
        ]
        return {**node, "children": parts}

    def visit_comparator(self, node: Any, value: Any) -> Any:
        found = self._found(node, value)
        self._walk(*(part["value"] for part in found["children"]))
        return super().visit_comparator(found, value)

    def visit_flatten(self, node: Any, value: Any) -> Any:
        found = self._found(node, value)
        base = found["children"][0]["value"]
        if isinstance(base, list):
            self._spend(sum(len(one) if isinstance(one, list) else 1 for one in base))
        return super().visit_flatten(found, value)

    def visit_slice(self, node: Any, value: Any) -> Any:
        if isinstance(value, list):
            self._spend(len(value))
        return super().visit_slice(node, value)

    def visit_function_expression(self, node: Any, value: Any) -> Any:
        found = self._found(node, value)
        given = [part["value"] for part in found["children"] if part["type"] != "expref"]
        self._walk(*given)
        match node["value"], given:
            case "join", [str(between), list(parts)]:  # makes more than it is given
                self._spend(len(between) * len(parts) >> 6)
        return super().visit_function_expression(found, value)
