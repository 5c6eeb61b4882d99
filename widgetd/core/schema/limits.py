"""Limits on validating and explaining arguments, and the budget of an explanation.

Work is counted instead of time, so the same call gets the same answer on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass

from widgetd.core.schema.json_values import Json, count_nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaLimits:
    """Limits of this room. A unit of an explanation is about a microsecond.

    Attributes:
        validation_values: Values held to a subschema in a validation, at most a sixth of a
            microsecond each.
        validation_characters: Characters of a text, counted as a value.
        explanation_units: An explanation.
        units_per_null: Added to an explanation for each null, as they are explained separately.
        nulls: Nulls with added units.
        guess_units: A second, greedy explanation after the first ran out.
        defaults_units: Choosing alternatives to fill in defaults.
        model_units: Choosing the pydantic models of some arguments.
        faults: Faults in an explanation: more than a message can hold, fewer than a large array
            can have.
        recursion: Nested steps before the descent restarts from a fresh stack, far below Python's
            own limit.
        short_array: Elements of an array, examined without asking the engine first.
        coercion_rounds: Rounds of coercing and explaining again.
        plain_depth: Levels accepted by every parser. The SDK's of the legacy era accepts 200.
        type_depth: Nested unions and arrays of a pydantic type.
        patterns: Patterns of a schema.
        large_patterns: Patterns beyond the small size, each compiled in up to 50 ms.
        contradiction_schemas: Schemas examined for a contradiction.
        contradiction_depth: Nested schemas examined for a contradiction.
        sample_attempts: Attempts at a sample.
        sample_units: Units of a sample.
        smallest_sample_units: Units of an error's example, made while a caller waits.
        sample_values: Values made or tried for a sample.
        sample_depth: Levels of a sample.
        sample_choices: Alternatives tried at a place.
        distinct_attempts: Values made to find a new element of a set.
        sample_properties: Properties of an object.
        sample_elements: Elements of an array.
        depth_rounds: Rounds of measuring depths. Depths still unknown only affect the order of
            alternatives.
        long_text_chars: A long text.
        text_chars: A text without a maximum in its schema.
        required_text_chars: A text with a minimum in its schema. Longer texts are not made.
        pattern_chars: A text made from a pattern, and repetitions in it.
        phrase_chars: A description of a schema.
        expected_chars: The expected value in an error.
        path_chars: A path in an error.
        message_chars: A message. With its code and advice it stays under 600.
        invalid_arguments: Invalid arguments in an error.
        choices: Choices listed in a description.
        phrase_depth: References and unions followed by a description.
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
    """The remaining units of an explanation.

    Attributes:
        left: Units, each about a microsecond. Below 0 the budget is exhausted.
    """

    # Validating an object or array, and any other value, against a subschema.
    HOLDING, HOLDING_SCALAR = 32, 8
    # Reading a value's discriminator, and comparing it with an alternative from outside.
    DISCRIMINATING, COMPARING = 1, 4
    # Compiling a part of the schema.
    COMPILING = 2_000
    # Values validated, and values searched for duplicates, in a unit.
    RUN_THROUGH, DEDUPLICATED = 64, 16

    __slots__ = ("left",)

    def __init__(self, units: int) -> None:
        self.left = units

    @property
    def is_exhausted(self) -> bool:
        return self.left < 0

    def pay_for_all(self, value: Json, at_once: int) -> None:
        """Charge a unit for every `at_once` values in `value`."""
        self.left -= count_nodes(value, at_once * max(self.left, 0)) // at_once
