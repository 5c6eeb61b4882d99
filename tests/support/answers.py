"""Answers of built-in tools, compared with the types that `widgetd types` declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jsonschema_rs
from mcp_types import CallToolResult, TextContent

if TYPE_CHECKING:
    from widgetd.author.declarations.answers import Answer


def text(result: CallToolResult) -> str:
    """Return the only block of a result, which is a text."""
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


def check_answer(tool: str, result: CallToolResult) -> Any:
    """Assert that a result is a success of the declared shape, and return its content."""
    # Imported here: tests of the core use `text` alone.
    from widgetd.author.declarations.answers import ANSWERS

    assert not result.is_error, result.content
    validator = jsonschema_rs.validator_for(schema_of(ANSWERS[tool]))
    content = result.structured_content
    errors = [f"{tool}{list(one.instance_path)}: {one}" for one in validator.iter_errors(content)]
    assert errors == []
    return content


def schema_of(answer: Answer) -> dict[str, Any]:
    """Return the schema of a declared answer; objects with known names have no others."""
    if isinstance(answer, str):
        return {} if answer == "any" else {"type": answer}
    if isinstance(answer, set):
        return {"enum": sorted(answer)}
    if isinstance(answer, tuple):
        return {"anyOf": [schema_of(one) for one in answer]}
    if isinstance(answer, list):
        return {"type": "array", "items": schema_of(answer[0])}
    return {
        "type": "object",
        "properties": {key.removesuffix("?"): schema_of(part) for key, part in answer.items()},
        "required": [key for key in answer if not key.endswith("?")],
        "additionalProperties": False,
    }
