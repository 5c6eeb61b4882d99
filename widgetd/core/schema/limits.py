"""Limits on validating and explaining arguments, and the budget that an explanation spends.

Work is counted instead of time, so the same call gets the same answer on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass

from widgetd.core.schema.json_values import Json, count_nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaLimits:
    """Limits of this room; a unit of an explanation is about a microsecond.

    Attributes:
        validation_values: Values held to a subschema in one validation, a sixth of a microsecond
            each at most.
        validation_characters: Characters of a text that count as one value.
        explanation_units: One explanation.
        units_per_null: Added to an explanation for each null, which is explained separately.
        nulls: Nulls for which units are added.
        guess_units: A second, greedy explanation where the first ran out.
        defaults_units: Choosing the alternatives that supply defaults.
        model_units: Choosing the pydantic models of some arguments.
        faults: Faults in one explanation: more than a message can hold, fewer than a large array
            can have.
        recursion: Nested steps before the descent restarts from a fresh stack, far below Python's
            own limit.
        short_array: Elements of an array that are examined one by one without asking the engine.
        coercion_rounds: Rounds of coercing and explaining again.
        plain_depth: Levels that every parser accepts; the SDK's of the legacy era accepts 200.
        type_depth: Nested unions and arrays of a pydantic type.
        patterns: Patterns of one schema.
        large_patterns: Patterns beyond the small size, which take up to 50 ms each to compile.
        contradiction_schemas: Schemas examined for a contradiction.
        contradiction_depth: Nested schemas examined for a contradiction.
        sample_attempts: Attempts at one sample.
        sample_units: Units of one sample.
        smallest_sample_units: Units of an error's example, which must not take long.
        sample_values: Values made or tried for one sample.
        sample_depth: Levels of a sample.
        sample_choices: Alternatives tried at one place.
        distinct_attempts: Values made to find one that differs from all before it.
        sample_properties: Properties of one object.
        sample_elements: Elements of one array.
        depth_rounds: Rounds of measuring depths; what is unknown then only affects the order of
            alternatives.
        long_text_chars: A long text.
        text_chars: A text whose schema sets no maximum.
        required_text_chars: A text whose schema sets a minimum; longer ones are not made.
        pattern_chars: A text made from a pattern, and repetitions in it.
        phrase_chars: A description of a schema.
        expected_chars: The expected value in an error.
        path_chars: A path in an error.
        message_chars: A message; with its code and what to do next it stays under 600.
        invalid_arguments: Invalid arguments in one error.
        choices: Choices that a description lists.
        phrase_depth: References and unions that a description follows.
    """

    validation_values: int = 1_500_000
    validation_characters: int = 64
    explanation_units: int = 9_000
    units_per_null: int = 200
    nulls: int = 250
    guess_units: int = 10_000
    defaults_units: int = 100_000
    model_units: int = 500_000
    faults: int = 64
    recursion: int = 40
    short_array: int = 64
    coercion_rounds: int = 8
    plain_depth: int = 100
    type_depth: int = 32
    patterns: int = 200
    large_patterns: int = 4
    contradiction_schemas: int = 2_000
    contradiction_depth: int = 64
    sample_attempts: int = 3
    sample_units: int = 300_000
    smallest_sample_units: int = 30_000
    sample_values: int = 10_000
    sample_depth: int = 48
    sample_choices: int = 12
    distinct_attempts: int = 40
    sample_properties: int = 1_000
    sample_elements: int = 1_000
    depth_rounds: int = 16
    long_text_chars: int = 300
    text_chars: int = 4_000
    required_text_chars: int = 10_000
    pattern_chars: int = 4_096
    phrase_chars: int = 96
    expected_chars: int = 240
    path_chars: int = 80
    message_chars: int = 560
    invalid_arguments: int = 5
    choices: int = 6
    phrase_depth: int = 4


LIMITS = SchemaLimits()


class ExplanationBudget:
    """The remaining units of one explanation.

    Attributes:
        left: Units, each about a microsecond; below 0 the budget is exhausted.
    """

    # Validating an object or array, and any other value, against one subschema.
    HOLDING, HOLDING_SCALAR = 32, 8
    # Reading a value's discriminator, and comparing it with an alternative from outside.
    DISCRIMINATING, COMPARING = 1, 4
    # Compiling a part of the schema.
    COMPILING = 2_000
    # Values that the validator passes through, and searches for duplicates, in one unit.
    RUN_THROUGH, DEDUPLICATED = 64, 16

    __slots__ = ("left",)

    def __init__(self, units: int) -> None:
        self.left = units

    @property
    def is_exhausted(self) -> bool:
        """True if nothing is left."""
        return self.left < 0

    def pay_for_all(self, value: Json, at_once: int) -> None:
        """Charge one unit for every `at_once` values of which `value` is made."""
        self.left -= count_nodes(value, at_once * max(self.left, 0)) // at_once
