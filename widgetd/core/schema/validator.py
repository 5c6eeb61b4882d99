"""Compile a widget's `jsonSchema` and validate a caller's arguments.

The library decides. `explain` finds out, within a budget, what a caller did wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from widgetd.base.errors import CallError, InvalidArgument
from widgetd.base.limits import Limits
from widgetd.core.schema.coerce import coerce
from widgetd.core.schema.document import SchemaDocument, read_document
from widgetd.core.schema.engine import (
    IsValid,
    Work,
    compile_part,
    compile_validator,
    refuse_invalid_parts,
    refuse_patterns,
)
from widgetd.core.schema.explain import Explainer
from widgetd.core.schema.json_values import (
    Json,
    copy_json,
    count_nulls,
    error_at,
    find_non_json,
    is_json,
    is_too_deep,
    join_path,
    size,
    steps,
    to_json,
)
from widgetd.core.schema.keywords import Subschema, list_types
from widgetd.core.schema.limits import LIMITS, ExplanationBudget
from widgetd.core.schema.phrase import (
    ArgumentFault,
    build_argument_error,
    shorten_json,
)
from widgetd.core.schema.sampling.sample import Style, make_sample
from widgetd.core.schema.unsatisfiable import refuse_contradictions


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidArguments:
    """Valid arguments.

    Attributes:
        arguments: As they were sent, or coerced.
        coerced: A sentence for each coerced value.
    """

    arguments: dict[str, Json]
    coerced: tuple[str, ...] = ()


class Schema:
    """A compiled argument schema, made by `compile_schema`.

    Attributes:
        advertised: The author's schema verbatim, with `type` and `properties` added at the root if
            they were missing.
        document: The same schema, its references resolved.
    """

    def __init__(
        self,
        advertised: Mapping[str, Json],
        document: SchemaDocument,
        is_valid: IsValid,
        limits: Limits,
    ) -> None:
        self.advertised = advertised
        self.document = document
        self._is_valid = is_valid
        self._work = Work(document)
        self._limits = limits
        self._has_defaults = any("default" in part for part in document.subschemas())
        self._default_holders: dict[int, bool] = {}
        self._part_validators: dict[int, IsValid | None] = {}

    def admits(self, arguments: Json) -> bool:
        """Return whether `arguments` are valid, exactly as the schema's draft defines it.

        Arguments too large to validate in time are not.
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
    ) -> ValidArguments:
        """Validate `arguments`, and coerce them if that makes them valid.

        Args:
            arguments: The caller's, never changed.
            strict: Do not coerce.
            sensitive: Dotted paths of properties whose values must not appear in an error.
            example: Returns the author's own arguments, for the end of an error.

        Raises:
            CallError: They are invalid (W2002), nest too deeply (W2003), or are too many to
                validate against this schema (W2011).
        """
        if self.admits(arguments):
            return ValidArguments(arguments=arguments)
        refuse_non_json(arguments, self._limits.json_depth)
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
                return ValidArguments(arguments=arguments, coerced=coerced)
        if explainer.is_exhausted:
            guesses = self.explainer(LIMITS.guess_units, greedy=True)
            faults = guesses.find_faults(self.document.root, arguments) or faults
        faults = faults or (build_unexplained(self.document.root, arguments),)
        raise build_argument_error(
            self.document,
            faults,
            sensitive=sensitive,
            examples=self._examples(example() if example else None),
            admits=self.admits,
            more=explainer.is_exhausted or len(faults) >= LIMITS.faults,
        )

    def _examples(self, authors: Mapping[str, Json] | None) -> Iterator[tuple[str, Json]]:
        if authors is not None:
            yield "Valid example", authors
        if self.smallest is not None:
            yield "Smallest valid example", self.smallest

    def with_defaults(self, arguments: dict[str, Json]) -> dict[str, Json]:
        """Return `arguments` with the schema's defaults for absent properties, at any depth.

        For rendering, after validation and never instead of it: a default that violates its own
        schema is left out.
        """
        if not self._has_defaults:
            return arguments
        defaults = _Defaults(self.explainer(LIMITS.defaults_units), self._may_hold_default)
        filled: dict[str, Json] = defaults.fill([self.document.root], arguments)
        return filled

    def _may_hold_default(self, part: Subschema) -> bool:
        if id(part) not in self._default_holders:
            text = to_json(part)
            # The second is in the names of all references.
            self._default_holders[id(part)] = b'"default"' in text or b'ef"' in text
        return self._default_holders[id(part)]

    @cached_property
    def smallest(self) -> dict[str, Json] | None:
        """The smallest valid arguments, or None."""
        return self.sample(state="smallest")

    @cached_property
    def telling(self) -> dict[str, Json] | None:
        """The smallest valid arguments without an empty list, or else `smallest`."""
        if self.smallest and [] in self.smallest.values():
            return self.sample(state="required") or self.smallest
        return self.smallest

    def sample(self, *, state: Style, seed: int = 0) -> dict[str, Json] | None:
        """Make arguments in a certain state, or return None.

        Args:
            state: `smallest` and `required` have no optional properties, all others have them.
                `empty`, `one`, `two` and `many` set the length of arrays, `long` and `nasty` the
                kind of strings, and `nulls` has null wherever it may be. `smallest` has empty
                arrays if it can.
            seed: Another seed takes other words and other alternatives.
        """
        units = LIMITS.smallest_sample_units if state == "smallest" else LIMITS.sample_units
        return make_sample(self.explainer(units), self.admits, state=state, seed=seed)

    def explainer(
        self, units: int = LIMITS.explanation_units, *, greedy: bool = False
    ) -> Explainer:
        budget = ExplanationBudget(units)
        return Explainer(self.document, self.compile_part, budget, greedy=greedy)

    def compile_part(self, part: Subschema) -> IsValid | None:
        if id(part) not in self._part_validators:
            self._part_validators[id(part)] = compile_part(self.document, part)
        return self._part_validators[id(part)]


