"""The public types of a result's `_meta`, and their JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema

from widgetd.core.schema.json_values import to_json
from widgetd.core.schema.pydantic_schema import NullFreeJsonSchema
from widgetd.server.store.contract import StoredRender


class MetaModel(BaseModel):
    """A model of `_meta`: frozen, camelCase on the wire, without empty fields."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    def wire(self) -> dict[str, Any]:
        return self.model_dump(by_alias=True, exclude_none=True, mode="json")


class UiMetadata(MetaModel):
    """The component of the widget, with the author's hints."""

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


class Ui(MetaModel):
    """`_meta["widgetd/ui"]`: the type of response and its metadata."""

    ui_type: str
    ui_metadata: UiMetadata


class LocalMark(MetaModel):
    """The local state of a page, with everything to change it.

    Attributes:
        state: The drawn state, by name.
        actions: The actions without effect beyond the state, by type.
        program: The digest of the page's program for the next tree. Absent if pages have none, or
            the widget has sensitive fields, so the server must draw it.
        arguments: The drawn arguments, beside a program.
    """

    state: Mapping[str, Any]
    actions: tuple[str, ...]
    program: str | None = None
    arguments: Mapping[str, Any] | None = None


class RenderMark(MetaModel):
    """`_meta["widgetd/render"]`: the render of a result.

    Attributes:
        mended: Sentences on coerced arguments.
        source: The drawn part of a file with both a template and JSX.
        follow: Whether the render may be replaced, so pages should call `follow_render`.
        repeat: Actions to take again at each press. All others are taken once in each version.
        version: Version number of a replaced render. Absent in the first version.
        state: Outcome of the user's action. Absent in the first version.
        note: A sentence for the user, shown beneath the widget.
        local: The local state, if any.
        tell: A line for the model about changes by a feed.
        press: Sent with a press by the page. Only drawing clients get it.
    """

    id: str
    widget: str
    generation: str
    digest: str
    ms: float
    mended: tuple[str, ...] | None = None
    source: Literal["template", "view"] | None = None
    follow: bool | None = None
    repeat: tuple[str, ...] | None = None
    version: int | None = None
    state: Literal["done", "failed"] | None = None
    note: str | None = None
    local: LocalMark | None = None
    tell: str | None = None
    press: str | None = None


class FeedPartMark(MetaModel):
    """The answer of one of several feeds. Without `at` there has been none."""

    name: str
    upstream: str
    tool: str
    stale: bool
    at: str | None = None
    age_s: float | None = None
    ms: float | None = None


class FeedMark(MetaModel):
    """`_meta["widgetd/feed"]`: the upstream answer behind the arguments.

    Of several answers it is the oldest. `stale` covers all of them, and `parts` has each.
    """

    upstream: str
    tool: str
    at: str
    age_s: float
    stale: bool
    ms: float
    parts: tuple[FeedPartMark, ...] | None = None


class Failure(MetaModel):
    """`_meta["widgetd/error"]`: the error of a failed call."""

    code: str
    message: str
    path: str
    recoverable: bool
    suggestions: tuple[str, ...]
    retry_after_s: float | None = None
    details: tuple[Mapping[str, str], ...] | None = None


class Envelope(BaseModel):
    """All entries of widgetd in a result's `_meta`.

    Attributes:
        ui: The type of response and its metadata.
        render: The render.
        feed: The upstream answer behind its arguments.
        widget: The widget's root in profile `split`.
        icons: SVG shapes of the Lucide icons in the root, `[["path", {"d": "…"}], …]` each.
        palette: The style variables of the folder's theme, by theme.
        error: The error of a failed call.
    """

    model_config = ConfigDict(frozen=True, alias_generator=lambda name: f"widgetd/{name}")

    ui: Ui | None = None
    render: RenderMark | None = None
    feed: FeedMark | None = None
    widget: Mapping[str, Any] | None = None
    icons: Mapping[str, tuple[tuple[str, Mapping[str, str]], ...]] | None = None
    palette: Mapping[Literal["light", "dark"], Mapping[str, str]] | None = None
    error: Failure | None = None


class _Sent(NullFreeJsonSchema):
    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,  # noqa: ARG002 - these are models
    ) -> bool:
        inner = field["schema"]
        return inner["type"] != "default" or inner["default"] is not None


def encode_render(render: StoredRender, *, is_for_page: bool = False) -> bytes:
    """Return `_meta["widgetd/render"]` as JSON, with `press` for pages alone."""
    press = {"press": render.press} if is_for_page and render.press else {}
    return to_json({**render.metadata(), **press})


def envelope_schema() -> dict[str, Any]:
    return Envelope.model_json_schema(by_alias=True, schema_generator=_Sent)
