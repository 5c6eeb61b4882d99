"""The house's words for what pydantic expected: one table for settings, upstreams and sidecars."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

EXPECTED: Mapping[str, str] = MappingProxyType(
    {
        "bool_parsing": "true or false",
        "bool_type": "true or false",
        "dict_type": "a table",
        "finite_number": "a finite number",
        "float_parsing": "a number",
        "float_type": "a number",
        "greater_than": "a number above {gt:g}",
        "greater_than_equal": "{ge:g} or more",
        "int_from_float": "a whole number",
        "int_parsing": "a whole number",
        "int_type": "a whole number",
        "less_than_equal": "{le:g} or less",
        "literal_error": "{expected}",
        "mapping_type": "a table",
        "model_type": "a table",
        "path_type": "a path",
        "string_too_short": "a name",
        "string_type": "a string",
        "tuple_type": "a list",
    }
)
"""What would be right, by pydantic's type of error, with the names of its context."""


def advise(error: Mapping[str, Any]) -> str:
    """Return the advice for one of pydantic's errors: what to write.

    Args:
        error: An item of `ValidationError.errors()`. A validator of our own brings its sentence.
    """
    if error["type"] not in EXPECTED:
        message: str = error["msg"]
        return message.removeprefix("Value error, ")
    return f"write {EXPECTED[error['type']].format(**error.get('ctx', {}))}"
