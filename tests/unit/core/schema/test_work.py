"""The work of a decision is estimated before it is done, for any schema and arguments."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.core.schema.schemas import SCHEMAS
from tests.unit.core.schema.test_schema_laws import compile_or_assume, lawful
from widgetd.base.errors import CallError
from widgetd.core.schema.validator import compile_schema

SECONDS = 10
"""Processor time of a process of its own; validation within the limit takes a quarter of one."""

MANY = list(range(100_000))
TEXT = "ab" * 500_000
BEYOND: dict[str, tuple[dict[str, Any], str]] = {
    "duplicates in branches": (
        {"anyOf": [{"uniqueItems": True, "contains": {"const": -n}} for n in range(1, 400)]},
        "list(range(100_000))",
    ),
    "duplicates of objects": (
        {"allOf": [{"uniqueItems": True, "minItems": n} for n in range(400)]},
        "[{'k': n} for n in range(50_000)]",
    ),
    "constants in branches": (
        {"anyOf": [{"contains": {"const": -n}} for n in range(1, 400)]},
        "list(range(100_000))",
    ),
    "choices of arrays": ({"items": {"enum": [[-n] for n in range(1, 20_000)]}}, "[[-1]] * 10_000"),
    "patterns": ({"anyOf": [{"pattern": f"^(a|b)*{n}$"} for n in range(190)]}, "'ab' * 500_000"),
    "patterns of names": (
        {"patternProperties": {f"^(a|b)*{n}$": False for n in range(190)}},
        "{f'k{n}': 1 for n in range(50_000)}",
    ),
    "names": (
        {"propertyNames": {"allOf": [{"pattern": f"^k{n}*"} for n in range(190)]}},
        "{f'k{n}': 1 for n in range(50_000)}",
    ),
    "a reference in branches": (
        {"allOf": [{"$ref": "#/$defs/d"}] * 900},
        "[{'k': n} for n in range(50_000)]",
    ),
}

CHILD = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
from widgetd.base.errors import CallError
from widgetd.core.schema.validator import compile_schema
schema = compile_schema(json.load(sys.stdin))
value = {value}
assert not schema.admits({{"x": value}})
try:
    schema.check({{"x": value}})
except CallError as error:
    print(error.code, error)
"""


@pytest.mark.parametrize("case", BEYOND)
def test_too_costly_validation_is_refused_beforehand(case: str) -> None:
    keywords, value = BEYOND[case]
    schema = {"properties": {"x": keywords}, "$defs": {"d": {"uniqueItems": True}}}

    completed = subprocess.run(
        [sys.executable, "-c", CHILD.format(seconds=SECONDS, value=value)],
        input=json.dumps(schema),
        capture_output=True,
        text=True,
        check=True,
    )

    assert completed.stdout.startswith("W2011 the arguments hold ")
    assert completed.stdout.endswith("; send fewer, or shorter texts\n")


ROW = {f"f{n}": {"type": "string", "maxLength": 200} for n in range(20)}
USUAL: dict[str, tuple[dict[str, Any], Any]] = {
    "a table of 100,000 cells": (
        {"items": {"type": "object", "properties": ROW, "required": list(ROW)}},
        [dict.fromkeys(ROW, "x")] * 5_000,
    ),
    "8,000 rows of ten kinds": (
        {
            "items": {
                "oneOf": [
                    {"properties": {"kind": {"const": f"k{n}"}, **ROW}, "required": ["kind"]}
                    for n in range(10)
                ]
            }
        },
        [{"kind": "k9", "f0": "x", "f1": "x"}] * 8_000,
    ),
    "100,000 different numbers": ({"uniqueItems": True, "items": {"type": "integer"}}, MANY),
    "a choice of 10,000, often": (
        {"items": {"enum": [str(n) for n in range(10_000)]}},
        [str(n % 10_000) for n in MANY],
    ),
    "a picture of 4 MB": ({"type": "string", "pattern": "^[A-Za-z0-9+/=]*$"}, TEXT * 4),
}


@pytest.mark.parametrize("case", USUAL)
def test_common_large_arguments_are_validated_within_the_budget(case: str) -> None:
    keywords, value = USUAL[case]

    assert compile_schema({"properties": {"x": keywords}}).admits({"x": value})


@lawful
@given(SCHEMAS, st.integers(1, 3))
def test_small_arguments_are_never_too_much(source: dict[str, Any], count: int) -> None:
    schema = compile_or_assume(source)

    try:
        schema.check({"a": [{"b": count}] * count})
    except CallError as error:
        assert error.code != "W2011"  # noqa: PT017 - most are refused for another reason
