"""Check a payload against the expressions in a sidecar, besides the checks of its fields.

A check is an expression over the accepted payload: `payload.until > payload.from`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from widgetd.base.errors import CallError
from widgetd.base.limits import Limits
from widgetd.base.text_search import compile_pattern
from widgetd.core import template as templates
from widgetd.core.schema.json_values import error_at, pointer
from widgetd.core.template.budget import Budget
from widgetd.core.widget.expressions import errors_at
from widgetd.core.widget.sidecar import Sidecar

if TYPE_CHECKING:
    from widgetd.core.template import Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadCheck:
    """A condition on the payload of a type of action.

    Attributes:
        field: The field beside which its message appears, empty for the payload as a whole.
        holds: An expression, true if the condition is met.
        says: The message for the user if it is not.
    """

    field: str
    holds: Expression
    says: str

    def is_met(self, payload: Mapping[str, Any], budget: Budget) -> bool:
        try:
            return bool(self.holds.evaluate({"payload": payload}, budget))
        except CallError:
            return False


_FIRST_NAME = compile_pattern(r"\A[^.\[]+")

Checks = Mapping[str, tuple[PayloadCheck, ...]]
"""Checks by type of action."""


def compile_checks(sidecar: Sidecar, *, limits: Limits) -> Checks:
    """Compile the sidecar's checks.

    Raises:
        WidgetError: A check cannot be read, or reads a value outside the payload (W1118), always
            absent: such a check would refuse every action.
    """
    checks: dict[str, tuple[PayloadCheck, ...]] = {}
    for name, note in sidecar.actions.items():
        for index, note_check in enumerate(note.checks):
            with errors_at(pointer("actions", name, "checks", str(index), "holds")):
                holds = templates.Expression(note_check.holds, limits)
                for read in holds.reads:
                    first = _FIRST_NAME.match(read.path)
                    if first and first[0] != "payload":
                        problem = f"the check '{note_check.holds[:80]}' reads '{first[0]}'"
                        advice = f"write 'payload.{first[0]}': a check reads the payload"
                        raise error_at("W1118", "", f"{problem}, which is never there", advice)
            check = PayloadCheck(field=note_check.field, holds=holds, says=note_check.says)
            checks[name] = (*checks.get(name, ()), check)
    return checks


def find_unmet(checks: Checks, action: str, payload: Mapping[str, Any]) -> tuple[PayloadCheck, ...]:
    """Return the failing checks of an accepted payload, within the budget of a render."""
    budget = Budget(Limits())
    return tuple(check for check in checks.get(action, ()) if not check.is_met(payload, budget))
