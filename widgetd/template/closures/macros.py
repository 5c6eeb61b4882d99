"""The closures of macros: bodies that are rendered with arguments of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from widgetd.template.budget import NODES_PER_STEP, RenderError
from widgetd.template.ir import Op, height
from widgetd.template.values import ABSENT, RuntimeObject, Value, new_dict, new_tuple

if TYPE_CHECKING:
    from widgetd.template.budget import Budget
    from widgetd.template.closures.compiler import Compiler
    from widgetd.template.scope import Evaluate, Execute, Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class MacroDefinition:
    """A macro, compiled.

    Attributes:
        slots: The slot of each parameter, in order.
        defaults: The value of each parameter that may be left out.
        height: The height of the body in operations, which bounds recursion.
        nodes: The size of the body in operations, which a call evaluates.
        varargs: The slot of further positional arguments, where used.
        kwargs: The slot of further named arguments, where used.
        caller: The slot of the `call` block's body, where used.
    """

    name: str
    slots: dict[str, int]
    defaults: dict[str, Evaluate]
    body: Execute
    height: int
    nodes: int
    varargs: int | None
    kwargs: int | None
    caller: int | None

    def bind(
        self, budget: Budget, frame: Frame, args: list[Value], kwargs: dict[str, Value]
    ) -> None:
        """Put the arguments of a call into `frame`."""
        if self.caller is not None:
            frame[self.caller] = kwargs.pop("caller", ABSENT)
        for at, (name, slot) in enumerate(self.slots.items()):
            if at < len(args):
                frame[slot] = args[at]
            elif name in kwargs:
                frame[slot] = kwargs.pop(name)
            else:
                frame[slot] = ABSENT
                if name in self.defaults:
                    frame[slot] = self.defaults[name](frame)
        count = len(self.slots)
        if self.varargs is not None:
            frame[self.varargs] = new_tuple(budget, args[count:])
        elif len(args) > count:
            raise RenderError(f"the macro '{self.name}' takes at most {count} arguments")
        if self.kwargs is not None:
            frame[self.kwargs] = new_dict(budget, kwargs)
        elif kwargs:
            raise RenderError(f"the macro '{self.name}' takes no argument '{next(iter(kwargs))}'")


class Macro(RuntimeObject):
    """A macro in one frame, whose names its body can read."""

    __slots__ = ("definition", "frame")

    def __init__(self, definition: MacroDefinition, frame: Frame) -> None:
        self.definition = definition
        self.frame = frame

    def member(self, name: Value) -> Value:
        """Return the macro's `name`."""
        return self.definition.name if name == "name" else ABSENT

    def call(self, budget: Budget, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """Return the text that the body makes of these arguments."""
        definition = self.definition
        frame = self.frame.copy()
        budget.enter(definition.height)
        budget.step(len(frame) // 16 + definition.nodes // NODES_PER_STEP)
        definition.bind(budget, frame, args, kwargs)
        out: list[str] = []
        definition.body(frame, out)
        budget.leave(definition.height)
        return "".join(out)


def macro(compiler: Compiler, op: Op) -> Evaluate:
    """Return the closure that makes a macro in its frame."""
    name, parameters, defaults, body, (varargs, kwargs, caller) = op.operands
    slots, before = dict(parameters), compiler.nodes
    with_default = [*slots][len(slots) - len(defaults) :]
    values = compiler.each(defaults)
    definition = MacroDefinition(
        name=name,
        slots=slots,
        defaults=dict(zip(with_default, values, strict=True)),
        body=compiler.body(body),
        height=height(op),
        nodes=compiler.nodes - before,
        varargs=varargs,
        kwargs=kwargs,
        caller=caller,
    )
    return lambda frame: Macro(definition, frame)
