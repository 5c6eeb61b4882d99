"""Compile a widget's `jsonSchema`, and hold a caller's arguments to it.

The only door to jsonschema-rs. Its `is_valid` decides, and remembers what it
held against what, so a recursive union costs little; its `validate`,
`iter_errors` and `evaluate` do not, and are never called on arguments. Nothing
is ever fetched, formats are asserted, and a pattern matches in linear time or
is refused. What a caller did wrong is found by `explain`, within a budget.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypedDict
from urllib.parse import quote

import jsonschema_rs

from widgetd.errors import CallError, Slip
from widgetd.limits import Limits
from widgetd.schema.argument_errors import refusal, slips
from widgetd.schema.array_faults import Decides
from widgetd.schema.coerce import mended
from widgetd.schema.defaults import Filler
from widgetd.schema.document import Document, read_document
from widgetd.schema.explain import BUDGET, Descent
from widgetd.schema.faults import Faults, unexplained
from widgetd.schema.impossible import impossible
from widgetd.schema.json_values import copied, dotted, is_json, too_deep, unsayable
from widgetd.schema.patterns import Weight, refuse_patterns
from widgetd.schema.references import fault
from widgetd.schema.sampling.sample import smallest
from widgetd.schema.subschemas import Json, Subschema
from widgetd.schema.unusable import bad_keyword, no_uri, refuse_no_object, unknown_draft


class _Options(TypedDict):
    offline: bool
    validate_formats: bool
    pattern_options: jsonschema_rs.RegexOptions


# Most patterns compile to a hundredth of the small size.
SMALL = jsonschema_rs.RegexOptions(size_limit=64 * 1024)
LARGE = jsonschema_rs.RegexOptions(size_limit=4 * 1024 * 1024)
OPTIONS: _Options = {"offline": True, "validate_formats": True, "pattern_options": LARGE}

# What finding the alternatives that bring defaults may cost; see `explain.BUDGET`.
FILLING = 100_000
# What guessing at faults may cost, where the budget of an explanation did not suffice.
GUESSING = 10_000
# Where a schema lies that has no address of its own, while its parts are compiled.
ADDRESS = "https://schema.invalid/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Arguments that the schema admits.

    Attributes:
        arguments: As they came, or mended.
        mended: One sentence for each value that was read in another way.
    """

    arguments: dict[str, Json]
    mended: tuple[str, ...] = ()


class Texts:
    """Decides about patterns and formats as the validator of a whole schema does."""

    def matches(self, pattern: str, text: str) -> bool:
        """Whether `text` holds a match of `pattern`."""
        return _text_validator("pattern", pattern).is_valid(text)

    def has_format(self, name: str, text: str) -> bool:
        """Whether `text` has the format `name`; true of a format that is unknown."""
        return _text_validator("format", name).is_valid(text)


