"""List ChatKit's components, their properties and their possible children.

Read from the installed `chatkit.widgets`, so it cannot become outdated. A component's
properties are a JSON Schema, derived by pydantic from ChatKit's own class. Python drops the
docstrings of attributes, so the descriptions come from `vocabulary.json`, a copy of the
vocabulary. A test compares it with the installed package. `table.json` has what the package lacks.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from inspect import getdoc
from types import ModuleType
from typing import Any, NotRequired, get_args, get_origin, get_type_hints

import orjson
from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema
from typing_extensions import TypedDict

from widgetd.core.schema.pydantic_schema import NullFreeJsonSchema

TYPESCRIPT_ONLY = ("Table", "Table.Row", "Table.Cell")
"""Components that Studio and ChatKit's web component know and the Python package does not."""


DRAWN_INSIDE = ("ListView",)
"""Roots that Studio builds and draws inside others, though the Python package knows them alone."""


OWN_PROPERTIES: Mapping[str, Mapping[str, str]] = {
    "Input": {
        "onChangeAction": "Action dispatched at each letter if it is local, else when the user "
        "leaves the field. widgetd's views have it; ChatKit's inputs only belong to forms."
    }
}
"""Properties that ChatKit lacks, by component, with their descriptions.

A filter that acts as one types needs an action of an input.
"""


@cache
def load_chatkit_widgets() -> ModuleType:
    """Import the module `chatkit.widgets` on first use. No other module imports it.

    The import takes 100 ms, too long for the start of a server that only renders. The
    module also subclasses its own deprecated classes, and would warn every importer.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from chatkit import widgets as module  # noqa: PLC0415 imported on first use, see above
    return module


class _PropertySchema(NullFreeJsonSchema):
    """A generator of the JSON Schema of a component's class.

    Null carries no information. Studio's own types have only `number`, and no formats.
    """

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        return super().typed_dict_schema(schema) | {"additionalProperties": False}

    def model_fields_schema(self, schema: core_schema.ModelFieldsSchema) -> JsonSchemaValue:
        return super().model_fields_schema(schema) | {"additionalProperties": False}

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        inner, default = self.generate_inner(schema["schema"]), schema.get("default")
        return inner if default is None else {**inner, "default": default}

    def int_schema(self, schema: core_schema.IntSchema) -> JsonSchemaValue:  # noqa: ARG002
        return {"type": "number"}

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:  # noqa: ARG002
        return {"type": "string"}

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:  # noqa: ARG002
        return value


Model = type[BaseModel]


@dataclass(frozen=True, kw_only=True)
class Component:
    """A type of component.

    Attributes:
        use: Its purpose, in a sentence or two.
        holds: The types of its possible children, None for any.
        model: Its class, None if the Python package has none.
    """

    type: str
    use: str
    holds: frozenset[str] | None
    model: Model | None

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of its properties without its children, with their descriptions."""
        if self.model is None:
            schema: Mapping[str, Any] = _load_data("table.json")[self.type]["schema"]
            return schema
        children = "children" in self.model.model_fields
        described = _describe_properties(self.model) if children else self.model
        schema = TypeAdapter(described).json_schema(schema_generator=_PropertySchema)
        if own := OWN_PROPERTIES.get(self.type):
            checkbox = load_vocabulary().components["Checkbox"].schema
            schema.setdefault("$defs", {}).update(checkbox["$defs"])
            schema["properties"] |= {name: dict(checkbox["properties"][name]) for name in own}
        _add_descriptions(schema, self.documentation)
        texts = _load_data("vocabulary.json")["documentation"]
        for name, part in schema.get("$defs", {}).items():
            _add_descriptions(part, texts.get(name, {}))
        return schema

    @cached_property
    def documentation(self) -> Mapping[str, str]:
        texts = _load_data("vocabulary.json")["documentation"]
        bases = () if self.model is None else reversed(self.model.__mro__)
        theirs = {
            name: text for base in bases for name, text in texts.get(base.__name__, {}).items()
        }
        return theirs | dict(OWN_PROPERTIES.get(self.type, {}))


@cache
def _load_data(name: str) -> Mapping[str, Any]:
    return dict(orjson.loads((files("widgetd.core.widget.components") / name).read_bytes()))


def _add_descriptions(schema: Mapping[str, Any], texts: Mapping[str, str]) -> None:
    for name, part in schema.get("properties", {}).items():
        if name in texts:
            part["description"] = texts[name]


# Without the children, which would include every other class.
def _describe_properties(model: Model) -> Any:
    hints = get_type_hints(model, include_extras=True)
    properties = {
        name: hints[name] if field.is_required() else NotRequired[hints[name]]
        for name, field in model.model_fields.items()
        if name != "children"
    }
    described = TypedDict(model.__name__, properties)  # type: ignore[misc]  # known at run time
    described.__doc__ = model.__doc__
    return described


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """Every component and every icon.

    Attributes:
        components: The components, by type.
        icons: The names without a prefix. `vendor:` and `lucide:` open further sets.
    """

    components: Mapping[str, Component]
    icons: tuple[str, ...]


@cache
def load_vocabulary() -> Vocabulary:
    chatkit = load_chatkit_widgets()
    inner = get_args(get_args(chatkit.StrictWidgetComponent)[0])
    roots = get_args(get_args(chatkit.StrictWidgetRoot)[0])
    common = frozenset(_get_type(model) for model in inner) | {*TYPESCRIPT_ONLY, *DRAWN_INSIDE}
    components = {
        _get_type(model): Component(
            type=_get_type(model),
            # The first paragraph of ChatKit's docstring, in Markdown's code spans.
            use=(getdoc(model) or "").partition("\n\n")[0].replace("``", "`").replace("\n", " "),
            holds=_find_children(model, common),
            model=model,
        )
        for model in (*inner, *roots)
    }
    for name in TYPESCRIPT_ONLY:
        row = _load_data("table.json")[name]
        holds = common if row["holds"] is None else frozenset(row["holds"])
        components[name] = Component(type=name, use=row["use"], holds=holds, model=None)
    icons = TypeAdapter(chatkit.WidgetIcon).json_schema()
    return Vocabulary(components=components, icons=tuple(icons["anyOf"][0]["enum"]))


def _get_type(model: Any) -> str:
    return str(model.model_fields["type"].default)


def _find_children(model: Any, common: frozenset[str]) -> frozenset[str] | None:
    """Return the types in the annotation of `children`.

    The union of all components names `common`, and a list of a class names that class.
    """
    if "children" not in model.model_fields:
        return frozenset()
    if model.model_config.get("extra") == "allow":
        return None
    hint = get_type_hints(model)["children"]
    items = get_args(hint)[0] if get_origin(hint) is list else hint
    if isinstance(items, type) and issubclass(items, BaseModel):
        return frozenset({_get_type(items)})
    return common
