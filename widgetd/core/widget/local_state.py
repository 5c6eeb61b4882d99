"""Local state: names beside the arguments of a template, and actions to assign them.

    [state]
    showAll = false

    [local."filter.toggle"]
    showAll = "not showAll"

A local action changes only its own page. The page evaluates the expressions itself. For a
page without a program the server does. The expressions read the arguments, the state before the
action, and its payload.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson

from widgetd.base.errors import CallError
from widgetd.base.limits import Limits
from widgetd.base.text_search import did_you_mean
from widgetd.core.schema.json_values import error_at, pointer
from widgetd.core.template.budget import Budget
from widgetd.core.widget.expressions import compile_expressions
from widgetd.core.widget.limits import LIMITS
from widgetd.core.widget.sidecar import Sidecar

if TYPE_CHECKING:
    from widgetd.core.template import Expression

PAYLOAD: Final = "payload"
"""The name by which expressions read the payload of the action."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalState:
    """The compiled state and local actions of a widget.

    Attributes:
        initial: The state of a newly opened page, by name.
        actions: By type, the expression of each name assigned by the action.
    """

    initial: Mapping[str, Any]
    actions: Mapping[str, Mapping[str, Expression]]

    def complete(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the state sent by a page, with its missing names.

        Raises:
            CallError: It has a name that the widget's state lacks (W2002), or is too large (W2403).
        """
        for name in state:
            if name not in self.initial:
                hint = did_you_mean(name, self.initial, f"it has {', '.join(self.initial)}")
                problem = f"the widget's state has no '{name:.60}'; {hint}"
                raise CallError("W2002", problem, path="state")
        if len(orjson.dumps(state)) > LIMITS.state_bytes:
            problem = f"the state has more than {LIMITS.state_bytes:,} bytes"
            raise CallError("W2403", problem, path="state")
        return {**self.initial, **state}

    def act(
        self,
        action: str,
        arguments: Mapping[str, Any],
        state: Mapping[str, Any],
        payload: Mapping[str, Any],
    ) -> Mapping[str, Any]:
        """Return the state after a local action.

        Raises:
            CallError: An expression fails.
        """
        scope = {**arguments, **state, PAYLOAD: payload}
        budget = Budget(Limits())
        changes = {
            name: expression.evaluate(scope, budget)
            for name, expression in self.actions[action].items()
        }
        return {**state, **changes}


def take_actions(
    widget: Any, arguments: Mapping[str, Any], actions: Sequence[Mapping[str, Any]]
) -> Mapping[str, Any]:
    """Return the local state of `widget` after `actions`, each `{"action", "payload"?}`.

    Raises:
        CallError: An action is not local (W2401), or an expression fails.
    """
    # Few drafts take actions, and every start imports this module.
    from widgetd.core.widget.actions.tree_actions import to_object  # noqa: PLC0415 - see above

    local = widget.local
    state: Mapping[str, Any] = local.initial
    for row in actions:
        action = row["action"]
        if action not in local.actions:
            hint = did_you_mean(action, local.actions, "[local] has what can be taken here")
            raise CallError("W2401", f"no local action is '{action:.60}'; {hint}")
        filled = widget.fill(widget.check(arguments).arguments, state=state)
        state = local.act(action, filled, state, to_object(row.get("payload")))
    return state


def compile_local_state(
    sidecar: Sidecar, properties: Collection[str], *, limits: Limits
) -> LocalState:
    """Compile the sidecar's `[state]` and `[local]`.

    Raises:
        WidgetError: A name of the state is an argument or cannot be read (W1610), an action is
            local and described in `[actions]` (W1611), it assigns a name outside the state
            (W1612), or an expression cannot be read.
    """
    for name in sidecar.state:
        if name in properties or name == PAYLOAD or not (name.isidentifier() and name.isascii()):
            what = "an argument" if name in properties else "no name that an expression can read"
            what = "what expressions call the payload" if name == PAYLOAD else what
            problem = f"the state '{name:.60}' is {what}"
            raise error_at("W1610", pointer("state", name), problem, "give it another name")
    actions: dict[str, Mapping[str, Expression]] = {}
    for action, assigned in sidecar.local.items():
        if action in sidecar.actions:
            problem = f"the action '{action:.60}' is local and in [actions]"
            advice = "take it out of one: no one is told of a local action"
            raise error_at("W1611", pointer("local", action), problem, advice)
        for name in assigned:
            if name not in sidecar.state:
                problem = f"the local action '{action:.60}' assigns '{name:.60}', not in [state]"
                advice = did_you_mean(name, sidecar.state, f"write `{name} = …` under [state]")
                raise error_at("W1612", pointer("local", action, name), problem, advice)
        actions[action] = compile_expressions(assigned, pointer("local", action), limits)
    return LocalState(initial=sidecar.state, actions=actions)