@lru_cache(maxsize=1024)
def _text_validator(keyword: str, argument: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for({keyword: argument}, **OPTIONS)


class Schema:
    """An argument schema, ready to decide; made by `compile_schema`.

    Attributes:
        advertised: The author's schema verbatim, with `type` and `properties` at
            the root where they were missing.
        document: The same schema, its references resolved.
    """

    def __init__(
        self,
        advertised: Mapping[str, Json],
        document: Document,
        validator: jsonschema_rs.Validator,
        limits: Limits,
    ) -> None:
        self.advertised = advertised
        self.document = document
        self._validator = validator
        self._limits = limits
        self._has_defaults = any("default" in part for part in document.subschemas())
        self._deciders: dict[int, Decides | None] = {}

    def admits(self, arguments: Json) -> bool:
        """Whether `arguments` fit, exactly as the schema's draft says."""
        return (
            isinstance(arguments, dict)
            and is_json(arguments, self._limits.json_depth)
            and self._validator.is_valid(arguments)
        )

    def check(
        self, arguments: Json, *, strict: bool = False, sensitive: Collection[str] = ()
    ) -> Checked:
        """`arguments` as the schema admits them, mended where that is needed and enough.

        Args:
            arguments: What came, never changed.
            strict: Whether nothing is mended.
            sensitive: Dotted paths of properties whose values are never shown.

        Raises:
            CallError: They do not fit (W2002), or nest too deeply (W2003).
        """
        if self.admits(arguments):
            return Checked(arguments=arguments)
        refuse_what_is_no_json(arguments, self._limits.json_depth)
        descent = self.descent()
        faults = descent.faults(self.document.root, arguments)
        repair = None if strict else mended(arguments, faults, descent, self.admits)
        if repair:
            return Checked(arguments=repair[0], mended=repair[1])
        found = (self._guessed(arguments) if descent.exhausted else ()) or faults
        found = found or (unexplained(self.document.root, arguments),)
        raise refusal(slips(self.document, found, sensitive), self.smallest)

    def _guessed(self, arguments: Json) -> Faults:
        """What is probably at fault, where the budget did not suffice to be sure."""
        descent = Descent(self.document, Texts(), self.decider, GUESSING, greedy=True)
        return descent.faults(self.document.root, arguments)

    def with_defaults(self, arguments: dict[str, Json]) -> dict[str, Json]:
        """`arguments` with the schema's defaults where properties are absent, at any depth."""
        if not self._has_defaults:
            return arguments
        filler = Filler(self.descent(FILLING))
        filled: dict[str, Json] = filler.filled([self.document.root], arguments)
        return filled

    @cached_property
    def smallest(self) -> dict[str, Json] | None:
        """The smallest arguments that fit; `None` where none were found."""
        return smallest(self)

    def descent(self, budget: int = BUDGET) -> Descent:
        """A judge of this schema's parts, with a budget of its own."""
        return Descent(self.document, Texts(), self.decider, budget)

    def decider(self, schema: Subschema) -> Decides | None:
        """What decides whether a value fits `schema`, a part of this one; None where it cannot.

        Compiled on first use. A part that a dynamic reference leads out of is judged by itself.
        """
        if id(schema) not in self._deciders:
            self._deciders[id(schema)] = _part_decider(self.document, schema)
        return self._deciders[id(schema)]


def refuse_what_is_no_json(arguments: Json, deepest: int = Limits().json_depth) -> None:
    """Refuse what no JSON text could have brought.

    Raises:
        CallError: `arguments` nest too deeply (W2003), or hold what JSON cannot say (W2002).
    """
    if is_json(arguments, deepest):
        return
    if too_deep(arguments, deepest):
        raise CallError("W2003", f"the arguments nest deeper than {deepest} levels")
    if found := unsayable(arguments):
        path, got = dotted(found[0]), found[1]
        slip = Slip(path=path, expected="a JSON value", got=got)
        raise CallError("W2002", str(slip), path=path, slips=(slip,))


def compile_schema(schema: Mapping[str, Json] | bool, *, limits: Limits | None = None) -> Schema:
    """Make `schema` ready to decide about arguments.

    Raises:
        WidgetError: It cannot be used (W1103, W1104, W1201 to W1207); `at` points into `schema`.
    """
    limits = limits or Limits()
    verbatim = copied(schema, limits.json_depth)
    if not isinstance(verbatim, dict):
        raise fault("W1204", "", f"the schema is {verbatim}", 'write {"type": "object", …}')
    document = read_document(verbatim, limits)
    refuse_patterns(document, _weight)
    validator = _compiled(verbatim)
    refuse_no_object(document)
    if reason := impossible(document):
        raise fault("W1207", reason.at, reason.problem, "let some arguments fit")
    return Schema(advertised(verbatim), document, validator, limits)


def advertised(schema: Mapping[str, Json]) -> Mapping[str, Json]:
    """`schema` with `type` and `properties` at the root, where they were missing."""
    typed = schema if "type" in schema else {"type": "object", **schema}
    return {**typed, "properties": typed.get("properties", {})}


def _compiled(schema: dict[str, Json]) -> jsonschema_rs.Validator:
    try:
        return jsonschema_rs.validator_for(schema, **OPTIONS)
    except jsonschema_rs.ValidationError as error:
        if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Referencing):
            # Every reference was resolved before, so it is the draft that is unknown, or a
            # reference that leads somewhere and yet is none.
            raise (
                no_uri(error.message) if _is_known_draft(schema) else unknown_draft(schema)
            ) from None
        raise bad_keyword(error.instance_path, error.instance, error.message) from None


def _part_decider(document: Document, schema: Subschema) -> Decides | None:
    address = document.root.get("$id", ADDRESS)
    whole = jsonschema_rs.Registry([(address, dict(document.root))])
    part = {"$ref": f"{address}#{quote(document.at(schema))}"}
    if "$schema" in document.root:
        part["$schema"] = document.root["$schema"]
    try:
        return jsonschema_rs.validator_for(part, registry=whole, **OPTIONS).is_valid
    except jsonschema_rs.ValidationError:  # an address that is relative to nothing
        return None


def _is_known_draft(schema: Mapping[str, Json]) -> bool:
    try:
        jsonschema_rs.validator_for({"$schema": schema.get("$schema", "")}, offline=True)
    except jsonschema_rs.ValidationError:
        return False
    return True


def _weight(pattern: str) -> Weight:
    if _accepts(pattern, SMALL):
        return "small"
    if _accepts(pattern, LARGE):
        return "large"
    return "backtracking" if _accepts(pattern, jsonschema_rs.FancyRegexOptions()) else "refused"


def _accepts(
    pattern: str, options: jsonschema_rs.RegexOptions | jsonschema_rs.FancyRegexOptions
) -> bool:
    try:
        jsonschema_rs.validator_for({"pattern": pattern}, offline=True, pattern_options=options)
    except jsonschema_rs.ValidationError:
        return False
    return True
