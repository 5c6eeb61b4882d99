"""The closures of lists and objects: built as a whole, paid for and sized once.

Each evaluation builds anew. Constants in it are copied, and a literal inside a literal
is built with it, so nothing is sized twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from widgetd.core.template.closures.compiler import Compiler, constant
from widgetd.core.template.ir import Op, constant_of, is_constant
from widgetd.core.template.scope import BUDGET, Evaluate, Frame
from widgetd.core.template.values import (
    ABSENT,
    HOLDERS,
    LEAF,
    TemplateDict,
    TemplateList,
    TemplateTuple,
    Value,
    measure_inside,
    with_size,
)

Build = Callable[[Frame], tuple[Value, int, int]]
"""Builds a list or object and returns it with its size and height."""

VALUE, BUILD, CONSTANT = range(3)

Part = tuple[int, Any]
"""A value in a literal: `VALUE` and a closure, `BUILD` and a `Build`, or `CONSTANT` and itself."""

CHILDREN: Final = "children"

_LISTS: Final[Mapping[str, type[TemplateList | TemplateTuple]]] = {
    "[,]": TemplateList,
    "(,)": TemplateTuple,
}


def is_built(op: Op) -> bool:
    """Return whether a template's literal is built as a whole: an object's keys are constant."""
    return op.name in _LISTS or (op.name == "{}" and all(map(is_constant, op.operands[::2])))


def element_count(op: Op) -> int:
    """Return how many elements a literal has, with those of the literals built with it."""
    values = op.operands if op.name in _LISTS else op.operands[1::2]
    inside = [operand for operand in values if type(operand) is Op and is_built(operand)]
    return len(values) + sum(map(element_count, inside))


def build(compiler: Compiler, op: Op) -> Build:
    if op.name in _LISTS:
        return list_of([_part(compiler, operand) for operand in op.operands], _LISTS[op.name])
    pairs = zip(op.operands[::2], op.operands[1::2], strict=True)
    return object_of({constant_of(key): _part(compiler, value) for key, value in pairs})


def _part(compiler: Compiler, expr: Any) -> Part:
    if is_constant(expr):
        return CONSTANT, constant_of(expr)
    if type(expr) is Op and is_built(expr):
        return BUILD, build(compiler, expr)
    return VALUE, compiler.expression(expr)


def literal(build: Build, cost: int) -> Evaluate:
    def make(frame: Frame) -> Value:
        budget = frame[BUDGET]
        budget.step(cost)
        value, heavy, height = build(frame)
        return with_size(budget, value, heavy, height)

    return make


def list_of(parts: Sequence[Part], of: type[TemplateList | TemplateTuple] = TemplateList) -> Build:
    values = [
        (how == BUILD, constant(evaluate) if how == CONSTANT else evaluate)
        for how, evaluate in parts
    ]
    least = 1 + LEAF * len(values)

    def build(frame: Frame) -> tuple[Value, int, int]:
        heavy, height, inside = least, 1, []
        for is_literal, evaluate in values:
            value = evaluate(frame)
            if is_literal:
                value, more, tall = value
            elif type(value) is str:
                heavy += len(value)
                inside.append(value)
                continue
            elif type(value) in HOLDERS:
                more, tall = measure_inside(frame[BUDGET], value)
            else:
                inside.append(value)
                continue
            inside.append(value)
            heavy += more - LEAF
            if tall >= height:
                height = tall + 1
        return of(inside), heavy, height

    return build


def object_of(
    entries: Mapping[Value, Part], *, children: Build | None = None, drop_undefined: bool = False
) -> Build:
    """Return the builder of an object, with the list of `children` unless it is empty."""
    constants = {key: value if how == CONSTANT else None for key, (how, value) in entries.items()}
    computed = [
        (key, how == BUILD, evaluate) for key, (how, evaluate) in entries.items() if how != CONSTANT
    ]
    texts = [literal for literal in (*constants, *constants.values()) if isinstance(literal, str)]
    least = 1 + 2 * LEAF * len(constants) + sum(map(len, texts))

    def build(frame: Frame) -> tuple[Value, int, int]:
        heavy, height, new = least, 1, TemplateDict(constants)
        for key, is_literal, evaluate in computed:
            value = evaluate(frame)
            if is_literal:
                value, more, tall = value
            elif type(value) is str:
                heavy += len(value)
                new[key] = value
                continue
            elif type(value) in HOLDERS:
                more, tall = measure_inside(frame[BUDGET], value)
            else:
                if value is ABSENT and drop_undefined:
                    del new[key]
                else:
                    new[key] = value
                continue
            new[key] = value
            heavy += more - LEAF
            if tall >= height:
                height = tall + 1
        if children is not None:
            inside, more, tall = children(frame)
            if inside:
                new[CHILDREN] = inside
                heavy += more + LEAF + len(CHILDREN)
                height = max(height, tall + 1)
        return new, heavy, height

    return build