class _Defaults:
    def __init__(self, explainer: Explainer, may_hold: Callable[[Subschema], bool]) -> None:
        self._explainer = explainer
        self._may_hold = may_hold
        # A default inside itself through a recursion is filled in once.
        self._active: set[int] = set()

    def fill(self, schemas: Sequence[Subschema], value: Json) -> Json:
        if not isinstance(value, (dict, list)) or not any(map(self._may_hold, schemas)):
            return value
        parts = self._explainer.collect_applicable(schemas, value)
        if self._explainer.is_exhausted:  # no default is better than another alternative's
            return value
        filled: dict[Any, Json] = {
            step: self.fill(self._explainer.find_inside(parts, step), inner)
            if isinstance(inner, (dict, list))  # nothing is filled into most values
            else inner
            for step, inner in steps(value)
        }
        if isinstance(value, list):
            return list(filled.values())
        for part in parts:
            for name, schema in part.get("properties", {}).items():
                if name not in filled and isinstance(schema, dict):
                    self._add(filled, name, schema)
        return filled

    def _add(self, filled: dict[str, Json], name: str, schema: Mapping[str, Json]) -> None:
        waiting: list[Subschema] = [schema]
        while waiting:
            part = waiting.pop()
            if isinstance(part, bool):
                continue
            if "default" not in part:
                waiting.extend(self._explainer.targets(part))
                continue
            if id(part) not in self._active and self._explainer.fits(schema, part["default"]):
                self._active.add(id(part))
                filled[name] = self.fill([schema], deepcopy(part["default"]))
                self._active.discard(id(part))
            return


def build_unexplained(schema: Subschema, value: Json) -> ArgumentFault:
    return ArgumentFault((), "", value, schema, "an object that fits the input schema")


def refuse_non_json(arguments: Json, deepest: int = Limits().json_depth) -> None:
    """Refuse arguments beyond any JSON text.

    Raises:
        CallError: `arguments` nest too deeply (W2003), or contain a value outside JSON (W2002).
    """
    if is_json(arguments, deepest):
        return
    if is_too_deep(arguments, deepest):
        raise CallError("W2003", f"the arguments nest deeper than {deepest} levels")
    if fault := find_non_json(arguments):
        path, got = join_path(fault[0]), fault[1]
        argument = InvalidArgument(path=path, expected="a JSON value", got=got)
        raise CallError("W2002", str(argument), path=path, invalid_arguments=(argument,))


def compile_schema(schema: Mapping[str, Json] | bool, *, limits: Limits | None = None) -> Schema:
    """Compile `schema` for validating arguments.

    Raises:
        WidgetError: It cannot be used (W1103, W1104, W1201 to W1207). `at` points into `schema`.
    """
    limits = limits or Limits()
    verbatim = copy_json(schema, limits.json_depth)
    if not isinstance(verbatim, dict):
        raise error_at("W1204", "", f"the schema is {verbatim}", 'write {"type": "object", …}')
    document = read_document(verbatim, limits)
    refuse_patterns(document)
    is_valid = compile_validator(verbatim)
    refuse_invalid_parts(document, verbatim)
    if list_types(document.root) not in ((), ("object",)):
        types = shorten_json(document.root["type"], 80)
        advice = 'write "type": "object", and what is wanted as one of its properties'
        raise error_at("W1204", "/type", f"the arguments are said to be {types}", advice)
    refuse_contradictions(document)
    return Schema(complete_root(verbatim), document, is_valid, limits)


def complete_root(schema: Mapping[str, Json]) -> Mapping[str, Json]:
    """Add `type` and `properties` to the root of `schema` if they are missing."""
    typed = schema if "type" in schema else {"type": "object", **schema}
    return {**typed, "properties": typed.get("properties", {})}
