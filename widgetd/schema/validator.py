"""Compile a widget's `jsonSchema`, and hold a caller's arguments to it.

The library decides; what a caller did wrong is found by `explain`, within a budget.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from widgetd.errors import CallError, InvalidArgument
from widgetd.limits import Limits
from widgetd.schema.coerce import coerce
from widgetd.schema.defaults import filled
from widgetd.schema.document import Document, read_document
from widgetd.schema.engine import IsValid, Work, compiled, part_validator, refuse_patterns
from widgetd.schema.explain import Explainer
from widgetd.schema.json_values import (
    Json,
    copied,
    count_nulls,
    dotted,
    error_at,
    is_json,
    not_json,
    size,
    too_deep,
)
from widgetd.schema.keywords import Subschema, list_types
from widgetd.schema.limits import LIMITS, ExplanationBudget
from widgetd.schema.phrase import (
    ArgumentFault,
    ExampleArguments,
    build_argument_error,
    shorten_json,
)
from widgetd.schema.sampling.sample import sample, smallest
from widgetd.schema.unsatisfiable import unsatisfiable


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Arguments that the schema admits.

    Attributes:
        arguments: As they came, or coerced.
        coerced: One sentence for each value that was read in another way.
    """

    arguments: dict[str, Json]
    coerced: tuple[str, ...] = ()


class Schema:
    """An argument schema, ready to decide; made by `compile_schema`.

    Attributes:
        advertised: The author's schema verbatim, with `type` and `properties` at
            the root where they were missing.
        document: The same schema, its references resolved.
    """

    def __init__(
        self, advertised: Mapping[str, Json], document: Document, is_valid: IsValid, limits: Limits
    ) -> None:
        self.advertised = advertised
        self.document = document
        self._is_valid = is_valid
        self._work = Work(document)
        self._limits = limits
        self._has_defaults = any("default" in part for part in document.subschemas())
        self._part_validators: dict[int, IsValid | None] = {}

    def admits(self, arguments: Json) -> bool:
        """Whether `arguments` fit, exactly as the schema's draft says.

        What could not be decided soon does not fit.
        """
        return (
            isinstance(arguments, dict)
            and is_json(arguments, self._limits.json_depth)
            and not self._work.is_too_much(arguments)
            and self._is_valid(arguments)
        )

    def check(
        self,
        arguments: Json,
        *,
        strict: bool = False,
        sensitive: Collection[str] = (),
        example: Callable[[], Mapping[str, Json] | None] | None = None,
    ) -> Checked:
        """`arguments` as the schema admits them, coerced where that is needed and enough.

        Args:
            arguments: What came, never changed.
            strict: Whether nothing is coerced.
            sensitive: Dotted paths of properties whose values are never shown.
            example: The author's own arguments, for an error to end with.

        Raises:
            CallError: They do not fit (W2002), nest too deeply (W2003), or are too many to be
                held to this schema (W2011).
        """
        if self.admits(arguments):
            return Checked(arguments=arguments)
        refuse_what_is_not_json(arguments, self._limits.json_depth)
        if self._work.is_too_much(arguments):
            count = size(arguments, LIMITS.validation_values)
            raise CallError(
                "W2011",
                f"the arguments hold {count:,} values, too many for a schema of "
                f"{self.document.size:,} parts to be held to; send fewer, or shorter texts",
            )
        if strict:
            explainer = self.explainer()
            faults = explainer.find_faults(self.document.root, arguments)
        else:
            nulls = count_nulls(arguments, LIMITS.nulls)
            explainer = self.explainer(LIMITS.explanation_units + LIMITS.units_per_null * nulls)
            arguments, coerced, faults = coerce(arguments, explainer, self.admits)
            if coerced:
                return Checked(arguments=arguments, coerced=coerced)
        if explainer.exhausted:
            budget = ExplanationBudget(LIMITS.guess_units)
            guesses = Explainer(self.document, self.part_validator, budget, greedy=True)
            faults = guesses.find_faults(self.document.root, arguments) or faults
        faults = faults or (build_unexplained(self.document.root, arguments),)
        raise build_argument_error(
            self.document,
            faults,
            sensitive=sensitive,
            examples=self._examples(example() if example else None),
            more=explainer.exhausted or len(faults) >= LIMITS.faults,
        )

    def _examples(self, authors: Mapping[str, Json] | None) -> Iterator[ExampleArguments]:
        if authors is not None:
            yield ExampleArguments(name="Valid example", arguments=authors, admits=self.admits)
        if self.smallest is not None:
            name = "Smallest valid example"
            yield ExampleArguments(name=name, arguments=self.smallest, admits=self.admits)

    def with_defaults(self, arguments: dict[str, Json]) -> dict[str, Json]:
        """`arguments` with the schema's defaults where properties are absent, at any depth."""
        if not self._has_defaults:
            return arguments
        return filled(self.explainer(LIMITS.defaults_units), self.document.root, arguments)

    @cached_property
    def smallest(self) -> dict[str, Json] | None:
        """The smallest arguments that fit; `None` where none were found."""
        return smallest(self)

    @cached_property
    def telling(self) -> dict[str, Json] | None:
        """The smallest arguments without an empty list among them, where there are such."""
        if self.smallest and [] in self.smallest.values():
            return sample(self, state="required") or self.smallest
        return self.smallest

    def explainer(self, units: int = LIMITS.explanation_units) -> Explainer:
        """What says whether and why values do not fit this schema's parts, within a budget."""
        return Explainer(self.document, self.part_validator, ExplanationBudget(units))

    def part_validator(self, part: Subschema) -> IsValid | None:
        """What decides about `part` of this schema, compiled on first use; None where it cannot."""
        if id(part) not in self._part_validators:
            self._part_validators[id(part)] = part_validator(self.document, part)
        return self._part_validators[id(part)]


