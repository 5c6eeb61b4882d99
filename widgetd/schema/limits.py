"""Limits on validating and explaining arguments, and the budget that an explanation spends.

Work is counted instead of time, so the same call gets the same answer on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass

from widgetd.schema.json_values import Json, count_nodes


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

    def __init__(self, units: int = LIMITS.explanation_units) -> None:
        self.left = units

    @property
    def is_exhausted(self) -> bool:
        """True if nothing is left."""
        return self.left < 0

    def pay_for_all(self, value: Json, at_once: int) -> None:
        """Charge one unit for every `at_once` values of which `value` is made."""
        self.left -= count_nodes(value, at_once * max(self.left, 0)) // at_once
