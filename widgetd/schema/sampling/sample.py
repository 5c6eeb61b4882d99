"""Make arguments that fit a schema: for the example in an error, and to try a widget out.

Builds from the keywords; where alternatives, conditions or patterns make that
uncertain it asks an evaluator, and tries again in another way. What is returned fits,
by the validator's own word; `None` says that nothing fitting was found. The same
schema, state and seed give the same arguments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Literal

from widgetd.schema.document import Document
from widgetd.schema.explain import Explainer
from widgetd.schema.json_values import TYPES, Json, identity
from widgetd.schema.keywords import (
    Subschema,
    find_dependent,
    find_element,
    list_required,
    list_types,
)
from widgetd.schema.sampling.constraints import Constraints, all_of, numbers, strings
from widgetd.schema.sampling.pattern_strings import pattern_strings

if TYPE_CHECKING:
    from widgetd.schema.validator import Schema

State = Literal["required", "full", "empty", "one", "two", "many", "long", "nulls", "nasty"]
Style = Literal[State, "smallest"]

ATTEMPTS = 3
# What an evaluator may spend, see `explain.BUDGET`: an error's example is wanted soon.
EVALUATIONS = 300_000
EVALUATIONS_FOR_SMALLEST = 30_000

# In values made or tried.
BUDGET = 10_000
DEEPEST = 48
MOST_CHOICES = 12
# How many values are made to find one that differs from all before it.
MOST_DIFFERENT = 40
MOST_PROPERTIES = 1_000
MOST_ELEMENTS = 1_000
# How many elements an array gets where the schema leaves it open.
ELEMENTS: Mapping[Style, int] = {
    "smallest": 0,
    "required": 1,
    "full": 2,
    "empty": 0,
    "one": 1,
    "two": 2,
    "many": 20,
    "long": 2,
    "nulls": 1,
    "nasty": 2,
}
# What no round has found by then only comes later among the alternatives.
MOST_ROUNDS = 16


def smallest(schema: Schema) -> dict[str, Json] | None:
    """Arguments with nothing but what is required, in plausible words."""
    return sample(schema, state="smallest")


def sample(schema: Schema, *, state: Style, seed: int = 0) -> dict[str, Json] | None:
    """Arguments in a certain state.

    Args:
        schema: What they must fit.
        state: `required` has no optional properties; all others have them. `empty`,
            `one`, `two` and `many` say how long arrays are; `long` and `nasty` how
            strings are; `nulls` has null wherever it may stand.
        seed: Another seed takes other words and other alternatives.
    """
    depths = _ShallowestDepths(schema.document)
    explainer = schema.explainer(EVALUATIONS_FOR_SMALLEST if state == "smallest" else EVALUATIONS)
    optimist = _AcceptsAll(schema.document, schema.part_validator, explainer.budget)
    attempts = [(0, optimist), *((attempt, explainer) for attempt in range(ATTEMPTS))]
    whole = {"type": "object", "allOf": [schema.document.root]}
    for attempt, evaluator in attempts:
        sampler = _Sampler(evaluator, depths, state)
        try:
            made: dict[str, Json] = sampler.make(whole, _Position(seed + attempt))
        except _CannotMakeError:
            if sampler.exhausted:
                break
            continue
        if schema.admits(made):
            return made
    return None


class _AcceptsAll(Explainer):
    """An explainer that takes every part for fitting: most do, and the whole is validated last."""

    exhausted = False

    def fits(self, schema: Subschema, value: Json) -> bool:  # noqa: ARG002 - as its base has it
        """Accept any value."""
        return True


@dataclass(frozen=True, slots=True)
class _Position:
    """Where a value is made.

    Attributes:
        ordinal: The how manieth of its kind it is.
        name: The nearest property's name after the one that it stands in: `airline.name`.
        depth: How deep it stands.
        arrays: How many arrays it stands in.
        within: The schemas of what it stands in, by identity.
    """

    ordinal: int
    name: str = ""
    depth: int = 0
    arrays: int = 0
    within: frozenset[int] = frozenset()


class _CannotMakeError(Exception):
    """No value could be made for a schema."""


class _Sampler:
    """Makes values in one style."""

    def __init__(self, evaluator: Explainer, depths: _ShallowestDepths, style: Style) -> None:
        self._evaluator = evaluator
        self._depths = depths
        self._style = style
        self._left = BUDGET
        self._words: Counter[tuple[str, int]] = Counter()

    @property
    def exhausted(self) -> bool:
        """Whether so much was tried that another try would come to nothing either."""
        return self._left < 0 or self._evaluator.exhausted

    def make(self, schema: Subschema, position: _Position) -> Json:
        """A value that very probably fits `schema`."""
        self._left -= 1
        if schema is False or self.exhausted or position.depth > DEEPEST:
            raise _CannotMakeError
        if isinstance(schema, bool):
            return next(strings(self._style, Constraints([]), position.name, position.ordinal))
        choice, choices = 0, 1
        while choice < choices:
            constraints, choices = self._chosen(schema, position, choice)
            for made in self._values(constraints, position) if constraints else ():
                self._left -= 1
                if self._evaluator.fits(schema, made):
                    return made
            choice += 1
        raise _CannotMakeError

    def _chosen(
        self, schema: Subschema, position: _Position, choice: int
    ) -> tuple[Constraints | None, int]:
        """What holds once alternatives are chosen, if anything can; how many choices there are."""
        parts: dict[int, Mapping[str, Json]] = {}
        choices = 1
        waiting = [schema]
        while waiting:
            part = waiting.pop()
            if part is False:
                return None, choices
            if isinstance(part, bool) or id(part) in parts:
                continue
            parts[id(part)] = part
            waiting += [*self._evaluator.targets(part), *part.get("allOf", ())]
            for keyword in part.keys() & {"anyOf", "oneOf"}:
                branches = self._in_order(part, part[keyword], position)
                choices = max(choices, len(branches))
                waiting.append(branches[choice % len(branches)])
            if "if" in part:
                choices = max(choices, 2)
                then = [part["if"], part.get("then", True)]
                waiting += [part.get("else", True)] if choice % 2 else then
        return Constraints(list(parts.values())), min(choices, MOST_CHOICES)

    def _in_order(
        self, schema: Mapping[str, Json], branches: list[Subschema], position: _Position
    ) -> list[Subschema]:
        """`branches` in the order in which they are tried: null last, unless nulls are wanted."""
        if self._keeps_small([schema], position):
            return sorted(branches, key=self._depths.of)
        nulls = [branch for branch in branches if _is_null(branch)]
        others = [branch for branch in branches if not _is_null(branch)]
        others = _rotated(others, position.ordinal)
        return [*nulls, *others] if self._style == "nulls" else [*others, *nulls]

    def _keeps_small(self, parts: Iterable[Mapping[str, Json]], position: _Position) -> bool:
        """Whether a value is kept small: always, or because it stands in one of its own kind."""
        return self._style == "smallest" or any(id(part) in position.within for part in parts)

    def _values(self, constraints: Constraints, position: _Position) -> Iterator[Json]:
        """Values to be tried, likeliest first."""
        choices = constraints.choices()
        if choices is not None:
            nulls_wanted = self._style == "nulls"
            choices.sort(key=lambda value: (value is None) != nulls_wanted)
            yield from _rotated(choices, position.ordinal)
            return
        kinds = constraints.types()
        if self._style == "nulls" and "null" in kinds and kinds != TYPES:
            yield None
        if self._style not in ("long", "nasty"):
            given = [value for value in constraints.given() if not isinstance(value, (dict, list))]
            yield from _rotated(given, position.ordinal)
        if kinds == TYPES:
            kinds = (constraints.likely_type(),)
        for kind in sorted(kinds, key="null".__eq__):
            with suppress(_CannotMakeError):
                yield from self._typed(kind, constraints, position)

    def _typed(self, kind: str, constraints: Constraints, position: _Position) -> Iterator[Json]:
        ordinal = position.ordinal
        if kind == "object":
            yield self._object(constraints, position)
        elif kind == "array":
            yield self._array(constraints, position)
        elif kind == "string":
            # Each name takes the next word, so that an arrival is at another city than a departure.
            own = position.name.rpartition(".")[2]
            taken = self._words[own, ordinal]
            self._words[own, ordinal] += 1
            yield from strings(self._style, constraints, position.name, ordinal + taken)
        elif kind == "boolean":
            yield from (ordinal % 2 == 0, ordinal % 2 == 1)
        elif kind == "null":
            yield None
        else:
            yield from numbers(constraints, position.name, ordinal, whole=kind == "integer")

    def _object(self, constraints: Constraints, position: _Position) -> dict[str, Json]:
        parts, names = self._wanted(constraints, position)
        required = {name for part in parts for name in part.get("required", ())}
        made: dict[str, Json] = {}
        for name in names:
            with suppress(*() if name in required else (_CannotMakeError,)):
                made[name] = self._property(name, parts, position)
        least = constraints.least("minProperties")
        if len(made) < least:
            for name in self._further_names(constraints, position):
                with suppress(_CannotMakeError):
                    made.setdefault(name, self._property(name, parts, position))
                if len(made) >= least:
                    break
        return made

    def _property(self, name: str, parts: list[Mapping[str, Json]], position: _Position) -> Json:
        held_to = [held for part in parts for held in self._evaluator.find_properties(part, name)]
        above = position.name.rpartition(".")[2]
        inside = replace(
            position,
            name=f"{above}.{name}",
            depth=position.depth + 1,
            within=position.within | {id(part) for part in parts},
        )
        return self.make(all_of(held_to), inside)

    def _wanted(
        self, constraints: Constraints, position: _Position
    ) -> tuple[list[Mapping[str, Json]], dict[str, None]]:
        """Everything that holds when the wanted properties are there, and these, in order."""
        parts = list(constraints.parts)
        names: dict[str, None] = {}
        for part in parts:
            names.update(dict.fromkeys(part.get("required", ())))
        if not (self._style == "required" or self._keeps_small(parts, position)):
            most = constraints.most("maxProperties", MOST_PROPERTIES)
            declared = [name for part in parts for name in part.get("properties", {})]
            names.update(dict.fromkeys(declared[: max(0, most - len(names))]))
        for part in parts:  # which grows
            names.update(dict.fromkeys(list_required(part, names)))
            for held in find_dependent(part, names):
                if isinstance(held, Mapping) and held not in parts:
                    parts.append(held)
                    names.update(dict.fromkeys(held.get("required", ())))
        order = [name for part in parts for name in part.get("properties", {}) if name in names]
        return parts, dict.fromkeys([*order, *names])

    def _further_names(self, constraints: Constraints, position: _Position) -> Iterator[str]:
        """Names that may be added where more properties must be there than are wanted."""
        for part in constraints.parts:
            yield from part.get("properties", {})
        for ordinal in range(MOST_DIFFERENT):
            for part in constraints.parts:
                for pattern in part.get("patternProperties", {}):
                    yield from pattern_strings(pattern, ordinal)
            for schema in constraints.all("propertyNames"):
                with suppress(_CannotMakeError):
                    names = {"type": "string", "allOf": [schema]}
                    yield self.make(names, replace(position, name="name", ordinal=ordinal))
            yield f"extra{ordinal + 1}"

    def _array(self, constraints: Constraints, position: _Position) -> list[Json]:
        contained = list(constraints.all("contains"))
        needed_elements = constraints.least("minContains", 1) if contained else 0
        least = max(constraints.least("minItems"), needed_elements)
        made: list[Json] = []
        if least > self._left:
            self._left = -1
            raise _CannotMakeError
        for index in range(self._length(constraints, least, position)):
            held_to = [find_element(part, index) for part in constraints.parts]
            held_to += contained if index < needed_elements else []
            try:
                made.append(self._element(constraints, all_of(held_to), position, made))
            except _CannotMakeError:
                if index < least:
                    raise
                break
        return made

    def _length(self, constraints: Constraints, least: int, position: _Position) -> int:
        """How many elements to make."""
        wanted = ELEMENTS[self._style] if not position.arrays else min(ELEMENTS[self._style], 2)
        if self._keeps_small(constraints.parts, position):
            wanted = 0
        elif wanted:
            wanted = max([wanted, *map(len, constraints.all("prefixItems"))])
        return min(max(wanted, least), constraints.most("maxItems", MOST_ELEMENTS))

    def _element(
        self, constraints: Constraints, schema: Subschema, position: _Position, others: list[Json]
    ) -> Json:
        unique = any(wanted is True for wanted in constraints.all("uniqueItems"))
        known = {identity(other) for other in others} if unique else frozenset()
        inside = replace(
            position,
            depth=position.depth + 1,
            arrays=position.arrays + 1,
            within=position.within | {id(part) for part in constraints.parts},
        )
        first = position.ordinal + len(others)
        for ordinal in range(first, first + (MOST_DIFFERENT if unique else 1)):
            made = self.make(schema, replace(inside, ordinal=ordinal))
            if not unique or identity(made) not in known:
                return made
        raise _CannotMakeError


def _is_null(schema: Subschema) -> bool:
    return isinstance(schema, Mapping) and (
        list_types(schema) == ("null",) or schema.get("const", 0) is None
    )


def _rotated(values: list[Json], ordinal: int) -> list[Json]:
    first = ordinal % len(values) if values else 0
    return [*values[first:], *values[:first]]


class _ShallowestDepths:
    """How deep the shallowest value of each part nests: the shortest way out of a recursion."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._known: dict[int, float] = {}

    def of(self, schema: Subschema) -> float:
        """How many levels the shallowest value of `schema` has; `inf` if it has none."""
        if not self._known:
            schemas = list(self._document.subschemas())
            for _ in range(MOST_ROUNDS):
                # To and fro, so that a chain of references takes two rounds whatever its order.
                schemas.reverse()
                before = self._known.copy()
                for one in schemas:
                    self._known[id(one)] = self._measured(one)
                if self._known == before:
                    break
        return self._so_far(schema)

    def _so_far(self, schema: Subschema) -> float:
        if isinstance(schema, bool):
            return 0 if schema else inf
        return self._known.get(id(schema), inf)

    def _measured(self, schema: Mapping[str, Json]) -> float:
        if "const" in schema or "enum" in schema:
            return 0
        together = (*self._document.targets(schema), *schema.get("allOf", ()))
        found = [0.0, *map(self._so_far, together)]
        for keyword in schema.keys() & {"anyOf", "oneOf"}:
            found += [min(map(self._so_far, schema[keyword]), default=inf)]
        if schema.get("type", "object") == "object":
            named = schema.get("properties", {})
            required = schema.get("required", ())
            found += [1 + self._so_far(named.get(name, True)) for name in required]
        if schema.get("type") == "array" and schema.get("minItems", 0):
            found += [1 + self._so_far(find_element(schema, 0))]
        return max(found)
