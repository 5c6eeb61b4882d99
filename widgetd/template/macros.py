"""What `macro` and `call` make: a body that can be rendered with arguments of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from widgetd.template.budget import NODES_PER_STEP, Failure
from widgetd.template.values import ABSENT, Routine, Value, made_dict, made_tuple

if TYPE_CHECKING:
    from widgetd.template.budget import Budget
    from widgetd.template.scope import Evaluate, Execute, Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Blueprint:
    """What is known of a macro when its template is compiled.

    Attributes:
        places: The place of each parameter, in order.
        defaults: The value of each parameter that may be left out.
        varargs: The place of the positional arguments beyond the parameters, where used.
        kwargs: The place of the named arguments beyond the parameters, where used.
        caller: The place of the `call` block's body, where used.
        height: How many nodes high the body is, which bounds recursion.
        nodes: How many nodes it has, which a call evaluates.
    """

    name: str
    places: dict[str, int]
    defaults: dict[str, Evaluate]
    body: Execute
    height: int
    nodes: int
    varargs: int | None
    kwargs: int | None
    caller: int | None


class Macro(Routine):
    """A macro as it stands in one frame, whose names its body can read."""

    __slots__ = ("blueprint", "frame")

    def __init__(self, blueprint: Blueprint, frame: Frame) -> None:
        self.blueprint = blueprint
        self.frame = frame

    def member(self, name: Value) -> Value:
        """The macro's `name`."""
        return self.blueprint.name if name == "name" else ABSENT

    def call(self, budget: Budget, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """The text that the body makes of these arguments."""
        blueprint = self.blueprint
        frame = self.frame.copy()
        budget.enter(blueprint.height)
        budget.step(len(frame) // 16 + blueprint.nodes // NODES_PER_STEP)
        _bind(budget, blueprint, frame, args, kwargs)
        out: list[str] = []
        blueprint.body(frame, out)
        budget.leave(blueprint.height)
        return "".join(out)


def _bind(
    budget: Budget,
    blueprint: Blueprint,
    frame: Frame,
    args: list[Value],
    kwargs: dict[str, Value],
) -> None:
    _bind_caller(blueprint, frame, kwargs)
    named = list(blueprint.places.items())
    for at, (name, place) in enumerate(named):
        if at < len(args):
            frame[place] = args[at]
        elif name in kwargs:
            frame[place] = kwargs.pop(name)
        else:
            frame[place] = ABSENT
            default = blueprint.defaults.get(name)
            frame[place] = ABSENT if default is None else default(frame)
    _bind_rest(budget, blueprint, frame, args[len(named) :], kwargs)


def _bind_caller(blueprint: Blueprint, frame: Frame, kwargs: dict[str, Value]) -> None:
    if blueprint.caller is not None:
        frame[blueprint.caller] = kwargs.pop("caller", ABSENT)


def _bind_rest(
    budget: Budget,
    blueprint: Blueprint,
    frame: Frame,
    args: list[Value],
    kwargs: dict[str, Value],
) -> None:
    if blueprint.varargs is not None:
        frame[blueprint.varargs] = made_tuple(budget, args)
    elif args:
        count = len(blueprint.places)
        raise Failure(f"the macro '{blueprint.name}' takes at most {count} arguments")
    if blueprint.kwargs is not None:
        frame[blueprint.kwargs] = made_dict(budget, kwargs)
    elif kwargs:
        raise Failure(f"the macro '{blueprint.name}' takes no argument '{next(iter(kwargs))}'")
