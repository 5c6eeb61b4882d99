"""Choose among alternatives, for a value that is about to be made.

What is left then holds together, and is plain keywords. It refuses to make values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from widgetd.schema.applicators import Evaluator
from widgetd.schema.describe import types
from widgetd.schema.document import Subschema
from widgetd.schema.json_values import Json
from widgetd.schema.sampling.facets import Facets
from widgetd.schema.sampling.heights import Heights

Style = Literal[
    "smallest", "required", "full", "empty", "one", "two", "many", "long", "nulls", "nasty"
]

MOST_WAYS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where a value is made.

    Attributes:
        name: The nearest property's name after the one that it stands in: `airline.name`.
        turn: The how manieth of its kind it is.
        depth: How deep it stands.
        arrays: How many arrays it stands in.
        within: The schemas of what it stands in, by identity.
    """

    name: str = ""
    turn: int = 0
    depth: int = 0
    arrays: int = 0
    within: frozenset[int] = frozenset()


class Chooser:
    """Chooses in one style.

    Args:
        judge: Knows what references lead to.
        heights: Know the shortest way out of a recursion.
        style: What is wanted.
    """

    def __init__(self, judge: Evaluator, heights: Heights, style: Style) -> None:
        self._judge = judge
        self._heights = heights
        self._style = style

    def chosen(self, schema: Subschema, spot: Spot, way: int) -> tuple[Facets | None, int]:
        """What holds once alternatives are chosen, if anything can; how many ways there are."""
        parts: dict[int, Mapping[str, Json]] = {}
        ways = 1
        waiting = [schema]
        while waiting:
            part = waiting.pop()
            if part is False:
                return None, ways
            if isinstance(part, bool) or id(part) in parts:
                continue
            parts[id(part)] = part
            waiting += [*self._judge.targets(part), *part.get("allOf", ())]
            for keyword in part.keys() & {"anyOf", "oneOf"}:
                branches = self._ordered(part, part[keyword], spot)
                ways = max(ways, len(branches))
                waiting.append(branches[way % len(branches)])
            if "if" in part:
                ways = max(ways, 2)
                then = [part["if"], part.get("then", True)]
                waiting += [part.get("else", True)] if way % 2 else then
        return Facets(list(parts.values())), min(ways, MOST_WAYS)

    def _ordered(
        self, schema: Mapping[str, Json], branches: list[Subschema], spot: Spot
    ) -> list[Subschema]:
        """`branches` in the order in which they are tried: null last, unless nulls are wanted."""
        if self.economises([schema], spot):
            return sorted(branches, key=self._heights.of)
        nulls = [branch for branch in branches if _is_null(branch)]
        others = [branch for branch in branches if not _is_null(branch)]
        first = spot.turn % len(others) if others else 0
        others = [*others[first:], *others[:first]]
        return [*nulls, *others] if self._style == "nulls" else [*others, *nulls]

    def economises(self, parts: Iterable[Mapping[str, Json]], spot: Spot) -> bool:
        """Whether a value is kept small: always, or because it stands in one of its own kind."""
        return self._style == "smallest" or any(id(part) in spot.within for part in parts)


def _is_null(schema: Subschema) -> bool:
    return isinstance(schema, Mapping) and (
        types(schema) == ("null",) or schema.get("const", 0) is None
    )
