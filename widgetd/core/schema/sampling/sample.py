"""Make valid arguments: the example in an error, and input for trying a widget out.

Builds from the keywords. Where alternatives, conditions or patterns make the result uncertain it
asks an explainer, and tries again in another way. The validator confirms every result. None
means nothing valid was produced. The same schema, state and seed give the same arguments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from typing import Literal

from widgetd.core.schema.document import SchemaDocument
from widgetd.core.schema.explain import Explainer
from widgetd.core.schema.json_values import TYPES, Json, equality_key
from widgetd.core.schema.keywords import (
    Subschema,
    find_dependent,
    find_element,
    list_required,
    list_types,
)
from widgetd.core.schema.limits import LIMITS
from widgetd.core.schema.sampling.constraints import (
    Constraints,
    combine,
    make_numbers,
    make_strings,
)
from widgetd.core.schema.sampling.pattern_strings import make_pattern_strings

State = Literal["required", "full", "empty", "one", "two", "many", "long", "nulls", "nasty"]
Style = Literal[State, "smallest"]


# Elements of an array without a length in the schema.
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


def make_sample(
    explainer: Explainer, admits: Callable[[Json], bool], *, state: Style, seed: int
) -> dict[str, Json] | None:
    """Make arguments for `admits` within the budget of `explainer`. See `Schema.sample`."""
    document = explainer.document
    depths = _ShallowestDepths(document)
    optimist = _AcceptsAll(document, lambda _: None, explainer.budget)
    attempts = [(0, optimist), *((attempt, explainer) for attempt in range(LIMITS.sample_attempts))]
    whole = {"type": "object", "allOf": [document.root]}
    for attempt, evaluator in attempts:
        sampler = _Sampler(evaluator, depths, state)
        try:
            arguments: dict[str, Json] = sampler.make(whole, _Position(seed + attempt))
        except _CannotMakeError:
            if sampler.is_exhausted:
                break
            continue
        if admits(arguments):
            return arguments
    return None


class _AcceptsAll(Explainer):
    """An explainer without faults: most parts fit, and the whole is validated last."""

    is_exhausted = False

    def fits(self, schema: Subschema, value: Json) -> bool:  # noqa: ARG002 - as its base has it
        return True


@dataclass(frozen=True, slots=True)
class _Position:
    """The place of a value to make.

    Attributes:
        ordinal: Its number among values of its kind.
        name: The nearest property's name after its parent's: `airline.name`.
        depth: Its nesting depth.
        arrays: The number of arrays around it.
        within: The schemas of the values around it, by identity.
    """

    ordinal: int
    name: str = ""
    depth: int = 0
    arrays: int = 0
    within: frozenset[int] = frozenset()


class _CannotMakeError(Exception):
    """No value could be made for a schema."""


class _Sampler:
    def __init__(self, evaluator: Explainer, depths: _ShallowestDepths, style: Style) -> None:
        self._evaluator = evaluator
        self._depths = depths
        self._style = style
        self._left = LIMITS.sample_values
        self._words: Counter[tuple[str, int]] = Counter()

    @property
    def is_exhausted(self) -> bool:
        """True after so many trials that another attempt would not succeed either."""
        return self._left < 0 or self._evaluator.is_exhausted

    def make(self, schema: Subschema, position: _Position) -> Json:
        self._left -= 1
        if schema is False or self.is_exhausted or position.depth > LIMITS.sample_depth:
            raise _CannotMakeError
        if isinstance(schema, bool):
            return next(make_strings(self._style, Constraints([]), position.name, position.ordinal))
        choice, choices = 0, 1
        while choice < choices:
            constraints, choices = self._choose(schema, position, choice)
            for value in self._list_values(constraints, position) if constraints else ():
                self._left -= 1
                if self._evaluator.fits(schema, value):
                    return value
            choice += 1
        raise _CannotMakeError

    def _choose(
        self, schema: Subschema, position: _Position, choice: int
    ) -> tuple[Constraints | None, int]:
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
                branches = self._order(part, part[keyword], position)
                choices = max(choices, len(branches))
                waiting.append(branches[choice % len(branches)])
            if "if" in part:
                choices = max(choices, 2)
                then = [part["if"], part.get("then", True)]
                waiting += [part.get("else", True)] if choice % 2 else then
        return Constraints(list(parts.values())), min(choices, LIMITS.sample_choices)

    def _order(
        self, schema: Mapping[str, Json], branches: list[Subschema], position: _Position
    ) -> list[Subschema]:
        if self._keeps_small([schema], position):
            return sorted(branches, key=self._depths.of)
        nulls = [branch for branch in branches if _is_null(branch)]
        others = [branch for branch in branches if not _is_null(branch)]
        others = _rotate(others, position.ordinal)
        return [*nulls, *others] if self._style == "nulls" else [*others, *nulls]

    def _keeps_small(self, parts: Iterable[Mapping[str, Json]], position: _Position) -> bool:
        return self._style == "smallest" or any(id(part) in position.within for part in parts)

    def _list_values(self, constraints: Constraints, position: _Position) -> Iterator[Json]:
        choices = constraints.choices()
        if choices is not None:
            nulls_wanted = self._style == "nulls"
            choices.sort(key=lambda value: (value is None) != nulls_wanted)
            yield from _rotate(choices, position.ordinal)
            return
        kinds = constraints.types()
        if self._style == "nulls" and "null" in kinds and kinds != TYPES:
            yield None
        if self._style not in ("long", "nasty"):
            examples = constraints.examples()
            scalars = [value for value in examples if not isinstance(value, (dict, list))]
            yield from _rotate(scalars, position.ordinal)
        if kinds == TYPES:
            kinds = (constraints.likely_type(),)
        for kind in sorted(kinds, key="null".__eq__):
            with suppress(_CannotMakeError):
                yield from self._make_typed(kind, constraints, position)

    def _make_typed(
        self, kind: str, constraints: Constraints, position: _Position
    ) -> Iterator[Json]:
        ordinal = position.ordinal
        if kind == "object":
            yield self._make_object(constraints, position)
        elif kind == "array":
            yield self._make_array(constraints, position)
        elif kind == "string":
            # Each name takes the next word, so arrival and departure are different cities.
            own = position.name.rpartition(".")[2]
            taken = self._words[own, ordinal]
            self._words[own, ordinal] += 1
            yield from make_strings(self._style, constraints, position.name, ordinal + taken)
        elif kind == "boolean":
            yield from (ordinal % 2 == 0, ordinal % 2 == 1)
        elif kind == "null":
            yield None
        else:
            yield from make_numbers(constraints, position.name, ordinal, whole=kind == "integer")

    def _make_object(self, constraints: Constraints, position: _Position) -> dict[str, Json]:
        parts, names = self._choose_properties(constraints, position)
        required = {name for part in parts for name in part.get("required", ())}
        properties: dict[str, Json] = {}
        for name in names:
            with suppress(*() if name in required else (_CannotMakeError,)):
                properties[name] = self._make_property(name, parts, position)
        least = constraints.least("minProperties")
        if len(properties) < least:
            for name in self._list_further_names(constraints, position):
                with suppress(_CannotMakeError):
                    properties.setdefault(name, self._make_property(name, parts, position))
                if len(properties) >= least:
                    break
        return properties

    def _make_property(
        self, name: str, parts: list[Mapping[str, Json]], position: _Position
    ) -> Json:
        held_to = self._evaluator.find_inside(parts, name)
        above = position.name.rpartition(".")[2]
        inside = replace(
            position,
            name=f"{above}.{name}",
            depth=position.depth + 1,
            within=position.within | {id(part) for part in parts},
        )
        return self.make(combine(held_to), inside)

    def _choose_properties(
        self, constraints: Constraints, position: _Position
    ) -> tuple[list[Mapping[str, Json]], dict[str, None]]:
        """Return all schemas that apply once the wanted properties are there, and their names."""
        parts = list(constraints.parts)
        names: dict[str, None] = {}
        for part in parts:
            names.update(dict.fromkeys(part.get("required", ())))
        if not (self._style == "required" or self._keeps_small(parts, position)):
            most = constraints.most("maxProperties", LIMITS.sample_properties)
            declared = [name for part in parts for name in part.get("properties", {})]
            names.update(dict.fromkeys(declared[: max(0, most - len(names))]))
        for part in parts:  # grows during the loop
            names.update(dict.fromkeys(list_required(part, names)))
            for held in find_dependent(part, names):
                if isinstance(held, Mapping) and held not in parts:
                    parts.append(held)
                    names.update(dict.fromkeys(held.get("required", ())))
        order = [name for part in parts for name in part.get("properties", {}) if name in names]
        return parts, dict.fromkeys([*order, *names])

    def _list_further_names(self, constraints: Constraints, position: _Position) -> Iterator[str]:
        for part in constraints.parts:
            yield from part.get("properties", {})
        for ordinal in range(LIMITS.distinct_attempts):
            for part in constraints.parts:
                for pattern in part.get("patternProperties", {}):
                    yield from make_pattern_strings(pattern, ordinal)
            for schema in constraints.all("propertyNames"):
                with suppress(_CannotMakeError):
                    names = {"type": "string", "allOf": [schema]}
                    yield self.make(names, replace(position, name="name", ordinal=ordinal))
            yield f"extra{ordinal + 1}"

    def _make_array(self, constraints: Constraints, position: _Position) -> list[Json]:
        contained = list(constraints.all("contains"))
        needed_elements = constraints.least("minContains", 1) if contained else 0
        least = max(constraints.least("minItems"), needed_elements)
        elements: list[Json] = []
        if least > self._left:
            self._left = -1
            raise _CannotMakeError
        for index in range(self._choose_length(constraints, least, position)):
            held_to = [find_element(part, index) for part in constraints.parts]
            held_to += contained if index < needed_elements else []
            try:
                element = self._make_element(constraints, combine(held_to), position, elements)
                elements.append(element)
            except _CannotMakeError:
                if index < least:
                    raise
                break
        return elements

    def _choose_length(self, constraints: Constraints, least: int, position: _Position) -> int:
        wanted = ELEMENTS[self._style] if not position.arrays else min(ELEMENTS[self._style], 2)
        if self._keeps_small(constraints.parts, position):
            wanted = 0
        elif wanted:
            wanted = max([wanted, *map(len, constraints.all("prefixItems"))])
        return min(max(wanted, least), constraints.most("maxItems", LIMITS.sample_elements))

    def _make_element(
        self, constraints: Constraints, schema: Subschema, position: _Position, others: list[Json]
    ) -> Json:
        unique = any(wanted is True for wanted in constraints.all("uniqueItems"))
        taken = {equality_key(other) for other in others} if unique else frozenset()
        inside = replace(
            position,
            depth=position.depth + 1,
            arrays=position.arrays + 1,
            within=position.within | {id(part) for part in constraints.parts},
        )
        first = position.ordinal + len(others)
        for ordinal in range(first, first + (LIMITS.distinct_attempts if unique else 1)):
            element = self.make(schema, replace(inside, ordinal=ordinal))
            if not unique or equality_key(element) not in taken:
                return element
        raise _CannotMakeError


def _is_null(schema: Subschema) -> bool:
    return isinstance(schema, Mapping) and (
        list_types(schema) == ("null",) or schema.get("const", 0) is None
    )


def _rotate(values: list[Json], ordinal: int) -> list[Json]:
    first = ordinal % len(values) if values else 0
    return [*values[first:], *values[:first]]


class _ShallowestDepths:
    """The depth of each part's shallowest value: the shortest way out of a recursion."""

    def __init__(self, document: SchemaDocument) -> None:
        self._document = document
        self._known: dict[int, float] = {}

    def of(self, schema: Subschema) -> float:
        if not self._known:
            schemas = list(self._document.subschemas())
            for _ in range(LIMITS.depth_rounds):
                # Alternate the direction, so any chain of references takes two rounds.
                schemas.reverse()
                before = self._known.copy()
                for part in schemas:
                    self._known[id(part)] = self._measure(part)
                if self._known == before:
                    break
        return self._get(schema)

    def _get(self, schema: Subschema) -> float:
        if isinstance(schema, bool):
            return 0 if schema else inf
        return self._known.get(id(schema), inf)

    def _measure(self, schema: Mapping[str, Json]) -> float:
        if "const" in schema or "enum" in schema:
            return 0
        together = (*self._document.targets(schema), *schema.get("allOf", ()))
        depths = [0.0, *map(self._get, together)]
        for keyword in schema.keys() & {"anyOf", "oneOf"}:
            depths += [min(map(self._get, schema[keyword]), default=inf)]
        if schema.get("type", "object") == "object":
            named = schema.get("properties", {})
            required = schema.get("required", ())
            depths += [1 + self._get(named.get(name, True)) for name in required]
        if schema.get("type") == "array" and schema.get("minItems", 0):
            depths += [1 + self._get(find_element(schema, 0))]
        return max(depths)