def build_unexplained(schema: Subschema, value: Json) -> ArgumentFault:
    """Return the fault of a value that does not fit although no failing keyword was found."""
    return ArgumentFault((), "", value, schema, "an object that fits the input schema")


def refuse_what_is_not_json(arguments: Json, deepest: int = Limits().json_depth) -> None:
    """Refuse what no JSON text could have brought.

    Raises:
        CallError: `arguments` nest too deeply (W2003), or hold what JSON cannot say (W2002).
    """
    if is_json(arguments, deepest):
        return
    if too_deep(arguments, deepest):
        raise CallError("W2003", f"the arguments nest deeper than {deepest} levels")
    if found := not_json(arguments):
        path, got = dotted(found[0]), found[1]
        argument = InvalidArgument(path=path, expected="a JSON value", got=got)
        raise CallError("W2002", str(argument), path=path, invalid_arguments=(argument,))


def compile_schema(schema: Mapping[str, Json] | bool, *, limits: Limits | None = None) -> Schema:
    """Make `schema` ready to decide about arguments.

    Raises:
        WidgetError: It cannot be used (W1103, W1104, W1201 to W1207); `at` points into `schema`.
    """
    limits = limits or Limits()
    verbatim = copied(schema, limits.json_depth)
    if not isinstance(verbatim, dict):
        raise error_at("W1204", "", f"the schema is {verbatim}", 'write {"type": "object", …}')
    document = read_document(verbatim, limits)
    refuse_patterns(document)
    is_valid = compiled(verbatim)
    if list_types(document.root) not in ((), ("object",)):
        said = shorten_json(document.root["type"], 80)
        advice = 'write "type": "object", and what is wanted as one of its properties'
        raise error_at("W1204", "/type", f"the arguments are said to be {said}", advice)
    if reason := unsatisfiable(document):
        raise error_at("W1207", reason.at, reason.problem, "let some arguments fit")
    return Schema(advertised(verbatim), document, is_valid, limits)


def advertised(schema: Mapping[str, Json]) -> Mapping[str, Json]:
    """`schema` with `type` and `properties` at the root, where they were missing."""
    typed = schema if "type" in schema else {"type": "object", **schema}
    return {**typed, "properties": typed.get("properties", {})}
