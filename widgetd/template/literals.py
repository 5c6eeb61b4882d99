"""Lists and objects as they are written: built as a whole, paid for and weighed once.

Each evaluation builds a new one. What is constant in it is copied, and a literal inside
a literal is built with it, so that nothing is weighed twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from widgetd.template.scope import BUDGET, Evaluate, Frame
from widgetd.template.values import (
    ABSENT,
    HOLDERS,
    LEAF,
    Made,
    MadeDict,
    MadeTuple,
    Value,
    placed,
    weighed,
)

Build = Callable[[Frame], tuple[Value, int, int]]
"""Builds a list or object; what it weighs, and how deep it nests."""

VALUE, BUILD, CONSTANT = range(3)

Part = tuple[int, Any]
"""What a value in a literal is made by: a closure, a `Build` where it is one too, or itself."""

CHILDREN: Final = "children"


def constant(value: Value) -> Evaluate:
    """The closure of what stands there as it is."""
    return lambda _frame: value


def literal(build: Build, cost: int) -> Evaluate:
    """The closure of a list or object that stands in no other; `cost` is in steps."""

    def make(frame: Frame) -> Value:
        budget = frame[BUDGET]
        budget.step(cost)
        value, heavy, height = build(frame)
        return weighed(budget, value, heavy, height)

    return make


def list_of(parts: Sequence[Part], of: type[Made | MadeTuple] = Made) -> Build:
    """What builds a list."""
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
                more, tall = placed(frame[BUDGET], value)
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
    entries: Mapping[Value, Part], *, children: Build | None = None, omits_absent: bool = False
) -> Build:
    """What builds an object, with what `children` builds, if that is anything.

    Args:
        entries: What the value of each key is made by.
        children: Builds the list under `children`.
        omits_absent: Whether a key is left out whose value is absent.
    """
    constants = {key: value if how == CONSTANT else None for key, (how, value) in entries.items()}
    computed = [
        (key, how == BUILD, evaluate) for key, (how, evaluate) in entries.items() if how != CONSTANT
    ]
    texts = [each for each in (*constants, *constants.values()) if isinstance(each, str)]
    least = 1 + 2 * LEAF * len(constants) + sum(map(len, texts))

    def build(frame: Frame) -> tuple[Value, int, int]:
        heavy, height, new = least, 1, MadeDict(constants)
        for key, is_literal, evaluate in computed:
            value = evaluate(frame)
            if is_literal:
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
