"""What a call need not say, because widgetd can: ids, and what follows from the rest.

Both come from the sidecar. An argument that a call leaves out is filled in before the
template sees it; one that it brings stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import orjson

from widgetd.errors import CallError
from widgetd.limits import Limits
from widgetd.template import Expression
from widgetd.template.budget import VALUES_PER_STEP, Budget, Failure
from widgetd.widget.sidecar import Sidecar
from widgetd.widget.summary import without

_STEPS_EACH = 50
"""Beside what an expression spends, for it may be evaluated for each element of a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filler:
    """Fills in what calls of one widget leave out, all of it within what one render may take.

    Attributes:
        ids: Names of arguments that identify what is shown.
        derived: By dotted path, how an argument follows from those beside and around it.
        sensitive: Dotted paths that no id is made of.
    """

    ids: tuple[str, ...]
    derived: Mapping[str, Expression]
    sensitive: tuple[str, ...]

    def filled(self, arguments: Mapping[str, Any], identity: str = "") -> Mapping[str, Any]:
        """The arguments with what they leave out.

        Args:
            arguments: As a call brought them.
            identity: What ids are made of, so that another render has others; by default the
                arguments themselves, of which the same are made for the same.
        """
        missing = [name for name in self.ids if arguments.get(name) is None]
        if missing and not identity:
            public = without(arguments, self.sensitive)
            said = orjson.dumps(public, option=orjson.OPT_SORT_KEYS)
            identity = blake2b(said).hexdigest()
        made = {
            name: blake2b(f"{name} {identity}".encode(), digest_size=8).hexdigest()
            for name in missing
        }
        value: Any = {**arguments, **made} if made else arguments
        budget = Budget(Limits())
        for path, expression in self.derived.items():
            try:
                value = _derive(value, path.split("."), {}, expression, budget)
            except Failure:
                break
        filled: Mapping[str, Any] = value
        return filled


def _derive(
    value: Any,
    path: Sequence[str],
    around: Mapping[str, Any],
    expression: Expression,
    budget: Budget,
) -> Any:
    budget.step()
    if isinstance(value, list):
        return [_derive(element, path, around, expression, budget) for element in value]
    if not isinstance(value, Mapping):
        return value
    budget.step((len(around) + len(value)) // VALUES_PER_STEP)
    name, *rest = path
    inner = value.get(name)
    known = {**around, **value}
    if rest:
        if inner is None:
            return value
        return {**value, name: _derive(inner, rest, known, expression, budget)}
    if inner is not None:
        return value
    budget.step(_STEPS_EACH)
    try:
        follows = expression.evaluate(known, budget)
    except CallError:
        return value
    return value if follows is None else {**value, name: follows}


def compile_filler(sidecar: Sidecar, *, limits: Limits) -> Filler:
    """Prove that the sidecar's expressions can be used, and make them ready."""
    derived = {path: Expression(text, limits) for path, text in sidecar.derived.items()}
    return Filler(ids=sidecar.ids, derived=derived, sensitive=sidecar.sensitive)
