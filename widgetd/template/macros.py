"""What `macro` and `call` make: a body that can be rendered with arguments of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from widgetd.template.budget import NODES_PER_STEP, Failure
from widgetd.template.values import ABSENT, RuntimeObject, Value, made_dict, made_tuple

if TYPE_CHECKING:
    from widgetd.template.budget import Budget
    from widgetd.template.scope import Evaluate, Execute, Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class MacroDefinition:
    """What is known of a macro when its template is compiled.

    Attributes:
        slots: The slot of each parameter, in order.
        defaults: The value of each parameter that may be left out.
        varargs: The slot of the positional arguments beyond the parameters, where used.
        kwargs: The slot of the named arguments beyond the parameters, where used.
        caller: The slot of the `call` block's body, where used.
        height: How many nodes high the body is, which bounds recursion.
        nodes: How many nodes it has, which a call evaluates.
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
            frame[self.varargs] = made_tuple(budget, args[count:])
        elif len(args) > count:
            raise Failure(f"the macro '{self.name}' takes at most {count} arguments")
        if self.kwargs is not None:
            frame[self.kwargs] = made_dict(budget, kwargs)
        elif kwargs:
            raise Failure(f"the macro '{self.name}' takes no argument '{next(iter(kwargs))}'")


class Macro(RuntimeObject):
    """A macro as it stands in one frame, whose names its body can read."""

    __slots__ = ("definition", "frame")

    def __init__(self, definition: MacroDefinition, frame: Frame) -> None:
        self.definition = definition
        self.frame = frame

    def member(self, name: Value) -> Value:
        """The macro's `name`."""
        return self.definition.name if name == "name" else ABSENT

    def call(self, budget: Budget, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """The text that the body makes of these arguments."""
        definition = self.definition
        frame = self.frame.copy()
        budget.enter(definition.height)
        budget.step(len(frame) // 16 + definition.nodes // NODES_PER_STEP)
        definition.bind(budget, frame, args, kwargs)
        out: list[str] = []
        definition.body(frame, out)
        budget.leave(definition.height)
        return "".join(out)
