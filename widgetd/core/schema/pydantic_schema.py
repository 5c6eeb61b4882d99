"""The JSON Schema of pydantic models, as a person would write it."""

from __future__ import annotations

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema


class NullFreeJsonSchema(GenerateJsonSchema):
    """A generator for fields that are absent without a value, never null, and have no title."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 - none needs one
        return False
