"""Find out why a value does not fit a schema, within a budget.

The engine decides, and this module descends with the value to the failing keywords. Each
subschema's own keywords are decided by jsonschema-rs (`engine.LeafValidator`). Only keywords with
further schemas are followed here. Compiling every subschema as a validator of its own
would be shorter, but its cost may be the square of the schema's, and a dynamic reference cannot
be compiled outside its context.

Each subschema is held against each value once, so a recursive union costs as much as it has
branches instead of 2^depth. An alternative ruled out by a discriminator is not entered, and of
a long array only elements at fault are. A valid value has no faults.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Final

from widgetd.base.text_search import compile_pattern, nearest, read_tokens
from widgetd.core.schema.document import SchemaDocument
from widgetd.core.schema.engine import IsValid, LeafValidator, matches
from widgetd.core.schema.json_values import MISSING, Json, steps
from widgetd.core.schema.keywords import (
    Subschema,
    find_dependent,
    find_element,
    list_choices,
    list_required,
    split_elements,
)
from widgetd.core.schema.limits import LIMITS, ExplanationBudget
from widgetd.core.schema.phrase import ArgumentFault, Faults, describe
from widgetd.core.schema.rank import NEEDLESS_NULL, Alternatives, pick_most_telling

_NAME_WORD = compile_pattern(r"[A-Z]?[a-z]+")


class _TooDeepError(Exception):
    """The descent needs the result of another pair first, from a shallower stack."""

    def __init__(self, schema: Mapping[str, Json], value: Json) -> None:
        self.schema = schema
        self.value = value


class Explainer:
    """Finds faults within a budget, and caches its answers by schema and value.

    Args:
        document: The schema.
        part_validator: Compiles the validator of a part, or returns None if it cannot.
        budget: The units of all questions to this explainer together.
        greedy: Examine only the likeliest of several alternatives, and report missing properties
            first: for a guess after an exhaustive explanation did not finish.
    """

    def __init__(
        self,
        document: SchemaDocument,
        part_validator: Callable[[Subschema], IsValid | None],
        budget: ExplanationBudget,
        *,
        greedy: bool = False,
    ) -> None:
        self.document = document
        self.targets = document.targets
        self.budget = budget
        self._greedy = greedy
        self._depth = 0
        # Both are kept: an identity is unique only while its object lives.
        self._held: dict[tuple[int, int], tuple[Subschema, Json]] = {}
        self._known: dict[tuple[int, int], Faults] = {}
        self._part_validator = part_validator
        self._part_validators: dict[int, IsValid | None] = {}
        self._leaves = LeafValidator(document)
        self._alternatives = Alternatives(document, self._leaves, self.budget)

    @property
    def is_exhausted(self) -> bool:
        """True after the budget ran out. Whatever was not examined counts as fitting."""
        return self.budget.is_exhausted

    def fits(self, schema: Subschema, value: Json) -> bool:
        """Return whether `value` fits `schema`, as far as the budget allows to tell."""
        return not self.find_faults(schema, value)

    def matches(self, pattern: str, text: str) -> bool:
        self.budget.left -= 1
        return matches(pattern, text)

    def find_faults(self, schema: Subschema, value: Json) -> Faults:
        """Find out why `value` does not fit `schema`. Empty if it fits."""
        if isinstance(schema, bool):
            return () if schema else (ArgumentFault((), "false", value, schema),)
        if self._depth:
            return self._recall(schema, value)
        questions = [(schema, value)]
        while True:
            try:
                faults = self._recall(*questions[-1])
            except _TooDeepError as first:
                questions.append((first.schema, first.value))
            else:
                questions.pop()
                if not questions:
                    return faults

    def _recall(self, schema: Mapping[str, Json], value: Json) -> Faults:
        while len(schema) == 1 and (target := next(iter(self.targets(schema)), True)) is not True:
            # A mere reference shares its target's result with every other reference to it.
            if target is False:
                return (ArgumentFault((), "false", value, target),)
            schema = target
        key = (id(schema), id(value))
        if key not in self._known:
            if key not in self._held and not self._pay_for_holding(schema, value):
                return ()
            self._held[key] = (schema, value)
            if self._depth == LIMITS.recursion:
                raise _TooDeepError(schema, value)
            self._depth += 1
            try:
                self._known[key] = self._evaluate(schema, value)
            finally:
                self._depth -= 1
        return self._known[key]

    def _pay_for_holding(self, schema: Mapping[str, Json], value: Json) -> bool:
        scalar = not isinstance(value, (dict, list))
        self.budget.left -= (
            ExplanationBudget.HOLDING_SCALAR if scalar else ExplanationBudget.HOLDING
        )
        if isinstance(value, dict):  # the library reads every key first
            self.budget.left -= len(value) // ExplanationBudget.RUN_THROUGH
        if schema.get("uniqueItems") is True:
            self.budget.pay_for_all(value, ExplanationBudget.DEDUPLICATED)
        return not self.is_exhausted

    def _evaluate(self, schema: Mapping[str, Json], value: Json) -> Faults:
        if keyword := self._leaves.find_failing(schema, value):
            return (ArgumentFault((), keyword, value, schema),)
        collected: list[ArgumentFault] = []
        for faults in self._descend(schema, value):
            collected += faults
            # Even without budget, a greedy explainer still reports its faults so far.
            if len(collected) >= LIMITS.faults or (self.is_exhausted and not self._greedy):
                break
        return tuple(collected[: LIMITS.faults])

    def _descend(self, schema: Mapping[str, Json], value: Json) -> Iterator[Faults]:
        for part in (*self.targets(schema), *schema.get("allOf", ())):
            yield self.find_faults(part, value)
        if isinstance(value, dict):
            yield from self._check_properties(schema, value)
        if isinstance(value, list):
            for index in self._find_suspects(schema, value):
                self.budget.left -= 1
                part = find_element(schema, index)
                yield self._check_inside(schema, index, part, value[index])
            if "contains" in schema:
                yield self._check_contains(schema, value)
        for part in (*self._find_conditional(schema, value), *find_dependent(schema, value)):
            if part is not schema.get("if"):
                yield self.find_faults(part, value)
        yield from self._check_alternatives(schema, value)
        if "not" in schema and self.fits(schema["not"], value) and not self.is_exhausted:
            phrase = f"anything but {describe(self.document, schema['not'])}"
            yield (ArgumentFault((), "not", value, schema, phrase),)
        yield from self._check_unevaluated(schema, value)

    def _check_unevaluated(self, schema: Mapping[str, Json], value: Json) -> Iterator[Faults]:
        keyword = "unevaluatedProperties" if isinstance(value, dict) else "unevaluatedItems"
        if keyword in schema and isinstance(value, (dict, list)):
            self.budget.left -= len(value)
            if self.is_exhausted:
                return
            evaluated = self._find_evaluated(schema, value, keyword)
            for step, inner in steps(value):
                if step not in evaluated:
                    yield self._check_inside(schema, step, schema[keyword], inner)

    def _check_properties(
        self, schema: Mapping[str, Json], value: dict[str, Json]
    ) -> Iterator[Faults]:
        required = frozenset(list_required(schema, value))
        absent = sorted(required - value.keys())
        # In the author's order, so callers meet the first faults first.
        declared = dict.fromkeys([*schema.get("properties", ()), *absent])
        for name in dict.fromkeys([*absent, *declared] if self._greedy else declared):
            if name in value:
                yield from self._check_property(schema, name, value[name], required)
            elif name in absent:
                part = next(self.find_named(schema, name), True)
                yield (ArgumentFault((name, ()), "required", MISSING, part),)
        for name, inner in value.items():
            if self.is_exhausted:
                return
            if name not in declared:
                yield from self._check_property(schema, name, inner, required, absent)
        for name, inner in value.items() if "propertyNames" in schema else ():
            if self.is_exhausted:
                return
            if not self.fits(schema["propertyNames"], name):
                expected = describe(self.document, schema["propertyNames"])
                phrase = f"a property whose name is {expected}"
                yield (ArgumentFault((name, ()), "propertyNames", inner, schema, phrase),)

    def _check_property(
        self,
        schema: Mapping[str, Json],
        name: str,
        inner: Json,
        required: frozenset[str],
        absent: Sequence[str] = (),
    ) -> Iterator[Faults]:
        self.budget.left -= 1
        parts = list(self.find_named(schema, name))
        if not parts:
            others = schema.get("additionalProperties", True)
            if others is False:
                yield self._check_inside(schema, name, False, inner, absent)
                return
            parts = [others]
        for part in parts:
            # Not `_check_inside`: a declared property that is `false` is not a misspelt one.
            faults = self._relocate(name, self.find_faults(part, inner))
            if inner is None and name not in required:
                faults = tuple(fault._replace(keyword=NEEDLESS_NULL) for fault in faults)
            yield faults

    def _check_inside(
        self,
        schema: Mapping[str, Json],
        step: str | int,
        part: Subschema,
        inner: Json,
        absent: Sequence[str] = (),
    ) -> Faults:
        if part is not False:
            return self._relocate(step, self.find_faults(part, inner))
        phrase = "nothing here"
        if isinstance(step, str):
            properties = schema.get("properties", {})
            lacking = [other for other in absent if self.fits(properties.get(other, False), inner)]
            suggestion = _suggest_property(properties, step, inner, lacking)
            phrase = "no such property" + (f" (did you mean {suggestion}?)" if suggestion else "")
        # Models fill every property they can think of: a null there says nothing.
        is_needless = inner is None and isinstance(step, str)
        keyword = NEEDLESS_NULL if is_needless else "additionalProperties"
        return (ArgumentFault((step, ()), keyword, inner, schema, phrase),)

    def _relocate(self, step: str | int, faults: Faults) -> Faults:
        self.budget.left -= len(faults)
        return tuple(ArgumentFault((step, fault.trail), *fault[1:]) for fault in faults)

    def _find_suspects(self, schema: Mapping[str, Json], value: list[Json]) -> Iterable[int]:
        """Return the elements to examine: of a long array only some refused by the engine."""
        first, rest = split_elements(schema)
        positioned = range(min(len(first), len(value)))
        if rest is True:
            return positioned
        is_valid = self._compile_for_elements(rest, value)
        if is_valid is None:
            is_short = len(value) <= LIMITS.short_array
            return range(len(value) if is_short or not self.is_exhausted else 0)
        others = range(len(first), len(value))
        refused = (index for index in others if not is_valid(value[index]))
        return [*positioned, *islice(refused, LIMITS.faults)]

    def _compile_for_elements(self, schema: Subschema, value: list[Json]) -> IsValid | None:
        if len(value) <= LIMITS.short_array or isinstance(schema, bool):
            return None
        self.budget.pay_for_all(value, ExplanationBudget.RUN_THROUGH)
        if not self.is_exhausted and id(schema) not in self._part_validators:
            self.budget.left -= ExplanationBudget.COMPILING
            self._part_validators[id(schema)] = self._part_validator(schema)
        return None if self.is_exhausted else self._part_validators[id(schema)]

    def _check_contains(self, schema: Mapping[str, Json], value: list[Json]) -> Faults:
        is_valid = self._compile_for_elements(schema["contains"], value)
        if self.is_exhausted:
            return ()
        fitting = sum(map(is_valid or partial(self.fits, schema["contains"]), value))
        least, most = schema.get("minContains", 1), schema.get("maxContains", fitting)
        if least <= fitting <= most or self.is_exhausted:
            return ()
        bound = f"at least {least}" if fitting < least else f"at most {most}"
        expected = describe(self.document, schema["contains"])
        phrase = f"an array with {bound} of this kind: {expected}"
        return (ArgumentFault((), "contains", value, schema, phrase),)

    def _check_alternatives(self, schema: Mapping[str, Json], value: Json) -> Iterator[Faults]:
        for keyword in ("anyOf", "oneOf"):
            alternatives = parts = schema.get(keyword, ())
            if parts and self._greedy:
                parts = self._alternatives.pick_likeliest(parts, value)
            branches = [self._check_branch(part, value) for part in parts]
            fitting = sum(not faults for faults in branches)
            if parts and not fitting:
                yield pick_most_telling(self.document, alternatives, value, branches)
            elif keyword == "oneOf" and fitting > 1 and not self.is_exhausted:
                phrase = f"a value that fits one of {len(branches)} alternatives, not {fitting}"
                yield (ArgumentFault((), keyword, value, schema, phrase),)

    def _check_branch(self, schema: Subschema, value: Json) -> Faults:
        if self.is_exhausted and not self._greedy:
            return ()
        self.budget.left -= ExplanationBudget.DISCRIMINATING
        wrong = self._alternatives.find_wrong_discriminator(schema, value)
        return (wrong,) if wrong else self.find_faults(schema, value)

    def collect_applicable(
        self, schemas: Iterable[Subschema], value: Json
    ) -> list[Mapping[str, Json]]:
        """Collect the schemas of a fitting `value` without repetition, outer before inner.

        Two ways to the same schema would otherwise be four a level deeper.
        """
        applicable: dict[int, Mapping[str, Json]] = {}
        waiting = deque(schemas)
        while waiting:
            schema = waiting.popleft()
            if isinstance(schema, bool) or id(schema) in applicable:
                continue
            applicable[id(schema)] = schema
            waiting.extend([*self.targets(schema), *schema.get("allOf", ())])
            for keyword in ("anyOf", "oneOf"):
                branches = schema.get(keyword, ())
                waiting.extend(branch for branch in branches if self.fits(branch, value))
            waiting.extend(self._find_conditional(schema, value))
            waiting.extend(find_dependent(schema, value))
        return list(applicable.values())

    def _find_conditional(self, schema: Mapping[str, Json], value: Json) -> Iterator[Subschema]:
        if "if" not in schema:
            return
        if self.fits(schema["if"], value):
            yield schema["if"]
            yield schema.get("then", True)
        else:
            yield schema.get("else", True)

    def find_inside(
        self, schemas: Iterable[Mapping[str, Json]], step: str | int
    ) -> list[Subschema]:
        """Return the schemas of the property or element at `step`, by each of `schemas` alone."""
        if isinstance(step, int):
            return [find_element(schema, step) for schema in schemas]
        inside: list[Subschema] = []
        for schema in schemas:
            others = [schema["additionalProperties"]] if "additionalProperties" in schema else []
            inside += list(self.find_named(schema, step)) or others
        return inside

    def find_named(self, schema: Mapping[str, Json], name: str) -> Iterator[Subschema]:
        properties = schema.get("properties", {})
        if name in properties:
            yield properties[name]
        for pattern, part in schema.get("patternProperties", {}).items():
            if not self.is_exhausted and self.matches(pattern, name):
                yield part

    def _find_evaluated(self, schema: Mapping[str, Json], value: Json, but: str) -> set[str | int]:
        """Return the properties or elements that `schema` evaluates without its keyword `but`.

        Source: JSON Schema 2020-12 core, section 11.
        """
        evaluated: set[str | int] = set()
        for part in self.collect_applicable([schema], value):
            keywords = part.keys() - {but} if part is schema else part.keys()
            if isinstance(value, dict):
                if keywords & {"additionalProperties", "unevaluatedProperties"}:
                    evaluated.update(value)
                else:
                    declared = partial(self.find_named, part)
                    evaluated.update(n for n in value if next(declared(n), None) is not None)
                continue
            first, _ = split_elements(part)
            rest = "additionalItems" if isinstance(part.get("items"), list) else "items"
            if keywords & {"unevaluatedItems", rest}:
                evaluated.update(range(len(value)))
                continue
            evaluated.update(range(min(len(first), len(value))))
            evaluated.update(
                index
                for index, element in enumerate(value if "contains" in part else ())
                if self.is_exhausted or self.fits(part["contains"], element)
            )
        return evaluated


def _suggest_property(
    properties: Mapping[str, Subschema], name: str, value: Json, lacking: Sequence[str]
) -> str | None:
    """Return the likely meaning of an unknown property.

    Either it is spelt alike, as `date` and `dat`, or its name is a word of the other, as `due` and
    `due_date`, or it alone offers the value as a choice, as `kind` where `type` is `email`, or it
    means the same, as `title` and `name`, or it alone is required, lacking and admits the value.
    """
    spoken = {word[0].casefold() for word in read_tokens(_NAME_WORD, name)}
    meanings = [words for words in _MEANINGS if name.casefold() in words]
    alike = [key for key in properties for words in meanings if key.casefold() in words]
    parts = [key for key in properties if key.casefold() in spoken]
    choosing = [
        key
        for key, part in properties.items()
        if isinstance(part, Mapping) and isinstance(value, str) and value in list_choices(part)
    ]
    near = [nearest(name, tuple(properties), likeness) for likeness in (_MISSPELT, _NEAR)]
    suggestions = (near[:1], alike, near[1:], parts, choosing, lacking)
    return next((names[0] for names in suggestions if len(names) == 1 and names[0]), None)


_MISSPELT, _NEAR = 0.8, 0.6
"""Likeness of a misspelt name, and of a similar one, before which another of its meaning counts."""

_MEANINGS: Final = (
    frozenset({"title", "name", "heading", "headline", "subject"}),
    frozenset({"place", "location", "city", "venue", "address"}),
    frozenset({"description", "text", "body", "message", "details"}),
    frozenset({"kind", "type", "charttype", "category"}),
    frozenset({"multiple", "multiselect"}),
    frozenset({"choices", "options", "answers"}),
    frozenset({"items", "rows", "entries", "data"}),
    frozenset({"retryable", "recoverable"}),
    frozenset({"submitlabel", "submittext", "submitbutton", "buttonlabel"}),
)
"""Names that models take for each other, in lower case."""
