"""Check a payload against the expressions in a sidecar, besides the checks of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from widgetd.base.errors import CallError
from widgetd.base.limits import Limits
from widgetd.core import template as templates
from widgetd.core.schema.json_values import error_at, pointer, to_json
from widgetd.core.template.budget import Budget
from widgetd.core.widget.expressions import errors_at
from widgetd.core.widget.sidecar import Sidecar

if TYPE_CHECKING:
    from widgetd.core.template import Expression

Checks = Mapping[str, "tuple[Mapping[str, Expression], ...]"]
"""By type of action, the compiled `items`, `field`, `holds` and `says` of each of its checks."""


def compile_checks(sidecar: Sidecar, *, limits: Limits) -> Checks:
    """Compile the sidecar's checks.

    Raises:
        WidgetError: A check cannot be read, or reads a value outside the payload (W1118), always
            absent: such a check would refuse every action.
    """
    checks: dict[str, tuple[Mapping[str, Expression], ...]] = {}
    for name, note in sidecar.actions.items():
        for index, part in enumerate(note.checks):
            texts = {"field": to_json(part.field).decode(), "says": to_json(part.says).decode()}
            texts = dict(part) if part.items else {**dict(part), "items": "[none]", **texts}
            check: dict[str, Expression] = {}
            for key, text in texts.items():
                with errors_at(pointer("actions", name, "checks", str(index), key)):
                    check[key] = templates.Expression(text, limits)
                    for read in () if key == "items" else check[key].reads:
                        first = read.path.partition(".")[0].partition("[")[0]
                        if first and first not in ("payload", "item" if part.items else ""):
                            problem = f"the check '{text[:80]}' reads '{first}'"
                            advice = f"write 'payload.{first}': a check reads the payload"
                            raise error_at("W1118", "", f"{problem}, which is never there", advice)
            checks[name] = (*checks.get(name, ()), check)
    return checks


def find_messages(
    checks: Checks,
    action: str,
    payload: Mapping[str, Any],
    arguments: Mapping[str, Any] = MappingProxyType({}),
    *,
    only_unmet: bool = True,
) -> list[tuple[str, str]]:
    """Return field and message of each unmet check, or of all, within the budget of a render."""
    budget, scope = Budget(Limits()), {**arguments, "payload": payload}
    messages = []
    for check in checks.get(action, ()):
        items = _evaluate(check["items"], scope, budget)
        for item in items if isinstance(items, list) else [None]:
            names = {**scope, "item": item}
            if not (only_unmet and _evaluate(check["holds"], names, budget)):
                field, says = (_evaluate(check[key], names, budget) for key in ("field", "says"))
                messages.append((str(field or ""), str(says or "")))
    return messages


def _evaluate(expression: Expression, scope: Mapping[str, Any], budget: Budget) -> Any:
    try:
        return expression.evaluate(scope, budget)
    except CallError:  # a check that cannot be evaluated is unmet
        return None
