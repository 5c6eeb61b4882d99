"""Fill in arguments absent from a call: ids, and values derived from other arguments.

The sidecar declares both. An argument from the caller stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import orjson

from widgetd.base.errors import CallError
from widgetd.base.limits import DEFAULTS, Limits
from widgetd.core.template.budget import VALUES_PER_STEP, Budget, RenderError
from widgetd.core.widget.expressions import compile_expressions
from widgetd.core.widget.limits import LIMITS
from widgetd.core.widget.sidecar import Sidecar
from widgetd.core.widget.summary import remove_paths

if TYPE_CHECKING:
    from widgetd.core.template import Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Filler:
    """Fills in missing arguments of a widget, within the budget of a render.

    Attributes:
        sidecar: Names the arguments with the identity of a render, and those irrelevant to ids.
        derived: Expressions over the arguments beside and around each dotted path.
    """

    sidecar: Sidecar
    derived: Mapping[str, Expression]

    def fill(
        self,
        arguments: Mapping[str, Any],
        identity: str = "",
        state: Mapping[str, Any] = MappingProxyType({}),
    ) -> Mapping[str, Any]:
        """Return `arguments` with missing arguments filled in, beside the state of the page.

        Args:
            arguments: The caller's, with defaults.
            identity: The source of ids, so another render has others. By default the
                arguments, so equal arguments have equal ids.
            state: The local state, readable by derived arguments.
        """
        missing = [name for name in self.sidecar.ids if arguments.get(name) is None]
        if missing and not identity:
            public = remove_paths(arguments, self.sidecar.sensitive)
            identity = blake2b(orjson.dumps(public, option=orjson.OPT_SORT_KEYS)).hexdigest()
        ids = {
            name: blake2b(f"{name} {identity}".encode(), digest_size=8).hexdigest()
            for name in missing
        }
        value: Any = {**arguments, **ids, **state} if ids or state else arguments
        budget = Budget(DEFAULTS)
        for path, expression in self.derived.items():
            try:
                value = _fill_derived(value, path.split("."), {}, expression, budget)
            except RenderError:
                break
        filled: Mapping[str, Any] = value
        return filled


def _fill_derived(
    value: Any,
    path: Sequence[str],
    around: Mapping[str, Any],
    expression: Expression,
    budget: Budget,
) -> Any:
    budget.step()
    if isinstance(value, list):
        return [_fill_derived(element, path, around, expression, budget) for element in value]
    if not isinstance(value, Mapping):
        return value
    budget.step((len(around) + len(value)) // VALUES_PER_STEP)
    name, *rest = path
    inner = value.get(name)
    scope = {**around, **value}
    if rest:
        if inner is None:
            return value
        return {**value, name: _fill_derived(inner, rest, scope, expression, budget)}
    if inner is not None:
        return value
    budget.step(LIMITS.derived_steps)
    try:
        derived = expression.evaluate(scope, budget)
    except CallError:
        return value
    return value if derived is None else {**value, name: derived}


def compile_filler(sidecar: Sidecar, *, limits: Limits) -> Filler:
    derived = compile_expressions(sidecar.derived, "/derived", limits)
    return Filler(sidecar=sidecar, derived=derived)
