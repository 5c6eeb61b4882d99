"""What widgetd says in a result's `_meta`: the public types of the contract, and their schema.

Knows neither widgets nor how results are made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema


class Part(BaseModel):
    """A part of the envelope: frozen, in camelCase on the wire, without its empty fields."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    def wire(self) -> dict[str, Any]:
        """This part as it stands in a result's `_meta`."""
        return self.model_dump(by_alias=True, exclude_none=True, mode="json")


class UiMetadata(Part):
    """Which component shows the widget, and how it would like to be treated."""

    component: str
    version: str
    provider: str | None = None
    priority: Literal["high", "medium", "low"] = "medium"
    render_mode: Literal["immediate", "lazy", "progressive"] = "immediate"
    min_client_version: str | None = None
    deprecated: bool | None = None
    migration_guide: str | None = None
    cache_strategy: Literal["session", "persistent"] | None = None
    preload: bool | None = None


class Ui(Part):
    """`_meta["widgetd/ui"]`: the type of response, and its metadata."""

    ui_type: str
    ui_metadata: UiMetadata


class RenderMark(Part):
    """`_meta["widgetd/render"]`: which render this is, and of what.

    `source` is what of the file was drawn, where that holds both a template and JSX. `version`
    counts what took the render's place, and `state` and `note` say what came of what the user did;
    the first version, which took nobody's, says none of them. With `follow`, somebody knows the id
    and may replace it: `follow_render` waits for that.
    """

    id: str
    widget: str
    generation: str
    digest: str
    ms: float
    mended: tuple[str, ...] | None = None
    source: Literal["template", "view"] | None = None
    follow: bool | None = None
    version: int | None = None
    state: Literal["done", "failed"] | None = None
    note: str | None = None


class FeedMark(Part):
    """`_meta["widgetd/feed"]`: where the arguments came from that the caller did not bring."""

    upstream: str
    tool: str
    at: str
    age_s: float
    stale: bool
    ms: float


class Failure(Part):
    """`_meta["widgetd/error"]`: why a call failed, for a program to act on."""

    code: str
    message: str
    path: str
    recoverable: bool
    suggestions: tuple[str, ...]
    retry_after_s: float | None = None
    details: tuple[Mapping[str, str], ...] | None = None


class Envelope(BaseModel):
    """Everything that widgetd says in a result's `_meta`.

    Attributes:
        ui: The type of response, and its metadata.
        render: Which render this is, and of what.
        feed: Where its arguments came from, where the caller did not bring them all.
        widget: The widget's root, where the model does not get it.
        icons: SVG shapes of each of Lucide's icons in the root, `[["path", {"d": "…"}], …]`.
        error: Why the call failed.
    """

    model_config = ConfigDict(frozen=True)

    ui: Ui | None = Field(default=None, alias="widgetd/ui")
    render: RenderMark | None = Field(default=None, alias="widgetd/render")
    feed: FeedMark | None = Field(default=None, alias="widgetd/feed")
    widget: Mapping[str, Any] | None = Field(default=None, alias="widgetd/widget")
    icons: Mapping[str, tuple[tuple[str, Mapping[str, str]], ...]] | None = Field(
        default=None, alias="widgetd/icons"
    )
    error: Failure | None = Field(default=None, alias="widgetd/error")


class _Sent(GenerateJsonSchema):
    """Describes what is sent: a field without a value is not there, and is never null."""

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 - no field needs one
        return False

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,  # noqa: ARG002 - these are models
    ) -> bool:
        inner = field["schema"]
        return inner["type"] != "default" or inner["default"] is not None


def envelope_schema() -> dict[str, Any]:
    """The JSON Schema of a result's `_meta`."""
    return Envelope.model_json_schema(by_alias=True, schema_generator=_Sent)
