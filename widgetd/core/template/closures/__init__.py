"""The evaluator: the only maker of closures, from programs of either front end."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from widgetd.core.template.closures.compiler import Compiler, MakeExpression
from widgetd.core.template.closures.expressions import EXPRESSIONS
from widgetd.core.template.closures.javascript import JAVASCRIPT
from widgetd.core.template.closures.statements import STATEMENTS
from widgetd.core.template.ir import Program
from widgetd.core.template.scope import Evaluate, Execute

__all__ = ["OPERATORS", "STATEMENTS", "compile_body", "compile_value"]

OPERATORS: Final[Mapping[str, MakeExpression]] = MappingProxyType({**EXPRESSIONS, **JAVASCRIPT})


def compile_body(program: Program, *, traced: bool = False) -> Execute:
    """Return the closure for a program of statements.

    Args:
        program: The program of a template.
        traced: Write pieces of output with their places in the template, at a lower speed.
    """
    return Compiler(OPERATORS, STATEMENTS, traced=traced).body(program.root)


def compile_value(program: Program) -> Evaluate:
    return Compiler(OPERATORS, STATEMENTS).expression(program.root)
