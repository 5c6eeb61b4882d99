"""What a call need not say, because widgetd can: ids, and what follows from the rest.

Both come from the sidecar. An argument that a call leaves out is filled in before the
template sees it; one that it brings stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import count
from typing import Any

import orjson

from widgetd.errors import CallError, WidgetError
from widgetd.limits import Limits
from widgetd.template import Expression, compile_expression
from widgetd.widget.definition import Definition
from widgetd.widget.sidecar import SUFFIX
from widgetd.widget.summary import without

_MOST_DERIVED = 1_000
"""Values in one call: an expression may have to be evaluated for each element of a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filler:
    """Fills in what calls of one widget leave out.

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
            identity = orjson.dumps(public, option=orjson.OPT_SORT_KEYS).hex()
        made = {
            name: blake2b(f"{name} {identity}".encode(), digest_size=8).hexdigest()
            for name in missing
        }
        value: Any = {**arguments, **made} if made else arguments
        left = count()
        for path, expression in self.derived.items():
            value = _derive(value, path.split("."), {}, expression, left)
        filled: Mapping[str, Any] = value
        return filled


def _derive(
    value: Any,
    path: Sequence[str],
    around: Mapping[str, Any],
    expression: Expression,
    made: count[int],
) -> Any:
    if isinstance(value, list):
        return [_derive(element, path, around, expression, made) for element in value]
    if not isinstance(value, Mapping):
        return value
    name, *rest = path
    inner = value.get(name)
    known = {**around, **value}
    if rest:
        if inner is None:
            return value
        return {**value, name: _derive(inner, rest, known, expression, made)}
    if inner is not None or next(made) >= _MOST_DERIVED:
        return value
    try:
        follows = expression.evaluate(known)
    except CallError:
        return value
    return value if follows is None else {**value, name: follows}


def compile_filler(definition: Definition, *, limits: Limits) -> Filler:
    """Prove that the sidecar's expressions can be used, and make them ready.

    Raises:
        WidgetError: One cannot be parsed; the finding's path is the sidecar's.
    """
    sidecar = definition.sidecar
    try:
        return Filler(
            ids=sidecar.ids,
            derived={
                path: compile_expression(text, limits=limits)
                for path, text in sidecar.derived.items()
            },
            sensitive=sidecar.sensitive,
        )
    except WidgetError as error:
        raise error.of(definition.path + SUFFIX) from None
