"""Why a value does not fit, found within a budget.

The validator decides; this descends with the value to the keywords that fail,
and of several alternatives takes the one that came nearest. Each subschema is
held against each value once, so a recursive union costs what it has branches,
not two to the power of its depth; an alternative of which a discriminating property
tells that it was not meant is not entered, and of a long array only the elements at
fault are. Nothing is said of a value that the validator admits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice

from widgetd.errors import nearest
from widgetd.schema.applicators import (
    conditional,
    declared_parts,
    dependent,
    element_part,
    element_parts,
    evaluated,
    needed,
)
from widgetd.schema.describe import describe
from widgetd.schema.document import Document, Subschema
from widgetd.schema.engine import IsValid, LeafValidator, matches
from widgetd.schema.faults import (
    MISSING,
    NEEDLESS_NULL,
    Alternatives,
    Budget,
    Fault,
    Faults,
    most_telling,
)
from widgetd.schema.json_values import Json, steps

# In units of `Budget`.
BUDGET = 9_000
# More than a message has room for, fewer than a large array can have.
MOST_FAULTS = 64
# Questions within questions before they are asked from a fresh stack, far below Python's limit.
DEEPEST = 40
# An array of more elements than this is not looked through one by one.
LONG = 64


class _TooDeepError(Exception):
    """A question that must be answered first, from a shallower stack."""

    def __init__(self, schema: Mapping[str, Json], value: Json) -> None:
        self.schema = schema
        self.value = value


class Explainer:
    """Finds faults within one budget, and remembers what was held against what.

    Args:
        document: The schema.
        part_validator: Makes what decides about one part of it; None where it cannot.
        budget: What it may cost, in units of `Budget`.
        greedy: Whether of several alternatives only the one is looked into that seems nearest,
            and what is missing is told before anything else.
    """

    def __init__(
        self,
        document: Document,
        part_validator: Callable[[Subschema], IsValid | None],
        budget: int = BUDGET,
        *,
        greedy: bool = False,
    ) -> None:
        self.document = document
        self.targets = document.targets
        self.budget = Budget(budget)
        self._greedy = greedy
        self._depth = 0
        # By identity, which is a name only while what has it lives; so both are kept.
        self._asked: dict[tuple[int, int], tuple[Subschema, Json]] = {}
        self._known: dict[tuple[int, int], Faults] = {}
        self._part_validator = part_validator
        self._part_validators: dict[int, IsValid | None] = {}
        self._leaves = LeafValidator(document)
        self._compare = Alternatives(document, self._leaves, self.budget)

    @property
    def exhausted(self) -> bool:
        """Whether the budget ran out, so that what was not looked at counts as fitting."""
        return self.budget.exhausted

    def fits(self, schema: Subschema, value: Json) -> bool:
        """Whether `value` fits `schema`, as far as the budget could tell."""
        return not self.faults(schema, value)

    def matches(self, pattern: str, text: str) -> bool:
        """Whether `text` holds a match of `pattern`."""
        self.budget.left -= 1
        return matches(pattern, text)

    def faults(self, schema: Subschema, value: Json) -> Faults:
        """Why `value` does not fit `schema`, at most `MOST_FAULTS` reasons; none where it fits."""
        if isinstance(schema, bool):
            return () if schema else (Fault((), "false", value, schema),)
        if self._depth:
            return self._answer(schema, value)
        questions = [(schema, value)]
        while True:
            try:
                found = self._answer(*questions[-1])
            except _TooDeepError as first:
                questions.append((first.schema, first.value))
            else:
                questions.pop()
                if not questions:
                    return found

    def _answer(self, schema: Mapping[str, Json], value: Json) -> Faults:
        while len(schema) == 1 and (target := next(iter(self.targets(schema)), True)) is not True:
            # A mere reference is what it leads to, whoever refers to it.
            if target is False:
                return (Fault((), "false", value, target),)
            schema = target
        key = (id(schema), id(value))
        if key not in self._known:
            if key not in self._asked and not self._affords(schema, value):
                return ()
            self._asked[key] = (schema, value)
            if self._depth == DEEPEST:
                raise _TooDeepError(schema, value)
            self._depth += 1
            try:
                self._known[key] = self._decided(schema, value)
            finally:
                self._depth -= 1
        return self._known[key]

    def _affords(self, schema: Mapping[str, Json], value: Json) -> bool:
        """Pay for holding `value` against `schema`; whether enough was left."""
        scalar = not isinstance(value, (dict, list))
        self.budget.left -= Budget.HOLDING_SCALAR if scalar else Budget.HOLDING
        if isinstance(value, dict):  # whose every key the library looks at first
            self.budget.left -= len(value) // Budget.RUN_THROUGH
        if schema.get("uniqueItems") is True:
            self.budget.pay_for_all(value, Budget.DEDUPLICATED)
        return not self.exhausted

    def _decided(self, schema: Mapping[str, Json], value: Json) -> Faults:
        if keyword := self._leaves.failing(schema, value):
            return (Fault((), keyword, value, schema),)
        found: list[Fault] = []
        for faults in self._applied(schema, value):
            found += faults
            if len(found) >= MOST_FAULTS or self._given_up:
                break
        return tuple(found[:MOST_FAULTS])

    @property
    def _given_up(self) -> bool:
        """Whether there is no point in going on; who is greedy still tells what was found."""
        return self.exhausted and not self._greedy

    def _applied(self, schema: Mapping[str, Json], value: Json) -> Iterator[Faults]:
        for part in (*self.targets(schema), *schema.get("allOf", ())):
            yield self.faults(part, value)
        if isinstance(value, dict):
            yield from self._properties(schema, value)
        if isinstance(value, list):
            for index in self._suspects(schema, value):
                self.budget.left -= 1
                yield self._undeclared(schema, index, element_part(schema, index), value[index])
            if "contains" in schema:
                yield self._contained(schema, value)
        for part in (*conditional(self, schema, value), *dependent(schema, value)):
            if part is not schema.get("if"):
                yield self.faults(part, value)
        yield from self._alternatives(schema, value)
        if "not" in schema and self.fits(schema["not"], value) and not self.exhausted:
            phrase = f"anything but {describe(self.document, schema['not'])}"
            yield (Fault((), "not", value, schema, phrase),)
        yield from self._unevaluated(schema, value)

    def _inside(self, step: str | int, schema: Subschema, value: Json) -> Faults:
        faults = self.faults(schema, value)
        self.budget.left -= len(faults)
        return tuple(Fault((step, fault.trail), *fault[1:]) for fault in faults)

    def _properties(self, schema: Mapping[str, Json], value: dict[str, Json]) -> Iterator[Faults]:
        wanted = frozenset(needed(schema, value))
        absent = sorted(wanted - value.keys())
        # In the author's order, so that the first faults told are those a caller meets first.
        known = [*schema.get("properties", ()), *absent]
        for name in dict.fromkeys([*absent, *known] if self._greedy else known):
            if name in value:
                yield from self._property(schema, name, value[name], wanted)
            elif name in absent:
                part = next(declared_parts(self, schema, name), True)
                yield (Fault((name, ()), "required", MISSING, part),)
        declared = frozenset(known)
        for name, inner in value.items():
            if self.exhausted:
                return
            if name not in declared:
                yield from self._property(schema, name, inner, wanted)
        if "propertyNames" in schema:
            yield from self._names(schema, value)

    def _property(
        self, schema: Mapping[str, Json], name: str, inner: Json, wanted: frozenset[str]
    ) -> Iterator[Faults]:
        self.budget.left -= 1
        parts = list(declared_parts(self, schema, name))
        others = schema.get("additionalProperties", True)
        if not parts and others is False:
            yield self._undeclared(schema, name, False, inner)
            return
        for part in parts or [others]:
            faults = self._inside(name, part, inner)
            if inner is None and name not in wanted:
                faults = tuple(fault._replace(keyword=NEEDLESS_NULL) for fault in faults)
            yield faults

    def _names(self, schema: Mapping[str, Json], value: dict[str, Json]) -> Iterator[Faults]:
        for name, inner in value.items():
            if self.exhausted:
                return
            if not self.fits(schema["propertyNames"], name):
                wanted = describe(self.document, schema["propertyNames"])
                phrase = f"a property whose name is {wanted}"
                yield (Fault((name, ()), "propertyNames", inner, schema, phrase),)

    def _undeclared(
        self, schema: Mapping[str, Json], step: str | int, part: Subschema, inner: Json
    ) -> Faults:
        if part is not False:
            return self._inside(step, part, inner)
        phrase = "nothing here"
        if isinstance(step, str):
            meant = nearest(step, tuple(schema.get("properties", {})))
            phrase = "no such property" + (f" (did you mean {meant}?)" if meant else "")
        return (Fault((step, ()), "additionalProperties", inner, schema, phrase),)

    def _suspects(self, schema: Mapping[str, Json], value: list[Json]) -> Iterable[int]:
        """The elements to look at: of a long array a few of those that the validator refuses."""
        first, rest = element_parts(schema)
        placed = range(min(len(first), len(value)))
        if rest is True:
            return placed
        is_valid = self._element_validator(rest, value)
        if is_valid is None:
            return range(len(value) if len(value) <= LONG or not self.exhausted else 0)
        others = range(len(first), len(value))
        refused = (index for index in others if not is_valid(value[index]))
        return [*placed, *islice(refused, MOST_FAULTS)]

    def _element_validator(self, schema: Subschema, value: list[Json]) -> IsValid | None:
        """What decides whether elements of `value` fit `schema`; None where it is not asked."""
        if len(value) <= LONG or isinstance(schema, bool):
            return None
        self.budget.pay_for_all(value, Budget.RUN_THROUGH)
        if not self.exhausted and id(schema) not in self._part_validators:
            self.budget.left -= Budget.COMPILING
            self._part_validators[id(schema)] = self._part_validator(schema)
        return None if self.exhausted else self._part_validators[id(schema)]

    def _contained(self, schema: Mapping[str, Json], value: list[Json]) -> Faults:
        is_valid = self._element_validator(schema["contains"], value)
        if self.exhausted:
            return ()
        fitting = sum(map(is_valid or partial(self.fits, schema["contains"]), value))
        least, most = schema.get("minContains", 1), schema.get("maxContains", fitting)
        if least <= fitting <= most or self.exhausted:
            return ()
        bound = f"at least {least}" if fitting < least else f"at most {most}"
        wanted = describe(self.document, schema["contains"])
        phrase = f"an array with {bound} of this kind: {wanted}"
        return (Fault((), "contains", value, schema, phrase),)

    def _unevaluated(self, schema: Mapping[str, Json], value: Json) -> Iterator[Faults]:
        keyword = "unevaluatedProperties" if isinstance(value, dict) else "unevaluatedItems"
        if keyword in schema and isinstance(value, (dict, list)):
            self.budget.left -= len(value)
            if self.exhausted:
                return
            seen = evaluated(self, schema, value, but=keyword)
            for step, inner in steps(value):
                if step not in seen:
                    yield self._undeclared(schema, step, schema[keyword], inner)

    def _alternatives(self, schema: Mapping[str, Json], value: Json) -> Iterator[Faults]:
        for keyword in ("anyOf", "oneOf"):
            alternatives = parts = schema.get(keyword, ())
            if parts and self._greedy:
                parts = self._compare.likeliest(parts, value)
            branches = [self._branch(part, value) for part in parts]
            fitting = sum(not faults for faults in branches)
            if parts and not fitting:
                yield most_telling(self.document, alternatives, value, branches)
            elif keyword == "oneOf" and fitting > 1 and not self.exhausted:
                phrase = f"a value that fits one of {len(branches)} alternatives, not {fitting}"
                yield (Fault((), keyword, value, schema, phrase),)

    def _branch(self, schema: Subschema, value: Json) -> Faults:
        """Why `value` does not fit one of several alternatives; one fault where that tells."""
        if self._given_up:
            return ()
        self.budget.left -= Budget.DISCRIMINATING
        wrong = self._compare.wrong_discriminator(schema, value)
        return (wrong,) if wrong else self.faults(schema, value)
