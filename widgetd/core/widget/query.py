"""Evaluate JMESPath within a budget. No other module imports jmespath.

Authors of files write the expressions and other servers the values. Neither is trusted. jmespath
shares values instead of copying them, so `[@,@]|[@,@]|…` stays small until something walks it:
each walk is charged here before it starts, and the result is a copy of a bounded number of values.

Source: JMESPath specification 2022, and jmespath 1.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jmespath import exceptions, functions
from jmespath.parser import Parser
from jmespath.visitor import TreeInterpreter

from widgetd.base.errors import CallError, Finding, WidgetError
from widgetd.base.limits import Limits
from widgetd.core.schema.json_values import copy_json, count_nodes, is_too_deep, pointer, size
from widgetd.core.schema.phrase import shorten
from widgetd.core.template.budget import UNFIT
from widgetd.core.widget.limits import LIMITS


class Query:
    """A compiled expression, made by `compile_query`.

    Attributes:
        text: The expression.
        names: The fields named in it, at any depth.
        reads_all: Whether it may read fields without naming them.
    """

    def __init__(self, text: str, parsed: dict[str, Any]) -> None:
        nodes = _collect_nodes(parsed)
        self.text = text
        self.names = frozenset(str(node["value"]) for node in nodes if node["type"] == "field")
        self.reads_all = any(node["type"] in ("current", "value_projection") for node in nodes)
        self._parsed = parsed

    def find(self, value: Any) -> Any:
        """Evaluate the expression on the JSON `value`, and return a copy of the result, or None.

        Raises:
            CallError: It cannot be evaluated on this, or not within its budget (W5007).
        """
        try:
            result = _Interpreter().visit(self._parsed, value)
        except (exceptions.JMESPathError, *UNFIT, AttributeError) as error:
            types = (exceptions.JMESPathTypeError, TypeError, AttributeError)
            reason = "it takes another kind of value" if isinstance(error, types) else "it fails"
            raise _build_call_error(self.text, f"{reason} here") from None
        except RecursionError:
            raise _build_call_error(self.text, "it nests too deeply") from None
        except _SpentError:
            raise _build_call_error(
                self.text, f"it takes more than {LIMITS.query_values:,} steps"
            ) from None
        # Count first: the other two would walk shared values as often as they occur.
        is_large = (
            count_nodes(result, LIMITS.query_values) > LIMITS.query_values
            or size(result, LIMITS.query_values) > LIMITS.query_values
        )
        if is_large or is_too_deep(result, Limits().json_depth):
            raise _build_call_error(self.text, f"it finds more than {LIMITS.query_values:,} values")
        try:
            return copy_json(result, Limits().json_depth)
        except WidgetError:
            raise _build_call_error(self.text, "it finds what is no JSON") from None


def compile_query(text: str) -> Query:
    """Compile an expression.

    Raises:
        WidgetError: It cannot be parsed, is too long or nests too deeply (W1602). The finding says
            where in it.
    """
    if len(text) > LIMITS.query_chars:
        problem = f"the expression is longer than {LIMITS.query_chars:,} characters"
        raise _build_error(problem, "write a shorter one")
    try:
        # Not `jmespath.compile`, because its cache keeps every text ever tried.
        parsed = Parser()._do_parse(text).parsed  # noqa: SLF001 - see above
    except (ValueError, RecursionError, AttributeError, TypeError) as error:
        before = text[: getattr(error, "lex_position", None) or 0]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        problem = f"the expression cannot be parsed as JMESPath: {shorten(text, 60)}"
        is_syntax = isinstance(error, exceptions.JMESPathError)
        advice = "mend it here" if is_syntax else "write a simpler one"
        raise _build_error(problem, advice, line, column) from None
    nodes = _collect_nodes(parsed)
    for node in nodes:
        name = str(node.get("value"))
        if node["type"] == "slice" and node["children"][2] == 0:
            raise _build_error("a slice that takes steps of 0 has no end", "write another step")
        if node["type"] != "function_expression":
            continue
        if name not in _FUNCTIONS.FUNCTION_TABLE:
            raise _build_error(f"JMESPath has no function '{name[:40]}'", "use one that it has")
        takes, count = _FUNCTIONS.FUNCTION_TABLE[name]["signature"], len(node["children"])
        least = len(takes)
        if count < least or (count > least and not takes[-1].get("variadic")):
            raise _build_error(f"'{name}' takes {least} arguments, not {count}", "give it those")
    return Query(text, parsed)


def compile_queries(texts: Mapping[str, str], at: str) -> Mapping[str, Query]:
    """Compile the expressions below the JSON pointer `at`.

    Raises:
        WidgetError: An expression cannot be used (W1602).
    """
    queries = {}
    for name, text in texts.items():
        try:
            queries[name] = compile_query(text)
        except WidgetError as error:
            raise error.within(f"{at}{pointer(name)}") from None
    return queries


def _build_error(problem: str, advice: str, line: int = 1, column: int = 1) -> WidgetError:
    return WidgetError(
        Finding(code="W1602", problem=problem, advice=advice, line=line, column=column)
    )


def _build_call_error(text: str, problem: str) -> CallError:
    return CallError("W5007", f"the expression '{shorten(text, 60)}' cannot be used: {problem}")


def _collect_nodes(parsed: dict[str, Any]) -> list[dict[str, Any]]:
    collected = level = [parsed]
    for _ in range(LIMITS.query_depth):
        level = [child for node in level for child in node["children"] if isinstance(child, dict)]
        collected = collected + level
    if level:
        raise _build_error(
            f"the expression nests deeper than {LIMITS.query_depth} levels", "nest less"
        )
    return collected


_FUNCTIONS = functions.Functions()


class _SpentError(Exception):
    """The budget is exhausted."""


class _Interpreter(TreeInterpreter):  # type: ignore[misc]  # jmespath has no types
    def __init__(self) -> None:
        super().__init__()
        self._left = LIMITS.query_values
        self._functions = _FUNCTIONS

    def visit(self, node: Any, *args: Any, **kwargs: Any) -> Any:
        self._spend(1)
        return super().visit(node, *args, **kwargs)

    def _spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise _SpentError

    def _spend_walk(self, *values: Any) -> None:
        for value in values:
            waiting = [value]
            while waiting:
                inner = waiting.pop()
                if isinstance(inner, str):
                    self._spend(len(inner) >> 6)
                elif isinstance(inner, (dict, list)):
                    self._spend(len(inner))
                    waiting.extend(inner.values() if isinstance(inner, dict) else inner)

    def _evaluate_children(self, node: Any, value: Any) -> dict[str, Any]:
        parts = [
            part
            if part["type"] == "expref"
            else {"type": "literal", "value": self.visit(part, value), "children": []}
            for part in node["children"]
        ]
        return {**node, "children": parts}

    def visit_comparator(self, node: Any, value: Any) -> Any:
        evaluated = self._evaluate_children(node, value)
        self._spend_walk(*(part["value"] for part in evaluated["children"]))
        return super().visit_comparator(evaluated, value)

    def visit_flatten(self, node: Any, value: Any) -> Any:
        evaluated = self._evaluate_children(node, value)
        base = evaluated["children"][0]["value"]
        if isinstance(base, list):
            self._spend(sum(len(element) if isinstance(element, list) else 1 for element in base))
        return super().visit_flatten(evaluated, value)

    def visit_slice(self, node: Any, value: Any) -> Any:
        if isinstance(value, list):
            self._spend(len(value))
        return super().visit_slice(node, value)

    def visit_function_expression(self, node: Any, value: Any) -> Any:
        evaluated = self._evaluate_children(node, value)
        values = [part["value"] for part in evaluated["children"] if part["type"] != "expref"]
        self._spend_walk(*values)
        match node["value"], values:
            case "join", [str(between), list(parts)]:  # makes more than it is given
                self._spend(len(between) * len(parts) >> 6)
        return super().visit_function_expression(evaluated, value)
