"""What an author demands of a payload besides what its fields demand, each on its own.

A check is an expression over the payload as it was accepted: `payload.until > payload.from`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from widgetd.errors import CallError
from widgetd.limits import Limits
from widgetd.template import Expression
from widgetd.template.budget import Budget
from widgetd.widget.sidecar import Sidecar


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One demand on the payload of one type of action.

    Attributes:
        field: The field that its sentence is shown beside; empty for the payload as a whole.
        holds: True where the demand is met.
        says: What the user reads where it is not.
    """

    field: str
    holds: Expression
    says: str

    def is_met(self, payload: Mapping[str, Any], budget: Budget) -> bool:
        """Whether `payload` is as demanded; what cannot be told is not."""
        try:
            return bool(self.holds.evaluate({"payload": payload}, budget))
        except CallError:
            return False


Checks = Mapping[str, tuple[Check, ...]]
"""By the type of action."""


def compile_checks(sidecar: Sidecar, *, limits: Limits) -> Checks:
    """Prove that the sidecar's checks can be used, and make them ready."""
    return {
        name: tuple(
            Check(field=one.field, holds=Expression(one.holds, limits), says=one.says)
            for one in note.checks
        )
        for name, note in sidecar.actions.items()
        if note.checks
    }


def unmet(checks: Checks, action: str, payload: Mapping[str, Any]) -> tuple[Check, ...]:
    """The checks that an accepted payload does not pass, told within what one render may take."""
    budget = Budget(Limits())
    return tuple(one for one in checks.get(action, ()) if not one.is_met(payload, budget))
